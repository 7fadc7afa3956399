// SPDX-License-Identifier: Apache-2.0
// Snapshot: the read-only, columnar view of the cluster that plugins judge by.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/host/kinds.h"
#include "berth/host/read_set.h"
#include "berth/host/snapshot_data.h"
#include "berth/label_column.h"
#include "berth/node.h"
#include "berth/object_store.h"
#include "berth/pod.h"
#include "berth/pod_record.h"

namespace berth {
inline namespace v1 {

class NodeView;
class RowOverlay;

// A Snapshot is a read-only, columnar view of the cluster for one scheduling cycle.
//
// Row i of every column describes the same node and rows never move while a Snapshot is in use. On the scheduling
// thread it costs nothing: it is a view of ClusterState's own arrays, stable because events wait until the cycle is
// over. Plugins take it from the Cycle or NodeBatch of every call and do not keep it.
//
// Thread safety: any thread while the cycle lasts. Where a pool judges, order() and ranks() were built before.
class Snapshot {
 public:
  size_t rows() const { return Noting(epoch::kNodeSet).live.size(); }  // free and ghost ones included
  size_t node_count() const { return Noting(epoch::kNodeSet).node_count; }
  bool live(Row row) const {
    if (reads_ && !reads_->IsAbout(row)) [[unlikely]]
      reads_->epochs |= epoch::kNodeSet;
    return row < data_->live.size() && data_->live[row] != 0;
  }
  std::span<const uint8_t> live() const { return Noting(epoch::kNodeSet).live; }
  // kNoRow when there is no such node.
  Row FindRow(std::string_view node_name) const {
    NoteMeaning(row_field::kName);
    return source_->FindRow(node_name);
  }
  // REQUIRES: live(row)
  const Node& node(Row row) const { return *Noting(row, ReadSet::kNodeObject).node; }
  NodeView view(Row row) const;

  std::span<const int64_t> allocatable(ResourceId id) const {
    return Column(Whole(row_field::kAllocatable).allocatable, id);
  }
  std::span<const int64_t> requested(ResourceId id) const { return Column(Whole(row_field::kRequested).requested, id); }
  // Resource ids at or above it are requested nowhere.
  size_t resource_count() const { return data_->requested.size(); }
  std::span<const int64_t> pod_count() const { return Whole(row_field::kPodCount).pod_count; }
  std::span<const int64_t> nonzero_cpu() const { return Whole(row_field::kRequested).nonzero_cpu; }
  std::span<const int64_t> nonzero_memory() const { return Whole(row_field::kRequested).nonzero_memory; }
  std::span<const int32_t> lowest_priority() const { return Whole(row_field::kPods).lowest_priority; }
  std::span<const uint8_t> unschedulable() const { return Whole(row_field::kUnschedulable).unschedulable; }
  std::span<const uint32_t> taint_set() const { return Whole(row_field::kTaints).taint_set; }
  std::span<const uint32_t> image_set() const { return Whole(row_field::kImages).image_set; }
  std::span<const uint32_t> feature_set() const { return Whole(row_field::kFeatures).feature_set; }
  // Sets by id; ids are below the table's size, so an array of that size remembers an answer per set.
  std::span<const std::vector<Taint>> taint_sets() const {
    NoteMeaning(row_field::kTaints);
    return data_->taint_sets;
  }
  std::span<const std::vector<uint32_t>> image_sets() const {
    NoteMeaning(row_field::kImages);
    return data_->image_sets;
  }
  std::span<const std::vector<std::string>> feature_sets() const {
    NoteMeaning(row_field::kFeatures);
    return data_->feature_sets;
  }

  const LabelColumn& labels(std::string_view key) const {
    NoteMeaning(row_field::kLabels);
    return source_->Column(key);
  }
  // kNoImage when no node has it.
  uint32_t FindImage(std::string_view name) const {
    Note(epoch::kImageSpread);
    return source_->FindImage(name);
  }
  // REQUIRES: an id of FindImage that is not kNoImage.
  const ImageState& image(uint32_t id) const { return Noting(epoch::kImageSpread).images[id]; }
  // Zones take turns, so it changes with labels too.
  std::span<const Row> order() const {
    Note(epoch::kNodeSet | epoch::kNodeLabels);
    return source_->Order();
  }
  std::span<const uint32_t> ranks() const {
    Note(epoch::kNodeSet | epoch::kNodeLabels);
    return source_->Ranks();
  }

  std::span<const PodRecord* const> pods(Row row) const { return Noting(row, row_field::kPods).pods; }
  // Those with any pod (anti-)affinity, and those with required anti-affinity.
  std::span<const PodRecord* const> affinity_pods(Row row) const {
    Note(epoch::kAffinityPods);
    return data_->rows[row].affinity_pods;
  }
  std::span<const PodRecord* const> anti_affinity_pods(Row row) const {
    Note(epoch::kAffinityPods);
    return data_->rows[row].anti_affinity_pods;
  }
  std::span<const HostPort> ports(Row row) const { return Noting(row, row_field::kPorts).ports; }
  // Ghost rows may be among them: check live().
  std::span<const Row> affinity_rows() const { return Noting(epoch::kAffinityPods).affinity_rows; }
  std::span<const Row> anti_affinity_rows() const { return Noting(epoch::kAffinityPods).anti_affinity_rows; }
  // Pending pods nominated to the row, in nomination order.
  std::span<const PodRecord* const> nominated(Row row) const;
  bool any_nominated() const { return !Whole(row_field::kNominated).nominated.empty(); }

  // Tells clusters apart: an index is fed from one and is asked about others, too (see PluginIndex).
  const void* cluster() const { return data_; }

  // `objects<Service>()`: look up by namespace and name, list, list by namespace.
  template <class T>
  const ObjectStore<T>& objects() const {
    return Noting(EpochOf<T>()).objects.template get<T>();
  }

  // The object as the scheduler believes it will be: as it is stored, or as Reserve has left it (ClusterAccess::Assume)
  // while the cluster has not said anything newer. Null when it is not there. For volumes and claims.
  template <class T>
  const T* Believed(std::string_view ns, std::string_view name) const {
    const SnapshotData& data = Noting(EpochOf<T>());
    const T* const stored = data.objects.template get<T>().Find(ns, name);
    if (stored == nullptr) return nullptr;
    const T* const assumed = data.assumed.template get<T>().Find(ns, name);
    return assumed != nullptr && assumed->meta.resource_version == stored->meta.resource_version ? assumed : stored;
  }

  // Hosts make snapshots; plugins are shown them.
  explicit Snapshot(const SnapshotSource& source) : source_(&source), data_(&source.data()) {}
  // The same, but what is read is noted. REQUIRES: `reads` outlives it and its copies; one thread.
  Snapshot(const Snapshot& of, ReadSet& reads) : source_(of.source_), data_(of.data_), reads_(&reads) {}

 private:
  friend class SnapshotAccess;  // berth/host/snapshot_access.h
  friend class Cycle;
  friend class LabelReader;
  friend class NodeBatch;
  friend class NodeView;
  friend class RowOverlay;

  std::span<const int64_t> Column(const std::vector<std::vector<int64_t>>& columns, ResourceId id) const {
    const size_t i = Index(id);
    return i < columns.size() && !columns[i].empty() ? columns[i] : data_->zeros;
  }

  // Notes a read, when somebody wants to know: of what is no column, of a row's columns, of columns as a whole, of what
  // a column's ids mean.
  void Note(Epochs epochs) const {
    if (reads_) [[unlikely]]
      reads_->epochs |= epochs;
  }
  void Note(Row first, size_t count, RowFields fields) const {
    if (reads_) [[unlikely]]
      reads_->Note(first, count, fields);
  }
  void NoteMeaning(RowFields fields) const {
    if (reads_) [[unlikely]]
      reads_->meanings |= fields;
  }
  const SnapshotData& Noting(Epochs epochs) const {
    Note(epochs);
    return *data_;
  }
  const RowData& Noting(Row row, RowFields fields) const {
    Note(row, 1, fields);
    return data_->rows[row];
  }
  const SnapshotData& Whole(RowFields fields) const {
    if (reads_) [[unlikely]]
      reads_->elsewhere |= fields;
    return *data_;
  }
  // For those who note by themselves.
  Snapshot Unwatched() const { return Snapshot(source_, data_); }
  Snapshot(const SnapshotSource* source, const SnapshotData* data) : source_(source), data_(data) {}

  const SnapshotSource* source_;
  const SnapshotData* data_;
  ReadSet* reads_ = nullptr;  // null: nobody asks
};

// For whoever asks many nodes for their labels one by one: the first few keys are looked up in their columns, which
// are made for it if need be, and not in each Node. Thread safety: none.
class LabelReader {
 public:
  explicit LabelReader(const Snapshot& snapshot) : snapshot_(snapshot) {}
  // Null: ask the node.
  const LabelColumn* Column(std::string_view key) {
    for (size_t i = 0; i < count_; ++i)
      if (known_[i].key == key) return known_[i].column;
    return count_ < known_.size() ? Add(key) : nullptr;
  }

 private:
  struct Known {
    std::string key;  // a copy: the caller's may be another one next time
    const LabelColumn* column = nullptr;
  };
  const LabelColumn* Add(std::string_view key);

  const Snapshot& snapshot_;
  std::array<Known, 4> known_;
  size_t count_ = 0;
};

// One node, for plugins written per node. Cheap to copy; valid while its Snapshot is.
class NodeView {
 public:
  // `overlay`: see the row through it; null: as it is. `labels` outlives the view, or is null.
  NodeView(const Snapshot& snapshot, Row row, const RowOverlay* overlay = nullptr, LabelReader* labels = nullptr)
      : snapshot_(&snapshot), row_(row), overlay_(overlay), labels_(labels) {}
  Row row() const { return row_; }
  const Node& node() const { return snapshot_->node(row_); }
  const std::string& name() const { return Seen(row_field::kName).node(row_).meta.name; }
  const std::string* Label(std::string_view key) const {
    const Snapshot seen = Seen(row_field::kLabels);
    const LabelColumn* column = labels_ ? labels_->Column(key) : nullptr;
    if (!column) return seen.node(row_).meta.labels.Find(key);
    const uint32_t id = (*column)[row_];
    return id == LabelColumn::kAbsent ? nullptr : &column->text(id);
  }
  // The label as a decimal integer; no value when absent or not a number.
  std::optional<int64_t> IntLabel(std::string_view key) const;
  // Null when absent, and where no plugin declares the key (Plugin::Annotations).
  const std::string* Annotation(std::string_view key) const {
    return Seen(row_field::kAnnotations).node(row_).Annotation(key);
  }
  int64_t allocatable(ResourceId id) const { return Seen(row_field::kAllocatable).allocatable(id)[row_]; }
  int64_t requested(ResourceId id) const;
  std::span<const PodRecord* const> pods() const;
  const Snapshot& snapshot() const { return *snapshot_; }

 private:
  Snapshot Seen(RowFields fields) const {
    snapshot_->Note(row_, 1, fields);
    return snapshot_->Unwatched();
  }

  const Snapshot* snapshot_;
  Row row_;
  const RowOverlay* overlay_;
  LabelReader* labels_;
};

inline NodeView Snapshot::view(Row row) const { return NodeView(*this, row); }

}  // namespace v1
}  // namespace berth
