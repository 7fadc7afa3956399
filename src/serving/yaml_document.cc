// SPDX-License-Identifier: Apache-2.0
#include "serving/yaml_document.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "api/json_scan.h"

namespace berth::serving {
namespace {

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Whether a reader could take it for a number or a date: it begins like one and holds nothing else.
bool LooksLikeNumber(std::string_view text) {
  if (text.empty() || (!std::isdigit(static_cast<unsigned char>(text[0])) && text[0] != '.' && text[0] != '-'))
    return false;
  // Versions such as 1.36.4 are no numbers; neither has two dots.
  if (std::ranges::count(text, '.') > 1) return false;
  if (!std::ranges::any_of(text, [](char c) { return c >= '0' && c <= '9'; })) return false;
  return std::ranges::all_of(text, [](char c) {
    return std::isxdigit(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("+-._xXoObBTtZz:eE ").find(c) != std::string_view::npos;
  });
}

bool IsPlain(std::string_view text) {
  if (text.empty() || (!IsAlnum(text[0]) && text[0] != '/') || text.ends_with(' ')) return false;
  const auto harmless = [](char c) {
    return IsAlnum(c) || std::string_view("-_./ ").find(c) != std::string_view::npos;
  };
  if (!std::ranges::all_of(text, harmless) || LooksLikeNumber(text)) return false;
  static constexpr std::array<std::string_view, 10> kWords = {"y",   "n",    "yes",   "no",   "on",
                                                              "off", "true", "false", "null", "~"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return std::ranges::find(kWords, lower) == kWords.end();
}

std::string Scalar(const Value& value) {
  if (value.kind() != Value::Kind::kString) return value.ToJson();
  const std::string& text = value.text();
  if (IsPlain(text)) return text;
  const bool printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
  // What looks like a number is between the quotes that JSON has, as Go's printer writes it.
  if (printable && !text.empty() && !LooksLikeNumber(text)) {
    std::string quoted = "'";
    for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
    return quoted + "'";
  }
  std::string quoted;
  AppendJsonString(text, quoted);
  return quoted;
}

void Append(const Value& value, size_t indent, std::string& out);

void AppendAfterKey(const Value& value, size_t indent, std::string& out) {
  if (value.items().empty() && value.members().empty()) {
    out += ' ' + Scalar(value) + '\n';
    return;
  }
  out += '\n';
  Append(value, value.kind() == Value::Kind::kArray ? indent : indent + 2, out);
}

// REQUIRES: an object or list that is not empty; lists are of scalars.
void Append(const Value& value, size_t indent, std::string& out) {
  for (const Value& item : value.items()) out += std::string(indent, ' ') + "- " + Scalar(item) + '\n';
  std::vector<const Value::Member*> members;
  for (const Value::Member& member : value.members()) members.push_back(&member);
  std::ranges::sort(members, {}, [](const Value::Member* member) { return std::string_view(member->first); });
  for (const Value::Member* member : members) {
    out += std::string(indent, ' ') + Scalar(Value::String(member->first)) + ':';
    AppendAfterKey(member->second, indent, out);
  }
}

}  // namespace

std::string ToSortedYaml(const Value& value) {
  std::string out;
  if (value.items().empty() && value.members().empty()) return Scalar(value) + '\n';
  Append(value, 0, out);
  return out;
}

}  // namespace berth::serving
