// SPDX-License-Identifier: Apache-2.0
#include "util/uuid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace berth::util {
namespace {

TEST(UuidTest, HasTheFormVersionAndVariantOfARandomOne) {
  EXPECT_EQ(UuidOf(0, 0), "00000000-0000-4000-8000-000000000000");
  EXPECT_EQ(UuidOf(~uint64_t{0}, ~uint64_t{0}), "ffffffff-ffff-4fff-bfff-ffffffffffff");
  EXPECT_EQ(UuidOf(0x3f37c11416bafb3d, 0x2652c695a1ec5046), "3f37c114-16ba-4b3d-a652-c695a1ec5046");
}

TEST(UuidTest, NoTwoAreEqual) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) seen.insert(NewUuid());
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_THAT(*seen.begin(),
              ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST(UuidTest, AMachineHasAName) { EXPECT_NE(HostName(), ""); }

}  // namespace
}  // namespace berth::util
