// SPDX-License-Identifier: Apache-2.0
// LiveLoop: real time for a run that reads from top to bottom: whoever waits lets it turn.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "berth/clock.h"
#include "util/inbox.h"
#include "util/timer_queue.h"

namespace berth::bench {

// REQUIRES: the clock outlives it and is a steady one.
// Thread safety: one thread, but for posting to the inbox.
class LiveLoop {
 public:
  explicit LiveLoop(const Clock& clock) : clock_(clock) {}

  util::Inbox& inbox() { return inbox_; }
  util::TimerQueue& timers() { return timers_; }
  const Clock& clock() const { return clock_; }
  Time Now() const { return clock_.Now(); }
  void After(Duration delay, std::function<void()> fn) { timers_.At(Now() + delay, std::move(fn)); }

  // One round of what has come and what is due. When there is neither, it waits for that, until `until` at the most,
  // and a tenth of a second, so that callers can look for what does not come by letter.
  void Turn(Time until) {
    bool worked = inbox_.Drain() > 0;
    while (timers_.RunOne(Now())) worked = true;
    if (worked) return;
    const int64_t wait = std::min({until.ns, timers_.Next().ns, (Now() + kLook).ns}) - Now().ns;
    if (wait > 0) inbox_.WaitFor(std::chrono::nanoseconds(wait));
  }

 private:
  static constexpr Duration kLook = Duration::Millis(100);

  const Clock& clock_;
  util::Inbox inbox_;
  util::TimerQueue timers_;
};

}  // namespace berth::bench
