// SPDX-License-Identifier: Apache-2.0
#include "berth/error.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(ErrorTest, KeepsItsKindWhenContextIsAdded) {
  EXPECT_EQ(Error("a").kind(), ErrorKind::kOther);
  const Error late = Error("late", ErrorKind::kTimedOut).Wrap("asking").Wrap("starting");
  EXPECT_EQ(late.text(), "starting: asking: late");
  EXPECT_EQ(late.kind(), ErrorKind::kTimedOut);
  EXPECT_TRUE(Error::Ok().Wrap("asking").ok());
  EXPECT_EQ(Error::Ok().kind(), ErrorKind::kOther);
}

}  // namespace
}  // namespace berth
