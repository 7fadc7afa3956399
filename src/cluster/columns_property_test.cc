// SPDX-License-Identifier: Apache-2.0
// Random histories against a plain model: a map of node names to pods, with every sum computed from scratch.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "berth/host/row_accounting.h"
#include "berth/testing.h"
#include "cluster/cluster_state.h"

namespace berth::cluster {
namespace {

constexpr int kNodes = 6;
constexpr int kPods = 12;

std::string NodeName(int i) { return "node" + std::to_string(i); }
std::string PodUid(int i) { return "pod" + std::to_string(i); }
ResourceId Gpu() { return InternResource("example.com/gpu"); }

// A pod drawn from a small space, so that histories meet the same ports and affinities again.
std::shared_ptr<const Pod> DrawPod(int i, int node) {
  MakePod pod(PodUid(i));
  pod.Uid(PodUid(i)).OnNode(NodeName(node)).Priority(*rc::gen::inRange(0, 3));
  std::vector<std::pair<std::string, std::string>> request;
  if (*rc::gen::inRange(0, 3)) request.emplace_back("cpu", std::to_string(*rc::gen::inRange(1, 4000)) + "m");
  if (*rc::gen::inRange(0, 2)) request.emplace_back("memory", std::to_string(*rc::gen::inRange(1, 64)) + "Mi");
  if (*rc::gen::inRange(0, 4) == 0) request.emplace_back("example.com/gpu", std::to_string(*rc::gen::inRange(1, 4)));
  // Now and then a number so large that sums wrap around.
  if (*rc::gen::inRange(0, 20) == 0) request.emplace_back("ephemeral-storage", "9223372036854775807");
  pod.Request(request);
  if (*rc::gen::inRange(0, 3) == 0) pod.HostPort(*rc::gen::inRange(80, 83));
  PodAffinityTerm term;
  term.topology_key = "zone";
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      pod.PodAffinity(term);
      break;
    case 1:
      pod.PodAntiAffinity(term);
      break;
    case 2:
      pod.PreferPodAntiAffinity(1, term);
      break;
    default:
      break;
  }
  return std::make_shared<const Pod>(pod.Build());
}

// What the watch tells of a pod later: another version of it, and perhaps another status.
std::shared_ptr<const Pod> Newer(const Pod& pod) {
  Pod newer = pod;
  newer.meta.resource_version += "1";
  if (*rc::gen::inRange(0, 2)) newer.phase += "!";
  if (*rc::gen::inRange(0, 3) == 0) newer.meta.labels = Labels({{"zone", std::to_string(*rc::gen::inRange(0, 2))}});
  if (*rc::gen::inRange(0, 4) == 0) newer.priority = *rc::gen::inRange(0, 3);
  return std::make_shared<const Pod>(newer);
}

std::shared_ptr<const Node> DrawNode(int i) {
  MakeNode node(NodeName(i));
  if (*rc::gen::inRange(0, 2)) node.Label("zone", "z" + std::to_string(*rc::gen::inRange(0, 3)));
  if (*rc::gen::inRange(0, 3) == 0)
    node.Taint("t" + std::to_string(*rc::gen::inRange(0, 2)), "", TaintEffect::kNoSchedule);
  if (*rc::gen::inRange(0, 3) == 0) node.Image("image" + std::to_string(*rc::gen::inRange(0, 3)), 10);
  if (*rc::gen::inRange(0, 4) == 0) node.Unschedulable();
  node.Capacity({{"cpu", std::to_string(*rc::gen::inRange(1, 9))}, {"pods", "10"}});
  return std::make_shared<const Node>(node.Build());
}

// What should be there.
struct Model {
  struct Placed {
    std::shared_ptr<const Pod> pod;
    bool assumed = false;
  };
  std::map<std::string, std::shared_ptr<const Node>> nodes;
  std::map<std::string, Placed> pods;                     // by uid
  std::map<std::string, std::vector<std::string>> order;  // node name to uids, in upstream's order
  std::map<std::string, std::vector<HostPort>> ports;
  std::vector<std::pair<std::string, std::string>> nominated;  // uid, node; in order
  std::map<std::string, std::shared_ptr<const Pod>> pending;

