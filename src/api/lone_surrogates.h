// SPDX-License-Identifier: Apache-2.0
// ReplaceLoneSurrogates: halves of characters in JSON, as Go's encoding/json reads them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

// The code that is escaped with u and four digits at `at`; nothing: there is no such escape.
inline std::optional<unsigned> EscapedCode(std::string_view text, size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned code = 0;
  const char* const end = text.data() + at + 6;
  const auto [stop, error] = std::from_chars(end - 4, end, code, 16);
  return error == std::errc() && stop == end ? std::optional(code) : std::nullopt;
}

// Makes U+FFFD of escaped halves of surrogate pairs, in as many bytes. Returns where the first one was, or npos. `text`
// need not be JSON.
inline size_t ReplaceLoneSurrogates(std::string& text) {
  size_t first = std::string::npos;
  for (size_t at = text.find('\\'); at != std::string::npos;) {
    const std::optional<unsigned> code = EscapedCode(text, at);
    size_t size = code ? 6 : 2;
    if (code && *code >= 0xD800 && *code <= 0xDFFF) {
      const unsigned next = EscapedCode(text, at + 6).value_or(0);
      if (*code <= 0xDBFF && next >= 0xDC00 && next <= 0xDFFF) {
        size = 12;
      } else {
        text.replace(at, 6, "\\ufffd");
        first = std::min(first, at);
      }
    }
    at = text.find('\\', at + size);
  }
  return first;
}

}  // namespace berth
