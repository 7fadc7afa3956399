// SPDX-License-Identifier: Apache-2.0
// Choosing a node without asking whether the pod fits.
#include "controller/placements.h"

#include <algorithm>
#include <iterator>

namespace berth::controller {
namespace {

// What may bring a node that was not there: a new one, or one that became ready or was uncordoned.
std::vector<EventRegistration> NodesComeOrChange() {
  return {{{EventResource::kNode, action::kAdd | action::kUpdateNodeCondition | action::kUpdateNodeTaint}, nullptr}};
}

bool IsReady(const Node& node) {
  return std::any_of(node.conditions.begin(), node.conditions.end(), [](const NodeCondition& condition) {
    return condition.type == "Ready" && condition.status == "True";
  });
}

}  // namespace

bool IsUsable(const Node& node) { return !node.unschedulable && IsReady(node); }

PreFilterOutcome PlacementPlugin::PreFilter(const Cycle& cycle) const {
  const Row row = Choose(cycle.snapshot());
  if (row == kNoRow) return PreFilterOutcome::Reject(kNoUsableNode);
  PreFilterOutcome outcome = PreFilterOutcome::Ok();
  outcome.node_names = {cycle.snapshot().node(row).name()};
  return outcome;
}

std::optional<std::vector<EventRegistration>> PlacementPlugin::EventsToRegister() const { return NodesComeOrChange(); }

std::vector<Row>::iterator NodesByName::PlaceOf(Row row) {
  return std::lower_bound(rows_.begin(), rows_.end(), row, [this](Row a, Row b) {
    const int order = names_[a].compare(names_[b]);
    return order != 0 ? order < 0 : a < b;
  });
}

void NodesByName::Refresh(const Snapshot& snapshot, Row row) {
  cluster_ = snapshot.cluster();
  if (row >= names_.size()) names_.resize(row + 1);
  const std::string name = snapshot.live(row) ? snapshot.node(row).name() : "";
  if (names_[row] == name) return;
  if (!names_[row].empty()) rows_.erase(PlaceOf(row));
  names_[row] = name;
  if (!name.empty()) rows_.insert(PlaceOf(row), row);
}

std::unique_ptr<PluginIndex> RandomNode::MakeIndex() {
  auto index = std::make_unique<NodesByName>();
  index_ = index.get();
  return index;
}

Row RandomNode::Choose(const Snapshot& snapshot) const {
  if (index_ != nullptr && index_->Serves(snapshot)) return ChooseOf(snapshot, index_->rows());
  NodesByName nodes;
  for (Row row = 0; row < snapshot.rows(); ++row) nodes.Refresh(snapshot, row);
  return ChooseOf(snapshot, nodes.rows());
}

Row RandomNode::ChooseOf(const Snapshot& snapshot, const std::vector<Row>& rows) const {
  if (rows.empty()) return kNoRow;
  // Nearly every node may hold pods, as a rule.
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const Row row = rows[handle_.Random() % rows.size()];
    if (MayHold(snapshot, row)) return row;
  }
  std::vector<Row> usable;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(usable), [&](Row row) { return MayHold(snapshot, row); });
  return usable.empty() ? kNoRow : usable[handle_.Random() % usable.size()];
}

void NodeRanking::Refresh(const Snapshot& snapshot, Row row) {
  cluster_ = snapshot.cluster();
  if (row >= by_row_.size()) by_row_.resize(row + 1);
  std::optional<std::set<Rank>::iterator>& place = by_row_[row];
  if (place) ranked_.erase(*place);
  place.reset();
  if (!snapshot.live(row) || (ready_nodes_only_ && !IsUsable(snapshot.node(row)))) return;
  const int64_t pods = by_pods_ ? snapshot.pod_count()[row] : 0;
  place = ranked_.insert({pods, snapshot.node(row).name(), row}).first;
}

void NodeRanking::PodAdded(const Snapshot& snapshot, const PodRecord& pod) {
  if (by_pods_) Refresh(snapshot, pod.row);
}

void NodeRanking::PodRemoved(const Snapshot& snapshot, const PodRecord& pod) {
  if (by_pods_) Refresh(snapshot, pod.row);
}

void NodeRanking::NodeChanged(const Snapshot& snapshot, Row row, const Node*, const Node*) { Refresh(snapshot, row); }

std::unique_ptr<PluginIndex> RankedNode::MakeIndex() {
  auto index = std::make_unique<NodeRanking>(by_pods_, ready_nodes_only());
  index_ = index.get();
  return index;
}

Row RankedNode::Choose(const Snapshot& snapshot) const {
  if (index_ != nullptr && index_->Serves(snapshot)) return index_->First();
  NodeRanking ranking(by_pods_, ready_nodes_only());
  for (Row row = 0; row < snapshot.rows(); ++row) ranking.Refresh(snapshot, row);
  return ranking.First();
}

Verdict ReadyNodes::FilterNode(const Pod&, NodeView node) const {
  if (node.node().unschedulable) return kCordoned;
  return IsReady(node.node()) ? Verdict() : kNotReady;
}

std::optional<std::vector<EventRegistration>> ReadyNodes::EventsToRegister() const { return NodesComeOrChange(); }

void RegisterPlacements(Registry& registry) {
  registry.Add<RandomNode>();
  registry.Add<FirstNode>();
  registry.Add<LeastPodsNode>();
  registry.Add<ReadyNodes>();
}

}  // namespace berth::controller
