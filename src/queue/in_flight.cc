// SPDX-License-Identifier: Apache-2.0
// Keeping and pruning the events that pods in flight may still need.
#include "queue/in_flight.h"

namespace berth::queue {

void InFlight::End(Mark mark) {
  marks_.erase(mark);
  const uint64_t oldest = marks_.empty() ? base_ + events_.size() : marks_.front();
  while (base_ < oldest) {
    const ClusterEvent& event = events_.front().event;
    const auto counted = counts_.find({event.resource, event.actions});
    if (--counted->second == 0) counts_.erase(counted);
    events_.pop_front();
    ++base_;
  }
}

void InFlight::Record(const ClusterEvent& event, const SharedObjects& objects) {
  if (marks_.empty()) return;
  events_.push_back({event, objects});
  ++counts_[{event.resource, event.actions}];
}

}  // namespace berth::queue
