// SPDX-License-Identifier: Apache-2.0
// The pod state machine, nominations and the feeding of plugin indexes.
#include "cluster/cluster_state.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::cluster {
namespace {

enum class Difference : uint8_t { kNone, kStatus, kLabels, kMore };

// A pod's fields by what they mean to others. Each is named: a new one does not compile before somebody has been here.
// Status is what no column, index or judgement of other pods counts by; requests that the kubelet reports count through
// `resources`.
auto FieldsOf(const Pod& pod) {
  const auto& [meta, scheduler_name, node_name, priority, priority_class_name, preemption_policy, node_selector,
               affinity, tolerations, topology_spread, containers, init_containers, overhead, pod_requests, pod_limits,
               scheduling_gates, volumes, resource_claims, host_network, host_users, phase, nominated_node_name,
               start_time, conditions, container_statuses, init_container_statuses, status_requests, status_allocated,
               resources] = pod;
  const auto& [name, namespace_, uid, resource_version, generation, labels, annotations, creation_time, deletion_time,
               owners] = meta;
  return std::tuple(
      std::tie(name, namespace_, uid, annotations, creation_time, deletion_time, owners, scheduler_name, node_name,
               priority, priority_class_name, preemption_policy, node_selector, affinity, tolerations, topology_spread,
               containers, init_containers, overhead, pod_requests, pod_limits, scheduling_gates, volumes,
               resource_claims, host_network, host_users, resources),
      std::tie(labels),
      std::tie(phase, nominated_node_name, start_time, conditions, container_statuses, init_container_statuses,
               status_requests, status_allocated));
}

// What is new about a placed pod, but for versions. Labels are what indexes count by, but no column does: API servers
// copy those of zone and region from the node to every pod that is bound.
Difference Compare(const Pod& before, const Pod& after) {
  if (&before == &after) return Difference::kNone;
  const auto [counts, labels, status] = FieldsOf(before);
  const auto [counts_now, labels_now, status_now] = FieldsOf(after);
  if (counts != counts_now) return Difference::kMore;
  if (labels != labels_now) return Difference::kLabels;
  return status != status_now ? Difference::kStatus : Difference::kNone;
}

}  // namespace

void ClusterState::PutNode(std::shared_ptr<const Node> node) {
  const std::string name = node->name();
  const Row row = columns_.RowFor(name);
  const std::shared_ptr<const Node> before = columns_.data().rows[row].node;
  columns_.SetNode(row, std::move(node));
  if (!before) RefreshNominated(name);
  const std::shared_ptr<const Node>& after = columns_.data().rows[row].node;
  for (PluginIndex* index : indexes_) index->NodeChanged(snapshot(), row, before.get(), after.get());
}

Error ClusterState::RemoveNode(std::string_view name) {
  const Row row = columns_.FindRow(name);
  if (row == kNoRow) return Error("node " + std::string(name) + " is not in the cache, so it cannot be removed");
  const std::shared_ptr<const Node> before = columns_.data().rows[row].node;
  columns_.ClearNode(row);
  for (PluginIndex* index : indexes_) index->NodeChanged(snapshot(), row, before.get(), nullptr);
  return Error::Ok();
}

void ClusterState::Place(std::shared_ptr<const Pod> pod, bool assumed) {
  const Row row = columns_.RowFor(pod->node_name);
  std::string uid = pod->uid();
  auto record = std::make_unique<PodRecord>(PodRecord{std::move(pod), row, assumed});
  const PodRecord& placed = *record;
  assumed_ += assumed;
  pods_.insert_or_assign(std::move(uid), std::move(record));
  columns_.AddPod(row, placed);
  for (PluginIndex* index : indexes_) index->PodAdded(snapshot(), placed);
}

void ClusterState::Displace(ByText<std::unique_ptr<PodRecord>>::iterator it) {
  // Kept until the indexes have been told.
  const std::unique_ptr<PodRecord> record = std::move(it->second);
  assumed_ -= record->assumed;
  pods_.erase(it);
  columns_.RemovePod(*record);
  for (PluginIndex* index : indexes_) index->PodRemoved(snapshot(), *record);
}

void ClusterState::Replace(ByText<std::unique_ptr<PodRecord>>::iterator it, std::shared_ptr<const Pod> pod) {
  PodRecord& record = *it->second;
  const Difference difference = Compare(*record.pod, *pod);
  // A port that another pod took along comes back with this one.
  if (difference == Difference::kMore || !HostPortsOf(*pod).empty()) {
    Displace(it);
    Place(std::move(pod), false);
    return;
  }
  assumed_ -= record.assumed;
  if (difference == Difference::kLabels) return Relabel(it->second, std::move(pod));
  record.pod = std::move(pod);
  record.assumed = false;
  columns_.RefreshPod(record, difference != Difference::kNone);
}

void ClusterState::Relabel(std::unique_ptr<PodRecord>& slot, std::shared_ptr<const Pod> pod) {
  // Another record, as for any pod that goes and comes: indexes may know pods by it.
  const std::unique_ptr<PodRecord> before =
      std::exchange(slot, std::make_unique<PodRecord>(PodRecord{std::move(pod), slot->row, false}));
  columns_.ReplacePod(*before, *slot);
  for (PluginIndex* index : indexes_) {
    index->PodRemoved(snapshot(), *before);
    index->PodAdded(snapshot(), *slot);
  }
}

Error ClusterState::AssumePod(std::shared_ptr<const Pod> pod) {
  if (pods_.contains(pod->uid()))
    return Error("pod " + pod->uid() + "(" + FullName(*pod) + ") is in the cache, so can't be assumed");
  ClearNomination(pod->uid());
  Place(std::move(pod), true);
  return Error::Ok();
}

