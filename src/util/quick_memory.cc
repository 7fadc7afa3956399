// SPDX-License-Identifier: Apache-2.0
#include "util/quick_memory.h"

#include <malloc.h>

#include <array>
#include <cstdlib>
#include <new>
#include <utility>

namespace berth::util {
namespace {

// The sizes that the C library has anyway: it uses the last eight bytes of a multiple of 16 for itself.
constexpr size_t kSmallest = 24, kStep = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
constexpr size_t kSizes = 128;                  // each a step larger than the one before
constexpr size_t kMostBytes = size_t{2} << 20;  // a thread's

struct Piece {
  Piece* next;
};

// Without a destructor: what ends after a thread's own objects, as the process' do, still finds it.
struct Kept {
  std::array<Piece*, kSizes> first{};  // by size
  size_t room = 0;                     // bytes that may still be kept
  bool begun = false;                  // there is, or was, room for something
};
constinit thread_local Kept kept;

constexpr size_t BytesOf(size_t place) { return kSmallest + place * kStep; }

#if BERTH_QUICK_MEMORY

// Which place a size has; kSizes and more: none.
constexpr size_t PlaceOf(size_t bytes) { return bytes <= kSmallest ? 0 : (bytes - kSmallest + kStep - 1) / kStep; }

[[gnu::noinline]] void* Ask(size_t bytes) {
  for (;;) {
    if (void* const memory = std::malloc(bytes)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

// Lets go of a thread's pieces when it ends; from then on it keeps none.
struct AtThreadEnd {
  AtThreadEnd() = default;
  AtThreadEnd(const AtThreadEnd&) = delete;
  AtThreadEnd& operator=(const AtThreadEnd&) = delete;
  ~AtThreadEnd() {
    kept.room = 0;
    for (Piece*& first : kept.first)
      while (first != nullptr) std::free(std::exchange(first, first->next));
  }
};

// What there is no room for; but a thread that gives something back for the first time gets room.
[[gnu::noinline]] void GiveBack(void* memory) {
  std::free(memory);
  if (std::exchange(kept.begun, true)) return;
  thread_local const AtThreadEnd at_end;
  kept.room = kMostBytes;
}

// REQUIRES: the piece has at least the bytes of the place.
inline void Give(void* memory, size_t place) {
  if (place >= kSizes || kept.room < BytesOf(place)) return GiveBack(memory);
  kept.room -= BytesOf(place);
  kept.first[place] = new (memory) Piece{kept.first[place]};
}

#endif

}  // namespace

size_t QuickMemoryKept() {
  size_t bytes = 0;
  for (size_t i = 0; i < kSizes; ++i)
    for (const Piece* piece = kept.first[i]; piece != nullptr; piece = piece->next) bytes += BytesOf(i);
  return bytes;
}

}  // namespace berth::util

#if BERTH_QUICK_MEMORY

// Not inlined, so that no compiler reasons about what is in memory that was given back. The other forms, for arrays and
// without exceptions, come down to these three; those with an alignment of their own do not, and stay the library's.
[[gnu::noinline]] void* operator new(size_t bytes) {
  using namespace berth::util;
  const size_t place = PlaceOf(bytes);
  if (place >= kSizes) return Ask(bytes);
  Piece*& first = kept.first[place];
  if (first == nullptr) return Ask(BytesOf(place));
  kept.room += BytesOf(place);
  return std::exchange(first, first->next);
}

[[gnu::noinline]] void operator delete(void* memory, size_t bytes) noexcept {
  if (memory != nullptr) berth::util::Give(memory, berth::util::PlaceOf(bytes));
}

[[gnu::noinline]] void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  const size_t usable = ::malloc_usable_size(memory);
  berth::util::Give(memory,
                    (usable - berth::util::kSmallest) / berth::util::kStep);  // wraps, and is freed, if there is less
}

#endif
