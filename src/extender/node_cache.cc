// SPDX-License-Identifier: Apache-2.0
// Remembering nodes by the hash of their text.
#include "extender/node_cache.h"

#include <xxhash.h>

#include <cstring>
#include <random>

namespace berth::extender {

NodeCache::NodeCache(bool with_images) : with_images_(with_images) {
  std::random_device random;
  for (size_t i = 0; i < secret_.size(); i += sizeof(uint32_t)) {
    const uint32_t word = random();
    std::memcpy(secret_.data() + i, &word, sizeof word);
  }
}

uint64_t NodeCache::HashOfPrefix(std::string_view text) const {
  return XXH3_64bits_withSecret(text.data(), kPrefix, secret_.data(), secret_.size());
}

NodeCache::Hash NodeCache::HashOf(std::string_view text) const {
  const XXH128_hash_t hash = XXH3_128bits_withSecret(text.data(), text.size(), secret_.data(), secret_.size());
  return {hash.high64, hash.low64};
}

std::pair<std::shared_ptr<const Node>, size_t> NodeCache::Find(std::string_view text) {
  if (text.size() < kPrefix) return {};
  const uint64_t prefix = HashOfPrefix(text);
  Hash hash;
  std::pair<std::shared_ptr<const Node>, size_t> found;
  {
    const std::lock_guard lock(mutex_);
    const auto it = by_prefix_.find(prefix);
    if (it == by_prefix_.end() || it->second.size > text.size()) return {};
    it->second.used = round_;
    hash = it->second.hash;
    found = {it->second.node, it->second.size};
  }
  if (HashOf(text.substr(0, found.second)) != hash) return {};
  return found;
}

void NodeCache::Add(std::string_view json, std::shared_ptr<const Node> node) {
  if (json.size() < kPrefix) return;
  const uint64_t prefix = HashOfPrefix(json);
  const Hash hash = HashOf(json);
  const std::lock_guard lock(mutex_);
  const auto known = by_prefix_.find(prefix);
  const size_t before = known == by_prefix_.end() ? 0 : known->second.size;
  if (bytes_ - before + json.size() > kMaxBytes) return;
  bytes_ += json.size() - before;
  by_prefix_[prefix] = {hash, json.size(), std::move(node), round_};
}

void NodeCache::Settle(size_t nodes) {
  constexpr size_t kAlwaysKept = 1024;
  const std::lock_guard lock(mutex_);
  if (by_prefix_.size() > 2 * nodes + kAlwaysKept || bytes_ > kMaxBytes / 2) {
    std::erase_if(by_prefix_, [&](const auto& item) {
      if (item.second.used == round_) return false;
      bytes_ -= item.second.size;
      return true;
    });
  }
  ++round_;
}

size_t NodeCache::size() const {
  const std::lock_guard lock(mutex_);
  return by_prefix_.size();
}

}  // namespace berth::extender
