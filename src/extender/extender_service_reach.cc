// SPDX-License-Identifier: Apache-2.0
// How far a profile's plugins look, and what of the cluster has to be kept for them.
#include <utility>
#include <vector>

#include "cluster/cluster_state.h"
#include "extender/extender_service.h"
#include "framework/cycle_run.h"
#include "framework/plugin_call.h"
#include "framework/reads.h"

namespace berth::extender {
namespace {

Depends DependsOf(const framework::Profile& profile, bool filter, bool score) {
  std::vector<Point> points = {Point::kPreFilter};  // asked before scoring too
  if (filter) points.push_back(Point::kFilter);
  if (score) points.insert(points.end(), {Point::kPreScore, Point::kScore});
  return framework::DependsAt(profile, points);
}

size_t ItemsOf(const Node& node) {
  return node.meta.labels.size() + node.taints.size() + node.images.size() + node.declared_features.size() +
         node.conditions.size() + node.allocatable.scalars.size();
}

}  // namespace

Error ExtenderService::CheckWork(size_t pod_items, const Snapshot& snapshot) {
  // An ordinary pod: only nodes with more than a thousand items and pods each could make it too much, and an API server
  // has none such.
  constexpr size_t kMostOnANode = 1'000;
  const std::span<const Row> rows = snapshot.order();
  if (rows.empty() || pod_items <= kMaxPairs / kMostOnANode / rows.size()) return Error::Ok();
  size_t count = rows.size();
  for (const Row row : rows) count += ItemsOf(snapshot.node(row)) + snapshot.pods(row).size();
  return CheckPairs(pod_items, count, "nodes, items of their lists and pods in the cluster");
}

Reach ExtenderService::ReachOf(bool filter, bool score) const {
  return berth::ReachOf(DependsOf(*profile_, filter, score));
}

std::string ExtenderService::RejectionOn(const Pod& pod, const Snapshot& snapshot, std::span<const Row> rows) const {
  std::vector<const framework::PreFilterEntry*> asked;
  for (const auto& entry : profile_->pre_filter) {
    const Epochs epochs = entry.depends.epochs;
    if (epochs != 0 && (epochs & ~kEpochsOfNodes) == 0) asked.push_back(&entry);
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
  for (const framework::PreFilterEntry* entry : asked) {
    const PreFilterOutcome outcome = framework::CallPreFilter(*profile_, *entry, run);
    if (outcome.verdict.rejected()) return outcome.verdict.message();
  }
  return "";
}

std::vector<Kind> ExtenderService::Kinds(bool filter, bool score) const {
  if (!filter && !score) return {};
  return KindsRead(DependsOf(*profile_, filter, score));
}

std::vector<PluginIndex*> ExtenderService::MakeIndexes() {
  indexes_ = std::make_unique<framework::PluginIndexes>(*profile_);
  return indexes_->all();
}

}  // namespace berth::extender
