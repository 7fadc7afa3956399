// SPDX-License-Identifier: Apache-2.0
// What NodeVolumeLimits keeps as pods and objects come and go: which CSI volumes are on a row, and how many more of a
// driver's it takes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/depends.h"
#include "berth/text_hash.h"
#include "plugins/node_volume_limits_volumes.h"

namespace berth::plugins {

// Thread safety: scheduling thread, and while plugins judge any thread that only reads.
class NodeVolumeLimitsIndex final : public PluginIndex {
 public:
  static constexpr int32_t kNoLimit = INT32_MAX;

  void PodAdded(const Snapshot& snapshot, const PodRecord& pod) override;
  void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) override;
  void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) override;
  void ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) override;
  uint64_t epoch() const override { return epoch_; }

  // False: this snapshot is of a cluster that does not feed the index.
  bool Serves(const Snapshot& snapshot) const { return home_ == snapshot.cluster(); }

  // Room on rows for volumes of one driver: what its CSINode allows less what pods and attachments have there; kNoLimit
  // where it says nothing. Rows beyond the end have no limit either. Valid until the cluster changes.
  std::span<const int32_t> Room(std::string_view driver) const;
  // The least room on any node; kNoLimit when none has a limit.
  int32_t LeastRoom(std::string_view driver) const;
  // The rows where a pod has the volume; ghosts may be among them.
  std::span<const Row> RowsWith(const std::string& volume) const;
  // What is attached to a node. Valid until the cluster changes.
  std::vector<const AttachableVolume*> AttachedTo(const std::string& node) const;
  // Rows with a pod whose volumes cannot be counted, while the node states some limit.
  const std::set<Row>& broken_rows() const { return broken_rows_; }
  bool HasCsiNode(Row row) const { return row < rows_.size() && rows_[row].csi_node; }
  bool any_limit() const { return limits_ > 0; }

 private:
  using DriverId = uint32_t;
  using VolumeId = uint32_t;
  static constexpr VolumeId kNoVolume = UINT32_MAX;
  template <class V>
  using ByText = std::unordered_map<std::string, V, TextHash, std::equal_to<>>;

  struct Driver {
    std::vector<int32_t> room;           // by row
    std::map<int32_t, uint32_t> spread;  // how many rows have so much room, limited ones only
  };
  // Something that pods use or that is attached.
  struct Volume {
    std::string name;
    DriverId driver = 0;
    uint32_t uses = 0;      // places in Held
    std::vector<Row> rows;  // where pods have it, sorted
  };
  // A volume on a row: how many volumes of pods and how many attachments are it.
  struct Held {
    VolumeId volume;
    uint32_t pods = 0, attachments = 0;
  };
  struct RowState {
    bool csi_node = false;
    std::map<DriverId, int32_t> limits;
    std::vector<Held> held;  // sorted by volume
    uint32_t broken = 0;     // volumes of pods that cannot be counted
  };
  struct Use {
    Row row;
    uint32_t volumes;  // of pods there
  };
  // By a generic ephemeral volume.
  struct OwnUse {
    Row row;
    std::string pod;  // its uid
    bool broken;      // the claim was made for another pod
    bool operator==(const OwnUse&) const = default;
  };
  // A claim that pods on rows name, whether it exists or not.
  struct Claim {
    std::string ns, name;
    std::string volume_name;                  // of the claim as it was looked up
    std::optional<AttachableVolume> counted;  // what it stands for
    std::vector<Use> uses;                    // sorted by row; thousands where pods share a claim
    std::vector<OwnUse> own_uses;
  };
  struct Attachment {
    std::string attacher, node, volume_name;
    std::optional<AttachableVolume> counted;
    Row row = kNoRow;  // of its node
  };

  RowState& RowAt(Row row);
  DriverId DriverOf(const std::string& name);
  VolumeId VolumeOf(const AttachableVolume& volume);
  // A volume of pods, or an attachment, comes to or goes from a row.
  void Hold(Row row, const AttachableVolume& volume, int pods, int attachments);
  void Break(Row row, int volumes);
  void CheckBroken(Row row);
  // Changes the room of a row by so much; nothing happens where there is no limit.
  void AddRoom(DriverId driver, Row row, int32_t amount);
  void SetLimits(Row row, const CsiNode* node);
  size_t CountHeld(const RowState& state, DriverId driver) const;

  void CountPod(const Snapshot& snapshot, const PodRecord& pod, bool comes);
  void CountUse(const Snapshot& snapshot, const PodRecord& pod, const PodVolume& volume, bool comes);
  void CountOwnUse(const Snapshot& snapshot, const PodRecord& pod, Claim& claim, bool comes);
  void Apply(const Claim& claim, const OwnUse& use, int volumes);
  // Counts all uses of a claim, or takes them back.
  void ApplyAll(const Claim& claim, int amount);
  // Looks the claim up again.
  void Refresh(const Snapshot& snapshot, Claim& claim);
  void Follow(Claim& claim, const std::string& volume_name);

  void PutAttachment(const Snapshot& snapshot, const VolumeAttachment* before, const VolumeAttachment* after);
  void Place(Attachment& attachment, Row row);
  void RefreshVolume(const Snapshot& snapshot, const std::string& name);

  ByText<DriverId> driver_ids_;
  std::vector<Driver> drivers_;
  ByText<VolumeId> volume_ids_;
  std::vector<Volume> volumes_;
  std::vector<VolumeId> free_volumes_;
  std::vector<RowState> rows_;
  ByText<Row> row_of_node_;  // live ones
  ByText<Claim> claims_;     // by namespace/name
  ByText<std::vector<Claim*>> claims_of_volume_;
  ByText<Attachment> attachments_;  // by name
  ByText<std::vector<Attachment*>> attachments_of_node_, attachments_of_volume_;
  std::set<Row> broken_rows_;
  size_t limits_ = 0;  // of all rows
  const void* home_ = nullptr;
  uint64_t epoch_ = 0;
};

}  // namespace berth::plugins
