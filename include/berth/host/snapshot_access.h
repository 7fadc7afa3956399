// SPDX-License-Identifier: Apache-2.0
// SnapshotAccess: what hosts ask of a snapshot and plugins have no use for.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/epochs.h"
#include "berth/snapshot.h"

namespace berth {
inline namespace v1 {

class SnapshotAccess {
 public:
  static const EpochCounters& Epochs(const Snapshot& snapshot) { return snapshot.data_->epochs; }
  // The node itself, for who passes it on. REQUIRES: a live row.
  static const std::shared_ptr<const Node>& NodeAt(const Snapshot& snapshot, Row row) {
    return snapshot.data_->rows[row].node;
  }
  // Which rows changed, and when. Positions mean something to this cluster only.
  static const ChangeLog& Changes(const Snapshot& snapshot) { return snapshot.Noting(epoch::kOtherRows).changes; }
  static const AssumedObjects& Assumed(const Snapshot& snapshot) { return snapshot.data_->assumed; }
  static const std::unordered_map<Row, std::vector<const PodRecord*>>& Nominated(const Snapshot& snapshot) {
    return snapshot.Whole(row_field::kNominated).nominated;
  }
  // The row that the pod with this uid is nominated to; kNoRow when there is none.
  static Row FindNomination(const Snapshot& snapshot, std::string_view uid) {
    return snapshot.source_->FindNomination(uid);
  }
};

// The counters of `epochs` as one number, which changes whenever one of them does. Not for kOwnIndex, which the
// plugin's index has, nor for kUnrememberable.
uint64_t Stamp(const Snapshot& snapshot, Epochs epochs);

}  // namespace v1
}  // namespace berth
