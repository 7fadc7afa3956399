// SPDX-License-Identifier: Apache-2.0
// VolumeZone; see volume_zone.h. Generic ephemeral volumes have no part in it.
#include "plugins/volume_zone.h"

#include <algorithm>

namespace berth::plugins {
namespace {

bool IsClaim(const PodVolume& volume) { return volume.kind == VolumeKind::kClaim; }

}  // namespace

PreFilterOutcome VolumeZone::PreFilter(const Cycle& cycle) const {
  const auto& volumes = cycle.pod().volumes;
  return std::any_of(volumes.begin(), volumes.end(), IsClaim) ? PreFilterOutcome::Reject(kNotYet)
                                                              : PreFilterOutcome::Skip();
}

bool VolumeZone::Sign(const Pod& pod, Signature&) const {
  return std::none_of(pod.volumes.begin(), pod.volumes.end(), IsClaim);
}

std::optional<std::vector<EventRegistration>> VolumeZone::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  return std::vector<EventRegistration>{{{EventResource::kStorageClass, action::kAdd}, nullptr},
                                        {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, nullptr},
                                        {{EventResource::kPersistentVolumeClaim, kAddOrUpdate}, nullptr},
                                        {{EventResource::kPersistentVolume, kAddOrUpdate}, nullptr}};
}

}  // namespace berth::plugins
