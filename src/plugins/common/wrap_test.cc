// SPDX-License-Identifier: Apache-2.0
// Arithmetic at the edges of int64.
#include "plugins/common/wrap.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::plugins {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();

TEST(WrapTest, ResultsWrapAroundAsInGo) {
  EXPECT_EQ(WrapAdd(kMax, 1), kMin);
  EXPECT_EQ(WrapSub(kMin, 1), kMax);
  EXPECT_EQ(WrapMul(kMax, 2), -2);
  EXPECT_EQ(WrapDiv(kMin, -1), kMin);
  EXPECT_EQ(WrapDiv(-7, 2), -3);
}

TEST(WrapTest, LessBitIsTheComparison) {
  const int64_t values[] = {kMin, kMin + 1, -100, -1, 0, 1, 100, kMax - 1, kMax};
  for (const int64_t a : values) {
    for (const int64_t b : values) EXPECT_EQ(LessBit(a, b), a < b ? 1u : 0u) << a << " < " << b;
  }
}

TEST(WrapTest, DoublesBeyondInt64BecomeTheSmallestNumber) {
  EXPECT_EQ(Truncate(87.99), 87);
  EXPECT_EQ(Truncate(-87.99), -87);
  EXPECT_EQ(Truncate(1e300), kMin);
  EXPECT_EQ(Truncate(-1e300), kMin);
  EXPECT_EQ(Truncate(std::numeric_limits<double>::quiet_NaN()), kMin);
}

}  // namespace
}  // namespace berth::plugins
