// SPDX-License-Identifier: Apache-2.0
#include "client/pacer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace berth::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const TokenBucket::TimePoint kStart{seconds(1000)};

TEST(TokenBucketTest, ABurstAtOnceThenARate) {
  TokenBucket bucket(50, 100, kStart);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(bucket.Take(kStart));
  EXPECT_FALSE(bucket.Take(kStart));
  EXPECT_FALSE(bucket.Take(kStart + milliseconds(19)));
  EXPECT_TRUE(bucket.Take(kStart + milliseconds(20)));
  EXPECT_FALSE(bucket.Take(kStart + milliseconds(21)));
  int taken = 0;
  for (int ms = 21; ms <= 1020; ++ms) taken += bucket.Take(kStart + milliseconds(ms)) ? 1 : 0;
  EXPECT_EQ(taken, 50);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(bucket.Take(kStart + seconds(60)));  // no more than a burst is saved up
  EXPECT_FALSE(bucket.Take(kStart + seconds(60)));
}

TEST(TokenBucketTest, SaysWhenTheNextOneIsThere) {
  TokenBucket bucket(4, 1, kStart);
  EXPECT_EQ(bucket.Next(kStart), kStart);
  ASSERT_TRUE(bucket.Take(kStart));
  const TokenBucket::TimePoint next = bucket.Next(kStart);
  EXPECT_FALSE(bucket.Take(next - milliseconds(1)));
  EXPECT_TRUE(bucket.Take(next));
  EXPECT_LE(next, kStart + milliseconds(251));
}

TEST(TokenBucketTest, SaysWhenThoseBehindOthersAreThere) {
  TokenBucket bucket(4, 3, kStart);
  EXPECT_EQ(bucket.Next(kStart, 2), kStart);
  EXPECT_GE(bucket.Next(kStart, 3), kStart + milliseconds(250));
  EXPECT_LE(bucket.Next(kStart, 3), kStart + milliseconds(251));
  EXPECT_GE(bucket.Next(kStart, 11), kStart + milliseconds(2250));
}

TEST(TokenBucketTest, TimeThatGoesBackGivesNothing) {
  TokenBucket bucket(1, 1, kStart);
  ASSERT_TRUE(bucket.Take(kStart + seconds(5)));
  EXPECT_FALSE(bucket.Take(kStart));
  EXPECT_FALSE(bucket.Take(kStart + seconds(5)));
}

TEST(TokenBucketTest, WithoutARateThereIsNoLimit) {
  TokenBucket bucket(0, 1, kStart);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(bucket.Take(kStart));
  EXPECT_EQ(bucket.Next(kStart), kStart);
  TokenBucket tiny(1e-300, 1, kStart);
  ASSERT_TRUE(tiny.Take(kStart));
  EXPECT_GT(tiny.Next(kStart), kStart);
}

TEST(PacerTest, ATurnThatHasComeCanBeTakenWithoutACall) {
  Pacer pacer(0.001, 2);
  EXPECT_TRUE(pacer.TakeTurn());
  EXPECT_TRUE(pacer.TakeTurn());
  EXPECT_FALSE(pacer.TakeTurn());
  EXPECT_TRUE(pacer.Run([] {}));  // waits
  EXPECT_FALSE(pacer.TakeTurn());
  Pacer stopped(0, 1);
  EXPECT_TRUE(stopped.TakeTurn());
  stopped.Stop();
  EXPECT_FALSE(stopped.TakeTurn());
}

TEST(PacerTest, CallsGoInOrderAndTheFirstOnesAtOnce) {
  Pacer pacer(10, 3);  // slow enough that nobody's turn comes while the calls are made
  const std::thread::id here = std::this_thread::get_id();
  std::mutex mutex;
  std::vector<int> order;
  std::vector<bool> at_once;
  std::promise<void> last;
  for (int i = 0; i < 6; ++i) {
    pacer.Run([&, i] {
      const std::lock_guard lock(mutex);
      order.push_back(i);
      at_once.push_back(std::this_thread::get_id() == here);
      if (i == 5) last.set_value();
    });
  }
  last.get_future().wait();
  pacer.Stop();
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(at_once[0] && at_once[1] && at_once[2]);
  EXPECT_FALSE(at_once[5]);
}

TEST(PacerTest, LowerRanksGoFirstAmongThoseThatWait) {
  Pacer pacer(1000, 1);
  std::vector<std::string> order;
  std::promise<void> begun, all_wait, last;
  const auto run = [&](const std::string& name, uint8_t rank) {
    pacer.Run(
        [&, name] {
          order.push_back(name);
          if (order.size() == 6) last.set_value();
        },
        util::kNoDeadline, rank);
  };
  pacer.Run([] {});  // takes the burst
  pacer.Run([&] {
    begun.set_value();
    all_wait.get_future().wait();
  });
  begun.get_future().wait();
  // What has come in meanwhile is used up: from the first one that has to wait on, all do.
  for (bool at_once = true; at_once;) {
    const auto ran = std::make_shared<std::atomic<bool>>(false);
    pacer.Run([ran] { *ran = true; });
    at_once = *ran;
  }
  run("event 1", 2);
  run("status 1", 1);
  run("event 2", 2);
  run("bind 1", 0);
  pacer.RunLater(
      std::chrono::nanoseconds(0), [&] { order.emplace_back("status 2"); }, 1);
  run("bind 2", 0);
  all_wait.set_value();
  last.get_future().wait();
  pacer.Stop();
  EXPECT_THAT(order, ::testing::ElementsAre("bind 1", "bind 2", "status 1", "status 2", "event 1", "event 2"));
}

TEST(PacerTest, WhatIsPutOffDoesNotKeepOthersWaiting) {
  Pacer pacer(0, 1);
  std::promise<void> soon;
  bool late = false;
  pacer.RunLater(seconds(3600), [&] { late = true; });
  pacer.RunLater(milliseconds(1), [&] { soon.set_value(); });
  soon.get_future().wait();
  bool now = false;
  pacer.Run([&] { now = true; });
  EXPECT_TRUE(now);
  pacer.Stop();
  EXPECT_FALSE(late);
}

TEST(PacerTest, WhatWouldComeTooLateIsNotCalledAndTakesNobodysTurn) {
  Pacer pacer(1e-3, 1);  // the next turns are 1000 s and 2000 s away
  const Pacer::TimePoint begin = std::chrono::steady_clock::now();
  int calls = 0;
  EXPECT_TRUE(pacer.Run([&] { ++calls; }, begin));  // there is a turn at once: nothing has to be waited for
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(pacer.Run([&] { ++calls; }, begin));
  EXPECT_TRUE(pacer.Run([&] { ++calls; }, begin + seconds(1500)));
  EXPECT_FALSE(pacer.Run([&] { ++calls; }, begin + seconds(1500)));
  EXPECT_EQ(calls, 1);
}

TEST(PacerTest, NothingIsCalledAfterTheStop) {
  Pacer pacer(1e-6, 1);
  int calls = 0;
  for (int i = 0; i < 5; ++i) pacer.Run([&] { ++calls; });
  pacer.Stop();
  pacer.Run([&] { ++calls; });
  pacer.RunLater(milliseconds(0), [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace berth::client
