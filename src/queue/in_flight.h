// SPDX-License-Identifier: Apache-2.0
// InFlight: the events that happened while pods were being scheduled, kept until no such pod can ask for them.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "berth/events.h"

namespace berth::queue {

// The objects of an event, kept alive: hints may be asked long after the cluster has moved on. `before` is null for an
// add and `after` for a delete.
struct SharedObjects {
  std::shared_ptr<const Pod> pod_before, pod_after;
  std::shared_ptr<const Node> node_before, node_after;
  SharedObjectChange object = {};  // of the other kinds

  EventObjects view() const {
    return {pod_before.get(), pod_after.get(), node_before.get(), node_after.get(), object.view()};
  }
};

struct RecordedEvent {
  ClusterEvent event;
  SharedObjects objects;
};

// A log with readers: each pod in flight marks where its attempt began and may read everything after it. What lies
// before the oldest mark is dropped, with the objects it held.
//
// Invariant: without marks there are no events; otherwise the log starts at the oldest mark.
// Thread safety: none.
class InFlight {
 public:
  using Mark = std::list<uint64_t>::iterator;

  // An attempt begins: events from now on are its own.
  Mark Begin() { return marks_.insert(marks_.end(), base_ + events_.size()); }
  // It is over; the mark is no longer valid.
  void End(Mark mark);
  // Ignored while nothing is in flight.
  void Record(const ClusterEvent& event, const SharedObjects& objects);

  using Events = std::deque<RecordedEvent>;
  Events::const_iterator Since(Mark mark) const { return events_.begin() + static_cast<int64_t>(*mark - base_); }
  Events::const_iterator end() const { return events_.end(); }

  // How many are kept of each resource and action.
  using Counts = std::map<std::pair<EventResource, ActionType>, size_t>;
  const Counts& counts() const { return counts_; }
  size_t pods() const { return marks_.size(); }
  size_t events() const { return events_.size(); }
  // False when something is kept that nobody can ask for.
  bool Pruned() const { return marks_.empty() ? events_.empty() : marks_.front() == base_; }

 private:
  std::list<uint64_t> marks_;  // ascending: positions in the log, counted from its beginning of time
  Events events_;
  Counts counts_;      // of events_; no zeros
  uint64_t base_ = 0;  // position of events_.front()
};

}  // namespace berth::queue
