// SPDX-License-Identifier: Apache-2.0
// Recycling: an allocator for objects that come and go in crowds, as requests do.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace berth::util {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// The memory of one size, kept by each thread that gives some back, up to a bound. The system's allocator keeps a few
// pieces at hand as well, but a crowd is more than a few.
template <size_t kSize>
class SpareMemory {
 public:
  static void* Take() {
    List& list = Mine();
    if (list.first == nullptr) return ::operator new(kSize);
    --list.count;
    return std::exchange(list.first, list.first->next);
  }
  static void Give(void* memory) {
    List& list = Mine();
    if (list.count >= kMost || list.over) return ::operator delete(memory);
    // Before anything is kept: it lets go of all of it when the thread ends.
    thread_local const Cleaner cleaner;
    list.first = new (memory) Piece{list.first};
    ++list.count;
  }

 private:
  static constexpr size_t kMost = 256;
  struct Piece {
    Piece* next;
  };
  // Has no destructor: what goes after a thread's own objects, as the process' do, still finds it.
  struct List {
    Piece* first = nullptr;
    size_t count = 0;
    bool over = false;  // nothing is kept any more
  };
  struct Cleaner {
    Cleaner() = default;
    ~Cleaner() {
      List& list = Mine();
      list.over = true;
      while (list.first != nullptr) ::operator delete(std::exchange(list.first, list.first->next));
      list.count = 0;
    }
    Cleaner(const Cleaner&) = delete;
    Cleaner& operator=(const Cleaner&) = delete;
  };
  static List& Mine() {
    thread_local constinit List list;
    return list;
  }
  static_assert(kSize >= sizeof(Piece));
};

// For std::allocate_shared. Under a sanitizer, which is to see what is used after its end, nothing is kept.
template <class T>
struct Recycling {
  using value_type = T;
  Recycling() = default;
  template <class Other>
  Recycling(const Recycling<Other>&) {}  // NOLINT: implicit on purpose, as allocators are

  static constexpr bool kKeeps = !kSanitized && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

  T* allocate(size_t count) {
    if constexpr (kKeeps) {
      if (count == 1) return static_cast<T*>(SpareMemory<sizeof(T)>::Take());
    }
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(alignof(T))));
  }
  void deallocate(T* memory, size_t count) {
    if constexpr (kKeeps) {
      if (count == 1) return SpareMemory<sizeof(T)>::Give(memory);
    }
    ::operator delete(memory, std::align_val_t(alignof(T)));
  }
  friend bool operator==(const Recycling&, const Recycling&) { return true; }
};

}  // namespace berth::util
