// SPDX-License-Identifier: Apache-2.0
#include "util/seldom.h"

#include <gtest/gtest.h>

namespace berth::util {
namespace {

using std::chrono::seconds;

const Seldom::TimePoint kStart{seconds(1000)};

TEST(SeldomTest, EachSentenceIsSaidOnceAMinute) {
  Seldom seldom;
  EXPECT_TRUE(seldom.Say("a", kStart));
  EXPECT_TRUE(seldom.Say("b", kStart + seconds(30)));
  EXPECT_FALSE(seldom.Say("a", kStart + seconds(59)));
  EXPECT_TRUE(seldom.Say("a", kStart + seconds(60)));
  EXPECT_FALSE(seldom.Say("b", kStart + seconds(60)));
  EXPECT_FALSE(seldom.Say("a", kStart + seconds(100)));
}

TEST(SeldomTest, RemembersAHundredSentencesAndNoMore) {
  Seldom seldom;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(seldom.Say(std::to_string(i), kStart));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(seldom.Say(std::to_string(i), kStart));
  EXPECT_TRUE(seldom.Say("one more", kStart));
  EXPECT_TRUE(seldom.Say("0", kStart));
}

}  // namespace
}  // namespace berth::util
