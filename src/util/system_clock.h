// SPDX-License-Identifier: Apache-2.0
// SystemClock: the operating system's time. Made in main functions only; everybody else is handed a Clock.
#pragma once

#include <chrono>

#include "berth/clock.h"

namespace berth::util {

class SystemClock final : public Clock {
 public:
  Time Now() const override {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count()};
  }
};

}  // namespace berth::util
