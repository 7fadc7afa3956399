// SPDX-License-Identifier: Apache-2.0
// For tests of the queue: a queue with a clock, a gate that can be opened, and plugins whose hints can be set.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "queue/scheduling_queue.h"

namespace berth::queue {

inline constexpr ClusterEvent kNodeAdd{EventResource::kNode, action::kAdd};
inline constexpr ClusterEvent kNodeLabel{EventResource::kNode, action::kUpdateNodeLabel};
inline constexpr ClusterEvent kNodeTaint{EventResource::kNode, action::kUpdateNodeTaint};
inline constexpr ClusterEvent kNodeDelete{EventResource::kNode, action::kDelete};
inline constexpr ClusterEvent kPodDelete{EventResource::kAssignedPod, action::kDelete};

inline std::shared_ptr<const Pod> Share(const MakePod& pod) {
  Pod built = pod.Build();
  if (built.meta.uid.empty()) built.meta.uid = "uid-" + built.meta.name;
  return std::make_shared<const Pod>(std::move(built));
}

// Higher priority first, then earlier timestamp: PrioritySort.
inline bool ByPriority(const QueuedPod& a, const QueuedPod& b) {
  return a.pod->priority != b.pod->priority ? a.pod->priority > b.pod->priority : a.timestamp < b.timestamp;
}

// Two profiles: the default one with Fit (Node/Add, assigned Pod/Delete; with hints), Spread (Node/UpdateNodeLabel,
// always), Tolerations (own tolerations, node taints), Gates (own gates gone) and Wait (Node/Add, always); and "other"
// with Fit listening to Node/Delete only.
class QueueFixture {
 public:
  QueueFixture() : QueueFixture(Backoff{}) {}
  explicit QueueFixture(Backoff backoff) {
    const QueueingHintFn fit = [this](const Pod& pod, const EventObjects& objects) {
      ++hint_calls;
      last_objects = objects;
      return fit_hint ? fit_hint(pod, objects) : QueueingHint::kQueue;
    };
    const ClusterEvent pod_delete{EventResource::kPod, action::kDelete};
    const ClusterEvent pod_tolerations{EventResource::kPod, action::kUpdatePodToleration};
    const ClusterEvent pod_gates{EventResource::kPod, action::kUpdatePodSchedulingGatesEliminated};
    HintMap hints;
    hints.AddProfile("default-scheduler", {{"Fit", {{{kNodeAdd, fit}, {pod_delete, fit}}}},
                                           {"Spread", {{{kNodeLabel, nullptr}}}},
                                           {"Tolerations", {{{pod_tolerations, nullptr}, {kNodeTaint, nullptr}}}},
                                           {"Gates", {{{pod_gates, nullptr}}}},
                                           {"Wait", {{{kNodeAdd, nullptr}}}}});
    hints.AddProfile("other", {{"Fit", {{{kNodeDelete, nullptr}}}}});
    QueueOptions options;
    options.less = ByPriority;
    options.backoff = backoff;
    options.pre_enqueue = [this](const Pod& pod) -> std::optional<Gate> {
      ++gate_calls;
      if (!pod.scheduling_gates.empty()) return Gate{"Gates", Verdict(Code::kUnschedulableAndUnresolvable, "gated")};
      if (closed) return Gate{"Tolerations", Verdict(Code::kUnschedulable, "closed")};
      return std::nullopt;
    };
    options.on_move = [this](const QueuedPodInfo& info, Place place, std::string_view event) {
      moves.push_back(info.pod->name() + " " + std::string(ToString(place)) + " " + std::string(event));
    };
    options.on_return = [this](const ReturnedPod& pod) {
      std::string line = pod.info.pod->name() + " " + std::string(ToString(pod.place)) + " " +
                         std::to_string(pod.hint) + " " + std::to_string(pod.cycle);
      for (const Rejector& rejector : pod.info.rejectors) line += " " + pod.plugins.PluginName(rejector.plugin);
      returns.push_back(line);
    };
    options.wants_not_woken = [this] { return wants_not_woken; };
    options.on_not_woken = [this](const QueuedPodInfo& info, std::string_view event) {
      not_woken.push_back(info.pod->name() + " " + std::string(event));
    };
    options.on_hint = [this](const std::string& plugin, const ClusterEvent& event, QueueingHint said, Duration) {
      timed_hints.push_back(plugin + " " + EventLabel(event) + (said == QueueingHint::kSkip ? " skip" : " queue"));
    };
    queue = std::make_unique<SchedulingQueue>(std::move(options), std::move(hints), clock);
  }

  // A pod that was popped once and rejected by `rejectors`, nothing else being in the queue's active part.
  std::shared_ptr<const Pod> Rejected(const MakePod& pod, const Rejectors& rejectors) {
    auto shared = Share(pod);
    queue->Add(shared);
    queue->Pop()->Return(rejectors);
    return shared;
  }
  std::string PopName() {
    auto ticket = queue->Pop();
    if (!ticket) return "";
    std::string name = ticket->pod()->name();
    ticket->Done();
    return name;
  }
  void Advance(Duration d) {
    clock.Advance(d);
    queue->Tick();
  }

  ManualClock clock;
  std::function<QueueingHint(const Pod&, const EventObjects&)> fit_hint;  // none: always Queue
  bool closed = false;                                                    // PreEnqueue of Tolerations is against it
  int hint_calls = 0, gate_calls = 0;
  EventObjects last_objects;
  bool wants_not_woken = false;
  std::vector<std::string> moves, timed_hints, returns, not_woken;
  std::unique_ptr<SchedulingQueue> queue;
};

}  // namespace berth::queue
