// SPDX-License-Identifier: Apache-2.0
// Random numbers by splitmix64: small, the same on every machine, and every seed is a good one.
#pragma once

#include <cstdint>

namespace berth::util {

// A number that looks random for every `z`.
constexpr uint64_t Scramble(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15U;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() { return Scramble(state_ += kSplitMixStep); }
  // From 0 to n - 1. REQUIRES: n > 0
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  bool Chance(int percent) { return Below(100) < percent; }

 private:
  uint64_t state_;
};

}  // namespace berth::util
