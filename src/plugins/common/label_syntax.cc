// SPDX-License-Identifier: Apache-2.0
// Checks of label keys and values; texts of apimachinery's pkg/util/validation.
#include "plugins/common/label_syntax.h"

#include <algorithm>

namespace berth::plugins {
namespace {

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

bool IsNamePart(std::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsSubdomain(std::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    if (!std::all_of(label.begin(), label.end(), [](char c) { return IsLowerOrDigit(c) || c == '-'; })) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

constexpr const char* kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr const char* kPrefixRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr const char* kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

}  // namespace

std::vector<std::string> LabelKeyComplaints(std::string_view key) {
  std::vector<std::string> complaints;
  std::string_view name = key;
  const size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {std::string("a valid label key ") + kNameRule +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) {
      complaints.push_back("prefix part must be non-empty");
    } else {
      if (prefix.size() > 253) complaints.push_back("prefix part must be no more than 253 bytes");
      if (!IsSubdomain(prefix)) complaints.push_back(std::string("prefix part ") + kPrefixRule);
    }
  }
  if (name.empty()) {
    complaints.push_back("name part must be non-empty");
  } else if (name.size() > 63) {
    complaints.push_back("name part must be no more than 63 bytes");
  }
  if (!IsNamePart(name)) complaints.push_back(std::string("name part ") + kNameRule);
  return complaints;
}

std::vector<std::string> LabelValueComplaints(std::string_view value) {
  std::vector<std::string> complaints;
  if (value.size() > 63) complaints.push_back("must be no more than 63 bytes");
  if (!value.empty() && !IsNamePart(value)) complaints.push_back(kValueRule);
  return complaints;
}

std::string JoinComplaints(const std::vector<std::string>& complaints) {
  std::string joined;
  for (const std::string& complaint : complaints) {
    if (!joined.empty()) joined += "; ";
    joined += complaint;
  }
  return joined;
}

}  // namespace berth::plugins
