// SPDX-License-Identifier: Apache-2.0
// Pod: the fields of a Kubernetes pod that a scheduler reads, defaults already applied.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/list.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/resources.h"
#include "berth/storage.h"

namespace berth {
inline namespace v1 {

struct ContainerPort {
  int32_t container_port = 0;
  int32_t host_port = 0;  // 0: none
  std::string host_ip;
  std::string protocol = "TCP";
  bool operator==(const ContainerPort&) const = default;
};

struct Container {
  std::string name, image;
  ResourceList requests;
  ResourceList limits;
  std::vector<ContainerPort> ports;
  bool sidecar = false;                  // an init container with restartPolicy Always
  bool restarts_all_containers = false;  // a restartPolicyRules action RestartAllContainers
  bool operator==(const Container&) const = default;
};

// What the kubelet reports of a container, as far as in-place resize concerns scheduling.
struct ContainerStatus {
  std::string name;
  std::optional<ResourceList> resources_requests;  // no value: status has no `resources`
  ResourceList allocated_resources;
  bool operator==(const ContainerStatus&) const = default;
};

enum class TolerationOp : uint8_t { kEqual, kExists, kLt, kGt, kUnknown };

struct Toleration {
  std::string key;  // empty with Exists: any taint
  TolerationOp op = TolerationOp::kEqual;
  std::string value;
  TaintEffect effect = TaintEffect::kNone;  // kNone: every effect
  bool Tolerates(const Taint& taint) const;
  bool operator==(const Toleration&) const = default;
};

// True when some toleration tolerates `taint`.
bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

struct PodAffinityTerm {
  std::optional<LabelSelector> selector;  // matchLabelKeys and mismatchLabelKeys are merged in, as the API server does
  std::vector<std::string> namespaces;
  std::optional<LabelSelector> namespace_selector;
  std::string topology_key;
  bool operator==(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm term;
  bool operator==(const WeightedPodAffinityTerm&) const = default;
};

struct PodAffinity {
  List<PodAffinityTerm> required;
  List<WeightedPodAffinityTerm> preferred;
  bool operator==(const PodAffinity&) const = default;
};

struct Affinity {
  std::optional<NodeSelector> node_required;
  List<PreferredSchedulingTerm> node_preferred;
  std::optional<PodAffinity> pod_affinity;
  std::optional<PodAffinity> pod_anti_affinity;
  bool operator==(const Affinity&) const = default;
};

enum class WhenUnsatisfiable : uint8_t { kDoNotSchedule, kScheduleAnyway, kUnknown };
enum class NodeInclusionPolicy : uint8_t { kDefault, kHonor, kIgnore };

struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  WhenUnsatisfiable when_unsatisfiable = WhenUnsatisfiable::kUnknown;
  std::optional<LabelSelector> selector;
  std::optional<int32_t> min_domains;
  NodeInclusionPolicy node_affinity_policy = NodeInclusionPolicy::kDefault;
  NodeInclusionPolicy node_taints_policy = NodeInclusionPolicy::kDefault;
  std::vector<std::string> match_label_keys;
  bool operator==(const TopologySpreadConstraint&) const = default;
};

// A pod's volume; `source` is the claim name, image reference, disk or driver name, as the kind has it.
struct PodVolume {
  std::string name;
  VolumeKind kind = VolumeKind::kOther;
  std::string source;
  bool read_only = false;
  std::string variant = {};             // kRbd: the pool; kAzureDisk: its kind
  std::vector<std::string> hosts = {};  // kRbd: the monitors
  // kEphemeral, of pods from files: the one that its claim is made after. Schedulers wait for the claim itself.
  List<PersistentVolumeClaim> claim_template = {};
  bool operator==(const PodVolume&) const = default;
};

struct PodCondition {
  std::string type, status, reason, message;
  bool operator==(const PodCondition&) const = default;
};

enum class PreemptionPolicy : uint8_t { kPreemptLowerPriority, kNever };

// Schedules the pods that name nobody.
inline constexpr const char* kDefaultScheduler = "default-scheduler";

// Immutable once it is in ClusterState or in a queue. `resources` is derived: whoever changes the fields it is computed
// from calls ComputePodResources again.
struct Pod {
  ObjectMeta meta;
  std::string scheduler_name = kDefaultScheduler;
  std::string node_name;
  int32_t priority = 0;
  std::string priority_class_name;
  PreemptionPolicy preemption_policy = PreemptionPolicy::kPreemptLowerPriority;
  std::optional<Labels> node_selector;
  Affinity affinity;
  List<Toleration> tolerations;
  List<TopologySpreadConstraint> topology_spread;
  List<Container> containers;
  List<Container> init_containers;
  ResourceList overhead;
  std::optional<ResourceList> pod_requests;  // spec.resources.requests
  ResourceList pod_limits;                   // spec.resources.limits
  List<std::string> scheduling_gates;
  List<PodVolume> volumes;
  List<std::string> resource_claims;  // names within the pod
  bool host_network = false;
  std::optional<bool> host_users;

  std::string phase;
  std::string nominated_node_name;
  std::optional<Time> start_time;
  List<PodCondition> conditions;
  List<ContainerStatus> container_statuses;
  List<ContainerStatus> init_container_statuses;
  std::optional<ResourceList> status_requests;  // status.resources.requests; no value: status has no `resources`
  ResourceList status_allocated;

  PodResources resources;  // derived

  const std::string& name() const { return meta.name; }
  const std::string& namespace_() const { return meta.namespace_; }
  const std::string& uid() const { return meta.uid; }
  bool terminating() const { return meta.deletion_time.has_value(); }
  bool finished() const { return phase == "Succeeded" || phase == "Failed"; }
  bool HasPodAffinity() const { return affinity.pod_affinity || affinity.pod_anti_affinity; }
  bool HasRequiredAntiAffinity() const {
    return affinity.pod_anti_affinity && !affinity.pod_anti_affinity->required.empty();
  }
  const PodCondition* FindCondition(std::string_view type) const;  // the first one; null when absent
  // Null when absent, and where no plugin declares the key (Plugin::Annotations).
  const std::string* Annotation(std::string_view key) const;
  bool operator==(const Pod&) const = default;
};

inline std::string FullName(const Pod& pod) { return FullName(pod.meta); }

}  // namespace v1
}  // namespace berth
