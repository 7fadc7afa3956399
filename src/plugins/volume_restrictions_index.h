// SPDX-License-Identifier: Apache-2.0
// What VolumeRestrictions keeps as pods come and go: on which rows a claim, and a disk, is in use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/depends.h"
#include "berth/pod.h"
#include "berth/text_hash.h"

namespace berth::plugins {

// GCE, AWS EBS, RBD and iSCSI volumes: disks that pods on one node may have to fight over.
bool IsExclusiveDisk(const PodVolume& volume);
// Whether two volumes of different pods on one node are one disk that they cannot share.
bool DisksConflict(const PodVolume& a, const PodVolume& b);

// Thread safety: scheduling thread, and while plugins judge any thread that only reads.
class VolumeRestrictionsIndex final : public PluginIndex {
 public:
  void PodAdded(const Snapshot& snapshot, const PodRecord& pod) override;
  void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) override;
  void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) override;
  void ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) override;
  uint64_t epoch() const override { return epoch_; }

  // False: this snapshot is of a cluster that does not feed the index.
  bool Serves(const Snapshot& snapshot) const { return home_ == snapshot.cluster(); }
  // Whether a pod on some node uses the claim.
  bool IsInUse(const Snapshot& snapshot, std::string_view ns, std::string_view claim) const;
  // Adds the rows where a pod has a disk that conflicts with this one; some may repeat or have no node.
  void AddConflicts(const PodVolume& disk, std::vector<Row>& rows) const;

 private:
  struct ClaimUse {
    Row row;
    uint32_t volumes;  // of pods there
    bool Same(const ClaimUse&) const { return true; }
  };
  struct DiskUse {
    Row row;
    uint32_t volumes;  // that are equal, but for their name in the pod
    PodVolume disk;
    bool Same(const DiskUse& other) const { return disk == other.disk; }
  };
  void Count(const PodRecord& pod, bool comes);

  std::unordered_map<std::string, std::vector<ClaimUse>, TextHash, std::equal_to<>> claims_;  // by namespace/name
  std::unordered_map<std::string, std::vector<DiskUse>, TextHash, std::equal_to<>> disks_;    // by kind and source
  const void* home_ = nullptr;
  uint64_t epoch_ = 0;
};

}  // namespace berth::plugins
