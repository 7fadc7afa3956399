// SPDX-License-Identifier: Apache-2.0
#include "util/quick_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace berth::util {
namespace {

// Called through pointers, so that no compiler leaves a pair of them out.
void* (*volatile take)(size_t) = [](size_t bytes) { return ::operator new(bytes); };
void (*volatile give)(void*) = [](void* memory) { ::operator delete(memory); };
void (*volatile give_sized)(void*, size_t) = [](void* memory, size_t bytes) { ::operator delete(memory, bytes); };

constexpr size_t kMost = size_t{2} << 20;  // bytes

TEST(QuickMemoryTest, APieceIsUsedAgainForItsSize) {
  if (!kQuickMemory) GTEST_SKIP() << "a sanitizer sees everything";
  std::thread([] {
    give(take(2000));  // the first one only begins it
    for (const size_t bytes : {0, 1, 24, 25, 40, 41, 100, 1000, 2056}) {
      void* const first = take(bytes);
      give_sized(first, bytes);
      EXPECT_EQ(take(bytes), first) << bytes;
      give(first);
      EXPECT_EQ(take(bytes), first) << bytes;
      give(first);
    }
  }).join();
}

TEST(QuickMemoryTest, EveryPieceHasItsBytesAndAlignmentWhoeverGaveItBack) {
  std::vector<std::pair<char*, size_t>> pieces;
  uint32_t seed = 1;
  const auto next = [&seed] { return (seed = seed * 1664525 + 1013904223) >> 8; };
  for (int i = 0; i < 200'000; ++i) {
    if (pieces.size() > 500 || (next() % 3 == 0 && !pieces.empty())) {
      const size_t at = next() % pieces.size();
      const auto [memory, bytes] = pieces[at];
      for (size_t k = 0; k < bytes; ++k) ASSERT_EQ(memory[k], static_cast<char>(bytes));
      if (next() % 2 == 0) {
        give(memory);
      } else {
        give_sized(memory, bytes);
      }
      pieces[at] = pieces.back();
      pieces.pop_back();
    } else {
      const size_t bytes = next() % 2300;
      auto* const memory = static_cast<char*>(take(bytes));
      ASSERT_NE(memory, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % __STDCPP_DEFAULT_NEW_ALIGNMENT__, 0u);
      std::memset(memory, static_cast<char>(bytes), bytes);
      pieces.emplace_back(memory, bytes);
    }
  }
  for (const auto& [memory, bytes] : pieces) give_sized(memory, bytes);
}

TEST(QuickMemoryTest, WhatIsKeptIsBounded) {
  if (!kQuickMemory) GTEST_SKIP() << "a sanitizer sees everything";
  std::thread([] {
    EXPECT_EQ(QuickMemoryKept(), 0u);
    std::vector<void*> crowd(30'000);
    for (void*& one : crowd) one = take(100);
    for (void* one : crowd) give_sized(one, 100);
    EXPECT_GT(QuickMemoryKept(), kMost - 112);
    EXPECT_LE(QuickMemoryKept(), kMost);
    // What is large is not kept at all.
    const size_t before = QuickMemoryKept();
    give_sized(take(2057), 2057);
    EXPECT_EQ(QuickMemoryKept(), before);
  }).join();
}

TEST(QuickMemoryTest, WhatOneThreadTakesAnotherMayGiveBack) {
  std::vector<std::unique_ptr<std::string>> crowd;
  for (int i = 0; i < 600; ++i) crowd.push_back(std::make_unique<std::string>(100, 'x'));
  std::thread([&] { crowd.clear(); }).join();  // what it keeps goes with it
  std::string last;
  std::thread([&] { last = std::string(100, 'y'); }).join();
  EXPECT_EQ(last, std::string(100, 'y'));
}

TEST(QuickMemoryTest, WhatIsNotThereIsAnExceptionAndWideObjectsAreTheLibrarys) {
  if (kQuickMemory) {  // a sanitizer ends the program instead
    EXPECT_THROW(take(SIZE_MAX / 2), std::bad_alloc);
  }
  struct alignas(64) Wide {
    char byte = 0;
  };
  const auto wide = std::make_unique<Wide>();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(wide.get()) % 64, 0u);
}

}  // namespace
}  // namespace berth::util
