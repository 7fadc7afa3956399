// SPDX-License-Identifier: Apache-2.0
// Node selector terms compiled against the label columns of a snapshot, so that matching a batch is integer work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/node_batch.h"
#include "berth/snapshot.h"

namespace berth::plugins {

// Conditions that all have to hold. Valid as long as the snapshot it was compiled for: value ids may change afterwards.
// Thread safety: And and Matches from any thread.
class CompiledTerm {
 public:
  // Matches every row until conditions are added.
  CompiledTerm() = default;
  // As NodeSelectorTerm::Matches: an empty or invalid term matches nothing. Scheduling thread only.
  CompiledTerm(const NodeSelectorTerm& term, const Snapshot& snapshot);
  // Equality on every entry, as spec.nodeSelector has it. Scheduling thread only.
  CompiledTerm(const Labels& node_selector, const Snapshot& snapshot);

  // Clears match[i] where row first + i of the batch does not match. REQUIRES: first + match.size() <= nodes.size().
  void And(const NodeBatch& nodes, size_t first, std::span<uint8_t> match) const;
  // The same for one row.
  bool Matches(Row row) const;
  bool matches_nothing() const { return nothing_; }

 private:
  // One of: the value id is (not) among `ids`; `table` says so per value id; the row is (not) `row`.
  struct Condition {
    const LabelColumn* column = nullptr;
    bool negated = false;
    std::vector<uint32_t> ids;
    std::vector<uint8_t> table;
    Row row = kNoRow;
  };
  void AddExpression(const Requirement& requirement, const Snapshot& snapshot);
  void AddField(const Requirement& requirement, const Snapshot& snapshot);
  void AddValues(const std::vector<std::string>& values, bool negated, const LabelColumn& column);

  bool nothing_ = false;
  std::vector<Condition> conditions_;
};

// Terms of which one has to hold; without terms nothing matches.
class CompiledSelector {
 public:
  CompiledSelector(const NodeSelector& selector, const Snapshot& snapshot);
  // match[i] = row first + i of the batch matches. REQUIRES: as CompiledTerm::And.
  void Match(const NodeBatch& nodes, size_t first, std::span<uint8_t> match) const;

 private:
  std::vector<CompiledTerm> terms_;
};

// Rows are matched in pieces of this size, so that intermediate answers live on the stack.
inline constexpr size_t kMatchChunk = 256;

}  // namespace berth::plugins
