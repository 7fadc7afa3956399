// SPDX-License-Identifier: Apache-2.0
// VolumePlan: a pod's claims, sorted by what is to become of them, and which nodes can do it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/pod.h"
#include "berth/snapshot.h"
#include "berth/verdict.h"
#include "plugins/volume_binding_index.h"

namespace berth::plugins {

// Upstream's reasons, in the order in which they are given.
inline constexpr std::string_view kNodeConflict = "node(s) didn't match PersistentVolume's node affinity";
inline constexpr std::string_view kBindConflict = "node(s) didn't find available persistent volumes to bind";
inline constexpr std::string_view kNotEnoughSpace = "node(s) did not have enough free storage";
inline constexpr std::string_view kVolumeGone =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
inline constexpr std::string_view kUnboundImmediate = "pod has unbound immediate PersistentVolumeClaims";

inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";

// The name of the claim of a pod's volume; empty when it has none.
std::string ClaimNameOf(const Pod& pod, const PodVolume& volume);
bool IsBound(const PersistentVolumeClaim& claim);

// Pointers are to objects of the snapshot that the plan was made of.
struct VolumeChoice {
  struct Static {
    const PersistentVolumeClaim* claim;
    const PersistentVolume* volume;
  };
  std::vector<Static> bindings;                          // in the order of matching
  std::vector<const PersistentVolumeClaim*> provisions;  // to be made for the node
};

// Valid as long as the snapshot, and an index, stand still.
// Thread safety: made on the scheduling thread; Judge and Choose from any.
class VolumePlan {
 public:
  // What PreFilter says: Success with a plan, Skip without claims, or why not. `index` is null where none serves the
  // snapshot.
  static std::pair<Verdict, std::shared_ptr<const VolumePlan>> Make(const Pod& pod, const Snapshot& snapshot,
                                                                    VolumeBindingIndex* index);

  // All nodes will do, and nothing is left to bind.
  bool settled() const { return delayed_.empty() && bound_everywhere_; }
  bool all_bound() const { return delayed_.empty(); }

  // Not null: the nodes that will do are those with a volume, for all others it is kNoVolume. That is so of a pod with
  // one claim that waits, of a class that nobody makes volumes for.
  const RowsWithVolume* only_rows() const {
    const bool so = bound_everywhere_ && delayed_.size() == 1 && !delayed_[0].provisions;
    return so ? delayed_[0].rows.get() : nullptr;
  }

  // What a node is told, as bits.
  enum Answer : uint8_t {
    kOk = 0,
    kAffinity = 1,
    kNoVolume = 2,
    kNoSpace = 4,
    kGone = 8,
    kError = 16  // see Failure
  };
  uint8_t Judge(Row row) const;
  // Why judging a row fails. REQUIRES: Judge(row) & kError.
  std::string Failure(Row row) const;
  // What would be bound and provisioned there. REQUIRES: Judge(row) == kOk.
  VolumeChoice Choose(Row row) const;

 private:
  // A claim that waits for its first consumer.
  struct Delayed {
    const PersistentVolumeClaim* claim = nullptr;
    ClaimNeeds needs;
    std::optional<Row> selected;  // the only row, if the claim names a node; kNoRow for one that is not there
    // Volumes for this very claim: the first decides.
    std::vector<const PersistentVolume*> made_for;
    std::shared_ptr<const RowsWithVolume> rows;  // where some free volume will do; null unless `simple_`
    bool provisions = false;                     // the class has a provisioner
    SelectedRows::Id topology = SelectedRows::kEveryRow;
    std::optional<std::vector<uint8_t>> room;  // by row; none: nobody asks for it
    explicit Delayed(const PersistentVolumeClaim& of) : claim(&of), needs(of) {}
  };
  struct Bound {
    const VolumeTable::Reach* reach = nullptr;  // null: the volume is gone
  };

  uint8_t JudgeBound(Row row) const;
  uint8_t JudgeDelayed(Row row) const;
  // Matches the claims that name no node; what is left over is returned, in order of size.
  std::vector<const Delayed*> Match(Row row, VolumeChoice* choice) const;
  static uint8_t JudgeProvision(const VolumeTable& table, const Delayed& delayed, Row row);

  std::shared_ptr<VolumeTable> own_;  // null: table_ is an index's
  VolumeTable* table_ = nullptr;
  std::vector<Bound> bound_;
  bool bound_everywhere_ = true;
  std::vector<Delayed> delayed_;         // in the pod's order
  std::vector<const Delayed*> by_size_;  // those that name no node
  bool simple_ = true;                   // each of these has a class of its own and no volume that is made for it
};

}  // namespace berth::plugins
