// SPDX-License-Identifier: Apache-2.0
// Which events may help a pod that VolumeBinding has rejected.
#include <algorithm>

#include "plugins/common/volumes.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_binding_plan.h"

namespace berth::plugins {
namespace {

QueueingHint If(bool helps) { return helps ? QueueingHint::kQueue : QueueingHint::kSkip; }

QueueingHint AfterClass(const Pod&, const EventObjects& objects) {
  const auto* const before = objects.before<StorageClass>();
  const auto* const after = objects.after<StorageClass>();
  if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
  return If(before->allowed_topologies != after->allowed_topologies);
}

QueueingHint AfterClaim(const Pod& pod, const EventObjects& objects) {
  const auto* const after = objects.after<PersistentVolumeClaim>();
  if (after == nullptr) return QueueingHint::kQueue;
  return If(pod.namespace_() == after->meta.namespace_ &&
            std::any_of(pod.volumes.begin(), pod.volumes.end(), [&](const PodVolume& volume) {
              return HasClaim(volume) && ClaimNameOf(pod, volume) == after->meta.name;
            }));
}

const std::string* MigratedText(const CsiNode& node) {
  return node.meta.annotations.Find("storage.alpha.kubernetes.io/migrated-plugins");
}

QueueingHint AfterCsiNode(const Pod&, const EventObjects& objects) {
  const auto* const before = objects.before<CsiNode>();
  const auto* const after = objects.after<CsiNode>();
  if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
  static const std::string kNone;
  const std::string* const was = MigratedText(*before);
  const std::string* const is = MigratedText(*after);
  return If((was != nullptr ? *was : kNone) != (is != nullptr ? *is : kNone));
}

// Of volumes in the pod itself alone, as upstream has it: those never need capacity.
QueueingHint AfterDriver(const Pod& pod, const EventObjects& objects) {
  const auto* const before = objects.before<CsiDriver>();
  const auto* const after = objects.after<CsiDriver>();
  if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
  return If(before->storage_capacity && !after->storage_capacity &&
            std::any_of(pod.volumes.begin(), pod.volumes.end(), [&](const PodVolume& volume) {
              return volume.kind == VolumeKind::kCsi && volume.source == after->meta.name;
            }));
}

QueueingHint AfterCapacity(const Pod&, const EventObjects& objects) {
  const auto* const before = objects.before<CsiStorageCapacity>();
  const auto* const after = objects.after<CsiStorageCapacity>();
  if (before == nullptr || after == nullptr) return QueueingHint::kQueue;
  const std::optional<int64_t> was = LimitOf(*before), is = LimitOf(*after);
  return If(is && (!was || *is > *was));
}

}  // namespace

std::optional<std::vector<EventRegistration>> VolumeBinding::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  return std::vector<EventRegistration>{{{EventResource::kStorageClass, kAddOrUpdate}, AfterClass},
                                        {{EventResource::kPersistentVolumeClaim, kAddOrUpdate}, AfterClaim},
                                        {{EventResource::kPersistentVolume, kAddOrUpdate}, nullptr},
                                        {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, nullptr},
                                        {{EventResource::kCsiNode, kAddOrUpdate}, AfterCsiNode},
                                        {{EventResource::kCsiDriver, action::kUpdate}, AfterDriver},
                                        {{EventResource::kCsiStorageCapacity, kAddOrUpdate}, AfterCapacity}};
}

}  // namespace berth::plugins
