// SPDX-License-Identifier: Apache-2.0
// Equal sets share an id; ids of sets nobody has are used again.
#include "cluster/set_table.h"

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

// Everything collides, so that equality and not the hash decides.
struct SameHash {
  size_t operator()(int) const { return 7; }
};

TEST(SetTableTest, EqualSetsGetOneIdAndDifferentOnesDiffer) {
  std::vector<std::vector<int>> sets;
  SetTable<int, SameHash> table(sets);
  const uint32_t a = table.Acquire({1, 2});
  EXPECT_EQ(table.Acquire({1, 2}), a);
  EXPECT_NE(table.Acquire({2, 1}), a);
  EXPECT_EQ(sets[a], (std::vector<int>{1, 2}));
}

TEST(SetTableTest, TheEmptySetIsZeroAndNeverGoesAway) {
  std::vector<std::vector<int>> sets;
  SetTable<int, SameHash> table(sets);
  EXPECT_EQ(table.Acquire({}), 0u);
  table.Release(0);
  table.Release(0);
  EXPECT_EQ(table.Acquire({}), 0u);
  EXPECT_NE(table.Acquire({1}), 0u);
}

TEST(SetTableTest, AnIdIsReusedOnlyAfterItsLastRelease) {
  std::vector<std::vector<int>> sets;
  SetTable<int, SameHash> table(sets);
  const uint32_t a = table.Acquire({1});
  table.Acquire({1});
  table.Release(a);
  const uint32_t b = table.Acquire({2});
  EXPECT_NE(b, a);
  EXPECT_EQ(sets[a], std::vector<int>{1});
  table.Release(a);
  EXPECT_EQ(table.Acquire({3}), a);
  EXPECT_EQ(sets[a], std::vector<int>{3});
  EXPECT_EQ(table.Acquire({2}), b) << "the other set of the same hash is still found";
  EXPECT_EQ(sets.size(), 3u);
}

}  // namespace
}  // namespace berth::cluster
