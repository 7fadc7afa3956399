// SPDX-License-Identifier: Apache-2.0
// ClusterObject: an object of any kind that a scheduler reads, as it comes out of a cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

#include "berth/host/kinds.h"

namespace berth {
inline namespace v1 {

template <class T>
using Ptr = std::shared_ptr<const T>;

template <class List>
struct ClusterObjectOf;
template <class... Ts>
struct ClusterObjectOf<TypeList<Ts...>> {
  using Type = std::variant<Ptr<Ts>...>;
};
// In the order of the table of kinds. Never holds a null pointer.
using ClusterObject = ClusterObjectOf<KindTypes>::Type;

inline Kind KindOf(const ClusterObject& object) { return static_cast<Kind>(object.index()); }
inline const ObjectMeta& MetaOf(const ClusterObject& object) {
  return std::visit([](const auto& ptr) -> const ObjectMeta& { return ptr->meta; }, object);
}
// A copy with other metadata, e.g. a new version.
ClusterObject WithMeta(const ClusterObject& object, ObjectMeta meta);

// Resource versions as numbers, which Kubernetes has promised them to be since 1.35; 0 for one that is not.
uint64_t VersionNumber(std::string_view resource_version);

}  // namespace v1
}  // namespace berth
