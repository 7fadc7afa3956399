// SPDX-License-Identifier: Apache-2.0
// NodeCache: nodes of earlier requests, found again by their bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/node.h"

namespace berth::extender {

// kube-scheduler sends every node with every request, and few of them have changed in between. A node whose bytes hash
// as those of one that was read before is that one: it is neither scanned nor decoded again.
//
// Bytes are compared by a hash of 128 bits with a secret of this process: the bytes themselves would take as much
// memory as a request. Memory is bounded by kMaxBytes of node texts, and what the last request did not have goes when
// there is more than twice as much.
//
// Thread safety: all methods, from any thread.
class NodeCache {
 public:
  static constexpr size_t kMaxBytes = size_t{128} << 20;
  static constexpr size_t kPrefix = 128;  // shorter texts are not kept

  // `with_images`: whether decoded nodes shall have their images, which nearly nobody reads and take most of the
  // memory.
  explicit NodeCache(bool with_images = true);
  bool with_images() const { return with_images_; }

  // The known node whose text `text` begins with, and how long that is; null when there is none.
  std::pair<std::shared_ptr<const Node>, size_t> Find(std::string_view text);
  // False: it is not kept, because there is no room, it is short, or it takes far more memory than its text.
  // REQUIRES: `json` is one valid JSON object, read into `node`.
  bool Add(std::string_view json, std::shared_ptr<const Node> node);
  // A request of so many nodes has been read.
  void Settle(size_t nodes);
  size_t size() const;

 private:
  using Hash = std::pair<uint64_t, uint64_t>;
  // A line of the processor's cache: a request that passes through leaves nothing of us in there.
  struct alignas(64) Entry {
    uint64_t prefix = 0;
    Hash hash;
    size_t size = 0;  // 0: free
    std::shared_ptr<const Node> node;
    uint64_t used = 0;  // the round in which it was last asked for
  };
  uint64_t HashOfPrefix(std::string_view text) const;
  Hash HashOf(std::string_view text) const;
  // The entry of this beginning, or the free one where it would be.
  Entry& At(uint64_t prefix);
  // Makes the table fit for so many entries and leaves out what was not asked for since round `since`.
  void Rebuild(size_t entries, uint64_t since);

  const bool with_images_;
  std::array<unsigned char, 192> secret_;
  mutable std::mutex mutex_;
  std::vector<Entry> table_;  // open, a power of two; one node for each beginning: of a node's versions the last
  size_t count_ = 0, bytes_ = 0;
  uint64_t round_ = 1;
};

}  // namespace berth::extender
