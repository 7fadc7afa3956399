// SPDX-License-Identifier: Apache-2.0
// Random numbers of the model test: the same ones for the same seed, on every machine.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iterator>

#include "util/random.h"

namespace berth::model {

class Random {
 public:
  explicit Random(uint64_t seed) : random_(seed) {}
  uint64_t Next() { return random_.Next(); }
  // Below n. REQUIRES: n > 0.
  int Below(int n) { return static_cast<int>(Next() % static_cast<uint64_t>(n)); }
  bool Percent(int p) { return Below(100) < p; }
  const char* Of(std::initializer_list<const char*> choices) {
    return *std::next(choices.begin(), Below(static_cast<int>(choices.size())));
  }

 private:
  util::Random random_;
};

}  // namespace berth::model
