// SPDX-License-Identifier: Apache-2.0
#include "util/recycling.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace berth::util {
namespace {

struct Request {
  explicit Request(int number_in) : number(number_in), text(100, 'x') {}
  int number;
  std::string text;
  std::array<char, 500> more = {};
};

std::shared_ptr<Request> Make(int number) { return std::allocate_shared<Request>(Recycling<Request>(), number); }

TEST(RecyclingTest, ObjectsAreMadeAndEndAsEver) {
  for (int round = 0; round < 3; ++round) {
    std::vector<std::shared_ptr<Request>> crowd;
    for (int i = 0; i < 1000; ++i) crowd.push_back(Make(i));  // more than is kept
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(crowd[static_cast<size_t>(i)]->number, i);
  }
}

TEST(RecyclingTest, MemoryIsUsedAgain) {
  if (!Recycling<Request>::kKeeps) GTEST_SKIP() << "a sanitizer sees everything";
  std::shared_ptr<Request> one = Make(1);
  const Request* const before = one.get();
  one = nullptr;
  one = Make(2);
  EXPECT_EQ(one.get(), before);
}

TEST(RecyclingTest, WhatOneThreadMakesAnotherMayEnd) {
  std::vector<std::shared_ptr<Request>> crowd;
  for (int i = 0; i < 600; ++i) crowd.push_back(Make(i));
  std::thread([&] { crowd.clear(); }).join();  // what it keeps goes with it
  std::shared_ptr<Request> last;
  std::thread([&] { last = Make(7); }).join();
  EXPECT_EQ(last->number, 7);
}

TEST(RecyclingTest, AnAlignmentOfItsOwnIsKept) {
  struct alignas(64) Wide {
    char byte = 0;
  };
  const auto wide = std::allocate_shared<Wide>(Recycling<Wide>());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(wide.get()) % 64, 0u);
}

}  // namespace
}  // namespace berth::util
