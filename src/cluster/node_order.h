// SPDX-License-Identifier: Apache-2.0
// NodeOrder: kube-scheduler's order of nodes: zones take turns, nodes of a zone in the order they came.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/snapshot.h"

namespace berth::cluster {

// Region and zone of a node with these labels, as kube-scheduler tells zones apart; empty without both.
std::string ZoneKey(const Labels& labels);

// Upstream: pkg/scheduler/backend/cache/node_tree.go. The list is rebuilt when it is asked for after a change.
// Thread safety: scheduling thread only.
class NodeOrder {
 public:
  // A node that is known already moves only when its zone changed.
  void Put(Row row, const Labels& labels);
  void Remove(Row row);
  std::span<const Row> List() const;
  // By row; entries of rows that are not in the list mean nothing.
  std::span<const uint32_t> Ranks() const;

 private:
  struct Zone {
    std::string key;
    std::vector<Row> rows;
  };
  std::vector<Zone> zones_;  // first-seen order
  std::unordered_map<Row, std::string> zone_of_;
  mutable std::vector<Row> list_;
  mutable std::vector<uint32_t> ranks_;
  mutable bool stale_ = false;
};

}  // namespace berth::cluster
