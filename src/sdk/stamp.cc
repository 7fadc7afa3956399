// SPDX-License-Identifier: Apache-2.0
// Epochs as one number.
#include <type_traits>

#include "berth/host/kinds.h"
#include "berth/host/snapshot_access.h"

namespace berth {
inline namespace v1 {

uint64_t Stamp(const Snapshot& snapshot, Epochs epochs) {
  // Every counter only grows, so the sum changes whenever one of them does.
  uint64_t sum = 0;
  const EpochCounters& counters = SnapshotAccess::Epochs(snapshot);
  if (epochs & epoch::kNodeSet) sum += counters.node_set;
  if (epochs & epoch::kImageSpread) sum += counters.image_spread;
  if (epochs & epoch::kNodeLabels) sum += counters.node_labels;
  if (epochs & epoch::kAffinityPods) sum += counters.affinity_pods;
  if (epochs & epoch::kSets) sum += counters.sets;
  if (epochs & epoch::kOtherRows) sum += SnapshotAccess::Changes(snapshot).position();
  if ((epochs & epoch::kObjects) == 0) return sum;
  ForEachType(KindTypes{}, [&]<class T>() {
    if constexpr (!std::is_same_v<T, Pod> && !std::is_same_v<T, Node>) {
      if (epochs & epoch::kObjects & EpochOf<T>()) {
        sum += snapshot.objects<T>().epoch();
        if constexpr (AssumedObjects::kHolds<T>) sum += SnapshotAccess::Assumed(snapshot).template get<T>().epoch();
      }
    }
  });
  return sum;
}

}  // namespace v1
}  // namespace berth
