// SPDX-License-Identifier: Apache-2.0
#include "net/http2_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace berth::net {
namespace {

class Http2MemoryTest : public ::testing::Test {
 protected:
  void* Take(size_t size) { return mem_.malloc(size, mem_.mem_user_data); }
  void* TakeCleared(size_t count, size_t size) { return mem_.calloc(count, size, mem_.mem_user_data); }
  void* Resize(void* memory, size_t size) { return mem_.realloc(memory, size, mem_.mem_user_data); }
  void Give(void* memory) { mem_.free(memory, mem_.mem_user_data); }

  Http2Memory memory_;
  const nghttp2_mem& mem_ = *memory_.get();
};

TEST_F(Http2MemoryTest, WhatIsGivenBackIsTakenAgainForTheSameSize) {
  void* const first = Take(100);
  void* const second = Take(100);
  EXPECT_NE(first, second);
  Give(first);
  void* const larger = Take(200);
  EXPECT_NE(larger, first) << "it is not large enough";
  EXPECT_EQ(Take(120), first);
  for (const size_t size : {0, 1, 63, 64, 65, 1023, 1024, 1025, 100'000}) {
    void* const memory = Take(size);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignof(std::max_align_t), 0u);
    std::memset(memory, 'x', size);
    Give(memory);
  }
  Give(nullptr);
  for (void* const memory : {first, second, larger}) Give(memory);
}

TEST_F(Http2MemoryTest, ClearedMemoryIsClearAlsoTheSecondTime) {
  for (int i = 0; i < 2; ++i) {
    auto* const memory = static_cast<char*>(TakeCleared(10, 7));
    EXPECT_EQ(std::string_view(memory, 70), std::string_view(std::string(70, '\0')));
    std::memset(memory, 'x', 70);
    Give(memory);
  }
  EXPECT_EQ(TakeCleared(SIZE_MAX / 2, 3), nullptr);
  EXPECT_EQ(Take(SIZE_MAX), nullptr);
}

TEST_F(Http2MemoryTest, MemoryGrowsWithWhatIsInIt) {
  auto* memory = static_cast<char*>(Resize(nullptr, 10));
  std::memcpy(memory, "0123456789", 10);
  for (const size_t size : {60, 64, 65, 2000, 5000}) {
    memory = static_cast<char*>(Resize(memory, size));
    EXPECT_EQ(std::string_view(memory, 10), "0123456789");
  }
  Give(memory);
}

}  // namespace
}  // namespace berth::net
