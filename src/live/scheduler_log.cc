// SPDX-License-Identifier: Apache-2.0
// Upstream: schedule_one.go, eventhandlers.go, backend/cache/node_tree.go, framework/preemption, scheduling_queue.go,
// reflector.go of client-go (v1.36.4).
#include "live/scheduler_log.h"

#include <algorithm>
#include <set>
#include <string>

#include "api/json_scan.h"
#include "cluster/node_order.h"

namespace berth::live {
namespace {

// A decision that takes so long is worth a line.
constexpr Duration kSlow = Duration::Millis(100);
constexpr char kNoNodes[] = "no nodes available to schedule pods";
constexpr char kMoved[] = "Pod moved to an internal scheduling queue";
constexpr std::string_view kAttemptFailure = "ScheduleAttemptFailure";
constexpr std::string_view kUnschedulableQueue = "Unschedulable";

// kube-scheduler's names of its queues; empty: it is in none.
std::string_view QueueName(queue::Place place) {
  switch (place) {
    case queue::Place::kActive:
      return "Active";
    case queue::Place::kBackoff:
    case queue::Place::kErrorBackoff:
      return "Backoff";
    case queue::Place::kUnschedulable:
    case queue::Place::kGated:
      return kUnschedulableQueue;
    case queue::Place::kNone:
    case queue::Place::kInFlight:
      break;
  }
  return "";
}

}  // namespace

void SchedulerLog::OnAttempt(const cycle::Attempt& attempt) {
  const Pod& pod = *attempt.pod;
  if (const Duration took = attempt.decided - attempt.began; took >= kSlow && log_.V(2).enabled()) {
    log_.Say(LogSeverity::kInfo, 2,
             "Trace[" + std::to_string(++traces_) + "]: \"Scheduling\" namespace:" + pod.namespace_() +
                 ",name:" + pod.name() + " (total time: " + std::to_string(took.ns / 1'000'000) + "ms)");
  }
  if (!attempt.node.empty())
    return log_.V(3).Info("Attempting to bind pod to node", {{"pod", pod}, {"node", attempt.node}});
  if (attempt.error) return log_.Error("Error scheduling pod; retrying", {{"err", attempt.message}, {"pod", pod}});
  if (!attempt.nominated.empty())
    log_.V(2).Info("the target node for the preemption is determined", {{"pod", pod}, {"node", attempt.nominated}});
  if (attempt.message.starts_with(kNoNodes))
    return log_.V(2).Info("Unable to schedule pod; no nodes are registered to the cluster; waiting", {{"pod", pod}});
  log_.V(2).Info("Unable to schedule pod; no fit; waiting", {{"pod", pod}, {"err", attempt.message}});
}

void SchedulerLog::OnScheduled(const cycle::Scheduled& scheduled) {
  log_.V(2).Info("Successfully bound pod to node", {{"pod", scheduled.pod},
                                                    {"node", scheduled.node},
                                                    {"evaluatedNodes", scheduled.attempt.evaluated},
                                                    {"feasibleNodes", scheduled.attempt.feasible}});
}

void SchedulerLog::OnBindFailed(const Pod& pod, const std::string& node, const std::string& message) {
  log_.Error("Error scheduling pod; retrying", {{"err", message}, {"pod", pod}, {"node", node}});
}

void SchedulerLog::OnQueueMove(const queue::QueuedPodInfo& info, queue::Place place, std::string_view event) {
  const std::string_view queue = QueueName(place);
  // Of one that waits after an attempt OnReturned has more to say.
  if (queue.empty() || (event == kAttemptFailure && queue == kUnschedulableQueue)) return;
  log_.V(5).Info(kMoved, {{"pod", *info.pod}, {"event", event}, {"queue", queue}});
}

void SchedulerLog::OnReturned(const queue::ReturnedPod& pod) {
  if (!log_.V(3).enabled()) return;
  std::set<std::string> names;
  for (const queue::Rejector& rejector : pod.info.rejectors) names.insert(pod.plugins.PluginName(rejector.plugin));
  std::string plugins = "{";
  for (const std::string& name : names) {
    if (plugins.size() > 1) plugins += ",";
    AppendJsonString(name, plugins);
    plugins += ":{}";
  }
  plugins += "}";
  log_.V(3).Info(kMoved, {{"pod", *pod.info.pod},
                          {"event", kAttemptFailure},
                          {"queue", QueueName(pod.place)},
                          {"schedulingCycle", pod.cycle},
                          {"hint", pod.hint},
                          {"unschedulable plugins", LogValue::Json(plugins)}});
}

void SchedulerLog::OnNotWoken(const queue::QueuedPodInfo& info, std::string_view event) {
  log_.V(5).Info("Event is not making pod schedulable", {{"pod", *info.pod}, {"event", event}});
}

void SchedulerLog::OnPostFiltered(const Pod& pod, const Verdict& verdict) {
  const bool failed = verdict.code() == Code::kError;
  if (!failed && !log_.V(5).enabled()) return;
  constexpr char kStatus[] = "Status after running PostFilter plugins for pod";
  const std::string status = verdict.message();
  if (failed) return log_.Error(kStatus, {{"pod", pod}, {"status", status}});
  log_.V(5).Info(kStatus, {{"pod", pod}, {"status", status}});
}

void SchedulerLog::OnStageFailed(const cycle::StageFailure& failure) {
  using enum framework::PluginFunction;
  const auto& [pod, node, stage, plugin, code, message] = failure;
  const bool early = stage == kReserve || stage == kPermit;
  if (IsRejected(code)) {
    if (early)
      log_.V(4).Info("Pod rejected by plugin", {{"pod", pod}, {"plugin", plugin}, {"status", message}});
    else
      log_.V(4).Info(stage == kBind ? "Pod rejected by Bind plugin" : "Pod rejected by PreBind plugin",
                     {{"pod", pod}, {"node", node}, {"plugin", plugin}, {"status", message}});
  } else if (early) {
    log_.Error("Plugin failed", {{"err", message}, {"plugin", plugin}, {"pod", pod}});
  } else if (!plugin.empty()) {
    log_.Error(stage == kBind ? "Plugin Failed" : "Plugin failed",
               {{"err", message}, {"plugin", plugin}, {"pod", pod}, {"node", node}});
  }
  if (stage == kBind) log_.V(1).Info("Failed to bind pod", {{"pod", pod}});
}

// Upstream writes the line for every pod; here an extender that is down is one line a minute.
void SchedulerLog::OnExtenderSkipped(const framework::SkippedExtender& skipped) {
  const auto& [extender, verb, pod, error] = skipped;
  const std::string_view what = verb;
  if (what == "prioritize") {
    log_.V(5).Info("Failed to run extender's priority function. No score given by this extender.",
                   {{"error", error}, {"pod", pod}, {"extender", extender}});
    return;
  }
  if (!said_.Say(std::string(what) + " " + extender)) return;
  if (what == "preempt") {
    log_.V(2).Info("Skipped extender as it returned error and has ignorable flag set",
                   {{"extender", extender}, {"err", error}});
  } else {
    log_.Info(what == "bind" ? "Skipping extender in bind as it returned error and has ignorable flag set"
                             : "Skipping extender as it returned error and has ignorable flag set",
              {{"extender", extender}, {"err", error}});
  }
}

void SchedulerLog::OnNominatedNodeFailed(const Pod& pod, const std::string& error) {
  log_.Error("Evaluation failed on nominated node", {{"err", error}, {"pod", pod}, {"node", pod.nominated_node_name}});
}

void SchedulerLog::OnListFailure(Kind kind, const std::string& sentence) {
  log_.Error("Failed to watch", {{"err", sentence}, {"type", "*v1." + std::string(ToString(kind))}});
}

void SchedulerLog::OnAssignedPod(const Pod* before, const Pod* after) {
  if (before == nullptr) return log_.V(3).Info("Add event for scheduled pod", {{"pod", *after}});
  if (after == nullptr) return log_.V(3).Info("Delete event for scheduled pod", {{"pod", *before}});
  log_.V(4).Info("Update event for scheduled pod", {{"pod", *after}});
}

void SchedulerLog::OnPendingPod(const Pod* before, const Pod* after) {
  if (after == nullptr) return log_.V(3).Info("Delete event for unscheduled pod", {{"pod", *before}});
  if (before != nullptr) return log_.V(4).Info("Update event for unscheduled pod", {{"pod", *after}});
  log_.V(3).Info("Add event for unscheduled pod", {{"pod", *after}});
  if (!after->resource_claims.empty())
    log_.V(2).Info("Pod needs resource claims, which are not supported yet", {{"pod", *after}});
}

void SchedulerLog::OnNode(const Node* before, const Node* after) {
  if (before != nullptr && after != nullptr) return log_.V(4).Info("Update event for node", {{"node", *after}});
  const Node& node = after != nullptr ? *after : *before;
  log_.V(3).Info(after != nullptr ? "Add event for node" : "Delete event for node", {{"node", node}});
  if (log_.V(2).enabled()) {
    const std::string zone = cluster::ZoneKey(node.meta.labels);
    log_.V(2).Info(after != nullptr ? "Added node to NodeTree" : "Removed node from NodeTree",
                   {{"node", node}, {"zone", zone}});
  }
}

void SchedulerLog::OnTry(const Pod& pod) {
  log_.V(4).Info("About to try and schedule pod", {{"pod", pod}});
  log_.V(3).Info("Attempting to schedule pod", {{"pod", pod}});
}

void SchedulerLog::OnFoundAssigned(const Pod& pod, const std::string& node) {
  log_.Info("Pod has been assigned to node. Abort adding it back to queue.", {{"pod", pod}, {"node", node}});
}

void SchedulerLog::OnCondition(const Pod& pod, const PodCondition& condition,
                               const std::optional<std::string>& nomination) {
  log_.V(3).Info("Updating pod condition and nominated node name",
                 {{"pod", pod},
                  {"conditionType", condition.type},
                  {"conditionStatus", condition.status},
                  {"conditionReason", condition.reason},
                  {"nominatedNodeName", nomination ? std::string_view(*nomination) : std::string_view()},
                  {"nominatingMode", nomination ? 1 : 0}});  // override, or leave it alone
}

void SchedulerLog::OnStatusLost(const client::ObjectName& pod, const std::string& why) {
  log_.Error("Error updating pod", {{"err", why}, {"pod", LogValue::Object(pod.namespace_, pod.name)}});
}

void SchedulerLog::OnPreemptionBegun(const cycle::Preemption& preemption) {
  log_.V(2).Info("Start the preemption asynchronously", {{"preemptor", preemption.preemptor},
                                                         {"node", preemption.node},
                                                         {"numVictims", preemption.victims},
                                                         {"numVictimsToDelete", preemption.to_delete}});
}

void SchedulerLog::OnVictim(const cycle::Preemption& preemption, const Pod& victim) {
  log_.V(2).Info("Preemptor Pod preempted victim Pod",
                 {{"preemptor", preemption.preemptor}, {"victim", victim}, {"node", preemption.node}});
}

void SchedulerLog::OnPreemptionEnded(const cycle::Preemption& preemption) {
  log_.V(2).Info("Async Preemption finished completely", {{"preemptor", preemption.preemptor},
                                                          {"node", preemption.node},
                                                          {"result", preemption.succeeded ? "success" : "error"}});
}

void SchedulerLog::OnComplaint(const std::string& text) { log_.Say(LogSeverity::kWarning, text); }

}  // namespace berth::live
