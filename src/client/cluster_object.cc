// SPDX-License-Identifier: Apache-2.0
// Names, versions and copies of objects of any kind.
#include "client/cluster_object.h"

#include <array>
#include <charconv>
#include <type_traits>

namespace berth::client {

std::string_view ToString(Kind kind) {
  static constexpr std::array<std::string_view, kKindCount> kNames = {"Pod",
                                                                      "Node",
                                                                      "Namespace",
                                                                      "Service",
                                                                      "ReplicationController",
                                                                      "ReplicaSet",
                                                                      "StatefulSet",
                                                                      "PriorityClass",
                                                                      "PodDisruptionBudget",
                                                                      "PersistentVolumeClaim",
                                                                      "PersistentVolume",
                                                                      "StorageClass",
                                                                      "CSINode",
                                                                      "CSIDriver",
                                                                      "CSIStorageCapacity",
                                                                      "VolumeAttachment",
                                                                      "ResourceClaim",
                                                                      "ResourceSlice",
                                                                      "DeviceClass"};
  const auto index = static_cast<size_t>(kind);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::optional<Kind> FindKind(std::string_view name) {
  for (size_t i = 0; i < kKindCount; ++i)
    if (ToString(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  return std::nullopt;
}

bool IsNamespaced(Kind kind) {
  switch (kind) {
    case Kind::kPod:
    case Kind::kService:
    case Kind::kReplicationController:
    case Kind::kReplicaSet:
    case Kind::kStatefulSet:
    case Kind::kPodDisruptionBudget:
    case Kind::kPersistentVolumeClaim:
    case Kind::kCsiStorageCapacity:
    case Kind::kResourceClaim:
      return true;
    default:
      return false;
  }
}

ClusterObject WithMeta(const ClusterObject& object, ObjectMeta meta) {
  return std::visit(
      [&meta](const auto& ptr) -> ClusterObject {
        using T = std::remove_const_t<typename std::decay_t<decltype(ptr)>::element_type>;
        auto copy = std::make_shared<T>(*ptr);
        copy->meta = std::move(meta);
        return Ptr<T>(std::move(copy));
      },
      object);
}

uint64_t VersionNumber(std::string_view resource_version) {
  uint64_t number = 0;
  const char* end = resource_version.data() + resource_version.size();
  const auto [stop, error] = std::from_chars(resource_version.data(), end, number);
  return error == std::errc() && stop == end ? number : 0;
}

}  // namespace berth::client
