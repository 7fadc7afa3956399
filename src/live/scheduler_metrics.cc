// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/metrics/metrics.go (v1.36.4).
#include "live/scheduler_metrics.h"

#include <tuple>

#include "berth/version.h"
#include "queue/hint_map.h"
#include "util/process_metrics.h"

namespace berth::live {
namespace {

using util::Metrics;

constexpr char kPreemptions[] = "scheduler_preemption_goroutines_execution_total";
constexpr char kPreemptionSeconds[] = "scheduler_preemption_goroutines_duration_seconds";

Metrics::Counter PreemptionsOf(Metrics& metrics, const char* result) {
  return metrics.counter(kPreemptions, "Number of preemption goroutines executed.", {{"result", result}});
}
Metrics::Histogram PreemptionSecondsOf(Metrics& metrics, const char* result) {
  return metrics.histogram(kPreemptionSeconds, "Duration in seconds for running goroutines for the preemption.",
                           Metrics::Exponential(0.01, 2, 20), {{"result", result}});
}

// The one of this key, made when it is first asked for.
template <class Map, class Make>
const typename Map::mapped_type& Once(Map& map, typename Map::key_type key, Make&& make) {
  if (const auto known = map.find(key); known != map.end()) return known->second;
  return map.emplace(std::move(key), make()).first->second;
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(Metrics& metrics, const Clock& clock)
    : metrics_(metrics),
      clock_(clock),
      algorithm_(metrics.histogram("scheduler_scheduling_algorithm_duration_seconds",
                                   "Scheduling algorithm latency in seconds, preemption included.",
                                   Metrics::Exponential(0.001, 2, 15))),
      attempts_(metrics.histogram("scheduler_pod_scheduling_attempts",
                                  "Number of attempts to successfully schedule a pod.", Metrics::Exponential(1, 2, 5))),
      victims_(metrics.histogram("scheduler_preemption_victims", "Number of selected preemption victims",
                                 Metrics::Exponential(1, 2, 7))),
      after_flush_(
          metrics.counter("scheduler_pod_scheduled_after_flush_total",
                          "Pods scheduled after they had waited so long that they were tried without a reason.")),
      preempted_(PreemptionsOf(metrics, "success")),
      not_preempted_(PreemptionsOf(metrics, "error")),
      preempting_(PreemptionSecondsOf(metrics, "success")),
      failing_to_preempt_(PreemptionSecondsOf(metrics, "error")),
      active_(PendingGauge("active")),
      backoff_(PendingGauge("backoff")),
      unschedulable_(PendingGauge("unschedulable")),
      gated_(PendingGauge("gated")),
      nodes_(CacheGauge("nodes")),
      pods_(CacheGauge("pods")),
      assumed_(CacheGauge("assumed_pods")),
      binding_(
          metrics.gauge("scheduler_goroutines", "What is under way, by the work it does.", {{"operation", "binding"}})),
      written_{metrics.counter("berth_events_written_total", "Requests to write an event that the server has taken.")},
      rejected_events_(Lost("rejected")),
      given_up_(Lost("unanswered")),
      dropped_(Lost("no room")),
      known_class_(FromMemory("known class")),
      new_class_(FromMemory("new class")),
      left_(FromMemory("left")),
      full_passes_{metrics.counter("berth_memory_full_passes_total",
                                   "How often all nodes were asked about for a class of pods.")},
      asked_again_{metrics.counter("berth_memory_repaired_nodes_total",
                                   "Nodes that were asked about again because they had changed.")},
      classes_(metrics.gauge("berth_memory_classes", "Classes of pods whose answers are remembered.")),
      class_bytes_(metrics.gauge("berth_memory_bytes", "What they take, in bytes.")),
      gathered_{metrics.counter("berth_gathered_pods_total",
                                "Pods that were read while news of a stream was being delayed.")} {}

SchedulerMetrics::Gauge SchedulerMetrics::PendingGauge(const char* queue) {
  return metrics_.gauge(
      "scheduler_pending_pods",
      "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; 'backoff' "
      "means number of pods in backoffQ; 'unschedulable' means number of pods in unschedulablePods "
      "that the scheduler attempted to schedule and failed; 'gated' is the number of unschedulable "
      "pods that the scheduler never attempted to schedule because they are gated.",
      {{"queue", queue}});
}

SchedulerMetrics::Gauge SchedulerMetrics::CacheGauge(const char* type) {
  return metrics_.gauge("scheduler_cache_size",
                        "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.", {{"type", type}});
}

SchedulerMetrics::Follower SchedulerMetrics::Lost(const char* reason) {
  return {metrics_.counter("berth_events_lost_total",
                           "Events that the server does not have, by reason: rejected, it said so; unanswered, it was "
                           "asked too often in vain; no room, too many waited.",
                           {{"reason", reason}})};
}

SchedulerMetrics::Follower SchedulerMetrics::FromMemory(const char* result) {
  return {metrics_.counter("berth_memory_decisions_total",
                           "Decisions by what was remembered: known class, what plugins had said of such a pod before; "
                           "new class, nothing yet; left, the decision was made without memory.",
                           {{"result", result}})};
}

void SchedulerMetrics::Follower::Follow(uint64_t now) {
  if (now <= counted) return;
  counter.Add(static_cast<double>(now - counted));
  counted = now;
}

SchedulerMetrics::OfProfile& SchedulerMetrics::Of(std::string_view result, std::string_view profile) {
  const std::pair<std::string, std::string> key(result, profile);
  if (const auto it = of_profile_.find(key); it != of_profile_.end()) return it->second;
  const Metrics::Labels labels = {{"profile", key.second}, {"result", key.first}};
  return of_profile_
      .emplace(key,
               OfProfile{metrics_.counter("scheduler_schedule_attempts_total",
                                          "Number of attempts to schedule pods, by the result. 'unschedulable' "
                                          "means a pod could not be scheduled, while 'error' means an internal "
                                          "scheduler problem.",
                                          labels),
                         metrics_.histogram("scheduler_scheduling_attempt_duration_seconds",
                                            "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                                            Metrics::Exponential(0.001, 2, 15), labels)})
      .first->second;
}

void SchedulerMetrics::Ended(std::string_view result, std::string_view profile, Time began) {
  const OfProfile& of = Of(result, profile);
  of.attempts.Add();
  of.duration.Observe((clock_.Now() - began).seconds());
}

void SchedulerMetrics::OnAttempt(const cycle::Attempt& attempt) {
  algorithm_.Observe((attempt.decided - attempt.began).seconds());
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
  Once(sli_, tries, [&] {
    return metrics_.histogram(
        "scheduler_pod_scheduling_sli_duration_seconds",
        "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue "
        "and might involve multiple scheduling attempts.",
        Metrics::Exponential(0.01, 2, 20), {{"attempts", tries}});
  }).Observe((clock_.Now() - *info.initial_attempt).seconds());
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
    case queue::Place::kGated:
      queue = "unschedulable";
      break;
    default:
      return;
  }
  Once(incoming_, {queue, std::string(event)}, [&] {
    return metrics_.counter("scheduler_queue_incoming_pods_total",
                            "Number of pods added to scheduling queues by event and queue type.",
                            {{"event", std::string(event)}, {"queue", queue}});
  }).Add();
}

void SchedulerMetrics::OnPermitWaited(Code code, Duration waited) {
  Once(permit_, code, [&] {
    return metrics_.histogram("scheduler_permit_wait_duration_seconds", "Duration of waiting on permit.",
                              Metrics::Exponential(0.001, 2, 15), {{"result", std::string(ToString(code))}});
  }).Observe(waited.seconds());
}

void SchedulerMetrics::OnPreemptionBegun(const cycle::Preemption& preemption) {
  victims_.Observe(static_cast<double>(preemption.victims));
}

void SchedulerMetrics::OnPreemptionEnded(const cycle::Preemption& preemption) {
  (preemption.succeeded ? preempted_ : not_preempted_).Add();
  (preemption.succeeded ? preempting_ : failing_to_preempt_).Observe(preemption.took.seconds());
}

void SchedulerMetrics::OnHint(const std::string& plugin, const ClusterEvent& event, QueueingHint said, Duration took) {
  Once(hints_, {plugin, {event.resource, event.actions}, said}, [&] {
    return metrics_.histogram("scheduler_queueing_hint_execution_duration_seconds",
                              "Duration for running a queueing hint function of a plugin.",
                              Metrics::Exponential(0.00001, 1.5, 20),
                              {{"event", queue::EventLabel(event)},
                               {"hint", said == QueueingHint::kSkip ? "QueueSkip" : "Queue"},
                               {"plugin", plugin}});
  }).Observe(took.seconds());
}

void SchedulerMetrics::OnEventHandled(const ClusterEvent& event, Duration took) {
  Once(handling_, {event.resource, event.actions}, [&] {
    return metrics_.histogram("scheduler_event_handling_duration_seconds", "Event handling latency in seconds.",
                              Metrics::Exponential(0.0001, 2, 12), {{"event", queue::EventLabel(event)}});
  }).Observe(took.seconds());
}

void SchedulerMetrics::RefreshInFlight(const queue::SchedulingQueue& queue) {
  std::map<std::string, size_t> now = queue.RecordedEvents();
  now["PodPopped"] = queue.recording_pods();
  for (const auto& [event, gauge] : in_flight_) now.try_emplace(event, 0);  // those that are no more
  for (const auto& [event, count] : now) {
    Once(in_flight_, event, [&, &label = event] {
      return metrics_.gauge("scheduler_inflight_events", "Number of events currently tracked in the scheduling queue.",
                            {{"event", label}});
    }).Set(static_cast<double>(count));
  }
}

void SchedulerMetrics::RefreshRejected(const queue::SchedulingQueue& queue) {
  for (const queue::SchedulingQueue::RejectedBy& by : queue.Rejected()) {
    Once(rejected_, {by.profile, by.plugin}, [&] {
      return metrics_.gauge("scheduler_unschedulable_pods",
                            "The number of unschedulable pods broken down by plugin name. A pod will increment the "
                            "gauge for all plugins that caused it to not schedule and so this metric have meaning only "
                            "when broken down by plugin.",
                            {{"plugin", by.plugin}, {"profile", by.profile}});
    }).Set(static_cast<double>(by.pods));
  }
}

void SchedulerMetrics::Refresh(cycle::Scheduler& scheduler, uint64_t gathered) {
  const auto set = [](const Gauge& gauge, size_t value) { gauge.Set(static_cast<double>(value)); };
  const queue::SchedulingQueue::Counts counts = scheduler.queue().counts();
  set(active_, counts.active);
  set(backoff_, counts.backoff + counts.error_backoff);
  set(unschedulable_, counts.unschedulable);
  set(gated_, counts.gated);
  set(nodes_, scheduler.state().snapshot().node_count());
  set(pods_, scheduler.state().pod_count());
  set(assumed_, scheduler.state().assumed_count());
  set(binding_, scheduler.binding_cycles());
  RefreshInFlight(scheduler.queue());
  RefreshRejected(scheduler.queue());
  if (const client::EventWriter* writer = scheduler.event_writer()) {
    const client::EventWriter::Counts& events = writer->counts();
    written_.Follow(events.written);
    rejected_events_.Follow(events.rejected);
    given_up_.Follow(events.given_up);
    dropped_.Follow(events.dropped);
  }
  const framework::Memory::Stats memory = scheduler.engine().memory_stats();
  known_class_.Follow(memory.hits);
  new_class_.Follow(memory.decisions > memory.hits ? memory.decisions - memory.hits : 0);
  left_.Follow(memory.left);
  full_passes_.Follow(memory.full_passes);
  asked_again_.Follow(memory.repaired_rows);
  set(classes_, memory.classes);
  set(class_bytes_, memory.bytes);
  gathered_.Follow(gathered);
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
  // A component of Kubernetes works with what is one minor version older.
  const std::string own = version.substr(1, second - 1);
  const std::string minor = version.substr(first + 1, second - first - 1);
  const std::string oldest = version.substr(1, first) + std::to_string(std::stoi(minor) - 1);
  metrics
      .gauge("version_info", "The versions that this behaves as; always 1.",
             {{"binary", own}, {"component", "kube"}, {"emulation", own}, {"min_compat", oldest}})
      .Set(1);
}

}  // namespace berth::live
