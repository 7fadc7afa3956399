// SPDX-License-Identifier: Apache-2.0
// VirtualClock: time that stands still until somebody moves it.
#pragma once

#include <algorithm>
#include <atomic>

#include "berth/clock.h"

namespace berth::util {

// Thread safety: all methods.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Time start) : now_(start.ns) {}
  Time Now() const override { return {now_.load(std::memory_order_relaxed)}; }
  // Never goes back: an earlier time is ignored.
  void MoveTo(Time t) { now_.store(std::max(now_.load(std::memory_order_relaxed), t.ns), std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> now_;
};

}  // namespace berth::util
