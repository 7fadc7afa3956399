// SPDX-License-Identifier: Apache-2.0
// SchedulerMetrics: what kube-scheduler tells Prometheus of its work, told of ours.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "berth/clock.h"
#include "config/feature_gates.h"
#include "cycle/scheduler.h"
#include "util/metrics.h"

namespace berth::live {

// By name, labels and buckets as kube-scheduler v1.36.4 has them. What it measures where answers come from memory is
// the same: from popping a pod to the decision, and to the answer to its binding.
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

  // Gauges of what is now: the queue and the cache.
  void Refresh(const cycle::Scheduler& scheduler);

 private:
  struct OfProfile {
    util::Metrics::Counter attempts;
    util::Metrics::Histogram duration;
  };
  OfProfile& Of(std::string_view result, std::string_view profile);
  void Ended(std::string_view result, std::string_view profile, Time began);

  util::Metrics& metrics_;
  const Clock& clock_;
  // Looked up once: by result and profile, by queue and event, by number of attempts.
  std::map<std::pair<std::string, std::string>, OfProfile> of_profile_;
  std::map<std::pair<std::string, std::string>, util::Metrics::Counter> incoming_;
  std::map<std::string, util::Metrics::Histogram> sli_;
  const util::Metrics::Histogram algorithm_, attempts_;
  const util::Metrics::Counter after_flush_;
};

// kubernetes_feature_enabled, kubernetes_build_info, and what a process tells of itself. `version`: of the Kubernetes
// that this behaves as.
void AddProcessFacts(util::Metrics& metrics, const config::FeatureGates& gates, const std::string& version);

}  // namespace berth::live
