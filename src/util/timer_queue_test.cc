// SPDX-License-Identifier: Apache-2.0
#include "util/timer_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "util/virtual_clock.h"

namespace berth::util {
namespace {

using ::testing::ElementsAre;

TEST(TimerQueueTest, EntriesRunByTimeAndThenInTheOrderAdded) {
  TimerQueue queue;
  std::vector<int> ran;
  queue.At({20}, [&] { ran.push_back(3); });
  queue.At({10}, [&] { ran.push_back(1); });
  queue.At({10}, [&] { ran.push_back(2); });
  EXPECT_EQ(queue.Next(), Time{10});
  while (queue.RunOne({20})) {
  }
  EXPECT_THAT(ran, ElementsAre(1, 2, 3));
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.Next(), TimerQueue::kNever);
}

TEST(TimerQueueTest, NothingRunsBeforeItsTime) {
  TimerQueue queue;
  bool ran = false;
  queue.At({10}, [&] { ran = true; });
  EXPECT_FALSE(queue.RunOne({9}));
  EXPECT_FALSE(ran);
  EXPECT_TRUE(queue.RunOne({10}));
  EXPECT_TRUE(ran);
}

TEST(TimerQueueTest, ACancelledEntryNeverRunsAndCancellingTwiceIsHarmless) {
  TimerQueue queue;
  int ran = 0;
  const TimerQueue::Id first = queue.At({10}, [&] { ran += 1; });
  const TimerQueue::Id second = queue.At({10}, [&] { ran += 10; });
  queue.Cancel(first);
  queue.Cancel(first);
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_TRUE(queue.RunOne({10}));
  queue.Cancel(second);
  EXPECT_FALSE(queue.RunOne({10}));
  EXPECT_EQ(ran, 10);
}

TEST(TimerQueueTest, AnEntryMayAddAndCancelOthers) {
  TimerQueue queue;
  std::vector<int> ran;
  TimerQueue::Id victim;
  queue.At({1}, [&] {
    queue.Cancel(victim);
    queue.At({1}, [&] { ran.push_back(3); });
    ran.push_back(1);
  });
  victim = queue.At({1}, [&] { ran.push_back(2); });
  while (queue.RunOne({1})) {
  }
  EXPECT_THAT(ran, ElementsAre(1, 3));
}

TEST(VirtualClockTest, TimeMovesForwardOnly) {
  VirtualClock clock({5});
  clock.MoveTo({9});
  clock.MoveTo({7});
  EXPECT_EQ(clock.Now(), Time{9});
}

}  // namespace
}  // namespace berth::util
