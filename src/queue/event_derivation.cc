// SPDX-License-Identifier: Apache-2.0
// Which properties differ between two versions of a pod or node, as events.
#include "queue/event_derivation.h"

#include <map>
#include <string>

namespace berth::queue {
namespace {

// Whether some request is smaller than it was. Requests are the status-aware ones, rounded as the scheduler rounds
// them; a request of zero that goes away is not seen, since it is not kept.
bool ScaledDown(const Resources& after, const Resources& before) {
  if (after.milli_cpu < before.milli_cpu || after.memory < before.memory ||
      after.ephemeral_storage < before.ephemeral_storage)
    return true;
  for (const auto& [id, amount] : before.scalars)
    if (after.Get(id) < amount) return true;
  return false;
}

// Only type and status count; of conditions with equal types the last one does.
bool SameConditions(const std::vector<NodeCondition>& a, const std::vector<NodeCondition>& b) {
  if (a == b) return true;
  std::map<std::string_view, std::string_view> statuses_a, statuses_b;
  for (const NodeCondition& condition : a) statuses_a[condition.type] = condition.status;
  for (const NodeCondition& condition : b) statuses_b[condition.type] = condition.status;
  return statuses_a == statuses_b;
}

}  // namespace

std::vector<ClusterEvent> PodSchedulingPropertiesChange(const Pod& after, const Pod& before) {
  const EventResource resource =
      after.node_name.empty() ? EventResource::kUnschedulablePod : EventResource::kAssignedPod;
  std::vector<ClusterEvent> events;
  if (after.meta.labels != before.meta.labels) events.push_back({resource, action::kUpdatePodLabel});
  if (ScaledDown(after.resources.held, before.resources.held))
    events.push_back({resource, action::kUpdatePodScaleDown});
  if (after.scheduling_gates.empty() && !before.scheduling_gates.empty())
    events.push_back({resource, action::kUpdatePodSchedulingGatesEliminated});
  // The API server lets tolerations be added only, so their number tells.
  if (after.tolerations.size() != before.tolerations.size()) events.push_back({resource, action::kUpdatePodToleration});
  if (events.empty()) events.push_back({resource, action::kUpdate});
  return events;
}

std::vector<ClusterEvent> NodeSchedulingPropertiesChange(const Node& after, const Node& before) {
  std::vector<ClusterEvent> events;
  const auto add = [&](ActionType action) { events.push_back({EventResource::kNode, action}); };
  if (before.unschedulable && !after.unschedulable) add(action::kUpdateNodeTaint);
  if (after.allocatable != before.allocatable) add(action::kUpdateNodeAllocatable);
  if (after.meta.labels != before.meta.labels) add(action::kUpdateNodeLabel);
  if (after.taints != before.taints) add(action::kUpdateNodeTaint);
  if (!SameConditions(after.conditions, before.conditions)) add(action::kUpdateNodeCondition);
  if (after.meta.annotations != before.meta.annotations) add(action::kUpdateNodeAnnotation);
  if (after.declared_features != before.declared_features) add(action::kUpdateNodeDeclaredFeature);
  return events;
}

}  // namespace berth::queue
