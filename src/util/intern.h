// SPDX-License-Identifier: Apache-2.0
// Interner: strings as small integers, for names that come up again and again (resource names, label keys).
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "util/secret_hash.h"

namespace berth {

// A grow-only table of distinct strings. Ids are dense, count from 0 in order of first use and never change, and
// neither do the addresses of the strings. `Extra` is computed once per string, from it.
//
// Thread safety: everything. Intern takes a shared lock when the string is known and an exclusive one when it is new;
// Name and ExtraOf take none.
// Why blocks that double: they never move, so a reader needs no lock, and 26 pointers reach 2^32 strings.
template <class Extra>
class Interner {
 public:
  Interner() = default;
  Interner(const Interner&) = delete;
  Interner& operator=(const Interner&) = delete;
  ~Interner() {
    for (auto& block : blocks_) delete[] block.load(std::memory_order_relaxed);
  }

  uint32_t Intern(std::string_view text) {
    {
      std::shared_lock lock(mutex_);
      if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    }
    std::unique_lock lock(mutex_);
    if (auto it = ids_.find(text); it != ids_.end()) return it->second;
    const uint32_t id = size_.load(std::memory_order_relaxed);
    if (id == UINT32_MAX) {
      std::fputs("Interner: more than 2^32-1 distinct strings\n", stderr);
      std::abort();
    }
    const Place place = PlaceOf(id);
    Entry* block = blocks_[place.block].load(std::memory_order_relaxed);
    if (block == nullptr) {
      block = new Entry[size_t{kFirstBlock} << place.block];
      blocks_[place.block].store(block, std::memory_order_release);
    }
    Entry& entry = block[place.offset];
    entry.text = std::string(text);
    entry.extra = Extra(std::string_view(entry.text));
    ids_.emplace(std::string_view(entry.text), id);
    size_.store(id + 1, std::memory_order_release);
    return id;
  }

  // REQUIRES: `id` came from Intern of this table.
  const std::string& Name(uint32_t id) const { return At(id).text; }
  const Extra& ExtraOf(uint32_t id) const { return At(id).extra; }
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr uint32_t kFirstBlock = 64;
  struct Entry {
    std::string text;
    Extra extra{};
  };
  struct Place {
    size_t block, offset;
  };

  // Block b holds kFirstBlock << b ids and starts at kFirstBlock * (2^b - 1).
  static Place PlaceOf(uint32_t id) {
    const uint64_t shifted = uint64_t{id} + kFirstBlock;
    const auto block = static_cast<size_t>(std::bit_width(shifted / kFirstBlock) - 1);
    return {block, static_cast<size_t>(shifted - (uint64_t{kFirstBlock} << block))};
  }
  const Entry& At(uint32_t id) const {
    const Place place = PlaceOf(id);
    return blocks_[place.block].load(std::memory_order_acquire)[place.offset];
  }

  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string_view, uint32_t, SecretStringHash>
      ids_;  // keys point into the blocks; guarded by mutex_
  std::array<std::atomic<Entry*>, 27> blocks_{};
  std::atomic<uint32_t> size_{0};
};

}  // namespace berth
