// SPDX-License-Identifier: Apache-2.0
// SteadyClock: time for timers. It counts from some moment that means nothing and goes on evenly, also when somebody
// sets the machine's clock; who wants a date takes SystemClock. Made in main functions only, as that one.
#pragma once

#include <chrono>

#include "berth/clock.h"

namespace berth::util {

class SteadyClock final : public Clock {
 public:
  Time Now() const override {
    const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count()};
  }
};

}  // namespace berth::util
