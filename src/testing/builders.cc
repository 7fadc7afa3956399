// SPDX-License-Identifier: Apache-2.0
// MakeNode and MakePod.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "berth/testing.h"

namespace berth {
inline namespace v1 {
namespace {

ResourceList Amounts(const std::vector<std::pair<std::string, std::string>>& amounts) {
  ResourceList list;
  for (const auto& [name, text] : amounts) {
    const Result<Quantity> quantity = Quantity::Parse(text);
    if (!quantity.ok()) {
      std::fprintf(stderr, "test quantity %s: %s: %s\n", name.c_str(), text.c_str(), quantity.error().text().c_str());
      std::abort();
    }
    list.emplace_back(InternResource(name), *quantity);
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return list;
}

}  // namespace

MakeNode::MakeNode(std::string name) {
  node_.meta.name = std::move(name);
  node_.meta.uid = "node-" + node_.meta.name;
  Capacity({{"cpu", "4"}, {"memory", "16Gi"}, {"pods", "110"}});
}
MakeNode& MakeNode::Label(const std::string& key, const std::string& value) {
  return labels_.emplace_back(key, value), *this;
}
MakeNode& MakeNode::Annotation(const std::string& key, const std::string& value) {
  return annotations_.emplace_back(key, value), *this;
}
MakeNode& MakeNode::Taint(std::string key, std::string value, TaintEffect effect) {
  return node_.taints.push_back({std::move(key), std::move(value), effect}), *this;
}
MakeNode& MakeNode::Unschedulable() { return node_.unschedulable = true, *this; }
MakeNode& MakeNode::Capacity(const std::vector<std::pair<std::string, std::string>>& amounts) {
  return node_.allocatable = ToResources(Amounts(amounts)), *this;
}
MakeNode& MakeNode::Image(std::string name, int64_t size_bytes) {
  return node_.images.push_back({{std::move(name)}, size_bytes}), *this;
}
MakeNode& MakeNode::Feature(std::string name) { return node_.declared_features.push_back(std::move(name)), *this; }
Node MakeNode::Build() const {
  Node node = node_;
  node.meta.labels = Labels(labels_);
  if (!annotations_.empty()) node.meta.annotations = Labels(annotations_);
  return node;
}

MakePod::MakePod(std::string name) {
  pod_.meta.name = std::move(name);
  pod_.meta.namespace_ = "default";
  pod_.containers.emplace_back().name = "main";
}
MakePod& MakePod::Namespace(std::string ns) { return pod_.meta.namespace_ = std::move(ns), *this; }
MakePod& MakePod::Uid(std::string uid) { return pod_.meta.uid = std::move(uid), *this; }
MakePod& MakePod::Label(const std::string& key, const std::string& value) {
  return labels_.emplace_back(key, value), *this;
}
MakePod& MakePod::Annotation(const std::string& key, const std::string& value) {
  return annotations_.emplace_back(key, value), *this;
}
MakePod& MakePod::Priority(int32_t priority) { return pod_.priority = priority, *this; }
MakePod& MakePod::OnNode(std::string node) { return pod_.node_name = std::move(node), *this; }
MakePod& MakePod::Nominated(std::string node) { return pod_.nominated_node_name = std::move(node), *this; }
MakePod& MakePod::Terminating() { return pod_.meta.deletion_time = Time{1}, *this; }
MakePod& MakePod::StartTime(Time time) { return pod_.start_time = time, *this; }
MakePod& MakePod::Request(const std::vector<std::pair<std::string, std::string>>& amounts) {
  return pod_.containers.Edit().front().requests = Amounts(amounts), *this;
}
MakePod& MakePod::Container(const std::vector<std::pair<std::string, std::string>>& amounts, std::string image) {
  auto& container = pod_.containers.emplace_back();
  container.name = "c" + std::to_string(pod_.containers.size());
  container.requests = Amounts(amounts);
  container.image = std::move(image);
  return *this;
}
MakePod& MakePod::InitContainer(const std::vector<std::pair<std::string, std::string>>& amounts, bool sidecar) {
  auto& container = pod_.init_containers.emplace_back();
  container.name = "i" + std::to_string(pod_.init_containers.size());
  container.requests = Amounts(amounts);
  container.sidecar = sidecar;
  return *this;
}
MakePod& MakePod::Image(std::string image) { return pod_.containers.Edit().front().image = std::move(image), *this; }
MakePod& MakePod::HostPort(int32_t port, std::string protocol, std::string ip) {
  pod_.containers.Edit().front().ports.push_back({port, port, std::move(ip), std::move(protocol)});
  return *this;
}
MakePod& MakePod::NodeSelector(const std::string& key, const std::string& value) {
  return node_selector_.emplace_back(key, value), *this;
}
MakePod& MakePod::RequireNode(NodeSelectorTerm term) {
  if (!pod_.affinity.node_required) pod_.affinity.node_required.emplace();
  return pod_.affinity.node_required->terms.push_back(std::move(term)), *this;
}
MakePod& MakePod::PreferNode(int32_t weight, NodeSelectorTerm term) {
  return pod_.affinity.node_preferred.push_back({weight, std::move(term)}), *this;
}
MakePod& MakePod::Tolerate(Toleration toleration) { return pod_.tolerations.push_back(std::move(toleration)), *this; }

namespace {
PodAffinity& Present(std::optional<PodAffinity>& affinity) { return affinity ? *affinity : affinity.emplace(); }
}  // namespace

MakePod& MakePod::PodAffinity(PodAffinityTerm term) {
  return Present(pod_.affinity.pod_affinity).required.push_back(std::move(term)), *this;
}
MakePod& MakePod::PodAntiAffinity(PodAffinityTerm term) {
  return Present(pod_.affinity.pod_anti_affinity).required.push_back(std::move(term)), *this;
}
MakePod& MakePod::PreferPodAffinity(int32_t weight, PodAffinityTerm term) {
  return Present(pod_.affinity.pod_affinity).preferred.push_back({weight, std::move(term)}), *this;
}
MakePod& MakePod::PreferPodAntiAffinity(int32_t weight, PodAffinityTerm term) {
  return Present(pod_.affinity.pod_anti_affinity).preferred.push_back({weight, std::move(term)}), *this;
}
MakePod& MakePod::Spread(TopologySpreadConstraint constraint) {
  return pod_.topology_spread.push_back(std::move(constraint)), *this;
}
MakePod& MakePod::Gate(std::string name) { return pod_.scheduling_gates.push_back(std::move(name)), *this; }
Pod MakePod::Build() const {
  Pod pod = pod_;
  if (pod.meta.uid.empty()) pod.meta.uid = "pod-" + FullName(pod);
  pod.meta.labels = Labels(labels_);
  if (!annotations_.empty()) pod.meta.annotations = Labels(annotations_);
  if (!node_selector_.empty()) pod.node_selector = Labels(node_selector_);
  pod.resources = ComputePodResources(pod);
  return pod;
}

Requirement Require(std::string key, SelectorOp op, std::vector<std::string> values) {
  std::sort(values.begin(), values.end());
  return {std::move(key), op, std::move(values)};
}

LabelSelector SelectLabels(std::vector<Labels::Entry> match_labels) {
  return SelectorFromMap(Labels(std::move(match_labels)));
}

}  // namespace v1
}  // namespace berth
