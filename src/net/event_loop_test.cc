// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <coroutine>
#include <optional>
#include <thread>
#include <utility>

#include "net/task.h"

namespace berth::net {
namespace {

constexpr auto kLong = std::chrono::seconds(60);

TEST(EventLoop, WaitsForAnAnswerNeitherForLongNorIfThereIsSomethingToDo) {
  for (const auto take : {std::chrono::hours(0), std::chrono::hours(1)}) {
    EventLoop loop;
    loop.set_spacing(Duration::Seconds(60));
    loop.NoteAnswer(take);
    loop.Turn({}, {});
    loop.ExpectAnswer();
    bool ran = false;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      loop.Post([&] { ran = true; });
    });
    const auto began = std::chrono::steady_clock::now();
    loop.Turn(kLong, {});
    EXPECT_LT(std::chrono::steady_clock::now() - began, kLong / 2);
    other.join();
    EXPECT_TRUE(ran);
  }
}

Detached NoteReadable(Watch* watch, bool* readable) {
  co_await watch->Wait(Watch::For::kRead);
  *readable = true;
}

TEST(EventLoop, NewsMayBeLeftAloneForAWhile) {
  EventLoop loop;
  loop.set_spacing(Duration::Millis(1));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  Watch watch(loop, ends[0]);
  bool readable = false;
  NoteReadable(&watch, &readable);
  loop.Turn({}, {});
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  // Whoever has something else to do meanwhile is let go, and the news stays where it is.
  loop.Turn(std::chrono::milliseconds(1), kLong);
  EXPECT_FALSE(readable);
  // What is to be sent does not wait, nor does a letter.
  for (const bool posts : {true, false}) {
    bool ran = false;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      posts ? loop.Post([&] { ran = true; }) : loop.Wake();
    });
    const auto began = std::chrono::steady_clock::now();
    loop.Turn(kLong, kLong);
    EXPECT_LT(std::chrono::steady_clock::now() - began, kLong / 2);
    other.join();
    EXPECT_EQ(ran, posts);
    EXPECT_TRUE(std::exchange(readable, false)) << "a turn does all there is";
    NoteReadable(&watch, &readable);
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
  }
  loop.Turn(kLong, std::chrono::milliseconds(20));
  EXPECT_TRUE(readable) << "patience has an end";
  ::close(ends[1]);
}

TEST(EventLoop, AnAnswerMayBeLeftAloneAsLongAsNews) {
  EventLoop loop;
  loop.set_spacing(Duration::Millis(1));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  Watch watch(loop, ends[0]);
  bool readable = false;
  NoteReadable(&watch, &readable);
  loop.Turn({}, {});
  loop.ExpectAnswer();
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  loop.Turn(std::chrono::milliseconds(5), kLong);
  EXPECT_FALSE(readable);
  // Unless something cannot go on without it.
  const EventLoop::Haste haste(loop);
  const auto began = std::chrono::steady_clock::now();
  loop.Turn(kLong, kLong);
  EXPECT_TRUE(readable);
  EXPECT_LT(std::chrono::steady_clock::now() - began, kLong / 2);
  ::close(ends[1]);
}

Detached NoteSlowAnswer(Watch* watch, EventLoop* loop) {
  co_await watch->Wait(Watch::For::kRead);
  loop->NoteAnswer(std::chrono::hours(1));
}

TEST(EventLoop, AnAnswerThatWasLeftAloneWasNotSlow) {
  for (const bool patient : {true, false}) {
    EventLoop loop;
    loop.set_spacing(Duration::Seconds(60));
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
    Watch watch(loop, ends[0]);
    NoteSlowAnswer(&watch, &loop);
    loop.Turn({}, {});
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    loop.Post([] {});
    loop.Turn(kLong, patient ? std::chrono::hours(1) : std::chrono::hours(0));
    // The next one is waited for only if answers are quick.
    bool readable = false;
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    NoteReadable(&watch, &readable);
    loop.ExpectAnswer();
    ASSERT_EQ(::write(ends[1], "x", 1), 1);
    loop.Turn(std::chrono::milliseconds(1), {});
    EXPECT_EQ(readable, !patient);
    if (!readable) loop.Turn({}, {});
    ::close(ends[1]);
  }
}

TEST(EventLoop, WithoutCreditItWaitsForThatAndThenForNews) {
  EventLoop loop;
  loop.set_spacing(Duration::Millis(200));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  Watch watch(loop, ends[0]);
  bool readable = false;
  NoteReadable(&watch, &readable);
  // As many turns as are taken without delay. Where the machine is too slow for that there is credit left, and the rest
  // holds all the same.
  for (int i = 0; i < 9; ++i) {
    loop.Post([] {});
    loop.Turn(kLong, {});
  }
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  loop.Turn(std::chrono::milliseconds(1), kLong);
  EXPECT_FALSE(readable) << "the owner has something else to do";
  bool ran = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    loop.Post([&] { ran = true; });
  });
  const auto began = std::chrono::steady_clock::now();
  loop.Turn(kLong, kLong);
  EXPECT_LT(std::chrono::steady_clock::now() - began, kLong / 2) << "what is posted waits for credit, not for news";
  other.join();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(readable);
  ::close(ends[1]);
}

Task<> WaitToWrite(Watch* watch) { co_await watch->Wait(Watch::For::kWrite); }

TEST(EventLoop, NewsIsNotLeftAloneWhileSomethingTakesSeveralExchanges) {
  EventLoop loop;
  loop.set_spacing(Duration::Millis(1));
  int ends[2], full[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK), 0);
  ASSERT_EQ(::pipe2(full, O_NONBLOCK), 0);
  constexpr std::array<char, 4096> kPage{};
  while (::write(full[1], kPage.data(), kPage.size()) > 0) continue;
  Watch watch(loop, ends[0]);
  bool readable = false;
  const auto tell = [&] {
    readable = false;
    NoteReadable(&watch, &readable);
    return ::write(ends[1], "x", 1) == 1;
  };
  ASSERT_TRUE(tell());
  {
    const EventLoop::Haste haste(loop);
    loop.Turn(kLong, kLong);
    EXPECT_TRUE(readable);
    ASSERT_TRUE(tell());
    loop.Turn(kLong, kLong);
    EXPECT_TRUE(readable);
  }
  ASSERT_TRUE(tell());
  loop.Turn(std::chrono::milliseconds(1), kLong);
  EXPECT_FALSE(readable);
  {
    // Somebody cannot go on until the peer has read, who may wait for us to.
    std::optional<Watch> blocked(std::in_place, loop, full[1]);
    Task<> writer = WaitToWrite(&*blocked);
    ASSERT_TRUE(writer.await_suspend(std::noop_coroutine()));
    loop.Turn(kLong, kLong);
    EXPECT_TRUE(readable);
    blocked.reset();
  }
  ASSERT_TRUE(tell());
  loop.Turn(std::chrono::milliseconds(1), kLong);
  EXPECT_FALSE(readable) << "nobody waits any more";
  loop.Turn({}, {});
  EXPECT_TRUE(readable);
  ::close(ends[1]);
  ::close(full[0]);
}

}  // namespace
}  // namespace berth::net
