// SPDX-License-Identifier: Apache-2.0
#include "util/inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace berth::util {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Lt;

// Does what the test wants in its turns; without that it sleeps, as sockets would.
class FakeGuest final : public Inbox::Guest {
 public:
  std::function<void()> work;
  int turns = 0;
  std::vector<std::chrono::nanoseconds> may_wait;  // in each of them

  void Turn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience) override {
    ++turns;
    may_wait.push_back(patience);
    if (work) return std::exchange(work, nullptr)();
    std::unique_lock lock(mutex_);
    waker_.wait_for(lock, longest, [this] { return woken_; });
    woken_ = false;
  }
  void Wake() override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    waker_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable waker_;
  bool woken_ = false;
};

TEST(InboxTest, LettersRunInTheOrderOfPostingAndOnce) {
  Inbox inbox;
  std::vector<int> ran;
  for (int i = 0; i < 3; ++i) inbox.Post([&ran, i] { ran.push_back(i); });
  EXPECT_FALSE(inbox.empty());
  EXPECT_TRUE(ran.empty());
  EXPECT_EQ(inbox.Drain(), 3u);
  EXPECT_THAT(ran, ElementsAre(0, 1, 2));
  EXPECT_TRUE(inbox.empty());
  EXPECT_EQ(inbox.Drain(), 0u);
}

TEST(InboxTest, WhatALetterPostsWaitsForTheNextDrain) {
  Inbox inbox;
  int ran = 0;
  inbox.Post([&] { inbox.Post([&] { ++ran; }); });
  EXPECT_EQ(inbox.Drain(), 1u);
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(inbox.Drain(), 1u);
  EXPECT_EQ(ran, 1);
}

TEST(InboxTest, ALetterIsDroppedAsSoonAsItHasRun) {
  Inbox inbox;
  auto held = std::make_shared<int>(1);
  std::weak_ptr<int> watch = held;
  bool gone = false;
  inbox.Post([held] {});
  inbox.Post([&] { gone = watch.expired(); });
  held = nullptr;
  inbox.Drain();
  EXPECT_TRUE(gone);
}

TEST(InboxTest, UnreadLettersAreDroppedUnrun) {
  bool ran = false;
  {
    Inbox().Post([&] { ran = true; });
  }
  EXPECT_FALSE(ran);
}

TEST(InboxTest, WaitingEndsWithTheTimeOrWithALetter) {
  Inbox inbox;
  EXPECT_FALSE(inbox.WaitFor(std::chrono::milliseconds(1)));
  std::thread other([&] { inbox.Post([] {}); });
  EXPECT_TRUE(inbox.WaitFor(std::chrono::seconds(60)));
  other.join();
}

TEST(InboxTest, ItMayGoAsSoonAsTheLetterIsRead) {
  for (int i = 0; i < 300; ++i) {
    bool read = false;
    auto inbox = std::make_unique<Inbox>();
    std::thread writer([&read, inbox = inbox.get()] { inbox->Post([&read] { read = true; }); });
    while (!read) {
      inbox->WaitFor(std::chrono::seconds(1));
      inbox->Drain();
    }
    inbox = nullptr;  // ThreadSanitizer would see the writer still at it
    writer.join();
  }
}

TEST(InboxTest, ManyThreadsPostAndEachKeepsItsOrder) {
  constexpr int kThreads = 4, kLetters = 2000;
  Inbox inbox;
  std::vector<std::vector<int>> ran(kThreads);  // touched by the draining thread only
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&inbox, &ran, t] {
      for (int i = 0; i < kLetters; ++i) inbox.Post([&ran, t, i] { ran[static_cast<size_t>(t)].push_back(i); });
    });
  }
  size_t drained = 0;
  while (drained < size_t{kThreads} * kLetters) {
    ASSERT_TRUE(inbox.WaitFor(std::chrono::seconds(60)));
    drained += inbox.Drain();
  }
  for (std::jthread& thread : threads) thread.join();
  for (const std::vector<int>& of_thread : ran) {
    ASSERT_EQ(of_thread.size(), size_t{kLetters});
    for (int i = 0; i < kLetters; ++i) EXPECT_EQ(of_thread[static_cast<size_t>(i)], i);
  }
}

