// SPDX-License-Identifier: Apache-2.0
// SetTable: equal lists (taints, images, features) stored once and named by a small integer.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "util/hash.h"
#include "util/secret_hash.h"

namespace berth::cluster {

// Counts uses and reuses the ids of sets nobody has any more. Id 0 is the empty set and never goes away. The sets
// themselves live in `sets`, which is the vector that Snapshot shows to plugins.
// Thread safety: scheduling thread only.
template <class T, class Hash>
class SetTable {
 public:
  // REQUIRES: `sets` outlives the table and is changed by it alone.
  explicit SetTable(std::vector<std::vector<T>>& sets) : sets_(sets), uses_(1) {
    sets_.clear();
    sets_.emplace_back();
    ids_.emplace(HashOf({}), 0);
  }

  uint32_t Acquire(const std::vector<T>& set) {
    if (set.empty()) return 0;
    const uint64_t hash = HashOf(set);
    auto [first, last] = ids_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (sets_[it->second] != set) continue;
      ++uses_[it->second];
      return it->second;
    }
    uint32_t id;
    if (free_.empty()) {
      id = static_cast<uint32_t>(sets_.size());
      sets_.push_back(set);
      uses_.push_back(1);
    } else {
      id = free_.back();
      free_.pop_back();
      sets_[id] = set;
      uses_[id] = 1;
    }
    ids_.emplace(hash, id);
    return id;
  }

  void Release(uint32_t id) {
    if (id == 0 || --uses_[id] > 0) return;
    auto [first, last] = ids_.equal_range(HashOf(sets_[id]));
    for (auto it = first; it != last; ++it) {
      if (it->second != id) continue;
      ids_.erase(it);
      break;
    }
    sets_[id] = {};
    free_.push_back(id);
  }

 private:
  static uint64_t HashOf(const std::vector<T>& set) {
    // Small numbers, as images are, could be made to collide without the secret.
    static const uint64_t secret = SecretHash64("SetTable");
    uint64_t hash = secret ^ set.size();
    for (const T& item : set) hash = HashMix(hash, Hash()(item));
    return hash;
  }

  std::vector<std::vector<T>>& sets_;
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> free_;
  std::unordered_multimap<uint64_t, uint32_t> ids_;
};

}  // namespace berth::cluster
