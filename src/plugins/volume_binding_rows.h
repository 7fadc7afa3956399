// SPDX-License-Identifier: Apache-2.0
// SelectedRows: which nodes the selectors of volumes, classes and capacities match, kept as either changes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/node.h"
#include "berth/row.h"
#include "berth/text_hash.h"

namespace berth::plugins {

// As upstream's CheckNodeAffinity: by labels alone. Fields have to be well-formed but are not compared, so a term of
// nothing else matches every node.
bool MatchesLabels(const NodeSelector& selector, const Labels& labels);

// Equal selectors are one set. A set is found by the values that its terms demand of one label (mostly the host's
// name), so that neither a volume nor a node is held against all of the others.
//
// Thread safety: none for changes; looking from any thread.
class SelectedRows {
 public:
  using Id = uint32_t;
  static constexpr Id kEveryRow = 0;  // what has no selector

  // The set of a selector, to be released as often as it was asked for.
  Id Acquire(const NodeSelector& selector);
  void Release(Id id);

  // True when the labels are new: the row may be in other sets by now.
  bool PutNode(Row row, const Labels& labels);
  bool RemoveNode(Row row);

  bool Contains(Id id, Row row) const;
  // In no order. REQUIRES: not of kEveryRow.
  std::span<const Row> rows(Id id) const { return sets_[id].rows; }
  // The sets that a row is in, but for kEveryRow.
  std::span<const Id> sets(Row row) const {
    return row < nodes_.size() ? std::span<const Id>(nodes_[row].sets) : std::span<const Id>();
  }
  // False: there are no sets, so nothing depends on nodes.
  bool selects() const { return !ids_.empty(); }

 private:
  struct Set {
    NodeSelector selector;
    std::string text;  // its key in ids_
    std::vector<Row> rows;
    uint32_t uses = 0;
  };
  struct NodeEntry {
    bool live = false;
    Labels labels;
    std::vector<Id> sets;
  };
  // The nodes that have one value of a label, and the sets of which a term demands it.
  struct Bucket {
    std::vector<Row> rows;
    std::vector<Id> sets;
  };
  struct Key {
    std::unordered_map<std::string, Bucket, TextHash, std::equal_to<>> values;
    uint32_t uses = 0;  // terms that are found by it
  };

  Key& Track(const std::string& name);
  void Join(Id id, Row row);
  // Joins if the node matches and is not in yet.
  void Test(Id id, Row row);

  std::vector<Set> sets_{1};
  std::vector<Id> free_;
  std::unordered_map<std::string, Id, TextHash, std::equal_to<>> ids_;
  std::map<std::string, Key, std::less<>> keys_;
  std::vector<Id> unkeyed_;  // sets with a term that demands no value
  std::vector<NodeEntry> nodes_;
};

}  // namespace berth::plugins
