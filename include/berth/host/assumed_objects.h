// SPDX-License-Identifier: Apache-2.0
// AssumedObjects: objects as a scheduler has decided that they will be, ahead of the cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "berth/storage.h"

namespace berth {
inline namespace v1 {

// Of one kind. An assumption stands for the version of the object that it was made of, and for no other.
template <class T>
class AssumedStore {
 public:
  using Ptr = std::shared_ptr<const T>;

  // Null when nothing is assumed of it.
  const T* Find(std::string_view ns, std::string_view name) const {
    if (objects_.empty()) return nullptr;
    const auto it = ns.empty() ? objects_.find(name) : objects_.find(std::string(ns).append("/").append(name));
    return it == objects_.end() ? nullptr : it->second.get();
  }
  size_t size() const { return objects_.size(); }
  // Grows with every change.
  uint64_t epoch() const { return epoch_; }

 private:
  friend class AssumedStoreWriter;
  std::map<std::string, Ptr, std::less<>> objects_;  // by FullName
  uint64_t epoch_ = 0;
};

// The kinds of which something can be assumed.
struct AssumedObjects {
  std::tuple<AssumedStore<PersistentVolume>, AssumedStore<PersistentVolumeClaim>> all;

  template <class T>
  static constexpr bool kHolds = std::is_same_v<T, PersistentVolume> || std::is_same_v<T, PersistentVolumeClaim>;
  template <class T>
  const AssumedStore<T>& get() const {
    return std::get<AssumedStore<T>>(all);
  }
  template <class T>
  AssumedStore<T>& get() {
    return std::get<AssumedStore<T>>(all);
  }
};

class AssumedStoreWriter {
 public:
  template <class T>
  static void Put(AssumedStore<T>& store, std::shared_ptr<const T> object) {
    store.objects_.insert_or_assign(FullName(object->meta), std::move(object));
    ++store.epoch_;
  }
  // False when nothing was assumed of it.
  template <class T>
  static bool Drop(AssumedStore<T>& store, const ObjectMeta& meta) {
    if (store.objects_.erase(FullName(meta)) == 0) return false;
    ++store.epoch_;
    return true;
  }
};

}  // namespace v1
}  // namespace berth
