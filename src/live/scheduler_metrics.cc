// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/metrics/metrics.go (v1.36.4).
#include "live/scheduler_metrics.h"

#include <vector>

#include "berth/version.h"
#include "util/process_metrics.h"

namespace berth::live {
namespace {

using util::Metrics;

constexpr char kAttemptsTotal[] = "scheduler_schedule_attempts_total";
constexpr char kAttemptDuration[] = "scheduler_scheduling_attempt_duration_seconds";
constexpr char kIncoming[] = "scheduler_queue_incoming_pods_total";
constexpr char kSli[] = "scheduler_pod_scheduling_sli_duration_seconds";
constexpr char kPending[] = "scheduler_pending_pods";
constexpr char kCache[] = "scheduler_cache_size";

double Seconds(Duration d) { return static_cast<double>(d.ns) * 1e-9; }

}  // namespace

SchedulerMetrics::SchedulerMetrics(Metrics& metrics, const Clock& clock)
    : metrics_(metrics),
      clock_(clock),
      algorithm_(metrics.histogram("scheduler_scheduling_algorithm_duration_seconds",
                                   "Seconds from popping a pod to its decision, preemption included.",
                                   Metrics::Exponential(0.001, 2, 15))),
      attempts_(metrics.histogram("scheduler_pod_scheduling_attempts", "Attempts that a pod needed to be scheduled.",
                                  Metrics::Exponential(1, 2, 5))),
      after_flush_(
          metrics.counter("scheduler_pod_scheduled_after_flush_total",
                          "Pods scheduled after they had waited so long that they were tried without a reason.")) {}

SchedulerMetrics::OfProfile& SchedulerMetrics::Of(std::string_view result, std::string_view profile) {
  const std::pair<std::string, std::string> key(result, profile);
  if (const auto it = of_profile_.find(key); it != of_profile_.end()) return it->second;
  const Metrics::Labels labels = {{"profile", key.second}, {"result", key.first}};
  return of_profile_
      .emplace(key, OfProfile{metrics_.counter(kAttemptsTotal, "Attempts to schedule pods, by result.", labels),
                              metrics_.histogram(kAttemptDuration, "Seconds of an attempt, binding included.",
                                                 Metrics::Exponential(0.001, 2, 15), labels)})
      .first->second;
}

void SchedulerMetrics::Ended(std::string_view result, std::string_view profile, Time began) {
  const OfProfile& of = Of(result, profile);
  of.attempts.Add();
  of.duration.Observe(Seconds(clock_.Now() - began));
}

void SchedulerMetrics::OnAttempt(const cycle::Attempt& attempt) {
  algorithm_.Observe(Seconds(attempt.decided - attempt.began));
  // One that goes on to bind ends there.
  if (attempt.node.empty())
    Ended(attempt.error ? "error" : "unschedulable", attempt.profile->scheduler_name, attempt.began);
}

void SchedulerMetrics::OnNotBound(const cycle::NotBound& failed) {
  Ended(failed.error ? "error" : "unschedulable", failed.profile.scheduler_name, failed.attempt.began);
}

void SchedulerMetrics::OnScheduled(const cycle::Scheduled& scheduled) {
  Ended("scheduled", scheduled.profile.scheduler_name, scheduled.attempt.began);
  const queue::QueuedPodInfo& info = scheduled.info;
  attempts_.Observe(info.attempts);
  if (info.was_flushed) after_flush_.Add();
  if (!info.initial_attempt) return;
  const std::string tries = info.attempts >= 15 ? "15+" : std::to_string(info.attempts);
  auto it = sli_.find(tries);
  if (it == sli_.end()) {
    it = sli_.emplace(tries, metrics_.histogram(kSli, "Seconds from when a pod could first be tried to its binding.",
                                                Metrics::Exponential(0.01, 2, 20), {{"attempts", tries}}))
             .first;
  }
  it->second.Observe(Seconds(clock_.Now() - *info.initial_attempt));
}

void SchedulerMetrics::OnQueueMove(const queue::QueuedPodInfo&, queue::Place place, std::string_view event) {
  std::string queue;
  switch (place) {
    case queue::Place::kActive:
      queue = "active";
      break;
    case queue::Place::kBackoff:
    case queue::Place::kErrorBackoff:
      queue = "backoff";
      break;
    case queue::Place::kUnschedulable:
      queue = "unschedulable";
      break;
    case queue::Place::kGated:
      queue = "gated";
      break;
    default:
      return;
  }
  const std::pair<std::string, std::string> key(queue, event);
  auto it = incoming_.find(key);
  if (it == incoming_.end()) {
    it = incoming_
             .emplace(key, metrics_.counter(kIncoming, "Pods that came into a queue, by what brought them there.",
                                            {{"event", key.second}, {"queue", key.first}}))
             .first;
  }
  it->second.Add();
}

void SchedulerMetrics::Refresh(const cycle::Scheduler& scheduler) {
  const queue::SchedulingQueue::Counts counts = scheduler.queue().counts();
  const auto pending = [&](const char* queue, size_t pods) {
    metrics_.gauge(kPending, "Pods that wait, by queue.", {{"queue", queue}}).Set(static_cast<double>(pods));
  };
  pending("active", counts.active);
  pending("backoff", counts.backoff + counts.error_backoff);
  pending("unschedulable", counts.unschedulable);
  pending("gated", counts.gated);
  const auto cache = [&](const char* type, size_t size) {
    metrics_.gauge(kCache, "Objects in the scheduler's cache.", {{"type", type}}).Set(static_cast<double>(size));
  };
  cache("nodes", scheduler.state().snapshot().node_count());
  cache("pods", scheduler.state().pod_count());
  cache("assumed_pods", scheduler.state().assumed_count());
}

void AddProcessFacts(Metrics& metrics, const config::FeatureGates& gates, const std::string& version) {
  util::AddProcessMetrics(metrics);
  gates.ForEach([&](std::string_view name, std::string_view stage, bool enabled) {
    metrics
        .gauge("kubernetes_feature_enabled", "Whether a feature gate is on.",
               {{"name", std::string(name)}, {"stage", std::string(stage)}})
        .Set(enabled ? 1 : 0);
  });
  const size_t first = version.find('.'), second = version.find('.', first + 1);
  metrics
      .gauge("kubernetes_build_info", "What this is; always 1.",
             {{"build_date", "1970-01-01T00:00:00Z"},
              {"compiler", "g++"},
              {"git_commit", std::string("berth-") + kVersion},
              {"git_tree_state", ""},
              {"git_version", version},
              {"go_version", ""},
              {"major", version.substr(1, first - 1)},
              {"minor", version.substr(first + 1, second - first - 1)},
              {"platform", "linux"}})
      .Set(1);
}

}  // namespace berth::live