TEST(InboxTest, ABatchArrivesAtOnceAndInOrder) {
  Inbox inbox, other;
  std::vector<int> ran;
  {
    const Inbox::Batch batch;
    inbox.Post([&] { ran.push_back(1); });
    {
      const Inbox::Batch inner;
      inbox.Post([&] { ran.push_back(0); });
    }
    EXPECT_EQ(inbox.Drain(), 1u) << "the inner one has ended";
    inbox.Post([&] { ran.push_back(2); });
    EXPECT_TRUE(inbox.empty());
    std::thread([&] { inbox.Post([&] { ran.push_back(3); }); }).join();
    EXPECT_EQ(inbox.Drain(), 1u) << "another thread's letters are not held back";
    other.Post([&] { ran.push_back(4); });
    EXPECT_EQ(inbox.Drain(), 2u) << "letters to another inbox let those before them go";
    EXPECT_TRUE(other.empty());
  }
  EXPECT_EQ(other.Drain(), 1u);
  EXPECT_THAT(ran, ElementsAre(0, 3, 1, 2, 4));
  inbox.Post([&] { ran.clear(); });
  EXPECT_EQ(inbox.Drain(), 1u);
}

TEST(InboxTest, AnOwnerThatWaitsDoesSoInItsGuestsTurn) {
  Inbox inbox;
  FakeGuest guest;
  inbox.set_guest(&guest);
  EXPECT_FALSE(inbox.WaitFor(std::chrono::milliseconds(1)));
  EXPECT_GE(guest.turns, 1);
  // Its work may be nothing that the owner waits for, such as a request that it sends: what is left of its patience is
  // for the turns that follow.
  using std::chrono::hours, std::chrono::milliseconds;
  guest.turns = 0;
  guest.may_wait.clear();
  guest.work = [&] { guest.work = [&] { inbox.Post([] {}); }; };
  EXPECT_TRUE(inbox.WaitFor(std::chrono::seconds(60), hours(2)));
  EXPECT_EQ(guest.turns, 2);
  EXPECT_THAT(guest.may_wait, ElementsAre(hours(2), AllOf(Gt(hours(1)), Lt(hours(2)))));
  inbox.Drain();
  guest.may_wait.clear();
  guest.work = [&] {
    std::this_thread::sleep_for(milliseconds(3));
    guest.work = [&] { inbox.Post([] {}); };
  };
  EXPECT_TRUE(inbox.WaitFor(std::chrono::seconds(60), milliseconds(2)));
  EXPECT_THAT(guest.may_wait, ElementsAre(milliseconds(2), milliseconds(0)));
  guest.turns = 2;
  // An owner that has a letter already does not wait.
  EXPECT_TRUE(inbox.WaitFor(std::chrono::seconds(60)));
  EXPECT_EQ(guest.turns, 2);
  inbox.Drain();
  inbox.set_guest(nullptr);
  guest.turns = 0;
  EXPECT_FALSE(inbox.WaitFor(std::chrono::milliseconds(1)));
  inbox.Drain();
  EXPECT_EQ(guest.turns, 0);
}

TEST(InboxTest, LettersOfOtherThreadsWakeTheGuest) {
  Inbox inbox;
  FakeGuest guest;
  inbox.set_guest(&guest);
  for (const bool batched : {false, true}) {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the owner sleeps by then, most of the time
      std::optional<Inbox::Batch> batch;
      if (batched) batch.emplace();
      for (int i = 0; i < 3; ++i) inbox.Post([] {});
    });
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(inbox.WaitFor(std::chrono::seconds(60)));
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30)) << "nobody has woken it";
    other.join();
    EXPECT_EQ(inbox.Drain(), 3u);
  }
}

TEST(InboxTest, AnOwnerThatWorksLetsItsGuestInNowAndThen) {
  Inbox inbox;
  FakeGuest guest;
  inbox.set_guest(&guest);
  bool ran = false;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    ran = false;
    guest.work = [&] { inbox.Post([&] { ran = true; }); };
    inbox.Drain();
    EXPECT_TRUE(ran) << "what its turn brings is read at once";
    EXPECT_EQ(guest.may_wait.back().count(), 0);
  }
  EXPECT_EQ(guest.turns, 3);
}

}  // namespace
}  // namespace berth::util
