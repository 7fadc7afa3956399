// SPDX-License-Identifier: Apache-2.0
#include "util/run_loop.h"

#include <gtest/gtest.h>

#include <thread>

#include "util/steady_clock.h"
#include "util/timer_queue.h"

namespace berth::util {
namespace {

class RunLoopTest : public ::testing::Test {
 protected:
  bool Work() {
    ++rounds_;
    bool worked = inbox_.Drain() > 0;
    while (timers_.RunOne(clock_.Now())) worked = true;
    return worked;
  }
  void Run() {
    loop_.Run([this] { return Work(); }, [this] { return timers_.Next(); });
  }

  const SteadyClock clock_;
  Inbox inbox_;
  TimerQueue timers_;
  RunLoop loop_{inbox_, clock_};
  int rounds_ = 0;
};

TEST_F(RunLoopTest, LettersOfOtherThreadsWakeItAndOneStopsIt) {
  int heard = 0;
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) inbox_.Post([&] { ++heard; });
    inbox_.Post([&] { loop_.Stop(); });
  });
  Run();
  other.join();
  EXPECT_EQ(heard, 100);
  EXPECT_TRUE(loop_.stopped());
}

TEST_F(RunLoopTest, StopFromAnotherThreadEndsASleepWithoutEnd) {
  std::thread other([&] { loop_.Stop(); });
  Run();
  other.join();
}

TEST_F(RunLoopTest, ATimerEndsTheSleepAndSleepingIsNotBusy) {
  Time fired;
  const Time due = clock_.Now() + Duration::Millis(30);
  timers_.At(due, [&] {
    fired = clock_.Now();
    loop_.Stop();
  });
  Run();
  EXPECT_GE(fired, due);
  // One round that finds nothing, one that fires; sleeps that end early cost one more each.
  EXPECT_LE(rounds_, 20);
}

TEST_F(RunLoopTest, WhatIsDueAlreadyIsNotSleptOver) {
  timers_.At(Time{}, [&] { timers_.At(Time{}, [&] { loop_.Stop(); }); });
  Run();
}

TEST_F(RunLoopTest, StoppedBeforeItRunsItDoesNothing) {
  loop_.Stop();
  Run();
  EXPECT_EQ(rounds_, 0);
}

}  // namespace
}  // namespace berth::util
