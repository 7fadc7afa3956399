// SPDX-License-Identifier: Apache-2.0
// Value to YAML. A string is written plain only when no YAML reader could take it for anything else; otherwise in
// double quotes with JSON's escapes, which YAML shares.
#include "config/yaml_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string_view>
#include <utility>

namespace berth::config {
namespace {

// "1m30s", which no reader takes for a number, whatever it thinks of 1e3, 0x1 and 1:30.
bool IsDuration(std::string_view text) {
  return std::isdigit(static_cast<unsigned char>(text.front())) &&
         std::string_view("hms").find(text.back()) != std::string_view::npos &&
         text.find_first_not_of("0123456789.hmsnu\xc2\xb5") == std::string_view::npos;
}

bool IsPlain(std::string_view text) {
  if (text.empty()) return false;
  if (IsDuration(text)) return true;
  if (!std::isalpha(static_cast<unsigned char>(text[0])) && text[0] != '/') return false;
  const auto harmless = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' || c == '/' || c == ':';
  };
  if (text.back() == ':') return false;  // of a key
  if (!std::all_of(text.begin(), text.end(), harmless)) return false;
  // What YAML 1.1 takes for a boolean or null, in any case.
  static constexpr std::array<std::string_view, 9> kWords = {"y",   "n",    "yes",   "no",  "on",
                                                             "off", "true", "false", "null"};
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

// Characters that JSON holds as they are but YAML readers refuse, or take for line breaks.
std::string EscapeUnprintable(std::string json) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEscapes = {{
      {"\x7f", "\\u007f"},
      {"\xe2\x80\xa8", "\\u2028"},
      {"\xe2\x80\xa9", "\\u2029"},
      {"\xef\xbb\xbf", "\\ufeff"},
      {"\xef\xbf\xbe", "\\ufffe"},
      {"\xef\xbf\xbf", "\\uffff"},
  }};
  for (const auto& [raw, escaped] : kEscapes) {
    for (size_t at = 0; (at = json.find(raw, at)) != std::string::npos;) json.replace(at, raw.size(), escaped);
  }
  // U+0080 to U+009F are C2 80 to C2 9F.
  for (size_t at = 0; (at = json.find('\xc2', at)) != std::string::npos; ++at) {
    if (at + 1 == json.size() || static_cast<unsigned char>(json[at + 1]) > 0x9f) continue;
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned char>(json[at + 1]));
    json.replace(at, 2, escaped);
  }
  return json;
}

std::string Scalar(const Value& value) {
  if (value.kind() != Value::Kind::kString) return value.ToJson();
  return IsPlain(value.text()) ? value.text() : EscapeUnprintable(value.ToJson());
}

bool IsBlock(const Value& value) { return !value.items().empty() || !value.members().empty(); }

void Append(const Value& value, size_t indent, std::string& out);

// `value` behind a key's colon or a dash.
void AppendAfterKey(const Value& value, size_t indent, std::string& out) {
  if (!IsBlock(value)) {
    out += ' ' + Scalar(value) + '\n';
    return;
  }
  out += '\n';
  // Lists stand at the column of their key, as kubectl prints them.
  Append(value, value.kind() == Value::Kind::kArray ? indent : indent + 2, out);
}

void AppendMembers(const Value& value, size_t indent, bool first_in_place, std::string& out) {
  for (const auto& [key, member] : value.members()) {
    if (!first_in_place) out.append(indent, ' ');
    first_in_place = false;
    out += Scalar(Value::String(key)) + ':';
    AppendAfterKey(member, indent, out);
  }
}

void Append(const Value& value, size_t indent, std::string& out) {
  if (!IsBlock(value)) {
    out.append(indent, ' ');
    out += Scalar(value) + '\n';
  } else if (value.kind() == Value::Kind::kObject) {
    AppendMembers(value, indent, false, out);
  } else {
    for (const Value& item : value.items()) {
      out.append(indent, ' ');
      out += '-';
      if (item.kind() == Value::Kind::kObject && IsBlock(item)) {
        out += ' ';
        AppendMembers(item, indent + 2, true, out);
      } else if (IsBlock(item)) {
        out += '\n';
        Append(item, indent + 2, out);
      } else {
        out += ' ' + Scalar(item) + '\n';
      }
    }
  }
}

}  // namespace

std::string ToYaml(const Value& value) {
  std::string out;
  Append(value, 0, out);
  return out;
}

}  // namespace berth::config
