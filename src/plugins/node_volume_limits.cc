// SPDX-License-Identifier: Apache-2.0
// NodeVolumeLimits; see node_volume_limits.h.
#include "plugins/node_volume_limits.h"

#include <algorithm>

namespace berth::plugins {
namespace {

// Claims, and inline volumes of in-tree kinds that count against the CSI driver that took them over.
bool Counts(const PodVolume& volume) {
  switch (volume.kind) {
    case VolumeKind::kClaim:
    case VolumeKind::kEphemeral:
    case VolumeKind::kGcePd:
    case VolumeKind::kAwsEbs:
    case VolumeKind::kAzureDisk:
    case VolumeKind::kCinder:
    case VolumeKind::kPortworx:
      return true;
    default:
      return false;
  }
}

bool AnyLimit(const Snapshot& snapshot) {
  bool any = false;
  snapshot.objects<CsiNode>().ForEach([&](const CsiNode& node) {
    for (const auto& [driver, limit] : node.driver_limits) any = any || limit.has_value();
  });
  return any;
}

}  // namespace

PreFilterOutcome NodeVolumeLimits::PreFilter(const Cycle& cycle) const {
  const auto& volumes = cycle.pod().volumes;
  if (std::none_of(volumes.begin(), volumes.end(), Counts)) return PreFilterOutcome::Skip();
  return AnyLimit(cycle.snapshot()) ? PreFilterOutcome::Reject(kNotYet) : PreFilterOutcome::Ok();
}

Depends NodeVolumeLimits::DependsOn(Point point) const {
  if (point == Point::kPreFilter) return {0, epoch::kVolumes};
  return Depends::OnRow(0);
}

bool NodeVolumeLimits::Sign(const Pod& pod, Signature&) const {
  return std::none_of(pod.volumes.begin(), pod.volumes.end(), Counts);
}

std::optional<std::vector<EventRegistration>> NodeVolumeLimits::EventsToRegister() const {
  return std::vector<EventRegistration>{{{EventResource::kCsiNode, action::kAdd | action::kUpdate}, nullptr},
                                        {{EventResource::kPod, action::kDelete}, nullptr},
                                        {{EventResource::kPersistentVolumeClaim, action::kAdd}, nullptr},
                                        {{EventResource::kVolumeAttachment, action::kDelete}, nullptr}};
}

}  // namespace berth::plugins
