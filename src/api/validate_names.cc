// SPDX-License-Identifier: Apache-2.0
// The API server's rules for names, label keys and label values.
#include "api/validate_names.h"

#include <algorithm>

#include "api/load_error.h"
#include "util/text.h"

namespace berth {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLowerAlnum(char c) { return IsLower(c) || util::IsDigit(c); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || IsUpper(c); }

bool MatchesDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool MatchesDnsSubdomain(std::string_view text) {
  for (;;) {
    const size_t dot = text.find('.');
    if (!MatchesDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// The name part of a label key, and a label value that is not empty.
bool MatchesLabelPart(std::string_view text) {
  return !text.empty() && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string TooLong(int limit) { return "must be no more than " + std::to_string(limit) + " bytes"; }

constexpr char kNamePartRule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

}  // namespace

Complaints CheckDnsLabel(std::string_view text) {
  Complaints complaints;
  if (text.size() > 63) complaints.push_back(TooLong(63));
  if (!MatchesDnsLabel(text)) {
    complaints.push_back(MatchesDnsSubdomain(text)
                             ? "must not contain dots"
                             : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
                               "and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
                               "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  }
  return complaints;
}

Complaints CheckDnsSubdomain(std::string_view text) {
  Complaints complaints;
  if (text.size() > 253) complaints.push_back(TooLong(253));
  if (!MatchesDnsSubdomain(text)) {
    complaints.push_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
  return complaints;
}

Complaints CheckPathSegment(std::string_view text) {
  if (text == "." || text == "..") return {"may not be '" + std::string(text) + "'"};
  Complaints complaints;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) complaints.push_back(std::string("may not contain '") + c + "'");
  }
  return complaints;
}

Complaints CheckQualifiedName(std::string_view text) {
  Complaints complaints;
  std::string_view name = text;
  const auto slashes = std::count(text.begin(), text.end(), '/');
  if (slashes > 1) {
    return {std::string("a valid label key ") + kNamePartRule +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  if (slashes == 1) {
    const std::string_view prefix = text.substr(0, text.find('/'));
    name = text.substr(prefix.size() + 1);
    if (prefix.empty()) {
      complaints.push_back("prefix part must be non-empty");
    } else {
      for (const std::string& complaint : CheckDnsSubdomain(prefix)) complaints.push_back("prefix part " + complaint);
    }
  }
  if (name.empty()) {
    complaints.push_back("name part must be non-empty");
  } else if (name.size() > 63) {
    complaints.push_back("name part " + TooLong(63));
  }
  if (!MatchesLabelPart(name)) complaints.push_back(std::string("name part ") + kNamePartRule);
  return complaints;
}

Complaints CheckLabelValue(std::string_view text) {
  Complaints complaints;
  if (text.size() > 63) complaints.push_back(TooLong(63));
  if (!text.empty() && !MatchesLabelPart(text)) {
    complaints.push_back(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
        "validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  }
  return complaints;
}

Complaints CheckPortName(std::string_view text) {
  Complaints complaints;
  if (text.size() > 15) complaints.push_back(TooLong(15));
  if (!std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlnum(c) || c == '-'; })) {
    complaints.push_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::none_of(text.begin(), text.end(), IsLower)) {
    complaints.push_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string_view::npos) complaints.push_back("must not contain consecutive hyphens");
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) {
    complaints.push_back("must not begin or end with a hyphen");
  }
  return complaints;
}

Complaints CheckDeclaredFeature(std::string_view text) {
  const std::string start = "invalid feature name " + Quoted(text) + ": ";
  if (text.size() > 253) return {start + "must be no more than 253 characters"};
  bool ok = !text.empty() && IsUpper(text.front()) && text.back() != '/';
  for (size_t i = 0; ok && i < text.size(); ++i) {
    const bool starts_segment = i > 0 && text[i - 1] == '/';
    ok = starts_segment ? IsLower(text[i]) || IsUpper(text[i]) : IsAlnum(text[i]) || text[i] == '/';
  }
  if (ok) return {};
  return {start +
          "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
          "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"};
}

std::string Join(const Complaints& complaints, std::string_view separator) {
  std::string text;
  for (const std::string& complaint : complaints) {
    if (!text.empty()) text += separator;
    text += complaint;
  }
  return text;
}

}  // namespace berth
