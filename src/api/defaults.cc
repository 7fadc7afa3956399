// SPDX-License-Identifier: Apache-2.0
// What the API server fills in before it stores an object, and the admission of pods.
#include "api/defaults.h"

#include <algorithm>
#include <cstdio>

#include "api/resource_rules.h"

namespace berth {
namespace {

// What requests do not name is requested as much as it is limited.
void RequestsFromLimits(std::vector<Container>& containers) {
  for (Container& container : containers) {
    for (const auto& [id, quantity] : container.limits) {
      if (!FindResource(container.requests, id)) SetResource(container.requests, id, quantity);
    }
  }
}

void HostPortsFromContainerPorts(std::vector<Container>& containers) {
  for (Container& container : containers) {
    for (ContainerPort& port : container.ports) {
      if (port.host_port == 0) port.host_port = port.container_port;
    }
  }
}

// Runs after the containers' defaults.
void PodLevelDefaults(DecodedPod& decoded) {
  Pod& pod = decoded.pod;
  if (!decoded.extras.pod_limits) return;
  ResourceList& limits = *decoded.extras.pod_limits;
  ResourceList requests = pod.pod_requests.value_or(ResourceList());
  if (limits.empty() && requests.empty()) return;
  for (const auto& [id, sum] : SumLimits(pod)) {
    if (IsHugePages(ResourceName(id)) && !FindResource(requests, id) && !FindResource(limits, id)) {
      SetResource(limits, id, sum);
    }
  }
  if (limits.empty()) return;
  for (const auto& [id, sum] : SumRequests(pod)) {
    const std::string& name = ResourceName(id);
    if (!FindResource(requests, id) && IsPodLevelResource(name) && IsOvercommitAllowed(name)) {
      SetResource(requests, id, sum);
    }
  }
  for (const auto& [id, limit] : limits) {
    if (!FindResource(requests, id) && IsPodLevelResource(ResourceName(id))) SetResource(requests, id, limit);
  }
  if (!requests.empty()) pod.pod_requests = std::move(requests);
}

// Adds one requirement per key the pod has a label for; `op` is In or NotIn.
void MergeKeys(const Labels& labels, const std::vector<std::string>& keys, SelectorOp op,
               std::optional<LabelSelector>& selector) {
  if (!selector) return;  // matches nothing anyway
  for (const std::string& key : keys) {
    const std::string* value = labels.Find(key);
    if (!value) continue;
    Requirement requirement{key, op, {*value}};
    auto& all = selector->requirements;
    // An object that was read back from an API server has it.
    if (std::find(all.begin(), all.end(), requirement) != all.end()) continue;
    const auto at = std::upper_bound(all.begin(), all.end(), requirement,
                                     [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
    all.insert(at, std::move(requirement));
  }
}

void MergeLabelKeys(DecodedPod& decoded) {
  Pod& pod = decoded.pod;
  size_t next = 0;
  auto merge = [&](PodAffinityTerm& term) {
    if (next >= decoded.extras.affinity_keys.size()) return;
    const PodExtras::LabelKeys& keys = decoded.extras.affinity_keys[next++];
    MergeKeys(pod.meta.labels, keys.match, SelectorOp::kIn, term.selector);
    MergeKeys(pod.meta.labels, keys.mismatch, SelectorOp::kNotIn, term.selector);
  };
  for (std::optional<PodAffinity>* affinity : {&pod.affinity.pod_affinity, &pod.affinity.pod_anti_affinity}) {
    if (!*affinity) continue;
    for (PodAffinityTerm& term : (*affinity)->required.Edit()) merge(term);
    for (WeightedPodAffinityTerm& weighted : (*affinity)->preferred.Edit()) merge(weighted.term);
  }
  // The same is done to spread constraints; their keys stay, and the plugin that reads them adds nothing new.
  for (TopologySpreadConstraint& constraint : pod.topology_spread.Edit()) {
    MergeKeys(pod.meta.labels, constraint.match_label_keys, SelectorOp::kIn, constraint.selector);
  }
}

void ApplyPriority(const PriorityClasses& classes, DecodedPod& decoded, std::vector<LoadError>& errors) {
  Pod& pod = decoded.pod;
  const PriorityClass* found = nullptr;
  if (!pod.priority_class_name.empty()) {
    found = classes.Find(pod.priority_class_name);
    if (!found) {
      LoadError error;
      error.kind = "Pod";
      error.name = FullName(pod.meta);
      error.path = "spec.priorityClassName";
      error.value = pod.priority_class_name;
      error.message =
          "Invalid value: " + Quoted(error.value) + ": no PriorityClass with name " + error.value + " was found";
      errors.push_back(std::move(error));
      return;
    }
  } else if (!decoded.extras.priority) {
    found = classes.global_default();
    if (found) pod.priority_class_name = found->meta.name;
  }
  if (!found) return;  // the priority given, or 0; the preemption policy given, or the default
  pod.priority = found->value;
  pod.preemption_policy =
      found->preemption_policy == "Never" ? PreemptionPolicy::kNever : PreemptionPolicy::kPreemptLowerPriority;
}

std::shared_ptr<const PriorityClass> SystemClass(const char* name, int32_t value) {
  auto pc = std::make_shared<PriorityClass>();
  pc->meta.name = name;
  pc->value = value;
  return pc;
}

}  // namespace

void ApplyDefaults(DecodedPod& decoded) {
  Pod& pod = decoded.pod;
  RequestsFromLimits(pod.containers.Edit());
  RequestsFromLimits(pod.init_containers.Edit());
  PodLevelDefaults(decoded);
  if (decoded.extras.pod_limits) decoded.pod.pod_limits = *decoded.extras.pod_limits;
  if (pod.host_network) {
    HostPortsFromContainerPorts(pod.containers.Edit());
    HostPortsFromContainerPorts(pod.init_containers.Edit());
  }
}

void DefaultAllocatable(std::optional<ResourceList>& allocatable, std::optional<ResourceList> capacity) {
  if (!allocatable) allocatable = std::move(capacity);
}

void ApplyDefaults(Namespace& ns) {
  if (ns.meta.name.empty()) return;
  std::vector<Labels::Entry> entries(ns.meta.labels.begin(), ns.meta.labels.end());
  entries.emplace_back("kubernetes.io/metadata.name", ns.meta.name);
  ns.meta.labels = Labels(std::move(entries));
}

void ApplyDefaults(ReplicationController& controller, const Labels& template_labels) {
  if (!controller.selector || controller.selector->empty()) controller.selector = template_labels;
  if (controller.meta.labels.empty()) controller.meta.labels = template_labels;
}

void ApplyDefaults(PersistentVolumeClaim& claim) {
  if (claim.volume_mode.empty()) claim.volume_mode = "Filesystem";
  if (claim.phase.empty()) claim.phase = "Pending";
}

void ApplyDefaults(PersistentVolume& volume) {
  if (volume.volume_mode.empty()) volume.volume_mode = "Filesystem";
  if (volume.phase.empty()) volume.phase = "Pending";
}

void ApplyDefaults(VolumeSource& source) {
  if (!source.variant.empty()) return;
  if (source.kind == VolumeKind::kRbd) source.variant = "rbd";
  if (source.kind == VolumeKind::kAzureDisk) source.variant = "Shared";
}

void ApplyDefaults(StorageClass& storage_class) {
  if (!storage_class.volume_binding_mode) storage_class.volume_binding_mode = "Immediate";
}

PriorityClasses::PriorityClasses(const std::vector<std::shared_ptr<const PriorityClass>>& classes) {
  by_name_.emplace("system-cluster-critical", SystemClass("system-cluster-critical", 2'000'000'000));
  by_name_.emplace("system-node-critical", SystemClass("system-node-critical", 2'000'001'000));
  for (const auto& pc : classes) {
    by_name_[pc->meta.name] = pc;
    // Of several defaults the lowest counts.
    if (pc->global_default && (!default_ || pc->value < default_->value)) default_ = pc.get();
  }
}

const PriorityClass* PriorityClasses::Find(const std::string& name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second.get();
}

void ApplyAdmission(const PriorityClasses& classes, DecodedPod& decoded, std::vector<LoadError>& errors) {
  ApplyPriority(classes, decoded, errors);
  MergeLabelKeys(decoded);
}

void InventIdentity(size_t index, ObjectMeta& meta) {
  if (meta.uid.empty()) {
    char uid[40];
    std::snprintf(uid, sizeof uid, "00000000-0000-4000-8000-%012zx", index + 1);
    meta.uid = uid;
  }
  // One second apart from 2020-01-01T00:00:00Z on, so that file order is age order.
  if (!meta.creation_time) {
    meta.creation_time = Time{1'577'836'800'000'000'000} + Duration::Seconds(static_cast<int64_t>(index));
  }
}

}  // namespace berth
