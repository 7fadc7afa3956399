// SPDX-License-Identifier: Apache-2.0
// The order of the queue.
#include "plugins/priority_sort.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

TEST(PrioritySortTest, HigherPriorityComesFirstAndAmongEqualsTheOlderOne) {
  const Pod low = MakePod("low").Priority(10), high = MakePod("high").Priority(100), none = MakePod("none");
  const struct {
    const char* name;
    QueuedPod a, b;
    bool want;
  } cases[] = {
      {"higher before lower", {&high, {5}}, {&low, {1}}, true},
      {"lower not before higher", {&low, {1}}, {&high, {5}}, false},
      {"no priority counts as 0", {&low, {5}}, {&none, {1}}, true},
      {"equal priority, older first", {&low, {1}}, {&low, {2}}, true},
      {"equal priority, newer last", {&low, {2}}, {&low, {1}}, false},
      {"equal in both is not less", {&low, {1}}, {&low, {1}}, false},
  };
  const PrioritySort plugin;
  for (const auto& c : cases) EXPECT_EQ(plugin.Less(c.a, c.b), c.want) << c.name;
}

}  // namespace
}  // namespace berth::plugins
