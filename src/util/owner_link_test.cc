// SPDX-License-Identifier: Apache-2.0
#include "util/owner_link.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

struct House {
  int rooms = 3;
  Owner<House> owner{this};
};

TEST(OwnerLinkTest, LeadsToTheOwnerUntilItHasGone) {
  auto house = std::make_unique<House>();
  const OwnerLink<House> link = house->owner.link();
  ASSERT_EQ(link.get(), house.get());
  EXPECT_TRUE(link);
  EXPECT_TRUE(link.Call([](House& h) { h.rooms = 4; }));
  EXPECT_EQ(house->rooms, 4);
  house.reset();
  EXPECT_EQ(link.get(), nullptr);
  EXPECT_FALSE(link);
  EXPECT_FALSE(link.Call([](House&) { FAIL(); }));
}

TEST(OwnerLinkTest, AnOwnerMayLeaveBeforeItsEnd) {
  House house;
  const OwnerLink<House> link = house.owner.link();
  house.owner.Leave();
  house.owner.Leave();
  EXPECT_FALSE(link);
  EXPECT_FALSE(house.owner.link());
}

TEST(OwnerLinkTest, ALinkToNobodyFindsNobody) {
  const OwnerLink<House> link;
  EXPECT_FALSE(link);
  EXPECT_FALSE(link.Call([](House&) { FAIL(); }));
}

TEST(OwnerLinkTest, AGuardedCallbackIsSilentOnceTheOwnerHasGone) {
  auto house = std::make_unique<House>();
  int sum = 0;
  const std::function<void(int, const int&)> add = house->owner.link().Guard([&](int a, int b) { sum += a + b; });
  add(1, 2);
  EXPECT_EQ(sum, 3);
  house.reset();
  add(1, 2);
  EXPECT_EQ(sum, 3);
}

TEST(OwnerLinkTest, ACallMayEndItsOwner) {
  auto house = std::make_unique<House>();
  const OwnerLink<House> link = house->owner.link();
  EXPECT_TRUE(link.Call([&](House&) {
    house.reset();
    EXPECT_FALSE(link);
  }));
  EXPECT_FALSE(link);
}

TEST(OwnerLinkTest, AnOwnerWaitsForCallsOnOtherThreads) {
  for (int round = 0; round < 100; ++round) {
    auto house = std::make_unique<House>();
    const OwnerLink<House> link = house->owner.link();
    std::atomic<bool> inside = false;
    bool ended = false;  // under the link's own lock, which ThreadSanitizer checks
    std::thread caller([&] {
      link.Call([&](House& h) {
        inside = true;
        for (int i = 0; i < 100; ++i) h.rooms = i;
        ended = true;
      });
    });
    while (!inside) std::this_thread::yield();
    house.reset();
    EXPECT_TRUE(ended);
    EXPECT_FALSE(link.Call([](House&) { FAIL(); }));
    caller.join();
  }
}

}  // namespace
}  // namespace berth::util
