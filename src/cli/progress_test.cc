// SPDX-License-Identifier: Apache-2.0
// The bar: how full it is, how often it is drawn, and that it goes away.
#include "cli/progress.h"

#include <gtest/gtest.h>

#include <sstream>

#include "util/virtual_clock.h"

namespace berth::cli {
namespace {

TEST(ProgressBarTest, ItIsAsFullAsTheWorkIsDone) {
  EXPECT_EQ(ProgressBar::Bar(0, 10, 10), "[..........]");
  EXPECT_EQ(ProgressBar::Bar(5, 10, 10), "[#####.....]");
  EXPECT_EQ(ProgressBar::Bar(10, 10, 10), "[##########]");
  EXPECT_EQ(ProgressBar::Bar(20, 10, 10), "[##########]") << "pods may be bound more often than there are pods";
  EXPECT_EQ(ProgressBar::Bar(0, 0, 4), "[....]");
}

TEST(ProgressBarTest, ItIsDrawnTenTimesASecondAndClearedAtTheEnd) {
  std::ostringstream out;
  util::VirtualClock clock(Time{});
  {
    ProgressBar bar(out, clock, true);
    bar.Show(1, 2, "one");
    bar.Show(1, 2, "too soon");
    clock.MoveTo(Time{} + Duration::Millis(100));
    bar.Show(2, 2, "two");
  }
  EXPECT_EQ(out.str(),
            "\r[###############...............] one\x1b[K\r[##############################] two\x1b[K\r\x1b[K");
}

TEST(ProgressBarTest, WhereNobodyLooksNothingIsDrawn) {
  std::ostringstream out;
  EXPECT_FALSE(IsTerminal(out));
  const util::VirtualClock clock(Time{});
  {
    ProgressBar bar(out, clock, false);
    bar.Show(1, 2, "one");
  }
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace berth::cli
