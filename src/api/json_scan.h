// SPDX-License-Identifier: Apache-2.0
// A validating JSON scanner: finds where one document ends and says precisely what is wrong with it. simdjson's
// on-demand reader does not look at what it skips, so files pass through here first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "berth/error.h"

namespace berth {

inline constexpr int kMaxJsonDepth = 512;

// Checks the JSON value that starts at text[start] (RFC 8259, at most kMaxJsonDepth levels; UTF-8 is not looked at) and
// returns the offset behind it. Errors name line and column. `depth` levels around the value count as well.
Result<size_t> ScanJsonValue(std::string_view text, size_t start, int depth = 0);

// `line L, column C` of an offset, both from 1.
std::string TextPosition(std::string_view text, size_t offset);

inline bool IsAscii(std::string_view text) {
  uint64_t seen = 0;
  const auto look = [&](size_t at) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof word);
    seen |= word;
  };
  if (text.size() >= sizeof seen) {
    for (size_t at = 0; at + sizeof seen < text.size(); at += sizeof seen) look(at);
    look(text.size() - sizeof seen);  // once more, perhaps, and no byte by itself
  } else {
    for (const char c : text) seen |= static_cast<unsigned char>(c);
  }
  return (seen & 0x8080'8080'8080'8080) == 0;
}

// Ok, or where the first byte is that is not UTF-8.
Error CheckUtf8(std::string_view text);

// With U+FFFD for every byte that is not UTF-8, as Go's encoding/json writes such a text.
std::string RepairUtf8(std::string_view text);

// Appends `text` as a JSON string, with quotes. REQUIRES: valid UTF-8.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace berth
