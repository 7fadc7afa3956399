// SPDX-License-Identifier: Apache-2.0
// Every field of a pod, nested ones too, makes another template of it, but for those that are free.
#include "framework/same_template.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "berth/testing.h"

namespace berth::framework {
namespace {

struct Change {
  const char* field;
  std::function<void(Pod&)> make;
};

Quantity Amount(const char* text) { return *Quantity::Parse(text); }

LabelSelector SelectorOf(const char* key) { return {{{key, SelectorOp::kExists, {}}}, ""}; }

// A pod with something in every field, so that fields of nested structs can be changed.
Pod Full() {
  Pod pod = MakePod("p");
  pod.meta.owners.push_back({});
  pod.containers = std::vector<Container>(1);
  pod.containers.Edit()[0].ports.emplace_back();
  pod.init_containers = std::vector<Container>(1);
  pod.tolerations.push_back({});
  pod.topology_spread.push_back({});
  pod.volumes.push_back({});
  pod.conditions.push_back({});
  pod.container_statuses.push_back({});
  pod.init_container_statuses.push_back({});
  pod.affinity.node_required.emplace();
  pod.affinity.node_preferred.push_back({});
  pod.affinity.pod_affinity.emplace();
  pod.affinity.pod_anti_affinity.emplace();
  pod.affinity.pod_affinity->required.push_back({});
  pod.affinity.pod_affinity->preferred.push_back({});
  return pod;
}

TEST(SameTemplateTest, EveryFieldMakesADifferenceUnlessItIsFree) {
  const auto container = [](auto change) { return [change](Pod& pod) { change(pod.containers.Edit()[0]); }; };
  const auto port = [](auto change) { return [change](Pod& pod) { change(pod.containers.Edit()[0].ports[0]); }; };
  const auto status = [](auto change) { return [change](Pod& pod) { change(pod.container_statuses.Edit()[0]); }; };
  const auto toleration = [](auto change) { return [change](Pod& pod) { change(pod.tolerations.Edit()[0]); }; };
  const auto spread = [](auto change) { return [change](Pod& pod) { change(pod.topology_spread.Edit()[0]); }; };
  const auto term = [](auto change) {
    return [change](Pod& pod) { change(pod.affinity.pod_affinity->required.Edit()[0]); };
  };
  const auto volume = [](auto change) { return [change](Pod& pod) { change(pod.volumes.Edit()[0]); }; };
  const auto owner = [](auto change) { return [change](Pod& pod) { change(pod.meta.owners.Edit()[0]); }; };
  const std::vector<Change> compared = {
      {"meta.namespace_", [](Pod& p) { p.meta.namespace_ += "x"; }},
      {"meta.labels",
       [](Pod& p) {
         p.meta.labels = Labels({{"a", "b"}});
       }},
      {"meta.annotations",
       [](Pod& p) {
         p.meta.annotations = Labels({{"a", "b"}});
       }},
      {"meta.owners", [](Pod& p) { p.meta.owners.push_back({}); }},
      {"meta.owners.api_version", owner([](OwnerReference& o) { o.api_version += "x"; })},
      {"meta.owners.kind", owner([](OwnerReference& o) { o.kind += "x"; })},
      {"meta.owners.name", owner([](OwnerReference& o) { o.name += "x"; })},
      {"meta.owners.uid", owner([](OwnerReference& o) { o.uid += "x"; })},
      {"meta.owners.controller", owner([](OwnerReference& o) { o.controller = !o.controller; })},
      {"scheduler_name", [](Pod& p) { p.scheduler_name += "x"; }},
      {"node_name", [](Pod& p) { p.node_name += "x"; }},
      {"priority", [](Pod& p) { ++p.priority; }},
      {"priority_class_name", [](Pod& p) { p.priority_class_name += "x"; }},
      {"preemption_policy", [](Pod& p) { p.preemption_policy = PreemptionPolicy::kNever; }},
      {"node_selector", [](Pod& p) { p.node_selector.emplace(); }},
      {"affinity.node_required", [](Pod& p) { p.affinity.node_required.reset(); }},
      {"affinity.node_required.terms", [](Pod& p) { p.affinity.node_required->terms.emplace_back(); }},
      {"affinity.node_preferred", [](Pod& p) { p.affinity.node_preferred.clear(); }},
      {"affinity.node_preferred.weight", [](Pod& p) { ++p.affinity.node_preferred.Edit()[0].weight; }},
      {"affinity.pod_affinity", [](Pod& p) { p.affinity.pod_affinity.reset(); }},
      {"affinity.pod_affinity.required", [](Pod& p) { p.affinity.pod_affinity->required.push_back({}); }},
      {"affinity.pod_affinity.preferred", [](Pod& p) { p.affinity.pod_affinity->preferred.push_back({}); }},
      {"affinity.pod_affinity.preferred.weight", [](Pod& p) { ++p.affinity.pod_affinity->preferred.Edit()[0].weight; }},
      {"affinity.pod_affinity.preferred.term",
       [](Pod& p) { p.affinity.pod_affinity->preferred.Edit()[0].term.topology_key += "x"; }},
      {"affinity.pod_anti_affinity", [](Pod& p) { p.affinity.pod_anti_affinity.reset(); }},
      {"affinity term selector", term([](PodAffinityTerm& t) { t.selector = SelectorOf("k"); })},
      {"affinity term namespaces", term([](PodAffinityTerm& t) { t.namespaces.push_back("x"); })},
      {"affinity term namespace_selector", term([](PodAffinityTerm& t) { t.namespace_selector = SelectorOf("k"); })},
      {"affinity term topology_key", term([](PodAffinityTerm& t) { t.topology_key += "x"; })},
      {"tolerations", [](Pod& p) { p.tolerations.clear(); }},
      {"tolerations.key", toleration([](Toleration& t) { t.key += "x"; })},
      {"tolerations.op", toleration([](Toleration& t) { t.op = TolerationOp::kExists; })},
      {"tolerations.value", toleration([](Toleration& t) { t.value += "x"; })},
      {"tolerations.effect", toleration([](Toleration& t) { t.effect = TaintEffect::kNoExecute; })},
      {"topology_spread", [](Pod& p) { p.topology_spread.clear(); }},
      {"topology_spread.max_skew", spread([](TopologySpreadConstraint& c) { ++c.max_skew; })},
      {"topology_spread.topology_key", spread([](TopologySpreadConstraint& c) { c.topology_key += "x"; })},
      {"topology_spread.when_unsatisfiable",
       spread([](TopologySpreadConstraint& c) { c.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway; })},
      {"topology_spread.selector", spread([](TopologySpreadConstraint& c) { c.selector = SelectorOf("k"); })},
      {"topology_spread.min_domains", spread([](TopologySpreadConstraint& c) { c.min_domains = 2; })},
      {"topology_spread.node_affinity_policy",
       spread([](TopologySpreadConstraint& c) { c.node_affinity_policy = NodeInclusionPolicy::kIgnore; })},
      {"topology_spread.node_taints_policy",
       spread([](TopologySpreadConstraint& c) { c.node_taints_policy = NodeInclusionPolicy::kHonor; })},
      {"topology_spread.match_label_keys",
       spread([](TopologySpreadConstraint& c) { c.match_label_keys.push_back("x"); })},
      {"containers", [](Pod& p) { p.containers.push_back({}); }},
      {"containers.name", container([](Container& c) { c.name += "x"; })},
      {"containers.image", container([](Container& c) { c.image += "x"; })},
      {"containers.requests", container([](Container& c) { c.requests.emplace_back(ResourceId::kCpu, Amount("1")); })},
      {"containers.limits", container([](Container& c) { c.limits.emplace_back(ResourceId::kCpu, Amount("1")); })},
      {"containers.ports", container([](Container& c) { c.ports.clear(); })},
      {"containers.ports.container_port", port([](ContainerPort& c) { ++c.container_port; })},
      {"containers.ports.host_port", port([](ContainerPort& c) { ++c.host_port; })},
      {"containers.ports.host_ip", port([](ContainerPort& c) { c.host_ip += "x"; })},
      {"containers.ports.protocol", port([](ContainerPort& c) { c.protocol += "x"; })},
      {"containers.sidecar", container([](Container& c) { c.sidecar = !c.sidecar; })},
      {"containers.restarts_all_containers", container([](Container& c) { c.restarts_all_containers = true; })},
      {"init_containers", [](Pod& p) { p.init_containers.clear(); }},
      {"overhead", [](Pod& p) { p.overhead.emplace_back(ResourceId::kCpu, Amount("1")); }},
      {"pod_requests", [](Pod& p) { p.pod_requests.emplace(); }},
      {"pod_limits", [](Pod& p) { p.pod_limits.emplace_back(ResourceId::kCpu, Amount("1")); }},
      {"scheduling_gates", [](Pod& p) { p.scheduling_gates.push_back("x"); }},
      {"volumes", [](Pod& p) { p.volumes.clear(); }},
      {"volumes.name", volume([](PodVolume& v) { v.name += "x"; })},
      {"volumes.kind", volume([](PodVolume& v) { v.kind = VolumeKind::kCsi; })},
      {"volumes.source", volume([](PodVolume& v) { v.source += "x"; })},
      {"volumes.read_only", volume([](PodVolume& v) { v.read_only = true; })},
      {"volumes.variant", volume([](PodVolume& v) { v.variant += "x"; })},
      {"volumes.hosts", volume([](PodVolume& v) { v.hosts.push_back("x"); })},
      {"resource_claims", [](Pod& p) { p.resource_claims.push_back("x"); }},
      {"host_network", [](Pod& p) { p.host_network = true; }},
      {"host_users", [](Pod& p) { p.host_users = false; }},
      {"container_statuses", [](Pod& p) { p.container_statuses.clear(); }},
      {"container_statuses.name", status([](ContainerStatus& s) { s.name += "x"; })},
      {"container_statuses.resources_requests", status([](ContainerStatus& s) { s.resources_requests.emplace(); })},
      {"container_statuses.allocated_resources",
       status([](ContainerStatus& s) { s.allocated_resources.emplace_back(ResourceId::kCpu, Amount("1")); })},
      {"init_container_statuses", [](Pod& p) { p.init_container_statuses.clear(); }},
      {"status_requests", [](Pod& p) { p.status_requests.emplace(); }},
      {"status_allocated", [](Pod& p) { p.status_allocated.emplace_back(ResourceId::kCpu, Amount("1")); }},
  };
  const std::vector<Change> free = {
      {"meta.name", [](Pod& p) { p.meta.name += "x"; }},
      {"meta.uid", [](Pod& p) { p.meta.uid += "x"; }},
      {"meta.resource_version", [](Pod& p) { p.meta.resource_version += "x"; }},
      {"meta.generation", [](Pod& p) { ++p.meta.generation; }},
      {"meta.creation_time", [](Pod& p) { p.meta.creation_time = Time{7}; }},
      {"meta.deletion_time", [](Pod& p) { p.meta.deletion_time = Time{7}; }},
      {"phase", [](Pod& p) { p.phase += "x"; }},
      {"nominated_node_name", [](Pod& p) { p.nominated_node_name += "x"; }},
      {"start_time", [](Pod& p) { p.start_time = Time{7}; }},
      {"conditions", [](Pod& p) { p.conditions.clear(); }},
      {"resources", [](Pod& p) { ++p.resources.request.milli_cpu; }},
  };
  const Pod full = Full();
  ASSERT_TRUE(SameTemplate(full, Full()));
  for (const auto* changes : {&compared, &free}) {
    for (const Change& change : *changes) {
      SCOPED_TRACE(change.field);
      Pod changed = full;
      change.make(changed);
      EXPECT_NE(changed, full);  // else the change is none
      EXPECT_EQ(SameTemplate(full, changed), changes == &free);
      EXPECT_EQ(SameTemplate(changed, full), changes == &free);
    }
  }
}

}  // namespace
}  // namespace berth::framework
