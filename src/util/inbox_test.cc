// SPDX-License-Identifier: Apache-2.0
#include "util/inbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

using ::testing::ElementsAre;

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
  std::vector<std::thread> threads;
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
  for (std::thread& thread : threads) thread.join();
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

}  // namespace
}  // namespace berth::util
