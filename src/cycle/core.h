// SPDX-License-Identifier: Apache-2.0
// Core: what the parts of one scheduler share. Each part changes only what its own header says.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "client/cluster_api.h"
#include "client/reflector.h"
#include "cluster/cluster_state.h"
#include "cycle/scheduler.h"
#include "framework/engine.h"
#include "queue/scheduling_queue.h"
#include "util/inbox.h"
#include "util/owner_link.h"
#include "util/timer_queue.h"

namespace berth::cycle {

inline constexpr ClusterEvent kAssignedPodAdd{EventResource::kAssignedPod, action::kAdd};
inline constexpr ClusterEvent kAssignedPodDelete{EventResource::kAssignedPod, action::kDelete};

// Thread safety: scheduling thread.
struct Core {
  Core(client::ClusterApi& a, util::Inbox& i, const Clock& c, const SchedulerOptions& o)
      : api(a), inbox(i), clock(c), options(o) {}

  client::ClusterApi& api;
  util::Inbox& inbox;
  const Clock& clock;
  const SchedulerOptions options;
  util::TimerQueue timers;
  cluster::ClusterState state;
  std::unique_ptr<framework::Engine> engine;
  std::unique_ptr<queue::SchedulingQueue> queue;
  client::Reflector* pods = nullptr;
  bool halted = false;   // nothing more is decided, nor written to pods
  AttemptFacts attempt;  // the present one, or the last
  size_t requests = 0;   // writes and reads whose answer is still to come
  // How often a pod went, was bound or began to terminate: whoever waits for a decision about one looks then.
  uint64_t departures = 0;
  // Of letters and answers, which may come when the scheduler is gone.
  util::Owner<Core> owner{this};

  // For what people read.
  Time Date() const { return options.dates ? options.dates->Now() : clock.Now(); }
  const framework::Profile* ProfileOf(const Pod& pod) const { return engine->FindProfile(pod.scheduler_name); }
  // The pod as the watch has it; null when it is not (or no longer) there.
  Ptr<Pod> FindPod(const std::string& ns, const std::string& name) const {
    const ClusterObject* found = pods->Find(ns, name);
    return found ? std::get<Ptr<Pod>>(*found) : nullptr;
  }
  // Tell(&Observer::OnTry, *pod): whoever observes, if anybody does.
  template <class... Declared, class... Args>
  void Tell(void (Observer::*what)(Declared...), Args&&... args) const {
    if (options.observer) (options.observer->*what)(std::forward<Args>(args)...);
  }
  void Complain(const std::string& text) const {
    if (options.observer) options.observer->OnComplaint(text);
  }
  void Complain(const Error& error) const {
    if (!error.ok()) Complain(error.text());
  }
  // Wraps an answer's callback: counted while it is to come, dropped when the scheduler is gone.
  template <class Fn>
  auto Counted(Fn fn) {
    ++requests;
    return owner.link().Guard([this, fn = std::move(fn)](auto&&... args) {
      --requests;
      fn(std::forward<decltype(args)>(args)...);
    });
  }
  // From any thread: `fn` runs on the scheduling thread, unless the scheduler of `link` is gone by then.
  template <class Fn>
  static void Post(const util::OwnerLink<Core>& link, Fn fn) {
    link.Call([&](Core& core) { core.inbox.Post(link.Guard(std::move(fn))); });
  }
};

}  // namespace berth::cycle
