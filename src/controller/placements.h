// SPDX-License-Identifier: Apache-2.0
// The placements of `berth controller`, each a plugin: PreFilter names the one node that a pod is bound to, and nobody
// asks whether it fits.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/args.h"
#include "berth/handle.h"
#include "berth/node_plugin.h"
#include "berth/registry.h"

namespace berth::controller {

// Ready by its condition, and not cordoned.
bool IsUsable(const Node& node);

// | argument         | meaning                                            | default |
// |------------------|----------------------------------------------------|---------|
// | `readyNodesOnly` | nodes that are not Ready or cordoned are left out  | false   |
struct PlacementArgs {
  bool ready_nodes_only = false;
  void Read(ArgsReader& in) { in.Bool("readyNodesOnly", ready_nodes_only); }
  Value Write() const { return Value::Object({{"readyNodesOnly", Value::Bool(ready_nodes_only)}}); }
};

// What the placements share. Their answer is never remembered: it is another one for every pod.
class PlacementPlugin : public PreFilterPlugin {
 public:
  using Args = PlacementArgs;
  static constexpr Reason kNoUsableNode{"no node is ready and schedulable", Remedy::kNone};

  explicit PlacementPlugin(const Args& args) : ready_nodes_only_(args.ready_nodes_only) {}
  PreFilterOutcome PreFilter(const Cycle& cycle) const final;
  // Nodes and their pods, and nothing else that would have to be watched.
  Depends DependsOn(Point) const final { return {0, epoch::kUnrememberable | epoch::kNodeSet | epoch::kOtherRows}; }
  std::optional<std::vector<EventRegistration>> EventsToRegister() const final;

 protected:
  // kNoRow: there is none.
  virtual Row Choose(const Snapshot& snapshot) const = 0;
  bool MayHold(const Snapshot& snapshot, Row row) const {
    return snapshot.live(row) && (!ready_nodes_only_ || IsUsable(snapshot.node(row)));
  }
  bool ready_nodes_only() const { return ready_nodes_only_; }

 private:
  const bool ready_nodes_only_;
};

// All nodes in the order of their names, whatever order the cluster has told of them in: a node that reports between
// two starts comes later in the second.
class NodesByName final : public PluginIndex {
 public:
  const std::vector<Row>& rows() const { return rows_; }
  // Whether it is this cluster that was told of.
  bool Serves(const Snapshot& snapshot) const { return cluster_ == snapshot.cluster(); }
  // Looks at a row again, whatever has happened to it.
  void Refresh(const Snapshot& snapshot, Row row);

  void PodAdded(const Snapshot&, const PodRecord&) override {}
  void PodRemoved(const Snapshot&, const PodRecord&) override {}
  void NodeChanged(const Snapshot& snapshot, Row row, const Node*, const Node*) override { Refresh(snapshot, row); }
  void ObjectsChanged(const Snapshot&, const ObjectChange&) override {}

 private:
  std::vector<Row>::iterator PlaceOf(Row row);

  const void* cluster_ = nullptr;
  std::vector<Row> rows_;
  std::vector<std::string> names_;  // by row, as they are in rows_; empty: it is not
};

// Any node, each as likely as the others; with one seed the same ones, if nodes and pods are the same.
class RandomNode final : public PlacementPlugin {
 public:
  static constexpr std::string_view kName = "RandomNode";
  RandomNode(const Args& args, Handle& handle) : PlacementPlugin(args), handle_(handle) {}
  std::unique_ptr<PluginIndex> MakeIndex() override;

 protected:
  Row Choose(const Snapshot& snapshot) const override;

 private:
  Row ChooseOf(const Snapshot& snapshot, const std::vector<Row>& rows) const;

  Handle& handle_;
  const NodesByName* index_ = nullptr;
};

// Nodes in an order that is kept as the cluster changes, so that the first one costs nothing to find: by their number
// of pods where that counts, then by name.
class NodeRanking final : public PluginIndex {
 public:
  NodeRanking(bool by_pods, bool ready_nodes_only) : by_pods_(by_pods), ready_nodes_only_(ready_nodes_only) {}
  // kNoRow: there is none.
  Row First() const { return ranked_.empty() ? kNoRow : ranked_.begin()->row; }
  // Whether it is this cluster that was told of.
  bool Serves(const Snapshot& snapshot) const { return cluster_ == snapshot.cluster(); }
  // Looks at a row again, whatever has happened to it.
  void Refresh(const Snapshot& snapshot, Row row);

  void PodAdded(const Snapshot& snapshot, const PodRecord& pod) override;
  void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) override;
  void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) override;
  void ObjectsChanged(const Snapshot&, const ObjectChange&) override {}

 private:
  struct Rank {
    int64_t pods = 0;
    std::string name;
    Row row = kNoRow;
    bool operator<(const Rank& other) const {
      return pods != other.pods ? pods < other.pods : name != other.name ? name < other.name : row < other.row;
    }
  };
  const bool by_pods_, ready_nodes_only_;
  const void* cluster_ = nullptr;
  std::set<Rank> ranked_;
  std::vector<std::optional<std::set<Rank>::iterator>> by_row_;
};

// The first of a NodeRanking; of one that is made for the question where there is none.
class RankedNode : public PlacementPlugin {
 public:
  RankedNode(const Args& args, bool by_pods) : PlacementPlugin(args), by_pods_(by_pods) {}
  std::unique_ptr<PluginIndex> MakeIndex() final;

 protected:
  Row Choose(const Snapshot& snapshot) const final;

 private:
  const bool by_pods_;
  const NodeRanking* index_ = nullptr;
};

// The first node by name.
class FirstNode final : public RankedNode {
 public:
  static constexpr std::string_view kName = "FirstNode";
  explicit FirstNode(const Args& args) : RankedNode(args, false) {}
};

// The node with the fewest pods, anybody's, and those that were bound a moment ago; of equals the first by name.
class LeastPodsNode final : public RankedNode {
 public:
  static constexpr std::string_view kName = "LeastPodsNode";
  explicit LeastPodsNode(const Args& args) : RankedNode(args, true) {}
};

// The same leaving out for --plugin: a filter beside the plugin's own.
class ReadyNodes final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "ReadyNodes";
  static constexpr Reason kNotReady{"node(s) were not ready", Remedy::kNone};
  static constexpr Reason kCordoned{"node(s) were unschedulable", Remedy::kNone};
  Verdict FilterNode(const Pod& pod, NodeView node) const override;
  // Conditions belong to no group of what can be remembered.
  Depends DependsOn(Point) const override { return {row_field::kUnschedulable, epoch::kUnrememberable}; }
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

// A name that a plugin of somebody else has already is a duplicate, with which no profile is built.
void RegisterPlacements(Registry& registry);

}  // namespace berth::controller
