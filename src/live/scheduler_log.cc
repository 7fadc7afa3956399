// SPDX-License-Identifier: Apache-2.0
// Upstream: schedule_one.go, scheduling_queue.go, reflector.go of client-go (v1.36.4).
#include "live/scheduler_log.h"

namespace berth::live {
namespace {

constexpr char kNoNodes[] = "no nodes available to schedule pods";

}  // namespace

void SchedulerLog::OnAttempt(const cycle::Attempt& attempt) {
  // Most attempts leave no line: their names are not put together.
  const int verbosity = attempt.node.empty() ? 2 : 3;
  if (!attempt.error && !log_.enabled(LogSeverity::kInfo, verbosity)) return;
  const std::string pod = FullName(*attempt.pod);
  if (!attempt.node.empty()) {
    if (!log_.enabled(LogSeverity::kInfo, 3)) return;
    const LogField fields[] = {{"pod", pod}, {"node", attempt.node}};
    return log_.Add(LogSeverity::kInfo, 3, "Attempting to bind pod to node", fields);
  }
  if (attempt.error) return log_.Error("Error scheduling pod; retrying", {{"err", attempt.message}, {"pod", pod}});
  if (attempt.message.starts_with(kNoNodes)) {
    const LogField fields[] = {{"pod", pod}};
    return log_.Add(LogSeverity::kInfo, 2, "Unable to schedule pod; no nodes are registered to the cluster; waiting",
                    fields);
  }
  const LogField fields[] = {{"pod", pod}, {"err", attempt.message}};
  log_.Add(LogSeverity::kInfo, 2, "Unable to schedule pod; no fit; waiting", fields);
}

void SchedulerLog::OnScheduled(const cycle::Scheduled& scheduled) {
  if (!log_.enabled(LogSeverity::kInfo, 2)) return;
  const std::string pod = FullName(scheduled.pod);
  const LogField fields[] = {{"pod", pod},
                             {"node", scheduled.node},
                             {"evaluatedNodes", scheduled.attempt.evaluated},
                             {"feasibleNodes", scheduled.attempt.feasible}};
  log_.Add(LogSeverity::kInfo, 2, "Successfully bound pod to node", fields);
}

void SchedulerLog::OnBindFailed(const Pod& pod, const std::string& node, const std::string& message) {
  log_.Error("Error scheduling pod; retrying", {{"err", message}, {"pod", FullName(pod)}, {"node", node}});
}

void SchedulerLog::OnQueueMove(const queue::QueuedPodInfo& info, queue::Place place, std::string_view event) {
  const int verbosity = event == "ScheduleAttemptFailure" ? 3 : 5;
  if (!log_.enabled(LogSeverity::kInfo, verbosity)) return;
  const std::string pod = FullName(*info.pod);
  const LogField fields[] = {{"pod", pod}, {"event", event}, {"queue", ToString(place)}};
  log_.Add(LogSeverity::kInfo, verbosity, "Pod moved to an internal scheduling queue", fields);
}

void SchedulerLog::OnListFailure(Kind kind, const std::string& sentence) {
  log_.Error("Failed to watch", {{"err", sentence}, {"type", "*v1." + std::string(ToString(kind))}});
}

void SchedulerLog::OnComplaint(const std::string& text) { log_.Say(LogSeverity::kWarning, text); }

}  // namespace berth::live
