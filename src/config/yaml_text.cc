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

// Writes values, with what is to be said about them.
class YamlWriter {
 public:
  explicit YamlWriter(const YamlComments& comments) : comments_(comments) {}

  void Append(const Value& value, size_t indent, const std::string& path) {
    if (!IsBlock(value)) {
      out_.append(indent, ' ');
      out_ += Scalar(value) + '\n';
    } else if (value.kind() == Value::Kind::kObject) {
      AppendMembers(value, indent, false, path);
    } else {
      AppendItems(value, indent, path);
    }
  }
  std::string Take() { return std::move(out_); }

 private:
  static constexpr size_t kWidth = 100;

  void Comment(const std::string& path, size_t indent) {
    const auto at = comments_.find(path);
    if (at == comments_.end()) return;
    for (const std::string& text : at->second) AppendComment(text, indent, kWidth, out_);
  }

  void AppendItems(const Value& value, size_t indent, const std::string& path) {
    for (size_t i = 0; i < value.items().size(); ++i) {
      const Value& item = value.items()[i];
      const std::string item_path = comments_.empty() ? "" : path + "[" + std::to_string(i) + "]";
      Comment(item_path, indent);
      out_.append(indent, ' ');
      out_ += '-';
      if (item.kind() == Value::Kind::kObject && IsBlock(item)) {
        out_ += ' ';
        AppendMembers(item, indent + 2, true, item_path);
      } else if (IsBlock(item)) {
        out_ += '\n';
        Append(item, indent + 2, item_path);
      } else {
        out_ += ' ' + Scalar(item) + '\n';
      }
    }
  }

  void AppendMembers(const Value& value, size_t indent, bool first_in_place, const std::string& path) {
    for (const auto& [key, member] : value.members()) {
      const std::string key_path = comments_.empty() ? "" : path.empty() ? key : path + "." + key;
      // What is to be said about the first field of an item stands behind its dash: there is no room in front of it.
      if (!first_in_place) {
        Comment(key_path, indent);
        out_.append(indent, ' ');
      }
      first_in_place = false;
      out_ += Scalar(Value::String(key)) + ':';
      AppendAfterKey(member, indent, key_path);
    }
  }

  // `value` behind a key's colon or a dash.
  void AppendAfterKey(const Value& value, size_t indent, const std::string& path) {
    if (!IsBlock(value)) {
      out_ += ' ' + Scalar(value) + '\n';
      return;
    }
    out_ += '\n';
    // Lists stand at the column of their key, as kubectl prints them.
    Append(value, value.kind() == Value::Kind::kArray ? indent : indent + 2, path);
  }

  const YamlComments& comments_;
  std::string out_;
};

}  // namespace

std::string ToYaml(const Value& value) { return ToYaml(value, {}); }

std::string ToYaml(const Value& value, const YamlComments& comments) {
  YamlWriter writer(comments);
  writer.Append(value, 0, "");
  return writer.Take();
}

void AppendComment(const std::string& text, size_t indent, size_t width, std::string& out) {
  // Nothing in it may end the line.
  const std::string quoted = EscapeUnprintable(Value::String(text).ToJson());
  std::string plain = quoted.substr(1, quoted.size() - 2);
  for (size_t at = 0; (at = plain.find("\\\"", at)) != std::string::npos; ++at) plain.erase(at, 1);
  for (size_t from = 0; from < plain.size();) {
    const size_t room = width > indent + 22 ? width - indent - 2 : 20;
    size_t to = plain.size();
    if (to - from > room) {
      to = plain.rfind(' ', from + room);
      if (to == std::string::npos || to <= from) to = std::min(plain.find(' ', from + room), plain.size());
    }
    out.append(indent, ' ').append("# ").append(plain, from, to - from);
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
    from = to;
    while (from < plain.size() && plain[from] == ' ') ++from;
  }
}

}  // namespace berth::config
