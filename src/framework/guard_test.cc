// SPDX-License-Identifier: Apache-2.0
// What a throwing plugin becomes.
#include "framework/guard.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace berth::framework {
namespace {

TEST(GuardTest, AResultPassesThrough) {
  EXPECT_EQ(Guard([] { return 7; }, [](const std::string&) { return 0; }), 7);
  EXPECT_TRUE(GuardError([] { return Error::Ok(); }).ok());
  EXPECT_EQ(GuardError([] { return Error("own words"); }).text(), "own words");
}

TEST(GuardTest, AnExceptionBecomesATextWithItsWords) {
  EXPECT_EQ(GuardError([]() -> Error { throw std::out_of_range("index 9"); }).text(), "plugin threw: index 9");
  EXPECT_EQ(Guard([]() -> std::string { throw std::runtime_error("x"); }, [](std::string text) { return text; }),
            "plugin threw: x");
}

TEST(GuardTest, WhatIsNoExceptionIsSaidToBeNone) {
  EXPECT_EQ(GuardError([]() -> Error { throw "text"; }).text(), "plugin threw something that is not a std::exception");
}

}  // namespace
}  // namespace berth::framework
