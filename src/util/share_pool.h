// SPDX-License-Identifier: Apache-2.0
// SharePool: equal immutable values stored once. A cluster's pods come from templates, so their label sets are few.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace berth {

// Values live as long as somebody holds them; the pool itself keeps only weak references, so memory returns.
// Two shared values are equal exactly when their addresses are.
// Thread safety: all methods. REQUIRES: the pool outlives every value it gave out (make it a leaked static).
template <class T>
class SharePool {
 public:
  // `hash` must be equal for equal values.
  std::shared_ptr<const T> Share(T value, uint64_t hash) {
    Shard& shard = shards_[hash % kShards];
    // Values met on the way; released after the lock, because dropping a last reference takes the same lock.
    std::vector<std::shared_ptr<const T>> met;
    std::lock_guard lock(shard.mutex);
    auto [first, last] = shard.entries.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      std::shared_ptr<const T> found = it->second.lock();
      if (!found) continue;
      if (*found == value) return found;
      met.push_back(std::move(found));
    }
    std::shared_ptr<const T> shared(new T(std::move(value)), Deleter{this, hash});
    shard.entries.emplace(hash, shared);
    return shared;
  }

 private:
  static constexpr size_t kShards = 16;
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<uint64_t, std::weak_ptr<const T>> entries;
  };
  struct Deleter {
    SharePool* pool;
    uint64_t hash;
    void operator()(const T* value) const {
      {
        Shard& shard = pool->shards_[hash % kShards];
        std::lock_guard lock(shard.mutex);
        auto [first, last] = shard.entries.equal_range(hash);
        for (auto it = first; it != last;) it = it->second.expired() ? shard.entries.erase(it) : std::next(it);
      }
      delete value;
    }
  };
  std::array<Shard, kShards> shards_;
};

}  // namespace berth
