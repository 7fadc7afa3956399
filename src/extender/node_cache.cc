// SPDX-License-Identifier: Apache-2.0
// Remembering nodes by the hash of their text.
#include "extender/node_cache.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace berth::extender {
namespace {

uint64_t HashOfPrefix(std::string_view text) { return SecretHash64(text.substr(0, NodeCache::kPrefix)); }

// The memory of a node besides the bytes of its text. A few bytes of JSON can ask for dozens of times as many.
size_t Overhead(const Node& node) {
  size_t bytes = sizeof(Node) + (node.meta.labels.size() + node.meta.annotations.size()) * sizeof(Labels::Entry) +
                 node.taints.size() * sizeof(Taint) + node.conditions.size() * sizeof(NodeCondition) +
                 node.images.size() * sizeof(NodeImage) + node.meta.owners.size() * sizeof(OwnerReference) +
                 node.declared_features.size() * sizeof(std::string) +
                 node.allocatable.scalars.size() * sizeof(node.allocatable.scalars[0]);
  for (const NodeImage& image : node.images) bytes += image.names.size() * sizeof(std::string);
  return bytes;
}

}  // namespace

NodeCache::NodeCache(bool with_images, size_t max_bytes) : with_images_(with_images), max_bytes_(max_bytes) {}

NodeCache::Entry& NodeCache::At(uint64_t prefix) {
  const size_t mask = table_.size() - 1;
  size_t i = prefix & mask;
  while (table_[i].size != 0 && table_[i].prefix != prefix) i = (i + 1) & mask;
  return table_[i];
}

void NodeCache::Rebuild(size_t entries, uint64_t since) {
  std::vector<Entry> before = std::move(table_);
  table_ = std::vector<Entry>(std::bit_ceil(std::max<size_t>(64, 2 * entries)));
  count_ = bytes_ = 0;
  for (Entry& entry : before) {
    if (entry.size == 0 || entry.used < since) continue;
    ++count_;
    bytes_ += entry.bytes;
    At(entry.prefix) = std::move(entry);
  }
}

NodeCache::Found NodeCache::Find(std::string_view text) {
  if (text.size() < kPrefix) return {};
  const uint64_t prefix = HashOfPrefix(text);
  Hash128 hash;
  Found found;
  {
    const std::lock_guard lock(mutex_);
    if (table_.empty()) return {};
    Entry& entry = At(prefix);
    if (entry.size == 0 || entry.size > text.size()) return {};
    entry.used = round_;
    hash = entry.hash;
    found = {entry.node, entry.size, entry.items};
  }
  if (SecretHash128(text.substr(0, found.size)) != hash) return {};
  return found;
}

bool NodeCache::Add(std::string_view json, std::shared_ptr<const Node> node, size_t items) {
  constexpr size_t kSmall = 4096, kMost = std::numeric_limits<uint32_t>::max();
  const size_t overhead = Overhead(*node), all = json.size() + overhead;
  if (json.size() < kPrefix || overhead > kSmall + json.size() || all > kMost || items > kMost) return false;
  const uint64_t prefix = HashOfPrefix(json);
  const Hash128 hash = SecretHash128(json);
  const std::lock_guard lock(mutex_);
  if (2 * (count_ + 1) > table_.size()) Rebuild(2 * (count_ + 1), 0);
  Entry& entry = At(prefix);
  const size_t bytes = bytes_ - entry.bytes + all;
  if (bytes > max_bytes_) return false;
  bytes_ = bytes;
  if (entry.size == 0) ++count_;
  entry = {prefix,          hash,   static_cast<uint32_t>(json.size()), static_cast<uint32_t>(all),
           std::move(node), round_, static_cast<uint32_t>(items)};
  return true;
}

void NodeCache::Settle(size_t nodes) {
  constexpr size_t kAlwaysKept = 1024;
  const std::lock_guard lock(mutex_);
  if (count_ > 2 * nodes + kAlwaysKept || bytes_ > max_bytes_ / 2) Rebuild(count_, round_);
  ++round_;
}

size_t NodeCache::size() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace berth::extender
