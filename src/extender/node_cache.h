// SPDX-License-Identifier: Apache-2.0
// NodeCache: nodes of earlier requests, found again by their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "berth/node.h"
#include "util/secret_hash.h"

namespace berth::extender {

// kube-scheduler sends every node with every request, and few of them have changed in between. A node whose bytes hash
// as those of one that was read before is that one: it is neither scanned nor decoded again.
//
// Bytes are compared by a hash of 128 bits with a secret of this process: the bytes themselves would take as much
// memory as a request. Memory is bounded by kMaxBytes, and what the last request did not have goes when there is more
// than twice as much.
//
// Thread safety: all methods, from any thread.
class NodeCache {
 public:
  static constexpr size_t kMaxBytes = size_t{256} << 20;
  static constexpr size_t kPrefix = 128;  // shorter texts are not kept

  // `with_images`: whether decoded nodes shall have their images, which nearly nobody reads and take most of the
  // memory.
  explicit NodeCache(bool with_images = true, size_t max_bytes = kMaxBytes);
  bool with_images() const { return with_images_; }

  // The known node whose text `text` begins with; null when there is none.
  struct Found {
    std::shared_ptr<const Node> node;
    size_t size = 0;   // of its text
    size_t items = 0;  // of its lists, as Add was told
  };
  Found Find(std::string_view text);
  // False: it is not kept, because there is no room, it is short, or it takes far more memory than its text.
  // REQUIRES: `json` is one valid JSON object, read into `node`.
  bool Add(std::string_view json, std::shared_ptr<const Node> node, size_t items);
  // A request of so many nodes has been read.
  void Settle(size_t nodes);
  size_t size() const;

 private:
  // A line of the processor's cache: a request that passes through leaves nothing of us in there.
  struct alignas(64) Entry {
    uint64_t prefix = 0;
    Hash128 hash;
    uint32_t size = 0;   // of the text; 0: free
    uint32_t bytes = 0;  // of memory, at most
    std::shared_ptr<const Node> node;
    uint64_t used = 0;  // the round in which it was last asked for
    uint32_t items = 0;
  };
  // The entry of this beginning, or the free one where it would be.
  Entry& At(uint64_t prefix);
  // Makes the table fit for so many entries and leaves out what was not asked for since round `since`.
  void Rebuild(size_t entries, uint64_t since);

  const bool with_images_;
  const size_t max_bytes_;
  mutable std::mutex mutex_;
  std::vector<Entry> table_;  // open, a power of two; one node for each beginning: of a node's versions the last
  size_t count_ = 0, bytes_ = 0;
  uint64_t round_ = 1;
};

}  // namespace berth::extender
