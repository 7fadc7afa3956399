// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/registry/core/pod/storage/storage.go, BindingREST; plugin/pkg/admission/podtopologylabels (v1.36.4).
#include "client/pod_writes.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::client {
namespace {

ApiStatus BindingConflict(const Pod& pod, const std::string& why) {
  return {409, "Operation cannot be fulfilled on pods/binding \"" + pod.name() + "\": pod " + pod.name() + " " + why};
}

bool OtherCondition(const PodStatusPatch& patch, const Pod& pod) {
  if (!patch.condition) return false;
  const PodCondition* had = pod.FindCondition(patch.condition->type);
  return had == nullptr || *had != *patch.condition;
}

bool OtherNomination(const PodStatusPatch& patch, const Pod& pod) {
  return patch.nominated_node_name && *patch.nominated_node_name != pod.nominated_node_name;
}

void SetCondition(Pod& pod, const PodCondition& condition) {
  std::vector<PodCondition>& conditions = pod.conditions.Edit();
  const auto it = std::find_if(conditions.begin(), conditions.end(),
                               [&](const PodCondition& other) { return other.type == condition.type; });
  if (it == conditions.end()) {
    conditions.push_back(condition);
  } else {
    *it = condition;
  }
}

void CopyTopologyLabels(const Labels& from, Labels& to) {
  std::vector<Labels::Entry> entries;
  for (const char* key : {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"}) {
    const std::string* value = from.Find(key);
    if (value == nullptr) continue;
    if (entries.empty()) entries.assign(to.begin(), to.end());
    entries.emplace_back(key, *value);
  }
  if (!entries.empty()) to = Labels(std::move(entries));
}

}  // namespace

ApiStatus CheckIncarnation(const ObjectName& name, const Pod* pod) {
  if (pod == nullptr) return {404, "pods \"" + name.name + "\" not found"};
  if (name.uid.empty() || name.uid == pod->uid()) return {};
  return {409, "Operation cannot be fulfilled on pods \"" + name.name +
                   "\": Precondition failed: UID in precondition: " + name.uid + ", UID in object meta: " + pod->uid()};
}

ApiStatus CheckBinding(const Pod& pod, const std::string& node) {
  if (node.empty()) return {422, "Binding \"" + pod.name() + "\": target.name: must not be empty"};
  if (pod.terminating()) return BindingConflict(pod, "is being deleted, cannot be assigned to a host");
  if (!pod.node_name.empty()) return BindingConflict(pod, "is already assigned to node \"" + pod.node_name + "\"");
  if (!pod.scheduling_gates.empty()) return BindingConflict(pod, "has non-empty .spec.schedulingGates");
  return {};
}

void ApplyBinding(const std::string& node, const Node* known, Pod& pod) {
  pod.node_name = node;
  pod.nominated_node_name.clear();
  if (known != nullptr) CopyTopologyLabels(known->meta.labels, pod.meta.labels);
  // One list for all pods that have no other condition.
  static const PodCondition kScheduled{"PodScheduled", "True", "", ""};
  static const List<PodCondition> kScheduledOnly(std::vector<PodCondition>{kScheduled});
  const bool only = std::all_of(pod.conditions.begin(), pod.conditions.end(),
                                [](const PodCondition& had) { return had.type == kScheduled.type; });
  if (only) {
    pod.conditions = kScheduledOnly;
  } else {
    SetCondition(pod, kScheduled);
  }
}

bool ChangesStatus(const PodStatusPatch& patch, const Pod& pod) {
  return OtherCondition(patch, pod) || OtherNomination(patch, pod);
}

void ApplyStatus(const PodStatusPatch& patch, Pod& pod) {
  if (OtherCondition(patch, pod)) SetCondition(pod, *patch.condition);
  if (OtherNomination(patch, pod)) pod.nominated_node_name = *patch.nominated_node_name;
}

}  // namespace berth::client
