// SPDX-License-Identifier: Apache-2.0
// SchedulingGates; see scheduling_gates.h.
#include "plugins/scheduling_gates.h"

namespace berth::plugins {

Verdict SchedulingGates::PreEnqueue(const Pod& pod) const {
  if (pod.scheduling_gates.empty()) return kFits;
  std::string text = "waiting for scheduling gates: [";
  for (size_t i = 0; i < pod.scheduling_gates.size(); ++i) {
    if (i > 0) text += ' ';
    text += pod.scheduling_gates[i];
  }
  return Verdict(Code::kUnschedulableAndUnresolvable, text + "]");
}

std::optional<std::vector<EventRegistration>> SchedulingGates::EventsToRegister() const {
  auto own_pod = [](const Pod& rejected, const EventObjects& objects) {
    return objects.pod_after && objects.pod_after->uid() == rejected.uid() ? QueueingHint::kQueue : QueueingHint::kSkip;
  };
  return std::vector<EventRegistration>{{{EventResource::kPod, action::kUpdatePodSchedulingGatesEliminated}, own_pod}};
}

}  // namespace berth::plugins
