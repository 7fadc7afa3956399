// SPDX-License-Identifier: Apache-2.0
#include "util/secret_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "util/hash.h"

namespace berth {
namespace {

TEST(SecretHashTest, ContentDecidesWithinAProcess) {
  const std::string text = "node-1", more = "node-12";
  EXPECT_EQ(SecretHash64(text), SecretHash64(std::string_view(more).substr(0, 6)));
  EXPECT_NE(SecretHash64(text), SecretHash64(more));
  EXPECT_EQ(SecretHash128(text), SecretHash128("node-1"));
  EXPECT_FALSE(SecretHash128(text) == SecretHash128(more));
  EXPECT_EQ(SecretStringHash()(text), SecretHash64(text));
}

TEST(SecretHashTest, NobodyCanReckonIt) {
  // With any seed that one could guess.
  for (uint64_t seed = 0; seed < 1000; ++seed) EXPECT_NE(SecretHash64("node-1"), Hash64("node-1", seed));
}

TEST(SecretHashTest, SpreadsNamesThatDifferLittle) {
  std::set<uint64_t> low;
  for (int i = 0; i < 4096; ++i) low.insert(SecretHash64("node-" + std::to_string(i)) % 65536);
  EXPECT_GT(low.size(), 3500u);  // 3,969 are to be expected
}

}  // namespace
}  // namespace berth
