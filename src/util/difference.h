// SPDX-License-Identifier: Apache-2.0
// Difference: of numbers that a peer may have chosen.
#pragma once

#include <cstdint>
#include <limits>

namespace berth::util {

// a - b, or the nearest number that there is: whoever wants to know by how much gets no other sign.
constexpr int64_t Difference(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace berth::util
