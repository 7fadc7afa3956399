// SPDX-License-Identifier: Apache-2.0
// NodeUnschedulable; see node_unschedulable.h.
#include "plugins/node_unschedulable.h"

#include <algorithm>

namespace berth::plugins {
namespace {

bool ToleratesCordon(const Pod& pod) {
  if (pod.tolerations.empty()) return false;
  static const Taint kCordon{"node.kubernetes.io/unschedulable", "", TaintEffect::kNoSchedule};
  return Tolerates(pod.tolerations, kCordon);
}

QueueingHint CordonAfterNodeChange(const Pod&, const EventObjects& objects) {
  if (objects.node_after == nullptr || objects.node_after->unschedulable) return QueueingHint::kSkip;
  const bool opened = objects.node_before == nullptr || objects.node_before->unschedulable;
  return opened ? QueueingHint::kQueue : QueueingHint::kSkip;
}

QueueingHint CordonAfterTolerationChange(const Pod& rejected, const EventObjects& objects) {
  const Pod* pod = objects.pod_after;
  const bool helps = pod != nullptr && pod->uid() == rejected.uid() && ToleratesCordon(*pod);
  return helps ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

Error NodeUnschedulable::Filter(const Cycle& cycle, const PluginState*, const NodeBatch& nodes, Rejections& out) const {
  const std::span<const uint8_t> unschedulable = nodes.unschedulable();
  if (std::all_of(unschedulable.begin(), unschedulable.end(), [](uint8_t u) { return u == 0; })) return Error::Ok();
  if (ToleratesCordon(cycle.pod())) return Error::Ok();
  const VerdictId rejected = out.Intern(kUnschedulable);
  const std::span<VerdictId> slots = out.slots();
  for (size_t i = 0; i < slots.size(); ++i) slots[i] = unschedulable[i] ? rejected : kFitsId;
  return Error::Ok();
}

bool NodeUnschedulable::Sign(const Pod& pod, Signature& out) const {
  out.Add(int64_t{ToleratesCordon(pod)});
  return true;
}

std::optional<std::vector<EventRegistration>> NodeUnschedulable::EventsToRegister() const {
  return std::vector<EventRegistration>{
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint}, CordonAfterNodeChange},
      {{EventResource::kPod, action::kUpdatePodToleration}, CordonAfterTolerationChange}};
}

}  // namespace berth::plugins
