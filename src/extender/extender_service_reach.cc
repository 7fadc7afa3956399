// SPDX-License-Identifier: Apache-2.0
// How far a profile's plugins look, and what of the cluster has to be kept for them.
#include <algorithm>
#include <utility>

#include "cluster/cluster_state.h"
#include "extender/extender_service.h"
#include "framework/cycle_run.h"
#include "framework/guard.h"

namespace berth::extender {
namespace {

// What a Node object is the source of, and what of other Node objects may stay unknown: an extender is asked about the
// nodes that are left, and answers for those.
constexpr RowFields kOfNode = row_field::kName | row_field::kAllocatable | row_field::kLabels | row_field::kTaints |
                              row_field::kUnschedulable | row_field::kImages | row_field::kFeatures;
constexpr Epochs kOfNodes = epoch::kNodeSet | epoch::kNodeLabels | epoch::kSets;

struct KindsOfEpoch {
  Epochs epochs;
  std::vector<Kind> kinds;
};
const std::vector<KindsOfEpoch>& ObjectKinds() {
  static const std::vector<KindsOfEpoch> kinds = {
      {epoch::kNamespaces, {Kind::kNamespace}},
      {epoch::kWorkloads, {Kind::kService, Kind::kReplicationController, Kind::kReplicaSet, Kind::kStatefulSet}},
      {epoch::kDevices, {Kind::kResourceClaim, Kind::kResourceSlice, Kind::kDeviceClass}},
      {epoch::kVolumes,
       {Kind::kPersistentVolumeClaim, Kind::kPersistentVolume, Kind::kStorageClass, Kind::kCsiNode, Kind::kCsiDriver,
        Kind::kCsiStorageCapacity, Kind::kVolumeAttachment}},
      {epoch::kUnrememberable, {Kind::kPodDisruptionBudget}},
  };
  return kinds;
}

// All that the plugins of some points depend on. PreFilter and PreScore judge no row: their epochs alone count.
struct Needs {
  RowFields row = 0;
  Epochs epochs = 0;

  template <class Entries>
  void Add(const Entries& entries, Point point, bool judges_rows) {
    for (const auto& entry : entries) {
      const Depends depends = entry.plugin->DependsOn(point);
      if (judges_rows) row |= depends.row;
      epochs |= depends.epochs;
    }
  }
  Reach reach() const {
    if ((row & ~row_field::kName) == 0 && (epochs & ~epoch::kNodeSet) == 0) return Reach::kNames;
    return (row & ~kOfNode) == 0 && (epochs & ~kOfNodes) == 0 ? Reach::kNodes : Reach::kCluster;
  }
};

Needs NeedsOf(const framework::Profile& profile, bool filter, bool score) {
  Needs needs;
  needs.Add(profile.pre_filter, Point::kPreFilter, false);  // asked before scoring too
  if (filter) needs.Add(profile.filter, Point::kFilter, true);
  if (score) {
    needs.Add(profile.pre_score, Point::kPreScore, false);
    needs.Add(profile.score, Point::kScore, true);
  }
  return needs;
}

}  // namespace

Reach ExtenderService::ReachOf(bool filter, bool score) const { return NeedsOf(*profile_, filter, score).reach(); }

std::string ExtenderService::RejectionOn(const Pod& pod, const Snapshot& snapshot, std::span<const Row> rows) const {
  std::vector<const PreFilterPlugin*> asked;
  for (const auto& entry : profile_->pre_filter) {
    const Epochs epochs = entry.plugin->DependsOn(Point::kPreFilter).epochs;
    if (epochs != 0 && (epochs & ~kOfNodes) == 0) asked.push_back(entry.plugin);
  }
  std::vector<uint8_t> there(snapshot.rows());
  size_t count = 0;
  for (const Row row : rows) {
    if (row != kNoRow && !std::exchange(there[row], 1)) ++count;
  }
  // Nothing else was there: they have been asked.
  if (asked.empty() || count == 0 || count == snapshot.node_count()) return "";
  cluster::ClusterState state;
  for (Row row = 0; row < there.size(); ++row) {
    // Not owned: the snapshot outlives this state.
    if (there[row]) state.PutNode(std::shared_ptr<const Node>(std::shared_ptr<const Node>(), &snapshot.node(row)));
  }
  const Snapshot these = state.snapshot();
  VerdictTable table;
  const framework::CycleRun run(*profile_, table, pod, these, clock_.Now());
  for (const PreFilterPlugin* plugin : asked) {
    const PreFilterOutcome outcome =
        framework::Guard([&] { return plugin->PreFilter(run); },
                         [](std::string text) { return PreFilterOutcome::Fail(std::move(text)); });
    if (outcome.verdict.rejected()) return outcome.verdict.message();
  }
  return "";
}

std::vector<Kind> ExtenderService::Kinds(bool filter, bool score) const {
  if (!filter && !score) return {};
  const Needs needs = NeedsOf(*profile_, filter, score);
  std::vector<Kind> kinds;
  if (needs.reach() == Reach::kNames) return kinds;
  kinds.push_back(Kind::kNode);
  if (needs.reach() == Reach::kNodes) return kinds;
  kinds.push_back(Kind::kPod);
  for (const KindsOfEpoch& group : ObjectKinds()) {
    // Who does not say what it depends on may read anything.
    if ((needs.epochs & (group.epochs | epoch::kUnrememberable)) == 0) continue;
    kinds.insert(kinds.end(), group.kinds.begin(), group.kinds.end());
  }
  return kinds;
}

std::vector<PluginIndex*> ExtenderService::MakeIndexes() {
  std::vector<PluginIndex*> all;
  for (const framework::ProfilePlugin& plugin : profile_->plugins) {
    std::unique_ptr<PluginIndex> index =
        framework::Guard([&] { return plugin.plugin->MakeIndex(); }, [](const std::string&) { return nullptr; });
    if (!index) continue;
    all.push_back(index.get());
    indexes_.push_back(std::move(index));
  }
  return all;
}

}  // namespace berth::extender
