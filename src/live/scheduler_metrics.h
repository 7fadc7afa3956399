// SPDX-License-Identifier: Apache-2.0
// SchedulerMetrics: what kube-scheduler tells Prometheus of its work, told of ours.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "berth/clock.h"
#include "client/event_writer.h"
#include "config/feature_gates.h"
#include "cycle/scheduler.h"
#include "util/metrics.h"

namespace berth::live {

// By name, labels and buckets as kube-scheduler v1.36.4 has them. What it measures where answers come from memory is
// the same: from popping a pod to the decision, and to the answer to its binding. docs/metrics.md has them all.
//
// Thread safety: scheduling thread.
class SchedulerMetrics final : public cycle::Observer {
 public:
  // REQUIRES: metrics and clock, which is the scheduler's, outlive it.
  SchedulerMetrics(util::Metrics& metrics, const Clock& clock);

  void OnAttempt(const cycle::Attempt& attempt) override;
  void OnScheduled(const cycle::Scheduled& scheduled) override;
  void OnNotBound(const cycle::NotBound& failed) override;
  void OnQueueMove(const queue::QueuedPodInfo& info, queue::Place place, std::string_view event) override;
  void OnPermitWaited(Code code, Duration waited) override;
  void OnPreemptionBegun(const cycle::Preemption& preemption) override;
  void OnPreemptionEnded(const cycle::Preemption& preemption) override;
  void OnHint(const std::string& plugin, const ClusterEvent& event, QueueingHint said, Duration took) override;
  bool TimesEvents() const override { return true; }
  void OnEventHandled(const ClusterEvent& event, Duration took) override;

  // Gauges of what is now: the queue, the cache, bindings; and what others count: events, memory. Looks at every event
  // that is kept for pods in flight, so not to be called after each decision.
  // `gathered`: pods of streams (Gathering).
  void Refresh(cycle::Scheduler& scheduler, uint64_t gathered);

 private:
  using Counter = util::Metrics::Counter;
  using Gauge = util::Metrics::Gauge;
  using Histogram = util::Metrics::Histogram;
  using Event = std::pair<EventResource, ActionType>;
  struct OfProfile {
    Counter attempts;
    Histogram duration;
  };
  // A counter of what somebody else counts.
  struct Follower {
    Counter counter;
    uint64_t counted = 0;
    void Follow(uint64_t now);
  };
  OfProfile& Of(std::string_view result, std::string_view profile);
  void Ended(std::string_view result, std::string_view profile, Time began);
  Gauge PendingGauge(const char* queue);
  Gauge CacheGauge(const char* type);
  Follower Lost(const char* reason);
  Follower FromMemory(const char* result);
  void RefreshInFlight(const queue::SchedulingQueue& queue);
  void RefreshRejected(const queue::SchedulingQueue& queue);

  util::Metrics& metrics_;
  const Clock& clock_;
  // Looked up once: by result and profile, by queue and event, by number of attempts, by event, by code …
  std::map<std::pair<std::string, std::string>, OfProfile> of_profile_;
  std::map<std::pair<std::string, std::string>, Counter> incoming_;
  std::map<std::string, Histogram> sli_;
  std::map<Event, Histogram> handling_;
  std::map<std::tuple<std::string, Event, QueueingHint>, Histogram> hints_;
  std::map<Code, Histogram> permit_;
  std::map<std::string, Gauge> in_flight_;
  std::map<std::pair<std::string, std::string>, Gauge> rejected_;
  const Histogram algorithm_, attempts_, victims_;
  const Counter after_flush_;
  const Counter preempted_, not_preempted_;
  const Histogram preempting_, failing_to_preempt_;
  const Gauge active_, backoff_, unschedulable_, gated_;
  const Gauge nodes_, pods_, assumed_, binding_;
  Follower written_, rejected_events_, given_up_, dropped_;
  Follower known_class_, new_class_, left_, full_passes_, asked_again_;
  const Gauge classes_, class_bytes_;
  Follower gathered_;
};

// kubernetes_feature_enabled, kubernetes_build_info, version_info, and what a process tells of itself. `version`: of
// the Kubernetes that this behaves as.
void AddProcessFacts(util::Metrics& metrics, const config::FeatureGates& gates, const std::string& version);

}  // namespace berth::live
