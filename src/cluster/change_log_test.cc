// SPDX-License-Identifier: Apache-2.0
// Reading on from a position, and positions that lie too far back.
#include "berth/host/change_log.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::cluster {
namespace {

std::vector<Row> RowsSince(const ChangeLog& log, uint64_t position) {
  std::vector<Row> rows;
  EXPECT_TRUE(log.Since(position, [&](ChangeLog::Change change) { rows.push_back(change.row); }));
  return rows;
}

TEST(ChangeLogTest, AReaderSeesWhatHappenedSinceItsPositionInOrder) {
  ChangeLog log(4);
  log.Record(1, row_field::kTaints);
  const uint64_t here = log.position();
  EXPECT_EQ(RowsSince(log, here), std::vector<Row>{});
  log.Record(2, row_field::kLabels);
  log.Record(3, row_field::kPods);
  EXPECT_EQ(RowsSince(log, here), (std::vector<Row>{2, 3}));
  EXPECT_EQ(RowsSince(log, 0), (std::vector<Row>{1, 2, 3}));
}

TEST(ChangeLogTest, FieldsComeBackAsTheyWereRecorded) {
  ChangeLog log(4);
  log.Record(9, row_field::kTaints | row_field::kLabels);
  ASSERT_TRUE(log.Since(0, [](ChangeLog::Change change) {
    EXPECT_EQ(change.row, 9u);
    EXPECT_EQ(change.fields, row_field::kTaints | row_field::kLabels);
  }));
}

TEST(ChangeLogTest, APositionThatWasOverwrittenIsTooOldAndNothingIsCalled) {
  ChangeLog log(4);
  for (Row row = 0; row < 5; ++row) log.Record(row, row_field::kAll);
  EXPECT_FALSE(log.Since(0, [](ChangeLog::Change) { FAIL() << "half a story is none"; }));
  EXPECT_EQ(RowsSince(log, 1), (std::vector<Row>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace berth::cluster
