// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/plugins/volumerestrictions (v1.36.4).
#include "plugins/volume_restrictions.h"

#include <algorithm>
#include <string>

#include "plugins/common/volumes.h"
#include "plugins/volume_restrictions_index.h"

namespace berth::plugins {
namespace {

struct RestrictionState : StateOf<RestrictionState> {
  std::vector<std::string> exclusive;  // claims of the pod that one pod at a time may use, each once
  int64_t in_use = 0;                  // how many of them a pod uses; below 0 when a what-if takes away more
  bool disks = false;                  // the pod has disks that other pods may have
  // Rows where one of them does, sorted; no value: look at the pods there.
  std::optional<std::vector<Row>> taken;
};

bool IsRestricted(const PodVolume& volume) { return volume.kind == VolumeKind::kClaim || IsExclusiveDisk(volume); }

bool AnyDiskConflict(const Pod& a, const Pod& b) {
  return std::any_of(a.volumes.begin(), a.volumes.end(), [&](const PodVolume& own) {
    return IsExclusiveDisk(own) && std::any_of(b.volumes.begin(), b.volumes.end(),
                                               [&](const PodVolume& other) { return DisksConflict(own, other); });
  });
}

bool IsExclusiveClaim(const PersistentVolumeClaim& claim) {
  return std::find(claim.access_modes.begin(), claim.access_modes.end(), kReadWriteOncePod) != claim.access_modes.end();
}

// Which of these claims of a namespace some pod on a node uses: how many.
int64_t CountInUse(const Snapshot& snapshot, const std::string& ns, std::vector<std::string> claims) {
  const size_t all = claims.size();
  for (Row row = 0; row < snapshot.rows() && !claims.empty(); ++row) {
    if (!snapshot.live(row)) continue;
    for (const PodRecord* record : snapshot.pods(row)) {
      if (record->pod->namespace_() != ns) continue;
      for (const PodVolume& volume : record->pod->volumes)
        if (volume.kind == VolumeKind::kClaim) std::erase(claims, volume.source);
    }
  }
  return static_cast<int64_t>(all - claims.size());
}

void CountHolder(const Cycle& cycle, PluginState* state, const PodRecord& pod, int64_t amount) {
  auto& own = *static_cast<RestrictionState*>(state);
  if (own.exclusive.empty() || pod.pod->namespace_() != cycle.pod().namespace_()) return;
  for (const PodVolume& volume : pod.pod->volumes) {
    if (volume.kind != VolumeKind::kClaim) continue;
    if (std::find(own.exclusive.begin(), own.exclusive.end(), volume.source) != own.exclusive.end())
      own.in_use += amount;
  }
}

// Upstream does not look at what keeps the pod: a pod of its namespace that shares a disk or a claim will do.
QueueingHint HintPodGone(const Pod& rejected, const EventObjects& objects) {
  const Pod* gone = objects.pod_before;
  if (gone == nullptr) return QueueingHint::kQueue;
  if (gone->namespace_() != rejected.namespace_()) return QueueingHint::kSkip;
  if (AnyDiskConflict(rejected, *gone)) return QueueingHint::kQueue;
  for (const PodVolume& own : rejected.volumes) {
    if (own.kind != VolumeKind::kClaim) continue;
    for (const PodVolume& other : gone->volumes)
      if (other.kind == VolumeKind::kClaim && other.source == own.source) return QueueingHint::kQueue;
  }
  return QueueingHint::kSkip;
}

QueueingHint HintClaimAdded(const Pod& rejected, const EventObjects& objects) {
  const auto* added = objects.after<PersistentVolumeClaim>();
  if (added == nullptr) return QueueingHint::kQueue;
  return UsesClaim(rejected, *added, /*ephemeral=*/false) ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

PreFilterOutcome VolumeRestrictions::PreFilter(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  if (std::none_of(pod.volumes.begin(), pod.volumes.end(), IsRestricted)) return PreFilterOutcome::Skip().While(0);
  const Snapshot& snapshot = cycle.snapshot();
  const VolumeRestrictionsIndex* index = IndexOf(snapshot);
  auto state = std::make_unique<RestrictionState>();
  for (const PodVolume& volume : pod.volumes) {
    if (IsExclusiveDisk(volume)) {
      state->disks = true;
    } else if (volume.kind == VolumeKind::kClaim) {
      const auto* claim = snapshot.objects<PersistentVolumeClaim>().Find(pod.namespace_(), volume.source);
      if (claim == nullptr) {
        return PreFilterOutcome::Reject(Verdict(Code::kUnschedulableAndUnresolvable, ClaimNotFoundText(volume.source)));
      }
      auto& exclusive = state->exclusive;
      if (IsExclusiveClaim(*claim) && std::find(exclusive.begin(), exclusive.end(), volume.source) == exclusive.end())
        exclusive.push_back(volume.source);
    }
  }
  if (index == nullptr) {
    state->in_use = CountInUse(snapshot, pod.namespace_(), state->exclusive);
  } else {
    for (const std::string& claim : state->exclusive)
      state->in_use += index->IsInUse(snapshot, pod.namespace_(), claim);
    std::vector<Row> taken;
    for (const PodVolume& volume : pod.volumes)
      if (IsExclusiveDisk(volume)) index->AddConflicts(volume, taken);
    std::sort(taken.begin(), taken.end());
    state->taken = std::move(taken);
  }
  if (state->in_use == 0) {
    if (!state->disks) return PreFilterOutcome::Skip();
    // Nobody has them, and nobody will in a what-if: Filter would pass every node.
    if (state->taken && state->taken->empty() && !snapshot.any_nominated()) return PreFilterOutcome::Skip();
  }
  return PreFilterOutcome::Ok(std::move(state));
}

Error VolumeRestrictions::AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row) const {
  CountHolder(cycle, state, pod, 1);
  return Error::Ok();
}

Error VolumeRestrictions::RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row) const {
  CountHolder(cycle, state, pod, -1);
  return Error::Ok();
}

Error VolumeRestrictions::Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
                                 Rejections& out) const {
  if (state == nullptr) return Error("cannot read \"PreFilterVolumeRestrictions\" from cycleState");
  const auto& own = *static_cast<const RestrictionState*>(state);
  if (own.in_use > 0) {
    const VerdictId in_use = out.Intern(kClaimInUse);
    std::fill(out.slots().begin(), out.slots().end(), in_use);
  }
  if (!own.disks) return Error::Ok();
  const VerdictId conflict = out.Intern(kDiskConflict);
  if (own.taken && nodes.overlay() == nullptr) {
    const Row end = nodes.begin() + static_cast<Row>(nodes.size());
    for (auto it = std::lower_bound(own.taken->begin(), own.taken->end(), nodes.begin());
         it != own.taken->end() && *it < end; ++it) {
      out.Reject(*it - nodes.begin(), conflict);
    }
    return Error::Ok();
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.active()[i] == 0) continue;
    const std::span<const PodRecord* const> pods = nodes.pods(i);
    const bool taken = std::any_of(pods.begin(), pods.end(),
                                   [&](const PodRecord* record) { return AnyDiskConflict(cycle.pod(), *record->pod); });
    if (taken) out.Reject(i, conflict);
  }
  return Error::Ok();
}

Depends VolumeRestrictions::DependsOn(Point) const {
  return {row_field::kPods, epoch::kVolumes | epoch::kOwnIndex | epoch::kUnrememberable};
}

bool VolumeRestrictions::Sign(const Pod& pod, Signature& out) const {
  out.Add(int64_t{std::any_of(pod.volumes.begin(), pod.volumes.end(), IsRestricted)});
  return true;
}

std::unique_ptr<PluginIndex> VolumeRestrictions::MakeIndex() {
  auto index = std::make_unique<VolumeRestrictionsIndex>();
  index_ = index.get();
  return index;
}

const VolumeRestrictionsIndex* VolumeRestrictions::IndexOf(const Snapshot& snapshot) const {
  return index_ != nullptr && index_->Serves(snapshot) ? index_ : nullptr;
}

std::optional<std::vector<EventRegistration>> VolumeRestrictions::EventsToRegister() const {
  return std::vector<EventRegistration>{{{EventResource::kPod, action::kDelete}, HintPodGone},
                                        {{EventResource::kNode, action::kAdd}, nullptr},
                                        {{EventResource::kPersistentVolumeClaim, action::kAdd}, HintClaimAdded}};
}

}  // namespace berth::plugins
