// SPDX-License-Identifier: Apache-2.0
// Backoff: how long a pod that failed has to wait, in whole seconds of the clock.
#pragma once

#include <cstdint>

#include "berth/clock.h"

namespace berth::queue {

// Earlier than any time there is: a pod that has nothing to wait for. And later than any: nothing to wake up for.
inline constexpr Time kLongAgo{INT64_MIN};
inline constexpr Time kNever{INT64_MAX};
// Pods whose backoff ends within the same second are ordered and released together (upstream: ordering window).
inline constexpr Duration kBackoffWindow = Duration::Seconds(1);

// The last whole second at or before `t`.
Time TruncateToSecond(Time t);

struct Backoff {
  Duration initial = Duration::Seconds(1);
  Duration max = Duration::Seconds(10);  // 0: no backoff at all

  // initial * 2^(count-1), at most max; 0 for count 0.
  Duration For(int count) const;
  // When a pod that came back at `timestamp` after `count` failures has waited, truncated to the second.
  Time Expiry(Time timestamp, int count) const;
};

// A pod waits through the whole second in which its backoff expires, so it is released one second later.
inline bool StillWaiting(Time expiry, Time now) { return expiry >= TruncateToSecond(now); }
// The first flush (they happen at whole seconds) that releases it. REQUIRES: expiry came from Backoff, not kLongAgo.
inline Time ReleasedAt(Time expiry) { return expiry + kBackoffWindow; }

}  // namespace berth::queue
