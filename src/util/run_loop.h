// SPDX-License-Identifier: Apache-2.0
// RunLoop: real time for a thread that owns an inbox: it works while there is something to do and sleeps otherwise.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "berth/clock.h"
#include "util/inbox.h"

namespace berth::util {

// REQUIRES: inbox and clock outlive it. The clock does not step when somebody sets the machine's (SteadyClock), or
// nothing that is planned would happen until it has caught up.
// Thread safety: Run on the inbox's thread; Stop and stopped from any.
class RunLoop {
 public:
  RunLoop(Inbox& inbox, const Clock& clock) : inbox_(inbox), clock_(clock) {}

  // Until Stop. Each round is one call of `work`, which drains the inbox and runs timers; it returns whether it may
  // have more to do. When it has not, the thread sleeps until there is a letter, or until the time that `next_wake`
  // gives. `patience` says how long what the inbox's guest has to tell may wait for more of it.
  template <class Work, class NextWake, class Patience>
  void Run(Work&& work, NextWake&& next_wake, Patience&& patience) {
    while (!stopped_) {
      if (work() || stopped_) continue;
      const Time now = clock_.Now(), wake = next_wake();
      if (wake <= now) continue;
      // Subtracting from "never" must not overflow, and nobody minds waking once an hour.
      const int64_t wait = std::min(wake.ns - std::max<int64_t>(now.ns, 0), kLongest);
      const Duration may_wait = patience();
      inbox_.WaitFor(std::chrono::nanoseconds(wait), std::chrono::nanoseconds(may_wait.ns));
    }
  }
  template <class Work, class NextWake>
  void Run(Work&& work, NextWake&& next_wake) {
    Run(work, next_wake, [] { return Duration{}; });
  }

  // Run returns when the present call of `work` does.
  void Stop() {
    stopped_ = true;
    inbox_.Post([] {});
  }
  bool stopped() const { return stopped_; }

 private:
  static constexpr int64_t kLongest = 3'600'000'000'000;

  Inbox& inbox_;
  const Clock& clock_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace berth::util
