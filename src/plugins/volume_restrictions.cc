// SPDX-License-Identifier: Apache-2.0
// VolumeRestrictions; see volume_restrictions.h.
#include "plugins/volume_restrictions.h"

#include <algorithm>
#include <string>

namespace berth::plugins {
namespace {

bool Concerns(const PodVolume& volume) {
  switch (volume.kind) {
    case VolumeKind::kClaim:
    case VolumeKind::kGcePd:
    case VolumeKind::kAwsEbs:
    case VolumeKind::kRbd:
    case VolumeKind::kIscsi:
      return true;
    default:
      return false;
  }
}

}  // namespace

PreFilterOutcome VolumeRestrictions::PreFilter(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  bool disks = false, once_pod = false;
  for (const PodVolume& volume : pod.volumes) {
    if (!Concerns(volume)) continue;
    if (volume.kind != VolumeKind::kClaim) {
      disks = true;
      continue;
    }
    const auto* claim = cycle.snapshot().objects<PersistentVolumeClaim>().Find(pod.namespace_(), volume.source);
    if (claim == nullptr) {
      return PreFilterOutcome::Reject(
          Verdict(Code::kUnschedulableAndUnresolvable, "persistentvolumeclaim \"" + volume.source + "\" not found"));
    }
    const auto& modes = claim->access_modes;
    once_pod = once_pod || std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end();
  }
  if (once_pod) return PreFilterOutcome::Reject(kOncePodNotYet);
  if (disks) return PreFilterOutcome::Reject(kDisksNotYet);
  return PreFilterOutcome::Skip();
}

Depends VolumeRestrictions::DependsOn(Point point) const {
  if (point == Point::kPreFilter) return {0, epoch::kVolumes};
  return Depends::OnRow(0);
}

bool VolumeRestrictions::Sign(const Pod& pod, Signature&) const {
  return std::none_of(pod.volumes.begin(), pod.volumes.end(), Concerns);
}

std::optional<std::vector<EventRegistration>> VolumeRestrictions::EventsToRegister() const {
  return std::vector<EventRegistration>{{{EventResource::kPod, action::kDelete}, nullptr},
                                        {{EventResource::kNode, action::kAdd}, nullptr},
                                        {{EventResource::kPersistentVolumeClaim, action::kAdd}, nullptr}};
}

}  // namespace berth::plugins
