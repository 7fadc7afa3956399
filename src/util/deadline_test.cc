// SPDX-License-Identifier: Apache-2.0
#include "util/deadline.h"

#include <gtest/gtest.h>

namespace berth::util {
namespace {

TEST(DeadlineTest, IsOverWhenItsTimeHasPassed) {
  const Deadline soon = After(Duration{1});
  while (std::chrono::steady_clock::now() < soon) {
  }
  EXPECT_TRUE(IsOver(soon));
  EXPECT_EQ(Left(soon), Duration{});
  const Deadline later = After(Duration::Seconds(600));
  EXPECT_FALSE(IsOver(later));
  EXPECT_GT(Left(later), Duration::Seconds(500));
  EXPECT_LE(Left(later), Duration::Seconds(600));
}

TEST(DeadlineTest, NoSpanIsNoDeadline) {
  EXPECT_EQ(After(Duration{}), kNoDeadline);
  EXPECT_EQ(After(Duration{-1}), kNoDeadline);
  EXPECT_FALSE(IsOver(kNoDeadline));
}

}  // namespace
}  // namespace berth::util
