// SPDX-License-Identifier: Apache-2.0
// SnapshotData: the arrays behind a Snapshot; SnapshotSource: what has them. ClusterState fills them; plugins use the
// accessors of Snapshot, NodeBatch and NodeView.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/host/assumed_objects.h"
#include "berth/host/change_log.h"
#include "berth/host/object_stores.h"
#include "berth/label_column.h"
#include "berth/node.h"
#include "berth/pod_record.h"

namespace berth {
inline namespace v1 {

// What ClusterState keeps per row besides the columns.
struct RowData {
  std::shared_ptr<const Node> node;    // null: pods are there, but the node is unknown ("ghost") or the row is free
  std::vector<const PodRecord*> pods;  // upstream's order: a removed pod's place is taken by the last one
  std::vector<const PodRecord*> affinity_pods;       // with any pod (anti-)affinity
  std::vector<const PodRecord*> anti_affinity_pods;  // with required anti-affinity
  std::vector<HostPort> ports;                       // a set, not a multiset, as upstream
};

// Counters of what lies outside a row; each only grows, by one or more with every change.
struct EpochCounters {
  uint64_t node_set = 0;       // nodes come and go
  uint64_t node_labels = 0;    // some node's labels changed, or the ids of label values
  uint64_t image_spread = 0;   // on how many nodes an image is, and how large
  uint64_t affinity_pods = 0;  // pods with pod (anti-)affinity come and go
  uint64_t sets = 0;           // the tables of taint, image and feature sets: an id may mean another set
};

struct SnapshotData {
  std::vector<uint8_t> live;  // 1: a Node object is there; 0: free or ghost
  std::vector<RowData> rows;
  size_t node_count = 0;
  std::vector<std::vector<int64_t>> allocatable, requested;  // [resource][row]; an empty column is all zero
  std::vector<int64_t> pod_count, nonzero_cpu, nonzero_memory;
  std::vector<int32_t> lowest_priority;  // of the row's pods; INT32_MAX without pods
  std::vector<uint8_t> unschedulable;
  std::vector<uint32_t> taint_set, image_set, feature_set;  // ids into the tables below
  std::vector<std::vector<Taint>> taint_sets;               // [0] is the empty set, as in the next two
  std::vector<std::vector<uint32_t>> image_sets;            // sorted image ids
  std::vector<std::vector<std::string>> feature_sets;
  std::vector<ImageState> images;                      // by image id
  std::vector<Row> affinity_rows, anti_affinity_rows;  // rows that hold such pods, ascending
  std::unordered_map<Row, std::vector<const PodRecord*>> nominated;
  std::vector<int64_t> zeros;
  ObjectStores objects;
  AssumedObjects assumed;
  EpochCounters epochs;
  ChangeLog changes;
};

// What a Snapshot asks its owner for on demand.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  virtual const SnapshotData& data() const = 0;
  virtual Row FindRow(std::string_view node_name) const = 0;
  // Builds the column the first time a key is asked for. Thread safety: any thread.
  virtual const LabelColumn& Column(std::string_view key) const = 0;
  virtual uint32_t FindImage(std::string_view name) const = 0;  // kNoImage when no node has it
  // The row that the pod with this uid is nominated to; kNoRow when there is none.
  virtual Row FindNomination(std::string_view uid) const = 0;
  // Live rows in kube-scheduler's node order: zones in turn.
  virtual std::span<const Row> Order() const = 0;
  // By row: its place in that order. REQUIRES: only live rows are asked for.
  virtual std::span<const uint32_t> Ranks() const = 0;
};

// Fills a label column.
class LabelColumnWriter {
 public:
  static void Resize(LabelColumn& column, size_t rows) { column.values_.resize(rows, LabelColumn::kAbsent); }
  // Null: the row lacks the label.
  static void Assign(LabelColumn& column, Row row, const std::string* value) { column.Assign(row, value); }
};

}  // namespace v1
}  // namespace berth
