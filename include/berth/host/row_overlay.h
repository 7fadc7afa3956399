// SPDX-License-Identifier: Apache-2.0
// RowOverlay: one row "as if these pods were gone or there". Plugins see it as a NodeBatch or a NodeView.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/pod_record.h"
#include "berth/resources.h"
#include "berth/row.h"

namespace berth {
inline namespace v1 {

class Snapshot;

// What one row would be with some pods added or removed. The snapshot itself never changes: preemption and nominated
// pods are judged by asking the same plugins about a batch of one row seen through an overlay.
class RowOverlay {
 public:
  RowOverlay() = default;  // of no row: Reset it first
  // Starts as the row is. REQUIRES: snapshot.live(row); both outlive the overlay.
  RowOverlay(const Snapshot& snapshot, Row row);
  // Starts again, as another row is; the room that was made for the last one is used again.
  void Reset(const Snapshot& snapshot, Row row);
  // `pod` must outlive the overlay. Removing keeps upstream's order: the last pod takes the removed one's place.
  void AddPod(const PodRecord& pod);
  void RemovePod(const PodRecord& pod);

  Row row() const { return row_; }
  std::span<const int64_t> requested(ResourceId id) const;
  std::span<const int64_t> pod_count() const { return {&pod_count_, 1}; }
  std::span<const int64_t> nonzero_cpu() const { return {&nonzero_cpu_, 1}; }
  std::span<const int64_t> nonzero_memory() const { return {&nonzero_memory_, 1}; }
  std::span<const PodRecord* const> pods() const { return pods_; }
  std::span<const HostPort> ports() const { return ports_; }

 private:
  void Count(const PodRecord& pod, int64_t sign);

  Row row_ = kNoRow;
  std::vector<int64_t> requested_;  // by resource
  int64_t pod_count_ = 0, nonzero_cpu_ = 0, nonzero_memory_ = 0;
  std::vector<const PodRecord*> pods_;
  std::vector<HostPort> ports_;
};

}  // namespace v1
}  // namespace berth
