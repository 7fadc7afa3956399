// SPDX-License-Identifier: Apache-2.0
// What plugins that compute amounts on vectors share: exact conversions, and bringing few rows together.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace berth::plugins {

// A non-negative integer below 2^52 as a double, without the conversion that only AVX-512 does on vectors.
inline double SmallToDouble(int64_t value) {
  constexpr uint64_t kTwoTo52 = 0x4330000000000000;
  return std::bit_cast<double>(static_cast<uint64_t>(value) | kTwoTo52) - 4503599627370496.0;
}

// Whether so few rows are active that looking at each of them is cheaper than computing all on vectors.
inline bool Sparse(std::span<const uint8_t> active) {
  size_t count = 0;
  for (const uint8_t one : active) count += one;
  return count * 4 <= active.size() || active.size() < 8;
}

// Where the active ones are. REQUIRES: at most 65,536 of them, room for all in `out`.
inline std::span<const uint16_t> ActiveIndices(std::span<const uint8_t> active, uint16_t* out) {
  size_t count = 0;
  for (size_t i = 0; i < active.size(); ++i) {
    out[count] = static_cast<uint16_t>(i);
    count += active[i];
  }
  return {out, count};
}

// The entries of a column at `indices`, one after another. REQUIRES: room for all in `out`.
inline void Gather(const int64_t* column, std::span<const uint16_t> indices, int64_t* out) {
  for (size_t k = 0; k < indices.size(); ++k) out[k] = column[indices[k]];
}

// Whether allocatable, used and used + want are all at least 0 and have at most so many bits.
bool AreSmall(int bits, const int64_t* allocatable, const int64_t* used, int64_t want, size_t n);

}  // namespace berth::plugins
