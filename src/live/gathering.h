// SPDX-License-Identifier: Apache-2.0
// Gathering: how long a scheduler may leave the cluster's news unread while pods arrive in a stream.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "berth/clock.h"

namespace berth::live {

// A pod that arrives alone costs five times what one of many does: the way from its news to its binding is long, and
// nothing of it is in the processor's caches after a while. So pods of a stream are taken some at a time, as a network
// card raises fewer interrupts when packets keep coming. A pod that arrives alone is taken at once, and so is a crowd:
// the more pods arrive, the sooner there are enough.
//
// Whoever creates a pod when the one before is bound would be slowed down for nothing, and more and more, since fewer
// pods make for more patience. So after a stream that has dried up nothing waits for a while, twice as long each time
// unless it had lasted.
//
// Thread safety: one thread.
class Gathering {
 public:
  // So many pods in each of the two half seconds before the present one are a stream. It ends when there are fewer than
  // half as many in either, or than three quarters of what there were at first.
  static constexpr size_t kStream = 10;
  // Pods that are worth waking up for.
  static constexpr int64_t kEnough = 8;
  // After a stream that dried up.
  static constexpr Duration kFirstPause = Duration::Seconds(10), kLongestPause = Duration::Seconds(300);

  // `longest`: 0, nothing ever waits.
  explicit Gathering(Duration longest) : longest_(longest) {}

  // A pod is tried for the first time.
  void Tried(Time now);
  // So long after the look before the next one may come.
  Duration Patience(Time now);

 private:
  void Roll(Time now);
  size_t lately() const { return tried_[1] + tried_[2]; }  // in a second

  const Duration longest_;
  std::array<size_t, 3> tried_{};  // pods, in the present half second and the two before it
  Time began_;                     // of the present one
  bool streaming_ = false;
  size_t at_first_ = 0;  // pods in the second before the stream was taken for one
  int64_t windows_ = 0;  // half seconds since then
  Time paused_until_;
  Duration pause_ = kFirstPause;  // the next one
};

}  // namespace berth::live
