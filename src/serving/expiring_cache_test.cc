// SPDX-License-Identifier: Apache-2.0
#include "serving/expiring_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace berth::serving {
namespace {

constexpr Time At(int64_t second) { return Time{second * 1'000'000'000}; }

TEST(ExpiringCacheTest, AnswersAreGoodForAWhile) {
  ExpiringCache<int> cache(10);
  cache.Put("a", 1, At(0), Duration::Seconds(10));
  ASSERT_NE(cache.Find("a", At(9)), nullptr);
  EXPECT_EQ(*cache.Find("a", At(9)), 1);
  EXPECT_EQ(cache.Find("b", At(9)), nullptr);
  EXPECT_EQ(cache.Find("a", At(10)), nullptr);
  EXPECT_EQ(cache.size(), 0) << "what has expired takes no room";
  cache.Put("a", 2, At(20), Duration::Seconds(10));
  cache.Put("a", 3, At(25), Duration::Seconds(10));
  EXPECT_EQ(*cache.Find("a", At(32)), 3);
}

TEST(ExpiringCacheTest, NothingIsKeptForNoTime) {
  ExpiringCache<int> cache(10);
  cache.Put("a", 1, At(0), Duration::Seconds(10));
  cache.Put("a", 2, At(1), Duration{});
  EXPECT_EQ(cache.Find("a", At(1)), nullptr);
  cache.Put("a", 1, At(0), Duration{-1});
  EXPECT_EQ(cache.size(), 0);
}

TEST(ExpiringCacheTest, TheLongestSpanIsForEver) {
  ExpiringCache<int> cache(10);
  const Time now{1'767'225'600'000'000'000};
  cache.Put("a", 1, now, Duration{std::numeric_limits<int64_t>::max()});
  EXPECT_NE(cache.Find("a", now), nullptr);
  EXPECT_NE(cache.Find("a", Time{std::numeric_limits<int64_t>::max() - 1}), nullptr);
}

TEST(ExpiringCacheTest, TheLeastRecentlyUsedGoes) {
  ExpiringCache<int> cache(3);
  for (int i = 0; i < 3; ++i) cache.Put(std::to_string(i), i, At(0), Duration::Seconds(100));
  ASSERT_NE(cache.Find("0", At(1)), nullptr);
  cache.Put("3", 3, At(2), Duration::Seconds(100));
  EXPECT_NE(cache.Find("0", At(3)), nullptr);
  EXPECT_EQ(cache.Find("1", At(3)), nullptr);
  EXPECT_NE(cache.Find("2", At(3)), nullptr);
  for (int i = 0; i < 1000; ++i) cache.Put("x" + std::to_string(i), i, At(4), Duration::Seconds(100));
  EXPECT_EQ(cache.size(), 3);
}

}  // namespace
}  // namespace berth::serving
