// SPDX-License-Identifier: Apache-2.0
#include "berth/text_hash.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <unordered_map>

namespace berth {
namespace {

TEST(TextHashTest, ContentDecides) {
  EXPECT_EQ(TextHash()("node-1"), TextHash()(std::string("node-1")));
  EXPECT_NE(TextHash()("node-1"), TextHash()("node-2"));
}

TEST(TextHashTest, IsNotWhatAnybodyCanReckon) {
  EXPECT_NE(TextHash()("node-1"), std::hash<std::string_view>()("node-1"));
}

TEST(TextHashTest, TablesOfStringsAreAskedForViews) {
  const std::unordered_map<std::string, int, TextHash, std::equal_to<>> table{{"zone-a", 1}};
  EXPECT_TRUE(table.contains(std::string_view("zone-a")));
  EXPECT_FALSE(table.contains(std::string_view("zone-b")));
}

}  // namespace
}  // namespace berth
