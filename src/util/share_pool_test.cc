// SPDX-License-Identifier: Apache-2.0
#include "util/share_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace berth {
namespace {

SharePool<std::string>& Pool() {
  static auto* pool = new SharePool<std::string>();
  return *pool;
}

TEST(SharePoolTest, EqualValuesAreOneAndOthersAreNotEvenWithTheSameHash) {
  const auto a = Pool().Share("a", 7);
  EXPECT_EQ(a, Pool().Share("a", 7));
  const auto b = Pool().Share("b", 7);
  EXPECT_NE(a, b);
  EXPECT_EQ(*b, "b");
}

TEST(SharePoolTest, AValueNobodyHoldsIsForgotten) {
  std::weak_ptr<const std::string> gone = Pool().Share("gone", 9);
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(*Pool().Share("gone", 9), "gone");
}

TEST(SharePoolTest, ThreadsMakeAndDropTheSameValues) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 20'000; ++i) {
        const std::string text = std::to_string(i % 10);
        const auto value = Pool().Share(text, static_cast<uint64_t>(i % 3));
        ASSERT_EQ(*value, text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace berth
