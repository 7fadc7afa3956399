// SPDX-License-Identifier: Apache-2.0
#include "net/connection_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

namespace berth::net {
namespace {

using Entry = ConnectionTable::Entry;
using First = ConnectionTable::First;
using Phase = ConnectionTable::Phase;

// Connections a, b, c … of one table, and who of them had to go.
class Crowd {
 public:
  explicit Crowd(const ConnectionLimits& limits) : table(limits) {}
  ~Crowd() {
    for (ConnectionTable::Place& place : places_) table.Remove(place);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  ConnectionTable::Place& Come() {
    const char name = static_cast<char>('a' + places_.size());
    ConnectionTable::Place& place = places_.emplace_back();
    place.evict = [this, name] { gone += name; };
    table.Announce();
    table.Add(place);
    return place;
  }
  // One whose first request has come.
  ConnectionTable::Place& Serve(Phase phase) {
    ConnectionTable::Place& place = Come();
    EXPECT_EQ(table.Admit(place, First::kBegun), Entry::kServed);
    EXPECT_TRUE(table.Move(place, phase));
    return place;
  }

  ConnectionTable table;
  std::string gone;

 private:
  std::deque<ConnectionTable::Place> places_;
};

TEST(ConnectionTable, SilentOnesTakeWhatIsFreeAndThenEachOthersPlaces) {
  Crowd crowd({3, 2});
  crowd.Serve(Phase::kIdle);  // a
  for (int i = 0; i < 4; ++i) crowd.Come();
  EXPECT_EQ(crowd.gone, "");
  crowd.Come();
  EXPECT_EQ(crowd.gone, "b");
  crowd.Come();
  EXPECT_EQ(crowd.gone, "bc") << "the idle one is not theirs to push out";
}

TEST(ConnectionTable, TheOneIdleForLongestMakesRoom) {
  Crowd crowd({3, 2});
  crowd.Serve(Phase::kWaiting);                              // a
  crowd.Serve(Phase::kWorking);                              // b
  ConnectionTable::Place& kept = crowd.Serve(Phase::kIdle);  // c
  crowd.Serve(Phase::kWorking);                              // d
  EXPECT_EQ(crowd.gone, "c");
  EXPECT_TRUE(kept.evicted());
  EXPECT_FALSE(crowd.table.Move(kept, Phase::kWaiting)) << "its next request came too late";
}

TEST(ConnectionTable, IdleIsCountedFromTheLastAnswer) {
  Crowd crowd({2, 2});
  ConnectionTable::Place& first = crowd.Serve(Phase::kIdle);  // a
  crowd.Serve(Phase::kIdle);                                  // b
  EXPECT_TRUE(crowd.table.Move(first, Phase::kWorking));
  EXPECT_TRUE(crowd.table.Move(first, Phase::kIdle));
  crowd.Serve(Phase::kIdle);
  EXPECT_EQ(crowd.gone, "b");
}

TEST(ConnectionTable, WithoutIdleOnesTheOneWeWaitForLongestGoes) {
  Crowd crowd({3, 2});
  crowd.Serve(Phase::kWorking);  // a
  crowd.Serve(Phase::kWaiting);  // b
  crowd.Serve(Phase::kWaiting);  // c
  crowd.Serve(Phase::kWorking);  // d
  EXPECT_EQ(crowd.gone, "b");
}

TEST(ConnectionTable, WhileAllWaitForUsProbesAreGuestsAndOthersAreRefused) {
  Crowd crowd({2, 2});
  crowd.Serve(Phase::kWorking);                                                // a
  crowd.Serve(Phase::kWorking);                                                // b
  EXPECT_EQ(crowd.table.Admit(crowd.Come(), First::kWhole), Entry::kRefused);  // c
  ConnectionTable::Place& probe = crowd.Come();                                // d
  EXPECT_EQ(crowd.table.Admit(probe, First::kWithoutBody), Entry::kGuest);
  EXPECT_TRUE(crowd.table.Move(probe, Phase::kWorking));
  EXPECT_EQ(crowd.gone, "");
  // Guests count as those without a request do: they cannot keep each other out either.
  crowd.Come();
  EXPECT_EQ(crowd.gone, "c");
  crowd.Come();
  EXPECT_EQ(crowd.gone, "cd");
  EXPECT_FALSE(crowd.table.Move(probe, Phase::kWaiting));
}

TEST(ConnectionTable, WhatHasComeWholeDoesNotGoForThoseWhoHaveBegun) {
  Crowd crowd({3, 3});
  crowd.Serve(Phase::kWorking);                                                     // a
  EXPECT_EQ(crowd.table.Admit(crowd.Come(), First::kWithoutBody), Entry::kServed);  // b, a probe
  EXPECT_EQ(crowd.table.Admit(crowd.Come(), First::kWhole), Entry::kServed);        // c
  EXPECT_EQ(crowd.table.Admit(crowd.Come(), First::kBegun), Entry::kRefused);       // d
  EXPECT_EQ(crowd.gone, "");
}

TEST(ConnectionTable, PlacesComeBack) {
  Crowd crowd({1, 1});
  for (int i = 0; i < 5; ++i) {
    ConnectionTable::Place place;
    place.evict = [] { ADD_FAILURE() << "there is room"; };
    crowd.table.Announce();
    crowd.table.Add(place);
    EXPECT_EQ(crowd.table.Admit(place, First::kBegun), Entry::kServed);
    EXPECT_TRUE(crowd.table.Move(place, Phase::kWorking));
    crowd.table.Remove(place);
  }
  crowd.table.Announce();
  EXPECT_EQ(crowd.table.open(), 1u);
  crowd.table.Forget();
  EXPECT_EQ(crowd.table.open(), 0u);
}

TEST(ConnectionTable, WhoHasNoPlaceYetPushesNobodyOut) {
  Crowd crowd({1, 2});
  // Accepted before, and still on their way to another thread.
  for (int i = 0; i < 3; ++i) crowd.table.Announce();
  ConnectionTable::Place& probe = crowd.Come();  // a
  EXPECT_EQ(crowd.gone, "");
  EXPECT_EQ(crowd.table.Admit(probe, First::kWithoutBody), Entry::kServed);
  for (int i = 0; i < 3; ++i) crowd.table.Forget();
}

TEST(ConnectionTable, WithoutDescriptorsTheOneSilentOrIdleForLongestGoes) {
  Crowd crowd({10, 10});
  crowd.table.EvictOne();        // nobody is there
  crowd.Serve(Phase::kWorking);  // a
  crowd.Serve(Phase::kWaiting);  // b
  crowd.Come();                  // c
  crowd.Serve(Phase::kIdle);     // d
  crowd.Come();                  // e
  for (int i = 0; i < 6; ++i) crowd.table.EvictOne();
  EXPECT_EQ(crowd.gone, "cdeb") << "who waits for us stays";
}

TEST(ConnectionTable, LimitsLeaveDescriptorsForTheRest) {
  const ConnectionLimits wanted{4096, 64};
  const auto fit = [&](size_t descriptors) { return FitConnections(wanted, descriptors); };
  EXPECT_EQ(fit(1 << 20).served, 4096u);
  EXPECT_EQ(fit(1 << 20).unserved, 64u);
  EXPECT_EQ(fit(1024).served + fit(1024).unserved, 1024u - 192);
  EXPECT_EQ(fit(1024).unserved, 64u);
  for (const size_t few : {0, 1, 2, 10, 64, 256, 4000}) {
    const ConnectionLimits limits = fit(few);
    EXPECT_GE(limits.served, 1u) << few;
    EXPECT_GE(limits.unserved, 1u) << few;
    EXPECT_LE(limits.served + limits.unserved, std::max<size_t>(2, few - std::min<size_t>(192, few / 2))) << few;
  }
}

TEST(ConnectionTable, ManyThreadsComeAndGo) {
  ConnectionTable table({8, 4});
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        std::deque<ConnectionTable::Place> mine(6);
        for (ConnectionTable::Place& place : mine) {
          place.evict = [] {};
          table.Announce();
          table.Add(place);
          if (table.Admit(place, i % 2 == 0 ? First::kBegun : First::kWithoutBody) == Entry::kServed &&
              table.Move(place, Phase::kWorking) && table.Move(place, Phase::kIdle)) {
            ++served;
          }
        }
        for (ConnectionTable::Place& place : mine) table.Remove(place);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(served, 0);
  EXPECT_EQ(table.open(), 0u);
}

}  // namespace
}  // namespace berth::net
