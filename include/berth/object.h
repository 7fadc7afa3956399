// SPDX-License-Identifier: Apache-2.0
// What every Kubernetes object has, and the small kinds a scheduler looks up: namespaces, services, workload owners,
// priority classes, disruption budgets, device objects. Pods, nodes and storage have headers of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/labels.h"
#include "berth/list.h"

namespace berth {
inline namespace v1 {

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name, namespace_, uid, resource_version;
  int64_t generation = 0;
  Labels labels;
  // Of pods and nodes those that plugins declare to read: ask Pod::Annotation and Node::Annotation. All of them of the
  // kinds below that say so.
  Labels annotations;
  std::optional<Time> creation_time;
  std::optional<Time> deletion_time;
  List<OwnerReference> owners;
  bool operator==(const ObjectMeta&) const = default;
};

// `namespace/name`, or just the name of a cluster-scoped object.
inline std::string& AppendFullName(const ObjectMeta& meta, std::string& to) {
  if (!meta.namespace_.empty()) to.append(meta.namespace_).push_back('/');
  return to.append(meta.name);
}
inline std::string FullName(const ObjectMeta& meta) {
  std::string name;
  name.reserve(meta.namespace_.size() + 1 + meta.name.size());
  AppendFullName(meta, name);
  return name;
}

struct Namespace {
  ObjectMeta meta;
  bool operator==(const Namespace&) const = default;
};

struct Service {
  ObjectMeta meta;
  std::optional<Labels> selector;  // no value: null, selects nothing by itself
  bool operator==(const Service&) const = default;
};

struct ReplicationController {
  ObjectMeta meta;
  std::optional<Labels> selector;
  bool operator==(const ReplicationController&) const = default;
};

struct ReplicaSet {
  ObjectMeta meta;
  std::optional<LabelSelector> selector;
  bool operator==(const ReplicaSet&) const = default;
};

struct StatefulSet {
  ObjectMeta meta;
  std::optional<LabelSelector> selector;
  bool operator==(const StatefulSet&) const = default;
};

struct PriorityClass {
  ObjectMeta meta;
  int32_t value = 0;
  bool global_default = false;
  std::string preemption_policy;  // "", PreemptLowerPriority or Never
  bool operator==(const PriorityClass&) const = default;
};

struct PodDisruptionBudget {
  ObjectMeta meta;
  std::optional<LabelSelector> selector;
  int32_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;  // names, sorted
  bool operator==(const PodDisruptionBudget&) const = default;
};

// Devices: decoded now, judged by a plugin that is listed as "not yet" in COMPATIBILITY.md.
struct ResourceClaim {
  ObjectMeta meta;
  bool allocated = false;
  bool operator==(const ResourceClaim&) const = default;
};

struct ResourceSlice {
  ObjectMeta meta;
  std::string driver, pool, node_name;
  bool operator==(const ResourceSlice&) const = default;
};

struct DeviceClass {
  ObjectMeta meta;
  std::string extended_resource_name;
  bool operator==(const DeviceClass&) const = default;
};

}  // namespace v1
}  // namespace berth
