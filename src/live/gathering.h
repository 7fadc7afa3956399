// SPDX-License-Identifier: Apache-2.0
// Gathering: how long a scheduler may leave the cluster's news unread while pods arrive in a stream.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/clock.h"

namespace berth::live {

// A pod that arrives alone costs five times what one of many does: the way from its news to its binding is long, and
// nothing of it is in the processor's caches after a while. So pods of a stream are taken some at a time, as a network
// card raises fewer interrupts when packets keep coming. One that arrives alone is taken at once, and so is a crowd:
// the more arrive, the less time passes until there are enough.
//
// Thread safety: one thread.
class Gathering {
 public:
  // It is a stream when so many were tried in each of the last half seconds, and until there are half as many.
  static constexpr size_t kStream = 10;
  // That are worth waking up for.
  static constexpr int64_t kEnough = 8;

  // `longest`: 0, nothing ever waits.
  explicit Gathering(Duration longest) : longest_(longest) {}

  void Tried(Time now) {
    Turn(now);
    ++tried_[0];
  }
  // So long after the look before the next one may come.
  Duration Patience(Time now) {
    if (longest_.ns <= 0) return {};
    Turn(now);
    const size_t fewest = std::min(tried_[1], tried_[2]);
    streaming_ = fewest >= (streaming_ ? kStream / 2 : kStream);
    if (!streaming_) return {};
    return Duration{std::min(longest_.ns, kEnough * 2 * kWindow.ns / static_cast<int64_t>(tried_[1] + tried_[2]))};
  }

 private:
  static constexpr Duration kWindow = Duration::Millis(500);

  void Turn(Time now) {
    const int64_t windows = (now - began_).ns / kWindow.ns;
    if (windows <= 0) return;
    for (int64_t i = 0; i < std::min<int64_t>(windows, 3); ++i) tried_ = {0, tried_[0], tried_[1]};
    began_ = began_ + Duration{windows * kWindow.ns};
  }

  const Duration longest_;
  std::array<size_t, 3> tried_{};  // pods, in the present window and the two before it
  Time began_;                     // of the present one
  bool streaming_ = false;
};

}  // namespace berth::live
