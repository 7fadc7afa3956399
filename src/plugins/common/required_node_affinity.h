// SPDX-License-Identifier: Apache-2.0
// RequiredNodeAffinity: a pod's nodeSelector and required node affinity, compiled against label columns, so that asking
// about a row is integer work.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/node.h"
#include "berth/pod.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// Node label conditions that must all hold, by value id.
//
// Thread safety: constructed on the scheduling thread (it asks for label columns), read from any.
// Valid while the snapshot is: value ids are not kept from one cycle to the next.
class CompiledNodeTerm {
 public:
  // Matches nothing if the term is empty or cannot be parsed, as kube-scheduler has it.
  CompiledNodeTerm(const NodeSelectorTerm& term, const Snapshot& snapshot);
  // Equality on every entry; an empty map matches every node.
  CompiledNodeTerm(const Labels& map, const Snapshot& snapshot);
  bool Matches(Row row) const;

 private:
  struct Condition {
    const LabelColumn* column;
    std::vector<uint8_t> accepts;  // by value id; [kAbsent] is the answer for nodes without the label
  };
  struct NameCondition {
    Row row;  // kNoRow: no such node
    bool equal;
  };
  void Add(const Requirement& requirement, const Snapshot& snapshot);
  void AddField(const Requirement& requirement, const Snapshot& snapshot);

  bool never_ = false;
  std::vector<Condition> conditions_;
  std::vector<NameCondition> names_;
};

// What a pod itself demands of its node: nodeSelector and one of the required terms. A scheduler's addedAffinity is not
// part of it. Thread safety and lifetime as CompiledNodeTerm's.
class RequiredNodeAffinity {
 public:
  RequiredNodeAffinity(const Pod& pod, const Snapshot& snapshot);
  // False: every node matches.
  bool constrains() const { return !selector_.empty() || has_terms_; }
  bool Matches(Row row) const;

 private:
  std::vector<CompiledNodeTerm> selector_;  // none or one
  bool has_terms_ = false;
  std::vector<CompiledNodeTerm> terms_;
};

}  // namespace berth::plugins
