// SPDX-License-Identifier: Apache-2.0
#include "util/difference.h"

#include <gtest/gtest.h>

namespace berth::util {
namespace {

TEST(DifferenceTest, EndsAtTheEndsOfTheNumbers) {
  EXPECT_EQ(Difference(5, 7), -2);
  EXPECT_EQ(Difference(INT64_MAX, -1), INT64_MAX);
  EXPECT_EQ(Difference(INT64_MIN, 1), INT64_MIN);
  EXPECT_EQ(Difference(0, INT64_MIN), INT64_MAX);
  EXPECT_EQ(Difference(INT64_MAX, INT64_MIN), INT64_MAX);
  EXPECT_EQ(Difference(INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_EQ(Difference(INT64_MIN, INT64_MIN), 0);
}

}  // namespace
}  // namespace berth::util
