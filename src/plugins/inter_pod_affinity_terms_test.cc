// SPDX-License-Identifier: Apache-2.0
// Sums over topologies: whichever way they are made, what adding row by row gives.
#include "plugins/inter_pod_affinity_terms.h"

#include <gtest/gtest.h>

#include <string>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

TEST(PairCountsTest, SumsAreThoseOfTheirRows) {
  constexpr size_t kNodes = 500;
  for (const size_t zones : {1, 3, 4, 5, 100, 400, 500}) {
    TestCluster cluster;
    for (size_t i = 0; i < kNodes; ++i) {
      MakeNode node("n" + std::to_string(i));
      if (i % 7 != 0) node.Label("zone", "z" + std::to_string(i % zones));  // some have none
      cluster.Add(node);
    }
    const Snapshot snapshot = cluster.snapshot();
    TopologyKeys keys;
    const size_t key = keys.FindOrAdd("zone", snapshot);
    for (const size_t step : {size_t{1}, size_t{2}, size_t{400}}) {
      for (const int64_t amount : {1, -3}) {
        RowCounts rows;
        PairCounts want;
        for (Row row = 0; row < kNodes; row += step) {
          rows.Add(row, row % 5);
          if (row % 5 != 0) want.Add(keys, key, row, amount * (row % 5));
        }
        rows.Add(kNodes + 10, 1);  // where there is no node
        EXPECT_EQ(rows.dense().empty(), step == 400) << "as many rows as are to be tried";
        PairCounts sums;
        sums.Add(keys, key, snapshot, rows, amount);
        for (uint32_t value = 0; value <= keys.column(key).distinct(); ++value)
          EXPECT_EQ(sums.Get(key, value), want.Get(key, value)) << zones << ", " << step << ", " << value;
        EXPECT_EQ(sums.pairs(), want.pairs());
        EXPECT_EQ(sums.touched(), want.touched());
        sums.Add(keys, key, snapshot, rows, -amount);
        EXPECT_EQ(sums.pairs(), 0u) << zones << ", " << step;
        EXPECT_EQ(sums.touched(), want.touched()) << "amounts that cancel out were there all the same";
      }
    }
  }
}

TEST(PairCountsTest, RowsWithoutTheKeyAreNotTouched) {
  constexpr size_t kNodes = 500;
  TestCluster cluster;
  RowCounts rows;
  for (size_t i = 0; i < kNodes; ++i) {
    MakeNode node("n" + std::to_string(i));
    if (i >= kNodes / 4) node.Label("host", "h" + std::to_string(i));
    cluster.Add(node);
  }
  for (Row row = 0; row < kNodes / 4; ++row) rows.Add(row, 1);
  const Snapshot snapshot = cluster.snapshot();
  TopologyKeys keys;
  const size_t key = keys.FindOrAdd("host", snapshot);
  PairCounts sums;
  sums.Add(keys, key, snapshot, rows, 1);
  EXPECT_TRUE(sums.empty());
  EXPECT_FALSE(sums.touched());
  EXPECT_EQ(sums.Get(key, LabelColumn::kAbsent), 0);
  rows.Add(kNodes - 1, 2);
  sums.Add(keys, key, snapshot, rows, 1);
  EXPECT_EQ(sums.pairs(), 1u);
  EXPECT_TRUE(sums.touched());
}

}  // namespace
}  // namespace berth::plugins
