// SPDX-License-Identifier: Apache-2.0
// TimerQueue: things to do at given times, on the thread that owns the queue.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "berth/clock.h"

namespace berth::util {

// Entries of one time run in the order in which they were added, so that a run can be repeated.
// Thread safety: none.
class TimerQueue {
 public:
  using Id = std::pair<int64_t, uint64_t>;
  static constexpr Time kNever{INT64_MAX};

  Id At(Time time, std::function<void()> fn) {
    const Id id{time.ns, next_++};
    entries_.emplace(id, std::move(fn));
    return id;
  }
  // No effect when it has run already.
  void Cancel(Id id) { entries_.erase(id); }
  // When the next entry is due; kNever without one.
  Time Next() const { return entries_.empty() ? kNever : Time{entries_.begin()->first.first}; }
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  // Runs the first entry if it is due at `now`; false when none is. It may add and cancel entries.
  bool RunOne(Time now) {
    if (entries_.empty() || entries_.begin()->first.first > now.ns) return false;
    const std::function<void()> fn = std::move(entries_.begin()->second);
    entries_.erase(entries_.begin());
    fn();
    return true;
  }

 private:
  std::map<Id, std::function<void()>> entries_;
  uint64_t next_ = 0;
};

}  // namespace berth::util
