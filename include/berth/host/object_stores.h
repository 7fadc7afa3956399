// SPDX-License-Identifier: Apache-2.0
// ObjectStores: the stores of all kinds; ObjectStoreWriter: how ClusterState fills them.
#pragma once

#include <string_view>
#include <tuple>
#include <utility>

#include "berth/host/kinds.h"
#include "berth/object_store.h"

namespace berth {
inline namespace v1 {

template <class List>
struct ObjectStoresOf;
template <class... Ts>
struct ObjectStoresOf<TypeList<Pod, Node, Ts...>> {
  using Type = std::tuple<ObjectStore<Ts>...>;
};

// One store per kind that is neither Pod nor Node.
struct ObjectStores {
  ObjectStoresOf<KindTypes>::Type all;
  template <class T>
  const ObjectStore<T>& get() const {
    return std::get<ObjectStore<T>>(all);
  }
  template <class T>
  ObjectStore<T>& get() {
    return std::get<ObjectStore<T>>(all);
  }
};

class ObjectStoreWriter {
 public:
  // Both return what was there before, null if nothing.
  template <class T>
  static auto Put(ObjectStore<T>& store, typename ObjectStore<T>::Ptr object) {
    return store.Put(std::move(object));
  }
  template <class T>
  static auto Remove(ObjectStore<T>& store, std::string_view ns, std::string_view name) {
    return store.Remove(ns, name);
  }
};

}  // namespace v1
}  // namespace berth
