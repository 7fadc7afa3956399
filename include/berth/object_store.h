// SPDX-License-Identifier: Apache-2.0
// ObjectStore: the lister of one kind of object, by namespace and name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "berth/object.h"
#include "berth/storage.h"

namespace berth {
inline namespace v1 {

// All objects of one kind. Ordered, so that whoever walks it does so the same way every time.
// Thread safety: as its ClusterState.
template <class T>
class ObjectStore {
 public:
  using Ptr = std::shared_ptr<const T>;

  // Null when absent; cluster-scoped kinds have an empty namespace.
  const T* Find(std::string_view ns, std::string_view name) const {
    auto of_ns = by_namespace_.find(ns);
    if (of_ns == by_namespace_.end()) return nullptr;
    auto it = of_ns->second.find(name);
    return it == of_ns->second.end() ? nullptr : it->second.get();
  }
  const T* Find(std::string_view name) const { return Find("", name); }
  // Calls fn(const T&) for every object, or for those of one namespace.
  template <class Fn>
  void ForEach(Fn&& fn) const {
    for (const auto& [ns, objects] : by_namespace_)
      for (const auto& [name, object] : objects) fn(*object);
  }
  template <class Fn>
  void ForEachIn(std::string_view ns, Fn&& fn) const {
    auto of_ns = by_namespace_.find(ns);
    if (of_ns == by_namespace_.end()) return;
    for (const auto& [name, object] : of_ns->second) fn(*object);
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // Changes whenever an object comes, changes or goes: what a remembered answer that read this kind depends on.
  uint64_t epoch() const { return epoch_; }

 private:
  friend class ObjectStoreWriter;  // berth/host/object_stores.h
  // Returns what was there before, null if nothing.
  Ptr Put(Ptr object) {
    Ptr& slot = by_namespace_[object->meta.namespace_][object->meta.name];
    std::swap(slot, object);
    if (!object) ++size_;
    ++epoch_;
    return object;
  }
  Ptr Remove(std::string_view ns, std::string_view name) {
    auto of_ns = by_namespace_.find(ns);
    if (of_ns == by_namespace_.end()) return nullptr;
    auto it = of_ns->second.find(name);
    if (it == of_ns->second.end()) return nullptr;
    Ptr gone = std::move(it->second);
    of_ns->second.erase(it);
    if (of_ns->second.empty()) by_namespace_.erase(of_ns);
    --size_;
    ++epoch_;
    return gone;
  }

  std::map<std::string, std::map<std::string, Ptr, std::less<>>, std::less<>> by_namespace_;
  size_t size_ = 0;
  uint64_t epoch_ = 0;
};

}  // namespace v1
}  // namespace berth
