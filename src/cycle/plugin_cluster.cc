// SPDX-License-Identifier: Apache-2.0
// Timers of plugins.
#include "cycle/plugin_cluster.h"

#include <cstdint>
#include <utility>

namespace berth::cycle {

PluginCluster::TimerId PluginCluster::After(Duration delay, std::function<void()> fn) {
  const TimerId id = ++last_;
  const Time now = core_.clock.Now();
  // A wait beyond the end of time is one without end.
  const Time due = delay.ns > INT64_MAX - now.ns ? util::TimerQueue::kNever : now + delay;
  timers_[id] = core_.timers.At(due, [this, id, fn = std::move(fn)] {
    timers_.erase(id);
    fn();
  });
  return id;
}

void PluginCluster::Cancel(TimerId id) {
  const auto it = timers_.find(id);
  if (it == timers_.end()) return;
  core_.timers.Cancel(it->second);
  timers_.erase(it);
}

}  // namespace berth::cycle
