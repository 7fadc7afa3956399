// SPDX-License-Identifier: Apache-2.0
// Random numbers of the model test: the same ones for the same seed, on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace berth::model {

// splitmix64: small, and every seed is a good one.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // Below n. REQUIRES: n > 0.
  int Below(int n) { return static_cast<int>(Next() % static_cast<uint64_t>(n)); }
  bool Percent(int p) { return Below(100) < p; }
  const char* Of(std::initializer_list<const char*> choices) {
    return *std::next(choices.begin(), Below(static_cast<int>(choices.size())));
  }

 private:
  uint64_t state_;
};

}  // namespace berth::model
