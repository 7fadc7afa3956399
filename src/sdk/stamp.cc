// SPDX-License-Identifier: Apache-2.0
// Epochs as one number.
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
  if (epochs & epoch::kNamespaces) sum += snapshot.objects<Namespace>().epoch();
  if (epochs & epoch::kWorkloads)
    sum += snapshot.objects<Service>().epoch() + snapshot.objects<ReplicationController>().epoch() +
           snapshot.objects<ReplicaSet>().epoch() + snapshot.objects<StatefulSet>().epoch();
  if (epochs & epoch::kDevices)
    sum += snapshot.objects<ResourceClaim>().epoch() + snapshot.objects<ResourceSlice>().epoch() +
           snapshot.objects<DeviceClass>().epoch();
  if (epochs & epoch::kVolumes)
    sum += snapshot.objects<PersistentVolumeClaim>().epoch() + snapshot.objects<PersistentVolume>().epoch() +
           snapshot.objects<StorageClass>().epoch() + snapshot.objects<CsiNode>().epoch() +
           snapshot.objects<CsiDriver>().epoch() + snapshot.objects<CsiStorageCapacity>().epoch() +
           snapshot.objects<VolumeAttachment>().epoch();
  return sum;
}

}  // namespace v1
}  // namespace berth
