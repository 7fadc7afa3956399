// SPDX-License-Identifier: Apache-2.0
// Http2Memory: the memory with which nghttp2 reads one connection's heads: the same few small sizes again and again.
#pragma once

#include <nghttp2/nghttp2.h>

#include <array>
#include <cstddef>

namespace berth::net {

// Keeps what nghttp2 gives back for the next time it asks. That is never more than it had at the same time, which
// nghttp2 bounds by the size of its table and of one header.
//
// Thread safety: none. REQUIRES: it outlives what was made with it.
class Http2Memory {
 public:
  Http2Memory();
  ~Http2Memory();
  Http2Memory(const Http2Memory&) = delete;
  Http2Memory& operator=(const Http2Memory&) = delete;

  nghttp2_mem* get() { return &calls_; }

 private:
  struct Block;
  static constexpr size_t kStep = 64, kSteps = 16;  // what is larger than all of them is not kept
  void* Take(size_t size);
  void Give(void* memory);
  void* Resize(void* memory, size_t size);

  nghttp2_mem calls_;
  std::array<Block*, kSteps> free_{};  // by size
};

}  // namespace berth::net
