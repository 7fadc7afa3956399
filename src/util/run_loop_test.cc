// SPDX-License-Identifier: Apache-2.0
#include "util/run_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

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

// Notes how patient the loop is when it waits, and stops it the second time.
class NotingGuest final : public Inbox::Guest {
 public:
  NotingGuest(Inbox& inbox, RunLoop& loop) : inbox_(inbox), loop_(loop) {}
  std::vector<std::chrono::nanoseconds> noted;

  void Turn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience) override {
    if (longest.count() == 0) return;  // the owner works, and lets it in meanwhile
    noted.push_back(patience);
    inbox_.Post([] {});
    if (noted.size() == 2) loop_.Stop();
  }
  void Wake() override {}

 private:
  Inbox& inbox_;
  RunLoop& loop_;
};

TEST_F(RunLoopTest, TheGuestHearsHowLongItsNewsMayWait) {
  NotingGuest guest(inbox_, loop_);
  inbox_.set_guest(&guest);
  int64_t asked = 0;
  loop_.Run([this] { return Work(); }, [this] { return timers_.Next(); }, [&] { return Duration::Millis(++asked); });
  inbox_.set_guest(nullptr);
  EXPECT_THAT(guest.noted, ::testing::ElementsAre(std::chrono::milliseconds(1), std::chrono::milliseconds(2)));
}

TEST_F(RunLoopTest, StoppedBeforeItRunsItDoesNothing) {
  loop_.Stop();
  Run();
  EXPECT_EQ(rounds_, 0);
}

}  // namespace
}  // namespace berth::util
