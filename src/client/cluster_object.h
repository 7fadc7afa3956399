// SPDX-License-Identifier: Apache-2.0
// ClusterObject: an object of any kind that a scheduler reads, as it comes out of a cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"

namespace berth::client {

template <class T>
using Ptr = std::shared_ptr<const T>;

// Never holds a null pointer.
using ClusterObject =
    std::variant<Ptr<Pod>, Ptr<Node>, Ptr<Namespace>, Ptr<Service>, Ptr<ReplicationController>, Ptr<ReplicaSet>,
                 Ptr<StatefulSet>, Ptr<PriorityClass>, Ptr<PodDisruptionBudget>, Ptr<PersistentVolumeClaim>,
                 Ptr<PersistentVolume>, Ptr<StorageClass>, Ptr<CsiNode>, Ptr<CsiDriver>, Ptr<CsiStorageCapacity>,
                 Ptr<VolumeAttachment>, Ptr<ResourceClaim>, Ptr<ResourceSlice>, Ptr<DeviceClass>>;

// In the order of the variant.
enum class Kind : uint8_t {
  kPod,
  kNode,
  kNamespace,
  kService,
  kReplicationController,
  kReplicaSet,
  kStatefulSet,
  kPriorityClass,
  kPodDisruptionBudget,
  kPersistentVolumeClaim,
  kPersistentVolume,
  kStorageClass,
  kCsiNode,
  kCsiDriver,
  kCsiStorageCapacity,
  kVolumeAttachment,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass
};
inline constexpr size_t kKindCount = std::variant_size_v<ClusterObject>;

std::string_view ToString(Kind kind);  // as in a manifest: "CSINode"
std::optional<Kind> FindKind(std::string_view name);
bool IsNamespaced(Kind kind);
inline Kind KindOf(const ClusterObject& object) { return static_cast<Kind>(object.index()); }
inline const ObjectMeta& MetaOf(const ClusterObject& object) {
  return std::visit([](const auto& ptr) -> const ObjectMeta& { return ptr->meta; }, object);
}
// A copy with other metadata, e.g. a new version.
ClusterObject WithMeta(const ClusterObject& object, ObjectMeta meta);

// Resource versions as numbers, which Kubernetes has promised them to be since 1.35; 0 for one that is not.
uint64_t VersionNumber(std::string_view resource_version);

}  // namespace berth::client
