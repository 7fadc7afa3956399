// SPDX-License-Identifier: Apache-2.0
// The sentence that says why no node fits.
#include "berth/host/fit_error.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(FitErrorTest, ReasonsAreCountedAndSortedAsTexts) {
  EXPECT_EQ(FitErrorText({12, "", {{"y", 2}, {"x", 10}}, ""}), "0/12 nodes are available: 10 x, 2 y.");
  EXPECT_EQ(FitErrorText({3, "", {{"b", 1}, {"a", 1}}, ""}), "0/3 nodes are available: 1 a, 1 b.");
}

TEST(FitErrorTest, ThePreFilterRejectionReplacesTheCounts) {
  EXPECT_EQ(FitErrorText({3, "bad pod", {{"x", 3}}, ""}), "0/3 nodes are available: bad pod.");
}

TEST(FitErrorTest, WhatPostFilterSaidFollowsWithoutADot) {
  EXPECT_EQ(FitErrorText({3, "", {{"Insufficient cpu", 3}}, "preemption: none"}),
            "0/3 nodes are available: 3 Insufficient cpu. preemption: none");
  EXPECT_EQ(FitErrorText({3, "bad pod", {}, "not found"}), "0/3 nodes are available: bad pod. not found");
}

TEST(FitErrorTest, WithoutAnyReasonTheSentenceEndsAfterTheColon) {
  EXPECT_EQ(FitErrorText({0, "", {}, ""}), "0/0 nodes are available:");
  EXPECT_EQ(FitErrorText({2, "", {}, "after"}), "0/2 nodes are available: after");
}

}  // namespace
}  // namespace berth
