// SPDX-License-Identifier: Apache-2.0
#include "extender/call_workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace berth::extender {
namespace {

bool PostCall(CallWorkers& workers, std::function<void()> call) { return workers.Post(call); }

// A call that says when it has begun and ends when it is told to.
struct Gate {
  std::promise<void> begun, open;
  std::shared_future<void> opened = open.get_future().share();
  std::function<void()> call() {
    return [this] {
      begun.set_value();
      opened.wait();
    };
  }
};

TEST(CallWorkers, CallsRunOnOtherThreads) {
  CallWorkers workers(2, 10);
  std::promise<std::thread::id> id;
  EXPECT_TRUE(PostCall(workers, [&] { id.set_value(std::this_thread::get_id()); }));
  EXPECT_NE(id.get_future().get(), std::this_thread::get_id());
}

TEST(CallWorkers, ACallRunsHereOnlyWhileNoOtherIsWithThem) {
  CallWorkers workers(1, 10);
  int here = 0;
  EXPECT_TRUE(workers.RunHere([&] { ++here; }));
  Gate gate;
  EXPECT_TRUE(PostCall(workers, gate.call()));
  EXPECT_FALSE(workers.RunHere([&] { ++here; })) << "posted, begun or not";
  gate.begun.get_future().wait();
  EXPECT_FALSE(workers.RunHere([&] { ++here; }));
  gate.open.set_value();
  while (!workers.RunHere([&] { ++here; })) std::this_thread::yield();
  EXPECT_EQ(here, 2);
}

TEST(CallWorkers, NoneBeginsWhileOneRunsHere) {
  CallWorkers workers(2, 10);
  std::atomic<bool> ran = false;
  std::promise<void> done;
  EXPECT_TRUE(workers.RunHere([&] {
    EXPECT_TRUE(PostCall(workers, [&] {
      ran = true;
      done.set_value();
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(ran);
  }));
  done.get_future().wait();
}

TEST(CallWorkers, TooManyAreRefusedAndNotTaken) {
  CallWorkers workers(1, 2);
  Gate gate;
  EXPECT_TRUE(PostCall(workers, gate.call()));
  gate.begun.get_future().wait();
  std::atomic<int> ran = 0;
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(PostCall(workers, [&] { ++ran; }));
  EXPECT_EQ(workers.waiting(), 2u);
  std::function<void()> third = [&] { ran += 100; };
  EXPECT_FALSE(workers.Post(third));
  EXPECT_TRUE(third) << "it is still the caller's";
  gate.open.set_value();
  while (ran < 2) std::this_thread::yield();
}

TEST(CallWorkers, OnceTheFirstIsLateTheNewestGoesFirst) {
  for (const bool late : {false, true}) {
    CallWorkers workers(1, 10, late ? std::chrono::nanoseconds(0) : std::chrono::nanoseconds(std::chrono::hours(1)));
    Gate gate;
    EXPECT_TRUE(PostCall(workers, gate.call()));
    gate.begun.get_future().wait();
    std::string order;
    std::promise<void> done;
    for (const char name : {'a', 'b', 'c'}) {
      EXPECT_TRUE(PostCall(workers, [&, name] {
        order += name;
        if (order.size() == 3) done.set_value();
      }));
    }
    gate.open.set_value();
    done.get_future().wait();
    EXPECT_EQ(order, late ? "cba" : "abc");
  }
}

TEST(CallWorkers, OfLateOnesThoseThatNobodyWaitsForMakeRoomFirst) {
  CallWorkers workers(1, 10, std::chrono::nanoseconds(0));
  Gate gate;
  EXPECT_TRUE(PostCall(workers, gate.call()));
  gate.begun.get_future().wait();
  std::string order;
  std::promise<void> done;
  for (const char name : {'a', 'b', 'c', 'd'}) {
    std::function<void()> call = [&, name] {
      order += name;
      if (order.size() == 4) done.set_value();
    };
    EXPECT_TRUE(workers.Post(call, [name] { return name == 'a' || name == 'b'; }));
  }
  gate.open.set_value();
  done.get_future().wait();
  EXPECT_EQ(order, "abdc");
}

TEST(CallWorkers, TheEndWaitsForWhatRunsAndDropsWhatWaits) {
  auto workers = std::make_unique<CallWorkers>(1, 10);
  Gate gate;
  const auto kept = std::make_shared<int>(0);
  EXPECT_TRUE(PostCall(*workers, gate.call()));
  gate.begun.get_future().wait();
  EXPECT_TRUE(PostCall(*workers, [kept] { ++*kept; }));
  std::thread opener([&] { gate.open.set_value(); });
  workers.reset();
  opener.join();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(CallWorkers, OneThatThrowsHarmsNoOther) {
  CallWorkers workers(1, 10);
  std::promise<void> done;
  EXPECT_TRUE(PostCall(workers, [] { throw std::runtime_error("no"); }));
  EXPECT_TRUE(PostCall(workers, [&] { done.set_value(); }));
  done.get_future().wait();
  EXPECT_THROW(
      {
        while (!workers.RunHere([] { throw std::runtime_error("no"); })) std::this_thread::yield();
      },
      std::runtime_error);
  std::promise<void> again;
  EXPECT_TRUE(PostCall(workers, [&] { again.set_value(); }));
  again.get_future().wait();
}

TEST(CallWorkers, EveryCallIsMadeOnce) {
  std::atomic<int> made = 0;
  {
    CallWorkers workers(3, 100'000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 1'000; ++i) {
          if (i % 3 != 0 && workers.RunHere([&] { ++made; })) continue;
          EXPECT_TRUE(PostCall(workers, [&] { ++made; }));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    while (made < 4'000) std::this_thread::yield();
  }
  EXPECT_EQ(made, 4'000);
}

}  // namespace
}  // namespace berth::extender