Error ClusterState::AddPod(std::shared_ptr<const Pod> pod) {
  auto it = pods_.find(pod->uid());
  if (it == pods_.end()) {
    ClearNomination(pod->uid());
    Place(std::move(pod), false);
    return Error::Ok();
  }
  if (!it->second->assumed) return Error("pod " + pod->uid() + "(" + FullName(*pod) + ") was already in added state");
  std::string moved;
  if (const std::string& expected = it->second->pod->node_name; pod->node_name != expected)
    moved = "pod " + FullName(*pod) + " was added to node " + pod->node_name + ", but it was assumed on " + expected;
  Replace(it, std::move(pod));
  return moved.empty() ? Error::Ok() : Error(moved);
}

Error ClusterState::UpdatePod(std::shared_ptr<const Pod> pod) {
  auto it = pods_.find(pod->uid());
  if (it == pods_.end())
    return Error("pod " + pod->uid() + "(" + FullName(*pod) + ") is not added to the cache, so cannot be updated");
  if (it->second->assumed) return Error("assumed pod " + pod->uid() + "(" + FullName(*pod) + ") should not be updated");
  std::string moved;
  if (const std::string& before = it->second->pod->node_name; pod->node_name != before)
    moved = "pod " + FullName(*pod) + " updated on a different node than previously added to: " + before + " before, " +
            pod->node_name + " now";
  Replace(it, std::move(pod));
  return moved.empty() ? Error::Ok() : Error(moved);
}

Error ClusterState::ForgetPod(std::string_view uid) {
  auto it = pods_.find(uid);
  if (it == pods_.end() || !it->second->assumed)
    return Error("pod " + std::string(uid) + " wasn't assumed so cannot be forgotten");
  Displace(it);
  return Error::Ok();
}

Error ClusterState::RemovePod(std::string_view uid) {
  auto it = pods_.find(uid);
  if (it == pods_.end())
    return Error("pod " + std::string(uid) + " is not found in the cache, so cannot be removed from it");
  Displace(it);
  return Error::Ok();
}

bool ClusterState::IsAssumed(std::string_view uid) const {
  auto it = pods_.find(uid);
  return it != pods_.end() && it->second->assumed;
}

const PodRecord* ClusterState::FindPod(std::string_view uid) const {
  auto it = pods_.find(uid);
  return it == pods_.end() ? nullptr : it->second.get();
}

void ClusterState::Nominate(std::shared_ptr<const Pod> pod, const std::string& node) {
  const std::string uid = pod->uid();
  ClearNomination(uid);
  if (node.empty()) return;
  auto record = std::make_unique<PodRecord>(PodRecord{std::move(pod), columns_.FindRow(node), false});
  nominations_[uid] = {node, std::move(record)};
  nominated_to_[node].push_back(uid);
  RefreshNominated(node);
}

void ClusterState::ClearNomination(std::string_view uid) {
  if (nominations_.empty()) return;  // asked about every pod that is bound
  auto it = nominations_.find(uid);
  if (it == nominations_.end()) return;
  const std::string node = it->second.node;
  const std::unique_ptr<PodRecord> record = std::move(it->second.record);
  nominations_.erase(it);
  auto to = nominated_to_.find(node);
  std::erase(to->second, std::string(uid));
  if (to->second.empty()) nominated_to_.erase(to);
  RefreshNominated(node);
}

const std::string* ClusterState::NominationOf(std::string_view uid) const {
  auto it = nominations_.find(uid);
  return it == nominations_.end() ? nullptr : &it->second.node;
}

std::vector<std::shared_ptr<const Pod>> ClusterState::NominatedTo(std::string_view node) const {
  std::vector<std::shared_ptr<const Pod>> pods;
  if (auto to = nominated_to_.find(node); to != nominated_to_.end())
    for (const std::string& uid : to->second) pods.push_back(nominations_.find(uid)->second.record->pod);
  return pods;
}

// Nominations are kept by node name; the columns know them by row, and only while the node is there.
void ClusterState::RefreshNominated(const std::string& node) {
  const Row row = columns_.FindRow(node);
  if (row == kNoRow) return;
  std::vector<const PodRecord*> records;
  if (auto to = nominated_to_.find(node); to != nominated_to_.end()) {
    for (const std::string& uid : to->second) {
      PodRecord& record = *nominations_.find(uid)->second.record;
      record.row = row;
      records.push_back(&record);
    }
  }
  columns_.SetNominated(row, std::move(records));
}

void ClusterState::AddIndex(PluginIndex* index) {
  indexes_.push_back(index);
  const Snapshot now = snapshot();
  for (Row row = 0; row < now.rows(); ++row)
    if (now.live(row)) index->NodeChanged(now, row, nullptr, &now.node(row));
  // An index may keep what it is told in that order.
  std::vector<const std::pair<const std::string, std::unique_ptr<PodRecord>>*> by_uid;
  by_uid.reserve(pods_.size());
  for (const auto& entry : pods_) by_uid.push_back(&entry);
  std::sort(by_uid.begin(), by_uid.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const auto* entry : by_uid) index->PodAdded(now, *entry->second);
  index->ObjectsChanged(now, {});
}

void ClusterState::RemoveIndex(PluginIndex* index) { std::erase(indexes_, index); }

void ClusterState::TellObjectsChanged(const ObjectChange& change) {
  for (PluginIndex* index : indexes_) index->ObjectsChanged(snapshot(), change);
}

void ClusterState::TellObjectAssumed(const ObjectChange& change) {
  for (PluginIndex* index : indexes_) index->ObjectAssumed(snapshot(), change);
}

}  // namespace berth::cluster
