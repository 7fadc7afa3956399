// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace berth {
namespace {

TEST(HashTest, IsXxh3) { EXPECT_EQ(Hash64(""), 0x2d06800538d394c2ULL); }

TEST(HashTest, SeedAndContentMatter) {
  EXPECT_NE(Hash64("a"), Hash64("b"));
  EXPECT_NE(Hash64("a", 1), Hash64("a", 2));
  EXPECT_EQ(Hash64(std::string("ab").substr(0, 1)), Hash64("a"));
}

TEST(HashTest, MixingDependsOnOrder) {
  std::set<uint64_t> seen;
  for (uint64_t a = 0; a < 100; ++a) {
    for (uint64_t b = 0; b < 100; ++b) seen.insert(HashMix(HashMix(0, a), b));
  }
  EXPECT_EQ(seen.size(), 10000u);
}

}  // namespace
}  // namespace berth
