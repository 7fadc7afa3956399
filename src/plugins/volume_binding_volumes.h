// SPDX-License-Identifier: Apache-2.0
// VolumeTable: the volumes, classes and storage capacities of a cluster, arranged for matching: by class, by the nodes
// that reach them, by size.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/error.h"
#include "berth/quantity.h"
#include "berth/snapshot.h"
#include "berth/storage.h"
#include "berth/text_hash.h"
#include "plugins/volume_binding_rows.h"

namespace berth::plugins {

// What a claim asks of a volume.
struct ClaimNeeds {
  std::string storage_class;
  Quantity request;
  std::string volume_mode, volume_attributes_class;
  std::vector<std::string> access_modes;  // sorted
  std::optional<LabelSelector> selector;

  explicit ClaimNeeds(const PersistentVolumeClaim& claim);
  // Claims of one class with equal texts can do with the same volumes.
  std::string Text() const;
};

// Nodes from which some free volume will do for a claim.
class RowsWithVolume {
 public:
  bool operator[](Row row) const { return everywhere_ || (row < counts_.size() && counts_[row] > 0); }
  bool everywhere() const { return everywhere_; }
  // By row: 0 where there is none, unless they are everywhere. Rows beyond the end have none.
  std::span<const uint32_t> counts() const { return counts_; }

 private:
  friend class VolumeTable;
  explicit RowsWithVolume(ClaimNeeds needs) : needs_(std::move(needs)) {}
  const ClaimNeeds needs_;
  bool everywhere_ = false;
  std::unordered_map<SelectedRows::Id, bool> sets_;  // by set: whether a volume of it will do
  std::vector<uint32_t> counts_;                     // by row: how many such sets it is in
};

// Objects are given by reference and have to stay where they are until they are put again or removed.
// Thread safety: scheduling thread; what is const from any thread while nothing changes.
class VolumeTable {
 public:
  VolumeTable() = default;
  VolumeTable(const VolumeTable&) = delete;
  VolumeTable& operator=(const VolumeTable&) = delete;

  void PutNode(Row row, const std::string& name, const Labels& labels);
  void RemoveNode(Row row);
  // As it is to be believed.
  void PutVolume(const PersistentVolume& volume);
  void RemoveVolume(const std::string& name);
  void PutClass(const StorageClass& storage_class);
  void RemoveClass(const std::string& name);
  void PutCapacity(const CsiStorageCapacity& capacity);
  void RemoveCapacity(const CsiStorageCapacity& capacity);
  void PutCsiNode(const CsiNode& node);
  void RemoveCsiNode(const std::string& name);

  // Where a volume can be reached, as one of its name. A volume of a kind that Kubernetes once had code for is reached
  // as `translated` says from nodes that have migrated its plugin.
  struct Reach {
    SelectedRows::Id rows = SelectedRows::kEveryRow;
    uint8_t plugin = 0;  // bit of MigratedOn; 0: none
    SelectedRows::Id translated = SelectedRows::kEveryRow;
    std::string error;  // why it cannot be translated; empty: it can
    // From everywhere, whatever the nodes have migrated.
    bool everywhere() const {
      return rows == SelectedRows::kEveryRow && translated == SelectedRows::kEveryRow && error.empty();
    }
  };
  // Null when there is no such volume.
  const Reach* FindReach(std::string_view volume) const;
  // Which in-tree plugins the node has migrated to CSI.
  uint8_t MigratedOn(Row row) const { return row < migrated_.size() ? migrated_[row] : 0; }
  bool Contains(SelectedRows::Id set, Row row) const { return rows_.Contains(set, row); }

  // The smallest free volume that will do and is reached from the row; of equal ones the first by name. Null: none.
  // `taken`: names that are not to be used.
  const PersistentVolume* Smallest(const ClaimNeeds& needs, Row row, std::span<const std::string> taken = {}) const;
  // Volumes of the class that are for this very claim and large enough, by name.
  std::vector<const PersistentVolume*> MadeFor(const PersistentVolumeClaim& claim, const ClaimNeeds& needs) const;
  bool Reaches(const PersistentVolume& volume, Row row) const;
  // Kept up to date from then on, for this decision and the next.
  std::shared_ptr<const RowsWithVolume> RowsWith(const ClaimNeeds& needs);

  // The nodes for which volumes of the class may be made, by its allowedTopologies.
  SelectedRows::Id TopologyOf(std::string_view storage_class) const;
  // By row: 1 where some capacity of the class has room for so many bytes.
  std::vector<uint8_t> RowsWithRoom(std::string_view storage_class, int64_t bytes, size_t rows) const;

  // False: nothing that is there depends on nodes.
  bool needs_nodes() const { return rows_.selects() || translates_ > 0; }

 private:
  // Free volumes of one class that are reached from the same nodes and differ in size alone.
  struct Group {
    std::string volume_mode, volume_attributes_class;
    std::vector<std::string> access_modes;  // sorted
    std::map<std::pair<Quantity, std::string>, const PersistentVolume*> free;
  };
  struct OfClass {
    std::unordered_map<SelectedRows::Id, std::vector<Group>> by_rows;
    std::map<std::string, std::shared_ptr<RowsWithVolume>> wanted;  // by ClaimNeeds::Text
  };
  struct Volume {
    const PersistentVolume* object = nullptr;
    std::string storage_class;
    Reach reach;
    bool free = false;
    Quantity capacity;
    std::string claim;  // namespace/name of the one it is for; empty: free or not
  };
  struct Capacity {
    SelectedRows::Id rows = SelectedRows::kEveryRow;
    bool nowhere = false;
    std::optional<int64_t> limit;
  };

  static Group& GroupFor(OfClass& of_class, SelectedRows::Id rows, const PersistentVolume& volume);
  static bool Suits(const Group& group, const ClaimNeeds& needs);
  static const PersistentVolume* SmallestOf(const Group& group, const ClaimNeeds& needs,
                                            std::span<const std::string> taken);
  static bool AnyOf(const OfClass& of_class, SelectedRows::Id rows, const ClaimNeeds& needs);
  void Arrange(const std::string& name, Volume& volume, bool add);
  // The volumes of a class that are reached from these rows have changed.
  void Refresh(OfClass& of_class, SelectedRows::Id rows);
  void Refresh(RowsWithVolume& wanted, const OfClass& of_class, SelectedRows::Id rows);
  void RefreshRow(Row row);
  Reach ReachOf(const PersistentVolume& volume);
  void Release(const Reach& reach);

  SelectedRows rows_;
  template <class V>
  using ByName = std::unordered_map<std::string, V, TextHash, std::equal_to<>>;
  ByName<Volume> volumes_;
  ByName<OfClass> classes_;
  ByName<std::set<std::string>> made_for_;  // by namespace/name of a claim
  ByName<SelectedRows::Id> topologies_;     // by class
  ByName<std::map<std::string, Capacity>> capacities_;
  ByName<uint8_t> csi_nodes_;
  ByName<Row> node_rows_;
  std::vector<std::string> node_names_;
  std::vector<uint8_t> migrated_;
  size_t translates_ = 0;  // volumes that cannot be translated: nodes where they would have to be fail
};

// The limit of a capacity object, rounded up to bytes; none: nothing fits.
std::optional<int64_t> LimitOf(const CsiStorageCapacity& capacity);
// Whether a volume was made for, or given to, this claim.
bool IsFor(const PersistentVolume& volume, const PersistentVolumeClaim& claim);

}  // namespace berth::plugins
