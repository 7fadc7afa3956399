// SPDX-License-Identifier: Apache-2.0
// The kinds of objects that a scheduler reads: one table, from which everybody takes what depends on the kind. To add
// one: its struct (berth/object.h, berth/storage.h), a line in `Kind` and a row of `kKindTable`, its decoder (src/api)
// and its tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "berth/epochs.h"
#include "berth/events.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "berth/storage.h"

namespace berth {
inline namespace v1 {

// In the order of the table.
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

enum class Scope : uint8_t { kCluster, kNamespaced };

struct KindInfo {
  Kind kind;
  std::string_view name;                     // as in a manifest: "CSINode"
  std::string_view group;                    // empty: the core group
  std::array<std::string_view, 3> versions;  // those that are read, the preferred one first; the rest is empty
  std::string_view plural;                   // as in a path: "csinodes"
  Scope scope;
  // What plugins register for to hear of it; none: it wakes nobody.
  std::optional<EventResource> event;
  // The epochs by which a plugin says that it reads objects of this kind. None: plugins are not shown it, and no
  // scheduler needs to watch it.
  Epochs epochs;

  constexpr bool namespaced() const { return scope == Scope::kNamespaced; }
};

// The row of the kind that T is the struct of.
template <class T>
struct KindRow {
  KindInfo info;
};

template <class... Ts>
struct TypeList {};

template <class... Ts>
struct KindTable {
  using Types = TypeList<Ts...>;
  std::array<KindInfo, sizeof...(Ts)> rows;
};

template <class... Ts>
constexpr KindTable<Ts...> MakeKindTable(const KindRow<Ts>&... rows) {
  return {{rows.info...}};
}

// clang-format off
inline constexpr auto kKindTable = MakeKindTable(
    KindRow<Pod>{{Kind::kPod, "Pod", "", {"v1"}, "pods", Scope::kNamespaced,
                  EventResource::kPod, epoch::kOwnIndex | epoch::kOtherRows | epoch::kAffinityPods}},
    KindRow<Node>{{Kind::kNode, "Node", "", {"v1"}, "nodes", Scope::kCluster,
                   EventResource::kNode, epoch::kNodeSet | epoch::kNodeLabels | epoch::kSets | epoch::kImageSpread |
                                             epoch::kOtherRows}},
    KindRow<Namespace>{{Kind::kNamespace, "Namespace", "", {"v1"}, "namespaces", Scope::kCluster,
                        std::nullopt, epoch::kNamespaces}},
    KindRow<Service>{{Kind::kService, "Service", "", {"v1"}, "services", Scope::kNamespaced,
                      std::nullopt, epoch::kWorkloads}},
    KindRow<ReplicationController>{{Kind::kReplicationController, "ReplicationController", "", {"v1"},
                                    "replicationcontrollers", Scope::kNamespaced,
                                    std::nullopt, epoch::kWorkloads}},
    KindRow<ReplicaSet>{{Kind::kReplicaSet, "ReplicaSet", "apps", {"v1"}, "replicasets", Scope::kNamespaced,
                         std::nullopt, epoch::kWorkloads}},
    KindRow<StatefulSet>{{Kind::kStatefulSet, "StatefulSet", "apps", {"v1"}, "statefulsets", Scope::kNamespaced,
                          std::nullopt, epoch::kWorkloads}},
    KindRow<PriorityClass>{{Kind::kPriorityClass, "PriorityClass", "scheduling.k8s.io", {"v1"},
                            "priorityclasses", Scope::kCluster,
                            std::nullopt, 0}},  // admission reads it, nobody after that
    KindRow<PodDisruptionBudget>{{Kind::kPodDisruptionBudget, "PodDisruptionBudget", "policy", {"v1"},
                                  "poddisruptionbudgets", Scope::kNamespaced,
                                  std::nullopt, epoch::kBudgets}},
    KindRow<PersistentVolumeClaim>{{Kind::kPersistentVolumeClaim, "PersistentVolumeClaim", "", {"v1"},
                                    "persistentvolumeclaims", Scope::kNamespaced,
                                    EventResource::kPersistentVolumeClaim, epoch::kVolumes}},
    KindRow<PersistentVolume>{{Kind::kPersistentVolume, "PersistentVolume", "", {"v1"},
                               "persistentvolumes", Scope::kCluster,
                               EventResource::kPersistentVolume, epoch::kVolumes}},
    KindRow<StorageClass>{{Kind::kStorageClass, "StorageClass", "storage.k8s.io", {"v1"},
                           "storageclasses", Scope::kCluster,
                           EventResource::kStorageClass, epoch::kVolumes}},
    KindRow<CsiNode>{{Kind::kCsiNode, "CSINode", "storage.k8s.io", {"v1"}, "csinodes", Scope::kCluster,
                      EventResource::kCsiNode, epoch::kVolumes}},
    KindRow<CsiDriver>{{Kind::kCsiDriver, "CSIDriver", "storage.k8s.io", {"v1"}, "csidrivers", Scope::kCluster,
                        EventResource::kCsiDriver, epoch::kVolumes}},
    KindRow<CsiStorageCapacity>{{Kind::kCsiStorageCapacity, "CSIStorageCapacity", "storage.k8s.io", {"v1"},
                                 "csistoragecapacities", Scope::kNamespaced,
                                 EventResource::kCsiStorageCapacity, epoch::kVolumes}},
    KindRow<VolumeAttachment>{{Kind::kVolumeAttachment, "VolumeAttachment", "storage.k8s.io", {"v1"},
                               "volumeattachments", Scope::kCluster,
                               EventResource::kVolumeAttachment, epoch::kVolumes}},
    KindRow<ResourceClaim>{{Kind::kResourceClaim, "ResourceClaim", "resource.k8s.io", {"v1", "v1beta2", "v1beta1"},
                            "resourceclaims", Scope::kNamespaced,
                            EventResource::kResourceClaim, epoch::kDevices}},
    KindRow<ResourceSlice>{{Kind::kResourceSlice, "ResourceSlice", "resource.k8s.io", {"v1", "v1beta2", "v1beta1"},
                            "resourceslices", Scope::kCluster,
                            EventResource::kResourceSlice, epoch::kDevices}},
    KindRow<DeviceClass>{{Kind::kDeviceClass, "DeviceClass", "resource.k8s.io", {"v1", "v1beta2", "v1beta1"},
                          "deviceclasses", Scope::kCluster,
                          EventResource::kDeviceClass, epoch::kDevices}});
// clang-format on

inline constexpr const auto& kKinds = kKindTable.rows;
inline constexpr size_t kKindCount = kKinds.size();
// The structs, in the order of the table; Pod and Node come first.
using KindTypes = std::remove_const_t<decltype(kKindTable)>::Types;

constexpr const KindInfo& InfoOf(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }
constexpr std::string_view ToString(Kind kind) { return InfoOf(kind).name; }
constexpr bool IsNamespaced(Kind kind) { return InfoOf(kind).namespaced(); }
// Whether a scheduler needs a copy of the objects of this kind.
constexpr bool IsWatched(Kind kind) { return InfoOf(kind).epochs != 0; }
// By its name in a manifest.
constexpr std::optional<Kind> FindKind(std::string_view name) {
  for (const KindInfo& info : kKinds) {
    if (info.name == name) return info.kind;
  }
  return std::nullopt;
}

template <class T, class... Ts>
constexpr bool Contains(TypeList<Ts...>) {
  return (std::is_same_v<T, Ts> || ...);
}

// Calls fn.operator()<T>() for every struct of the list, in order.
template <class Fn, class... Ts>
constexpr void ForEachType(TypeList<Ts...>, Fn&& fn) {
  (fn.template operator()<Ts>(), ...);
}

// The row of a struct. REQUIRES: it is the struct of a kind.
template <class T>
constexpr const KindInfo& InfoOf() {
  constexpr auto index = []<class... Ts>(TypeList<Ts...>) {
    size_t place = 0;
    (void)((std::is_same_v<T, Ts> || (++place, false)) || ...);
    return place;
  }(KindTypes{});
  static_assert(index < kKindCount, "not the struct of a kind in the table");
  return kKinds[index];
}

// The epochs that a read of such objects falls under; kUnrememberable: no counter speaks of it.
template <class T>
constexpr Epochs EpochOf() {
  return InfoOf<T>().epochs != 0 ? InfoOf<T>().epochs : epoch::kUnrememberable;
}

}  // namespace v1
}  // namespace berth
