// SPDX-License-Identifier: Apache-2.0
// ExpiringCache: answers that are good for a while, the least recently used of which goes when there are too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "berth/clock.h"
#include "util/secret_hash.h"

namespace berth::serving {

// Thread safety: none.
template <class T>
class ExpiringCache {
 public:
  explicit ExpiringCache(size_t most) : most_(most) {}

  // Null without one that is still good. Valid until the next call.
  const T* Find(std::string_view key, Time now) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    if (found->second->until <= now) {
      order_.erase(found->second);
      entries_.erase(found);
      return nullptr;
    }
    order_.splice(order_.begin(), order_, found->second);
    return &found->second->value;
  }
  // In the place of what was there. A span of zero or less: not kept.
  void Put(const std::string& key, T value, Time now, Duration good_for) {
    if (const auto found = entries_.find(key); found != entries_.end()) {
      order_.erase(found->second);
      entries_.erase(found);
    }
    if (good_for.ns <= 0 || most_ == 0) return;
    while (entries_.size() >= most_) {
      entries_.erase(order_.back().key);
      order_.pop_back();
    }
    // The longest span there is means forever.
    constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
    const Time until = good_for.ns > kLast - now.ns ? Time{kLast} : now + good_for;
    order_.push_front({key, std::move(value), until});
    entries_.emplace(key, order_.begin());
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    T value;
    Time until;
  };
  const size_t most_;
  std::list<Entry> order_;  // the most recently used first
  std::unordered_map<std::string, typename std::list<Entry>::iterator, SecretStringHash, std::equal_to<>> entries_;
};

}  // namespace berth::serving