  void Place(std::shared_ptr<const Pod> pod, bool assumed) {
    order[pod->node_name].push_back(pod->uid());
    AddHostPorts(*pod, ports[pod->node_name]);
    pods[pod->uid()] = {pod, assumed};
  }
  void Displace(const std::string& uid) {
    const std::shared_ptr<const Pod> pod = pods.at(uid).pod;
    auto& list = order[pod->node_name];
    *std::find(list.begin(), list.end(), uid) = list.back();
    list.pop_back();
    RemoveHostPorts(*pod, ports[pod->node_name]);
    pods.erase(uid);
    if (list.empty()) {
      order.erase(pod->node_name);
      RC_ASSERT(ports[pod->node_name].empty());
    }
  }
  void Withdraw(const std::string& uid) {
    std::erase_if(nominated, [&](const auto& one) { return one.first == uid; });
    pending.erase(uid);
  }
};

// One random event, told to both. Returns after the model says whether it should have been accepted.
void Step(Model& model, ClusterState& state) {
  const int node = *rc::gen::inRange(0, kNodes);
  const std::string uid = PodUid(*rc::gen::inRange(0, kPods));
  const int pod_number = std::stoi(uid.substr(3));
  auto known = model.pods.find(uid);
  const bool there = known != model.pods.end();
  switch (*rc::gen::inRange(0, 9)) {
    case 0: {
      const auto drawn = DrawNode(node);
      state.PutNode(drawn);
      model.nodes[NodeName(node)] = drawn;
      break;
    }
    case 1:
      RC_ASSERT(state.RemoveNode(NodeName(node)).ok() == (model.nodes.erase(NodeName(node)) == 1));
      break;
    case 2: {
      const auto pod = DrawPod(pod_number, node);
      RC_ASSERT(state.AssumePod(pod).ok() == !there);
      if (there) break;
      model.Withdraw(uid);
      model.Place(pod, true);
      break;
    }
    case 3: {
      const bool again = there && *rc::gen::inRange(0, 3);
      const auto pod = again ? Newer(*known->second.pod) : DrawPod(pod_number, node);
      const bool confirms = there && known->second.assumed;
      const bool quiet = !there || (confirms && known->second.pod->node_name == pod->node_name);
      RC_ASSERT(state.AddPod(pod).ok() == quiet);
      if (there && !confirms) break;
      if (there) model.Displace(uid);
      if (!there) model.Withdraw(uid);
      model.Place(pod, false);
      break;
    }
    case 4: {
      const bool again = there && *rc::gen::inRange(0, 3);
      const auto pod = again ? Newer(*known->second.pod) : DrawPod(pod_number, node);
      const bool accepted = there && !known->second.assumed;
      RC_ASSERT(state.UpdatePod(pod).ok() == (accepted && known->second.pod->node_name == pod->node_name));
      if (!accepted) break;
      model.Displace(uid);
      model.Place(pod, false);
      break;
    }
    case 5: {
      const bool accepted = there && known->second.assumed;
      RC_ASSERT(state.ForgetPod(uid).ok() == accepted);
      if (accepted) model.Displace(uid);
      break;
    }
    case 6:
      RC_ASSERT(state.RemovePod(uid).ok() == there);
      if (there) model.Displace(uid);
      break;
    case 7: {
      if (there) break;  // only pending pods are nominated
      const auto pod = DrawPod(pod_number, node);
      state.Nominate(pod, NodeName(node));
      model.Withdraw(uid);
      model.nominated.emplace_back(uid, NodeName(node));
      model.pending[uid] = pod;
      break;
    }
    default:
      state.ClearNomination(uid);
      model.Withdraw(uid);
  }
}

void CheckRow(const Model& model, const ClusterState& state, const std::string& name) {
  const Snapshot snapshot = state.snapshot();
  const bool live = model.nodes.contains(name);
  const auto order = model.order.find(name);
  const Row row = state.columns().FindAny(name);
  RC_ASSERT((row != kNoRow) == (live || order != model.order.end()));
  RC_ASSERT(snapshot.FindRow(name) == (live ? row : kNoRow));
  if (row == kNoRow) return;
  RC_ASSERT(snapshot.live(row) == live);

  int64_t cpu = 0, memory = 0, storage = 0, gpu = 0, nonzero_cpu = 0, nonzero_memory = 0;
  int32_t lowest = std::numeric_limits<int32_t>::max();
  std::vector<std::string> uids, affinity, anti_affinity;
  if (order != model.order.end()) {
    uids = order->second;
    for (const std::string& uid : uids) {
      const Pod& pod = *model.pods.at(uid).pod;
      WrapAdd(cpu, pod.resources.held.milli_cpu, 1);
      WrapAdd(memory, pod.resources.held.memory, 1);
      WrapAdd(storage, pod.resources.held.ephemeral_storage, 1);
      WrapAdd(gpu, pod.resources.held.Get(Gpu()), 1);
      WrapAdd(nonzero_cpu, pod.resources.nonzero_cpu, 1);
      WrapAdd(nonzero_memory, pod.resources.nonzero_memory, 1);
      lowest = std::min(lowest, pod.priority);
      if (pod.HasPodAffinity()) affinity.push_back(uid);
      if (pod.HasRequiredAntiAffinity()) anti_affinity.push_back(uid);
    }
  }
  RC_ASSERT(snapshot.requested(ResourceId::kCpu)[row] == cpu);
  RC_ASSERT(snapshot.requested(ResourceId::kMemory)[row] == memory);
  RC_ASSERT(snapshot.requested(ResourceId::kEphemeralStorage)[row] == storage);
  RC_ASSERT(snapshot.requested(Gpu())[row] == gpu);
  RC_ASSERT(snapshot.nonzero_cpu()[row] == nonzero_cpu);
  RC_ASSERT(snapshot.nonzero_memory()[row] == nonzero_memory);
  RC_ASSERT(snapshot.pod_count()[row] == static_cast<int64_t>(uids.size()));
  RC_ASSERT(snapshot.lowest_priority()[row] == lowest);

  auto uids_of = [](std::span<const PodRecord* const> records) {
    std::vector<std::string> list;
    for (const PodRecord* record : records) list.push_back(record->pod->uid());
    return list;
  };
  auto sorted = [](std::vector<std::string> list) { return std::sort(list.begin(), list.end()), list; };
  RC_ASSERT(uids_of(snapshot.pods(row)) == uids);
  RC_ASSERT(sorted(uids_of(snapshot.affinity_pods(row))) == sorted(affinity));
  RC_ASSERT(sorted(uids_of(snapshot.anti_affinity_pods(row))) == sorted(anti_affinity));
  auto listed = [&](std::span<const Row> rows) { return std::find(rows.begin(), rows.end(), row) != rows.end(); };
  RC_ASSERT(listed(snapshot.affinity_rows()) == !affinity.empty());
  RC_ASSERT(listed(snapshot.anti_affinity_rows()) == !anti_affinity.empty());
  const auto ports = model.ports.find(name);
  RC_ASSERT(
      std::ranges::equal(snapshot.ports(row), ports == model.ports.end() ? std::vector<HostPort>{} : ports->second));

  std::vector<std::string> nominated;
  for (const auto& [uid, node] : model.nominated)
    if (live && node == name) nominated.push_back(uid);
  RC_ASSERT(uids_of(snapshot.nominated(row)) == nominated);

  if (!live) return;
  const Node& node = *model.nodes.at(name);
  RC_ASSERT(snapshot.allocatable(ResourceId::kCpu)[row] == node.allocatable.milli_cpu);
  RC_ASSERT((snapshot.unschedulable()[row] != 0) == node.unschedulable);
  RC_ASSERT(snapshot.taint_sets()[snapshot.taint_set()[row]] == node.taints);
  const LabelColumn& zones = snapshot.labels("zone");
  const std::string* zone = node.meta.labels.Find("zone");
  RC_ASSERT(zones[row] == (zone ? zones.Find(*zone) : LabelColumn::kAbsent));
  if (zone) RC_ASSERT(zones.text(zones[row]) == *zone);
  std::vector<uint32_t> images;
  for (const NodeImage& image : node.images) images.push_back(snapshot.FindImage(image.names.front()));
  RC_ASSERT(snapshot.image_sets()[snapshot.image_set()[row]] == images);
  for (const uint32_t image : images) {
    uint32_t nodes = 0;
    for (const auto& [other, object] : model.nodes)
      nodes += std::any_of(object->images.begin(), object->images.end(),
                           [&](const NodeImage& i) { return snapshot.FindImage(i.names.front()) == image; });
    RC_ASSERT(snapshot.image(image).nodes == nodes);
  }
}

void CheckAll(const Model& model, const ClusterState& state) {
  const Snapshot snapshot = state.snapshot();
  for (int i = 0; i < kNodes; ++i) CheckRow(model, state, NodeName(i));
  RC_ASSERT(snapshot.node_count() == model.nodes.size());
  RC_ASSERT(state.pod_count() == model.pods.size());
  std::set<Row> order(snapshot.order().begin(), snapshot.order().end());
  RC_ASSERT(order.size() == snapshot.order().size());
  RC_ASSERT(order.size() == model.nodes.size());
  for (const auto& [uid, placed] : model.pods) {
    const PodRecord* record = state.FindPod(uid);
    RC_ASSERT(record != nullptr);
    RC_ASSERT(record->pod == placed.pod);
    RC_ASSERT(record->assumed == placed.assumed);
    RC_ASSERT(record->row == state.columns().FindAny(placed.pod->node_name));
  }
}

RC_GTEST_PROP(ColumnsPropertyTest, EveryHistoryLeavesTheColumnsEqualToSumsComputedFromScratch, ()) {
  Model model;
  ClusterState state;
  const int steps = *rc::gen::inRange(0, 60);
  for (int i = 0; i < steps; ++i) {
    Step(model, state);
    CheckAll(model, state);
  }
  // And everything can be taken away again.
  while (!model.pods.empty()) {
    const std::string uid = model.pods.begin()->first;
    model.Displace(uid);
    RC_ASSERT(state.RemovePod(uid).ok());
  }
  for (const auto& [name, node] : model.nodes) RC_ASSERT(state.RemoveNode(name).ok());
  RC_ASSERT(state.snapshot().rows() == 0u);
  RC_ASSERT(!state.snapshot().any_nominated());
}

RC_GTEST_PROP(ColumnsPropertyTest, AnOverlayIsWhatTheRowWouldBeWithThesePods, ()) {
  // One state keeps what the overlay starts from, the other is told of what the overlay only imagines.
  ClusterState base, told;
  const auto node = std::make_shared<const Node>(MakeNode(NodeName(0)).Build());
  for (ClusterState* state : {&base, &told}) state->PutNode(node);
  std::map<std::string, std::shared_ptr<const Pod>> here;
  for (int i = 0; i < *rc::gen::inRange(0, 5); ++i) {
    const auto pod = DrawPod(i, 0);
    here[pod->uid()] = pod;
    for (ClusterState* state : {&base, &told}) RC_ASSERT(state->AddPod(pod).ok());
  }
  const Snapshot snapshot = base.snapshot();
  RowOverlay overlay(snapshot, 0);
  std::vector<std::unique_ptr<PodRecord>> imagined;
  const int steps = *rc::gen::inRange(0, 12);
  for (int step = 0; step < steps; ++step) {
    const int i = *rc::gen::inRange(0, 8);
    auto it = here.find(PodUid(i));
    if (it == here.end()) {
      const auto pod = DrawPod(i, 0);
      here[pod->uid()] = pod;
      imagined.push_back(std::make_unique<PodRecord>(PodRecord{pod, 0, false}));
      overlay.AddPod(*imagined.back());
      RC_ASSERT(told.AddPod(pod).ok());
    } else {
      const PodRecord record{it->second, 0, false};
      overlay.RemovePod(record);
      RC_ASSERT(told.RemovePod(it->first).ok());
      here.erase(it);
    }
    const Snapshot want = told.snapshot();
    for (const ResourceId id : {ResourceId::kCpu, ResourceId::kMemory, ResourceId::kEphemeralStorage, Gpu()})
      RC_ASSERT(overlay.requested(id)[0] == want.requested(id)[0]);
    RC_ASSERT(overlay.pod_count()[0] == want.pod_count()[0]);
    RC_ASSERT(overlay.nonzero_cpu()[0] == want.nonzero_cpu()[0]);
    RC_ASSERT(overlay.nonzero_memory()[0] == want.nonzero_memory()[0]);
    RC_ASSERT(std::ranges::equal(overlay.ports(), want.ports(0)));
    RC_ASSERT(overlay.pods().size() == want.pods(0).size());
    for (size_t p = 0; p < want.pods(0).size(); ++p)
      RC_ASSERT(overlay.pods()[p]->pod->uid() == want.pods(0)[p]->pod->uid());
  }
  RC_ASSERT(snapshot.pod_count()[0] == static_cast<int64_t>(snapshot.pods(0).size()));
}

}  // namespace
}  // namespace berth::cluster
