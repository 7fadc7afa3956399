// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin, made fit for reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::util {

// At most `max` bytes of it, whole characters, and a sign that there was more.
std::string Shortened(std::string_view text, size_t max);

// What is no UTF-8 becomes U+FFFD.
std::string ValidUtf8(std::string_view text);

// How a text that must stay on its line is written: what a reader cannot see (control characters, directions,
// separators of lines) and what is no UTF-8 becomes an escape.
enum class Escapes : uint8_t {
  kPlain,   // nothing else does
  kQuoted,  // as between the quotes of Go's strconv.Quote
  kJson,    // as between those of a JSON string; what is no UTF-8 becomes U+FFFD
};
void AppendEscaped(std::string& out, std::string_view text, Escapes escapes);

// In double quotes, as Go's strconv.Quote writes it.
inline std::string Quoted(std::string_view text) {
  std::string out = "\"";
  AppendEscaped(out, text, Escapes::kQuoted);
  return out += '"';
}

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// ASCII letters in lower case.
std::string Lower(std::string_view text);

// Without the ASCII white space at both ends.
inline std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

// For XML 1.0, which has no way to write most control characters: they become question marks.
std::string XmlText(std::string_view text);
std::string XmlAttribute(std::string_view text);  // line breaks are kept as well

}  // namespace berth::util
