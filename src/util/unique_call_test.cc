// SPDX-License-Identifier: Apache-2.0
#include "util/unique_call.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace berth::util {
namespace {

TEST(UniqueCallTest, CallsWhatItHoldsWhereverThatIs) {
  auto small = std::make_unique<int>(3);
  const UniqueCall<int(int)> in_place = [small = std::move(small)](int more) { return *small + more; };
  EXPECT_EQ(in_place(4), 7);
  std::array<int, 100> large{};
  large.back() = 5;
  const UniqueCall<int(int)> elsewhere = [large](int more) { return large.back() + more; };
  EXPECT_EQ(elsewhere(4), 9);
}

TEST(UniqueCallTest, WhatItHoldsMovesWithItAndGoesOnce) {
  const auto small = std::make_shared<int>(1);
  const auto large = std::make_shared<int>(2);
  std::array<char, 100> ballast{};
  ballast.front() = 1;
  using Call = UniqueCall<int()>;
  std::vector<Call> calls;
  for (int i = 0; i < 10; ++i) {  // the vector moves them as it grows
    calls.emplace_back([small] { return *small; });
    calls.emplace_back([large, ballast] { return *large + ballast.front(); });
  }
  EXPECT_EQ(small.use_count(), 11);
  EXPECT_EQ(large.use_count(), 11);
  EXPECT_EQ(calls[2](), 1);
  EXPECT_EQ(calls[3](), 3);
  Call taken = std::move(calls[3]);
  EXPECT_FALSE(calls[3]);  // NOLINT(bugprone-use-after-move): it is empty then
  EXPECT_EQ(taken(), 3);
  taken = std::move(calls[2]);
  EXPECT_EQ(large.use_count(), 10);
  EXPECT_EQ(taken(), 1);
  taken = nullptr;
  EXPECT_EQ(small.use_count(), 10);
  calls.clear();
  EXPECT_EQ(small.use_count(), 1);
  EXPECT_EQ(large.use_count(), 1);
}

TEST(UniqueCallTest, WhatIsEmptyMakesAnEmptyOne) {
  EXPECT_FALSE(UniqueCall<void()>());
  EXPECT_FALSE(UniqueCall<void()>(nullptr));
  EXPECT_FALSE(UniqueCall<void()>(std::function<void()>()));
  EXPECT_TRUE(UniqueCall<void()>(std::function<void()>([] {})));
  UniqueCall<void()> moved = UniqueCall<void()>();
  EXPECT_FALSE(moved);
}

TEST(UniqueCallTest, ArgumentsAreNotCopied) {
  const UniqueCall<std::string(std::unique_ptr<std::string>&&, int&)> call = [](std::unique_ptr<std::string> text,
                                                                                int& count) {
    ++count;
    return *text;
  };
  int count = 0;
  EXPECT_EQ(call(std::make_unique<std::string>("text"), count), "text");
  EXPECT_EQ(count, 1);
}

// A letter that ends the list it stands in.
TEST(UniqueCallTest, WhatItHoldsMayLeadBackToItWhenItGoes) {
  struct Cycle {
    UniqueCall<void()> call;
    int* ended;
    ~Cycle() { ++*ended; }
  };
  int ended = 0;
  auto cycle = std::make_shared<Cycle>();
  cycle->ended = &ended;
  cycle->call = [cycle] {};
  Cycle& held = *cycle;
  cycle = nullptr;
  EXPECT_EQ(ended, 0);
  held.call = nullptr;
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace berth::util
