// SPDX-License-Identifier: Apache-2.0
// PodCounts: how many pods that a selector matches are on each row, kept as pods come and go. Counts are by row and not
// by topology value, so labels of nodes and who takes part in a count are the asker's business, at the price of one
// pass over the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/depends.h"
#include "berth/labels.h"
#include "berth/snapshot.h"
#include "berth/text_hash.h"

namespace berth::plugins {

// A number per row: a short sorted list while few rows have one, a column when many do.
class RowCounts {
 public:
  // REQUIRES: no count falls below zero.
  void Add(Row row, int64_t amount);
  int64_t operator[](Row row) const;
  // Of all rows.
  int64_t total() const { return total_; }
  // fn(row, count) for rows whose count is not zero, ascending.
  template <class Fn>
  void ForEach(Fn&& fn) const {
    for (const Entry& entry : few_) fn(entry.row, int64_t{entry.count});
    for (size_t row = 0; row < many_.size(); ++row)
      if (many_[row] != 0) fn(static_cast<Row>(row), int64_t{many_[row]});
  }
  // By row; empty while only few rows have one.
  std::span<const uint32_t> dense() const { return many_; }
  // The counts of rows 0 to n, for loops: `room` is filled and used where there is no column of that length.
  std::span<const uint32_t> Column(size_t n, std::vector<uint32_t>& room) const;
  // Zones are few: a look at all rows for each of them, several at a time, costs less than one at each row.
  bool SumsByValue(const LabelColumn& column) const { return !many_.empty() && column.distinct() <= kFewValues; }
  // The counts of live rows that have the value, in sum. REQUIRES: SumsByValue
  uint64_t SumOf(uint32_t value, std::span<const uint32_t> values, std::span<const uint8_t> live) const;
  size_t Bytes() const { return few_.capacity() * sizeof(Entry) + many_.capacity() * sizeof(uint32_t); }

 private:
  static constexpr size_t kFewValues = 4;
  struct Entry {
    Row row;
    uint32_t count;
  };
  std::vector<Entry> few_;      // by row; empty once there are many
  std::vector<uint32_t> many_;  // by row
  int64_t total_ = 0;
};

// Which pods to count: those that satisfy every clause.
class PodQuery {
 public:
  // `terminating`: pods that are being deleted count too.
  explicit PodQuery(bool terminating);
  // In one of `namespaces`, or anywhere, and matched by the selector; none matches nothing.
  // REQUIRES: what is passed outlives the query; namespaces are sorted.
  void And(bool any_namespace, std::span<const std::string> namespaces, const std::optional<LabelSelector>& selector);

 private:
  friend class PodCounts;
  struct Clause {
    bool any_namespace;
    std::span<const std::string> namespaces;
    const std::optional<LabelSelector>* selector;
  };
  bool terminating_;
  std::vector<Clause> clauses_;
  Signature key_;
};

// Pods that plugins cannot tell apart by labels and namespace. Equal labels share their address, so finding one is
// cheap; the copy held here keeps that address from meaning anything else.
struct PodKind {
  Labels labels;
  std::string ns;
  Labels ns_labels;  // where the namespace's labels matter
  bool operator==(const PodKind&) const = default;
};
struct PodKindHash {
  size_t operator()(const PodKind& kind) const {
    return (kind.labels.hash() * 31 + kind.ns_labels.hash()) * 31 + TextHash()(kind.ns);
  }
};

// Thread safety: scheduling thread.
class PodCounts {
 public:
  struct Limits {
    size_t queries = 4096;
    size_t bytes = size_t{16} << 20;
  };
  PodCounts() : PodCounts(Limits()) {}
  explicit PodCounts(const Limits& limits) : limits_(limits) {}

  // To be called before a pod's queries: lets those go that were not asked for longest, until the rest is in bounds.
  void Begin();
  // Counted from the snapshot when asked for the first time, kept up to date from then on. Valid until Begin.
  // REQUIRES: every pod that was or is in the snapshot was or will be told to Add.
  const RowCounts& Count(const Snapshot& snapshot, const PodQuery& query);
  // A pod came (1) or went (-1).
  void Add(const Pod& pod, Row row, int64_t amount);

  // Grows whenever a count changes, or is no longer kept.
  uint64_t epoch() const { return epoch_; }
  size_t queries() const { return by_key_.size(); }

 private:
  struct Clause {
    bool any_namespace;
    std::vector<std::string> namespaces;
    std::optional<LabelSelector> selector;
  };
  struct Tracker {
    std::string key;
    std::vector<Clause> clauses;
    bool terminating = false;
    bool dropped = false;
    uint64_t serial = 0, used = 0;
    RowCounts counts;

    bool Matches(const Labels& labels, const std::string& ns) const;
  };
  // The trackers that count pods of one kind, as far as they were made before `seen`.
  struct Matching {
    uint64_t seen = 0;
    std::vector<std::shared_ptr<Tracker>> trackers;
  };
  size_t Bytes() const;
  void Drop(Tracker& tracker);

  const Limits limits_;
  std::unordered_map<std::string, std::shared_ptr<Tracker>, TextHash> by_key_;
  std::map<uint64_t, std::shared_ptr<Tracker>> by_serial_;
  std::unordered_map<PodKind, Matching, PodKindHash> kinds_;
  PodKind probe_;  // saves making strings
  uint64_t serial_ = 0, uses_ = 0, epoch_ = 0;
  uint64_t begins_ = 0;
  bool grown_ = false;  // a query was added since the last weighing
};

// The index of a plugin that counts pods.
class PodCountIndex : public PluginIndex {
 public:
  // What counts by topology value depend on: nodes and their labels are read from the snapshot itself.
  static constexpr Epochs kIndexed = epoch::kOwnIndex | epoch::kNodeSet | epoch::kNodeLabels;

  explicit PodCountIndex(const PodCounts::Limits& limits = PodCounts::Limits()) : counts_(limits) {}
  void PodAdded(const Snapshot& snapshot, const PodRecord& pod) override;
  void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) override;
  void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) override;
  void ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) override;
  uint64_t epoch() const override { return counts_.epoch() + rows_changed_; }

  // False: this snapshot is of a cluster that does not feed the index, and has to be scanned.
  bool Serves(const Snapshot& snapshot) const { return home_ == snapshot.cluster(); }
  PodCounts& counts() { return counts_; }

 private:
  void Visit(const Snapshot& snapshot);

  PodCounts counts_;
  const void* home_ = nullptr;
  size_t rows_ = 0;
  // Answers may hold views of columns, which move when there are more rows or fewer.
  uint64_t rows_changed_ = 0;
};

}  // namespace berth::plugins
