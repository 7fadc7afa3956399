// SPDX-License-Identifier: Apache-2.0
// NodeBatch: the rows a plugin is asked about in one call.
#pragma once

#include <cstdint>
#include <span>

#include "berth/host/row_overlay.h"
#include "berth/snapshot.h"

namespace berth {
inline namespace v1 {

// A run of consecutive rows under consideration. Spans have size() entries, entry i belonging to row(i). Rows whose
// active() byte is 0 are free, or were rejected already: answers for them are ignored, reading them is harmless.
class NodeBatch {
 public:
  NodeBatch(const Snapshot& snapshot, Row begin, std::span<const uint8_t> active)
      : snapshot_(&snapshot), begin_(begin), active_(active) {}
  // One row through an overlay. REQUIRES: the overlay outlives the batch.
  explicit NodeBatch(const Snapshot& snapshot, const RowOverlay& overlay)
      : snapshot_(&snapshot), begin_(overlay.row()), active_(&kOne, 1), overlay_(&overlay) {}

  const Snapshot& snapshot() const { return *snapshot_; }
  size_t size() const { return active_.size(); }
  Row row(size_t i) const { return begin_ + static_cast<Row>(i); }
  Row begin() const { return begin_; }
  std::span<const uint8_t> active() const { return active_; }
  // Null unless this is a what-if.
  const RowOverlay* overlay() const { return overlay_; }

  std::span<const int64_t> allocatable(ResourceId id) const {
    return Cut(Seen(row_field::kAllocatable).allocatable(id));
  }
  std::span<const int64_t> requested(ResourceId id) const {
    const Snapshot seen = Seen(row_field::kRequested);
    return overlay_ ? overlay_->requested(id) : Cut(seen.requested(id));
  }
  std::span<const int64_t> pod_count() const {
    const Snapshot seen = Seen(row_field::kPodCount);
    return overlay_ ? overlay_->pod_count() : Cut(seen.pod_count());
  }
  std::span<const int64_t> nonzero_cpu() const {
    const Snapshot seen = Seen(row_field::kRequested);
    return overlay_ ? overlay_->nonzero_cpu() : Cut(seen.nonzero_cpu());
  }
  std::span<const int64_t> nonzero_memory() const {
    const Snapshot seen = Seen(row_field::kRequested);
    return overlay_ ? overlay_->nonzero_memory() : Cut(seen.nonzero_memory());
  }
  std::span<const uint8_t> unschedulable() const { return Cut(Seen(row_field::kUnschedulable).unschedulable()); }
  std::span<const uint32_t> taint_set() const { return Cut(Seen(row_field::kTaints).taint_set()); }
  std::span<const uint32_t> image_set() const { return Cut(Seen(row_field::kImages).image_set()); }
  std::span<const uint32_t> feature_set() const { return Cut(Seen(row_field::kFeatures).feature_set()); }
  std::span<const uint32_t> labels(const LabelColumn& column) const {
    Seen(row_field::kLabels);
    return Cut(column.values());
  }
  std::span<const PodRecord* const> pods(size_t i) const {
    const Snapshot seen = Seen(row_field::kPods);
    return overlay_ ? overlay_->pods() : seen.pods(row(i));
  }
  std::span<const HostPort> ports(size_t i) const {
    const Snapshot seen = Seen(row_field::kPorts);
    return overlay_ ? overlay_->ports() : seen.ports(row(i));
  }
  NodeView view(size_t i, LabelReader* labels = nullptr) const {
    return NodeView(*snapshot_, row(i), overlay_, labels);
  }

 private:
  static constexpr uint8_t kOne = 1;
  template <class T>
  std::span<const T> Cut(std::span<const T> column) const {
    return column.subspan(begin_, active_.size());
  }
  Snapshot Seen(RowFields fields) const {
    snapshot_->Note(begin_, active_.size(), fields);
    return snapshot_->Unwatched();
  }

  const Snapshot* snapshot_;
  Row begin_;
  std::span<const uint8_t> active_;
  const RowOverlay* overlay_ = nullptr;
};

inline int64_t NodeView::requested(ResourceId id) const {
  const Snapshot seen = Seen(row_field::kRequested);
  return overlay_ ? overlay_->requested(id)[0] : seen.requested(id)[row_];
}
inline std::span<const PodRecord* const> NodeView::pods() const {
  const Snapshot seen = Seen(row_field::kPods);
  return overlay_ ? overlay_->pods() : seen.pods(row_);
}

}  // namespace v1
}  // namespace berth
