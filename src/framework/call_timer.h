// SPDX-License-Identifier: Apache-2.0
// TimedCycle: whether a cycle's calls of plugins are timed. Stage: one extension point of it, with all its plugins.
#pragma once

#include <utility>

#include "framework/profile.h"

namespace berth::framework {

// From here to its end is one cycle, of which the profile's timer says whether it is timed. They may be nested: a pod
// that goes back to the queue is asked about by PreEnqueue, which is a cycle of its own.
// Thread safety: scheduling thread.
class TimedCycle {
 public:
  explicit TimedCycle(const Profile& profile) : observers_(*profile.observers), before_(observers_.timed()) {
    if (CallTimer* timer = observers_.timer()) observers_.SetTimed(timer->Draw());
  }
  ~TimedCycle() { observers_.SetTimed(before_); }
  TimedCycle(const TimedCycle&) = delete;
  TimedCycle& operator=(const TimedCycle&) = delete;

 private:
  CallObservers& observers_;
  const bool before_;
};

// An extension point as a whole, from here to End. Without End it does not count: what a decision from memory has done
// before it turned out that everything has to be asked, for example, is done again.
class Stage {
 public:
  Stage(const Profile& profile, PluginFunction point) : Stage(profile, point, profile.observers->timed()) {}
  // For what goes on after the cycle: `timed` as it was then.
  Stage(const Profile& profile, PluginFunction point, bool timed) {
    if (timed) [[unlikely]]
      end_ = profile.observers->timer()->StageBegins(point);
  }
  void End(Code code) {
    if (end_) [[unlikely]]
      std::exchange(end_, nullptr)(code);
  }
  // End, for somebody else to call; empty when nobody times.
  CallTimer::StageEnd TakeEnd() { return std::exchange(end_, nullptr); }

 private:
  CallTimer::StageEnd end_;
};

// So many calls of this function, or nodes it was asked about. Costs a look at a pointer where nobody counts.
inline void CountCalls(const Profile& profile, uint16_t plugin, PluginFunction function, uint64_t times = 1) {
  if (CallCounts* counts = profile.observers->counts()) counts->Add(plugin, function, times);
}

}  // namespace berth::framework
