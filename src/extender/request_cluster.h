// SPDX-License-Identifier: Apache-2.0
// RequestCluster: the cluster that a request's nodes are, kept from one request to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/node.h"
#include "berth/snapshot.h"
#include "cluster/cluster_state.h"

namespace berth::extender {

// A cluster has one cell per node and resource that any node has: few bytes of a request could ask for gigabytes.
inline constexpr size_t kMaxCells = 64'000'000;

// How many different resources some nodes have.
class ResourceCount {
 public:
  void Add(const Node& node);
  void Clear() { *this = {}; }
  // Says so if `nodes` nodes with these resources would have more than `most` cells.
  Error Check(size_t nodes, size_t most = kMaxCells) const;

 private:
  std::vector<uint8_t> seen_;  // by id
  size_t count_ = 0;
};

// Building a ClusterState costs more than all else that a request needs; most requests have the nodes of the one
// before, perhaps in another order. So the state stays, and only what differs is put into it or taken out.
//
// Thread safety: none.
class RequestCluster {
 public:
  // `in_order`: rows shall be the nodes' places in the request (for plugins that look at all rows); without it a node
  // may have any row, and requests that differ in order alone cost nothing.
  explicit RequestCluster(bool in_order, size_t max_cells = kMaxCells)
      : in_order_(in_order), max_cells_(max_cells), state_(std::make_unique<cluster::ClusterState>()) {}

  using NodeAt = std::function<const std::shared_ptr<const Node>&(size_t)>;
  using NameAt = std::function<const std::string&(size_t)>;
  // From now on the cluster has these nodes and no others; of equal names the last counts. Returns the row of each,
  // good until the next call. An Error when they would have too many cells; the cluster is empty then.
  Result<std::span<const Row>> Set(size_t count, const NodeAt& node_at);
  // The same for nodes of which only the name is known.
  std::span<const Row> SetNames(size_t count, const NameAt& name_at);

  // Of the names of the last SetNames, together.
  size_t name_bytes() const { return names_.size(); }

  Snapshot snapshot() const { return state_->snapshot(); }
  // Gives all memory back.
  void Clear();

 private:
  template <class NameOf, class NodeOf, class IsSame>
  Error Update(size_t count, const NameOf& name_of, const NodeOf& node_of, const IsSame& is_same);
  template <class NameOf, class NodeOf>
  Error Rebuild(size_t count, const NameOf& name_of, const NodeOf& node_of);
  // Puts one of `count` nodes.
  Error Put(std::shared_ptr<const Node> node, size_t count);

  const bool in_order_;
  const size_t max_cells_;
  std::unique_ptr<cluster::ClusterState> state_;
  std::vector<std::shared_ptr<const Node>> by_row_;
  std::vector<Row> rows_;       // by place
  std::vector<uint8_t> asked_;  // by row
  size_t changes_ = 0;          // since the state was built
  ResourceCount resources_;     // that the state has columns for
  // The names of the last SetNames, one behind the other, and where each ends: most often they come again.
  std::string names_;
  std::vector<size_t> name_ends_;
  bool names_count_ = false;  // the last call was SetNames
};

}  // namespace berth::extender
