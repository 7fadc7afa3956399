// SPDX-License-Identifier: Apache-2.0
// Uses of claims and disks by row.
#include "plugins/volume_restrictions_index.h"

#include <algorithm>
#include <utility>

namespace berth::plugins {
namespace {

std::string ClaimKey(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  return key.append(ns).append("/").append(name);
}

std::string DiskKey(const PodVolume& disk) { return std::string(1, static_cast<char>(disk.kind)) + disk.source; }

// Adds to, or takes from, a use in a list that is sorted by row, where pods that share something may make it long; what
// nobody uses is dropped, and the list with it.
template <class Table, class Use>
void ChangeUse(Table& table, const std::string& key, bool comes, Use use) {
  auto& uses = table[key];
  auto it = std::lower_bound(uses.begin(), uses.end(), use, [](const Use& a, const Use& b) { return a.row < b.row; });
  while (it != uses.end() && it->row == use.row && !it->Same(use)) ++it;
  const bool known = it != uses.end() && it->row == use.row;
  if (comes) {
    if (!known) it = uses.insert(it, std::move(use));
    ++it->volumes;
  } else if (known && --it->volumes == 0) {
    uses.erase(it);
  }
  if (uses.empty()) table.erase(key);
}

}  // namespace

bool IsExclusiveDisk(const PodVolume& volume) {
  return volume.kind == VolumeKind::kGcePd || volume.kind == VolumeKind::kAwsEbs || volume.kind == VolumeKind::kRbd ||
         volume.kind == VolumeKind::kIscsi;
}

bool DisksConflict(const PodVolume& a, const PodVolume& b) {
  if (a.kind != b.kind || a.source != b.source) return false;
  switch (a.kind) {
    case VolumeKind::kGcePd:
    case VolumeKind::kIscsi:
      return !(a.read_only && b.read_only);
    case VolumeKind::kAwsEbs:
      return true;
    case VolumeKind::kRbd:
      return a.variant == b.variant && !(a.read_only && b.read_only) &&
             std::find_first_of(a.hosts.begin(), a.hosts.end(), b.hosts.begin(), b.hosts.end()) != a.hosts.end();
    default:
      return false;
  }
}

void VolumeRestrictionsIndex::PodAdded(const Snapshot& snapshot, const PodRecord& pod) {
  home_ = snapshot.cluster();
  Count(pod, true);
}

void VolumeRestrictionsIndex::PodRemoved(const Snapshot& snapshot, const PodRecord& pod) {
  home_ = snapshot.cluster();
  Count(pod, false);
}

void VolumeRestrictionsIndex::NodeChanged(const Snapshot& snapshot, Row, const Node*, const Node*) {
  home_ = snapshot.cluster();
}

void VolumeRestrictionsIndex::ObjectsChanged(const Snapshot& snapshot, const ObjectChange&) {
  home_ = snapshot.cluster();
}

void VolumeRestrictionsIndex::Count(const PodRecord& pod, bool comes) {
  for (const PodVolume& volume : pod.pod->volumes) {
    if (volume.kind == VolumeKind::kClaim) {
      ++epoch_;
      ChangeUse(claims_, ClaimKey(pod.pod->namespace_(), volume.source), comes, ClaimUse{pod.row, 0});
    } else if (IsExclusiveDisk(volume)) {
      ++epoch_;
      DiskUse use{pod.row, 0, volume};
      use.disk.name.clear();
      ChangeUse(disks_, DiskKey(volume), comes, std::move(use));
    }
  }
}

bool VolumeRestrictionsIndex::IsInUse(const Snapshot& snapshot, std::string_view ns, std::string_view claim) const {
  const auto it = claims_.find(ClaimKey(ns, claim));
  return it != claims_.end() &&
         std::any_of(it->second.begin(), it->second.end(), [&](const ClaimUse& use) { return snapshot.live(use.row); });
}

void VolumeRestrictionsIndex::AddConflicts(const PodVolume& disk, std::vector<Row>& rows) const {
  const auto it = disks_.find(DiskKey(disk));
  if (it == disks_.end()) return;
  for (const DiskUse& use : it->second)
    if (DisksConflict(disk, use.disk)) rows.push_back(use.row);
}

}  // namespace berth::plugins
