// SPDX-License-Identifier: Apache-2.0
#include "net/http2_memory.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace berth::net {

// What is in front of the memory that nghttp2 sees.
struct alignas(std::max_align_t) Http2Memory::Block {
  size_t room;  // after it
  Block* next;  // while nobody has it

  void* memory() { return this + 1; }
  static Block* Of(void* memory) { return static_cast<Block*>(memory) - 1; }
};

Http2Memory::Http2Memory() : calls_{} {
  calls_.mem_user_data = this;
  calls_.malloc = [](size_t size, void* user) { return static_cast<Http2Memory*>(user)->Take(size); };
  calls_.free = [](void* memory, void* user) { static_cast<Http2Memory*>(user)->Give(memory); };
  calls_.calloc = [](size_t count, size_t size, void* user) -> void* {
    if (size != 0 && count > SIZE_MAX / size) return nullptr;
    void* const memory = static_cast<Http2Memory*>(user)->Take(count * size);
    if (memory != nullptr) std::memset(memory, 0, count * size);
    return memory;
  };
  calls_.realloc = [](void* memory, size_t size, void* user) {
    return static_cast<Http2Memory*>(user)->Resize(memory, size);
  };
}

Http2Memory::~Http2Memory() {
  for (Block* block : free_) {
    while (block != nullptr) {
      Block* const next = block->next;
      std::free(block);
      block = next;
    }
  }
}

void* Http2Memory::Take(size_t size) {
  const size_t step = size == 0 ? 0 : (size - 1) / kStep;
  if (step < kSteps && free_[step] != nullptr) {
    Block* const block = free_[step];
    free_[step] = block->next;
    return block->memory();
  }
  const size_t room = step < kSteps ? (step + 1) * kStep : size;
  if (room > SIZE_MAX - sizeof(Block)) return nullptr;
  auto* const block = static_cast<Block*>(std::malloc(sizeof(Block) + room));
  if (block == nullptr) return nullptr;
  block->room = room;
  return block->memory();
}

void Http2Memory::Give(void* memory) {
  if (memory == nullptr) return;
  Block* const block = Block::Of(memory);
  const size_t step = (block->room - 1) / kStep;
  if (step >= kSteps) return std::free(block);
  block->next = free_[step];
  free_[step] = block;
}

void* Http2Memory::Resize(void* memory, size_t size) {
  if (memory == nullptr) return Take(size);
  const size_t room = Block::Of(memory)->room;
  if (size <= room) return memory;
  void* const larger = Take(size);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, memory, room);
  Give(memory);
  return larger;
}

}  // namespace berth::net
