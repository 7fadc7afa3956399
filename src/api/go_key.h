// SPDX-License-Identifier: Apache-2.0
// Keys of JSON objects as Go's encoding/json compares them.
#pragma once

#include <string_view>

namespace berth {

// Whether Go takes `key` for the struct field `field` (ASCII letters and digits): letters in any case, also those two
// that Unicode folds into ASCII, U+017F for s and U+212A for k.
bool KeyMatchesFolded(std::string_view key, std::string_view field);
inline bool KeyMatches(std::string_view key, std::string_view field) {
  return key == field || KeyMatchesFolded(key, field);  // mostly they are written as they should be
}

}  // namespace berth
