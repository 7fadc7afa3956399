// SPDX-License-Identifier: Apache-2.0
// Pods with gates stay out of the queue.
#include "plugins/scheduling_gates.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

TEST(SchedulingGatesTest, APodWithGatesWaitsForThemByName) {
  const SchedulingGates plugin;
  EXPECT_EQ(plugin.PreEnqueue(MakePod()), Verdict());
  EXPECT_EQ(plugin.PreEnqueue(MakePod().Gate("foo").Gate("bar")),
            Verdict(Code::kUnschedulableAndUnresolvable, "waiting for scheduling gates: [foo bar]"));
}

TEST(SchedulingGatesTest, OnlyThePodItselfLosingItsGatesWakesIt) {
  const SchedulingGates plugin;
  const auto events = *plugin.EventsToRegister();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event, (ClusterEvent{EventResource::kPod, action::kUpdatePodSchedulingGatesEliminated}));
  const Pod own = MakePod("own").Uid("1"), other = MakePod("other").Uid("2");
  EXPECT_EQ(events[0].hint(own, {.pod_before = &own, .pod_after = &own}), QueueingHint::kQueue);
  EXPECT_EQ(events[0].hint(own, {.pod_before = &other, .pod_after = &other}), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::plugins
