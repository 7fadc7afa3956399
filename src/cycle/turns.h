// SPDX-License-Identifier: Apache-2.0
// Turns: in which order the pods that wait for extenders are asked about.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "berth/plugin.h"
#include "framework/extender.h"
#include "queue/queued_pod_info.h"

namespace berth::cycle {

// The queue's order: who comes later and would be popped earlier goes before those that wait already. Nobody is passed
// so by more than kMostPassed, so whoever waits is asked about in the end, whatever else comes.
//
// A turn is held as long as somebody keeps it; a pod that has one keeps its place. After that it is withdrawn. The
// numbers of turns change as others come: an extender looks at them when it chooses the next of its calls.
//
// Thread safety: one thread; the numbers may be read on any.
class Turns {
 public:
  static constexpr size_t kMostPassed = 64;
  // `less`: the queue's; equal ones keep the order in which they came.
  explicit Turns(std::function<bool(const QueuedPod&, const QueuedPod&)> less) : less_(std::move(less)) {}

  class Held {
   public:
    ~Held() { *number_ = framework::kWithdrawn; }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    framework::Turn turn() const { return number_; }

   private:
    friend class Turns;
    Held() = default;
    const std::shared_ptr<std::atomic<uint64_t>> number_ = std::make_shared<std::atomic<uint64_t>>(0);
  };
  std::shared_ptr<const Held> Enter(const queue::QueuedPodInfo& info);
  // Before everybody who is there, and passed by nobody from now on. REQUIRES: of Enter.
  void GoFirst(const Held& held);
  size_t size() const;  // that are held

 private:
  struct Place {
    std::weak_ptr<const Held> held;
    std::shared_ptr<const Pod> pod;
    Time timestamp;
    size_t passed = 0;  // by so many that came later
  };
  void Renumber();

  std::function<bool(const QueuedPod&, const QueuedPod&)> less_;
  std::vector<Place> places_;  // who is next first
};

}  // namespace berth::cycle
