// SPDX-License-Identifier: Apache-2.0
// Columns: the arrays behind a Snapshot, and how rows are added, filled, freed and reused.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/host/snapshot_data.h"
#include "berth/snapshot.h"
#include "cluster/node_order.h"
#include "cluster/set_table.h"
#include "util/secret_hash.h"

namespace berth::cluster {

// One row per node name we know of: a live one has a Node; a ghost has only pods, whose node we have not seen (or no
// longer see); a free one waits for reuse. The lowest free row is reused first and free rows at the end are cut off, so
// memory returns when a cluster shrinks.
//
// Invariants: for every row, requested, pod_count, nonzero_* and the affinity lists equal the sums over its pods; a
// free row is zero in all columns; affinity_rows and anti_affinity_rows list exactly the rows whose lists are not
// empty. Ports are a set that the first of two pods with one port takes along when it goes, as upstream has it.
//
// Thread safety: scheduling thread only.
class Columns final : public SnapshotSource {
 public:
  Columns();
  Columns(const Columns&) = delete;
  Columns& operator=(const Columns&) = delete;

  // The row of this name, live or ghost; a new ghost row when there is none.
  Row RowFor(const std::string& node_name);
  // Live or ghost; kNoRow when unknown.
  Row FindAny(std::string_view node_name) const;
  // Fills in or replaces the node of a row.
  void SetNode(Row row, std::shared_ptr<const Node> node);
  // The row becomes a ghost, or is freed when it holds no pods.
  void ClearNode(Row row);
  // REQUIRES: `pod` stays valid until RemovePod.
  void AddPod(Row row, const PodRecord& pod);
  // Frees the row when it was a ghost's last pod.
  void RemovePod(const PodRecord& pod);
  // A pod of a row is known in a newer version that counts as the one before: its place in the row's lists is what it
  // would be if the pod had been removed and added. `differs`: those who look at the pod itself see something new.
  // REQUIRES: equal in all that the columns hold, and without host ports.
  void RefreshPod(const PodRecord& pod, bool differs);
  // The same, where the newer version has other labels and a record of its own.
  // REQUIRES: `after` stays valid until RemovePod.
  void ReplacePod(const PodRecord& before, const PodRecord& after);
  // Replaces the list; all records, those replaced among them, are valid still.
  void SetNominated(Row row, std::vector<const PodRecord*> pods);

  SnapshotData& mutable_data() { return data_; }

  const SnapshotData& data() const override { return data_; }
  Row FindRow(std::string_view node_name) const override;
  const LabelColumn& Column(std::string_view key) const override;
  uint32_t FindImage(std::string_view name) const override;
  Row FindNomination(std::string_view uid) const override;
  std::span<const Row> Order() const override { return order_.List(); }
  std::span<const uint32_t> Ranks() const override { return order_.Ranks(); }

 private:
  // Names, labels and images may be anybody's who can send a request (extender).
  template <class V>
  using ByName = std::unordered_map<std::string, V, SecretStringHash, std::equal_to<>>;
  struct TaintHash {
    size_t operator()(const Taint& t) const;
  };

  void Resize(size_t rows);
  void FreeIfUnused(Row row);
  void ForgetNominated(Row row);
  void DropLabelColumns();
  void SetAllocatable(Row row, const Resources* resources);
  void SetLabels(Row row, const Labels* before, const Labels* after);
  std::vector<uint32_t> AcquireImages(const std::vector<NodeImage>& images);
  void ReleaseImages(const std::vector<uint32_t>& images);
  // An image's size is its first reporter's; a node that is the only one to hold it may correct it. True: one did.
  bool RefreshImageSizes(const std::vector<NodeImage>& images);
  void Cell(std::vector<std::vector<int64_t>>& columns, ResourceId id, Row row, int64_t amount, int64_t sign);

  SnapshotData data_;
  ByName<Row> by_name_;
  std::vector<std::string> names_;  // by row; empty: free
  std::set<Row> free_;
  ByName<Row> nomination_rows_;  // by uid; what data_.nominated holds, the other way round
  NodeOrder order_;
  SetTable<Taint, TaintHash> taint_sets_{data_.taint_sets};
  SetTable<uint32_t, std::hash<uint32_t>> image_sets_{data_.image_sets};
  SetTable<std::string, SecretStringHash> feature_sets_{data_.feature_sets};
  ByName<uint32_t> image_ids_;
  std::vector<const std::string*> image_names_;  // keys of image_ids_
  std::vector<uint32_t> free_images_;
  ByName<uint32_t> label_keys_;  // how many nodes have the key
  // Built when a plugin asks for the key. Once there are many, all are dropped when nodes next change.
  // Judging threads may be the ones to ask; whoever changes nodes is alone.
  mutable ByName<std::unique_ptr<LabelColumn>> label_columns_;
  mutable std::mutex label_columns_mutex_;
  LabelColumn absent_;  // for keys that no node has
};

}  // namespace berth::cluster
