// SPDX-License-Identifier: Apache-2.0
#include "util/answer_once.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

struct Heard {
  std::vector<std::string> texts;
  AnswerOnce<std::string> Ask() {
    return AnswerOnce<std::string>([this](const std::string& text) { texts.push_back(text); },
                                   [](const auto& answer) { answer("(dropped)"); });
  }
};

TEST(AnswerOnceTest, TheFirstAnswerOfAllCopiesIsHeard) {
  Heard heard;
  {
    const auto answer = heard.Ask();
    const std::function<void(std::string)> copy = answer;
    copy("first");
    answer("second");
    copy("third");
  }
  EXPECT_EQ(heard.texts, std::vector<std::string>{"first"});
}

TEST(AnswerOnceTest, WhoDropsTheLastCopyWithoutAnAnswerIsNoticed) {
  Heard heard;
  {
    std::function<void(std::string)> copy;
    {
      const auto answer = heard.Ask();
      copy = answer;
    }
    EXPECT_TRUE(heard.texts.empty()) << "one is left";
  }
  EXPECT_EQ(heard.texts, std::vector<std::string>{"(dropped)"});
}

TEST(AnswerOnceTest, AWithdrawnQuestionIsNeitherAnsweredNorMissed) {
  Heard heard;
  {
    const auto answer = heard.Ask();
    answer.Withdraw();
    answer("late");
  }
  EXPECT_TRUE(heard.texts.empty());
  {
    const AnswerOnce<int> quiet([](int) { FAIL(); });
  }
}

TEST(AnswerOnceTest, WhatTheAnswerHoldsIsLetGoWithIt) {
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = held;
  const AnswerOnce<> answer([held] {}, [held](const auto&) {});
  held.reset();
  answer();
  EXPECT_TRUE(watch.expired());
  auto other = std::make_shared<int>(1);
  const std::weak_ptr<int> other_watch = other;
  const AnswerOnce<> withdrawn([other] {}, [other](const auto&) {});
  other.reset();
  withdrawn.Withdraw();
  EXPECT_TRUE(other_watch.expired());
}

TEST(AnswerOnceTest, AnAnswerMayDropItsOwnLastCopy) {
  int calls = 0;
  auto kept = std::make_unique<std::function<void()>>();
  *kept = AnswerOnce<>(
      [&] {
        ++calls;
        kept.reset();
      },
      [&](const auto&) { calls += 100; });
  const std::function<void()> call = *kept;
  call();
  EXPECT_EQ(calls, 1);
}

TEST(AnswerOnceTest, ManyThreadsGiveOneAnswer) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> calls = 0;
    {
      const AnswerOnce<int> answer([&](int) { ++calls; }, [&](const auto&) { ++calls; });
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) threads.emplace_back([answer, i] { answer(i); });
      for (std::thread& thread : threads) thread.join();
    }
    ASSERT_EQ(calls, 1);
  }
}

}  // namespace
}  // namespace berth::util
