// SPDX-License-Identifier: Apache-2.0
// Cordoned nodes.
#include "plugins/node_unschedulable.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

const std::string kKey = "node.kubernetes.io/unschedulable";

Toleration Tolerates(TaintEffect effect, TolerationOp op = TolerationOp::kExists, std::string key = kKey) {
  return {.key = std::move(key), .op = op, .value = "", .effect = effect};
}

TEST(NodeUnschedulableTest, CordonedNodesTakeOnlyPodsThatTolerateIt) {
  const Node open = MakeNode("n"), cordoned = MakeNode("n").Unschedulable();
  const Verdict rejected = NodeUnschedulable::kUnschedulable;
  const struct {
    const char* name;
    Pod pod;
    Node node;
    Verdict want;
  } cases[] = {
      {"a schedulable node fits", MakePod(), open, {}},
      {"a cordoned node does not", MakePod(), cordoned, rejected},
      {"tolerated with Exists", MakePod().Tolerate(Tolerates(TaintEffect::kNoSchedule)), cordoned, {}},
      {"tolerated with Equal and no value",
       MakePod().Tolerate(Tolerates(TaintEffect::kNone, TolerationOp::kEqual)),
       cordoned,
       {}},
      {"tolerating everything",
       MakePod().Tolerate(Tolerates(TaintEffect::kNone, TolerationOp::kExists, "")),
       cordoned,
       {}},
      {"another effect does not help", MakePod().Tolerate(Tolerates(TaintEffect::kNoExecute)), cordoned, rejected},
  };
  const NodeUnschedulable plugin;
  for (const auto& c : cases) EXPECT_EQ(FilterOne(plugin, c.pod, c.node), c.want) << c.name;
}

TEST(NodeUnschedulableTest, ARejectedPodIsWokenByUncordoningAndByItsOwnToleration) {
  const auto events = *NodeUnschedulable().EventsToRegister();
  ASSERT_EQ(events.size(), 2u);
  const Node open = MakeNode("n"), cordoned = MakeNode("n").Unschedulable();
  const Pod pod = MakePod("p").Uid("1");
  const Pod tolerant = MakePod("p").Uid("1").Tolerate(Tolerates(TaintEffect::kNoSchedule));
  const Pod other = MakePod("o").Uid("2").Tolerate(Tolerates(TaintEffect::kNoSchedule));
  const auto& node_hint = events[0].hint;
  EXPECT_EQ(node_hint(pod, {.node_after = &open}), QueueingHint::kQueue);
  EXPECT_EQ(node_hint(pod, {.node_after = &cordoned}), QueueingHint::kSkip);
  EXPECT_EQ(node_hint(pod, {.node_before = &cordoned, .node_after = &open}), QueueingHint::kQueue);
  EXPECT_EQ(node_hint(pod, {.node_before = &open, .node_after = &open}), QueueingHint::kSkip);
  const auto& pod_hint = events[1].hint;
  EXPECT_EQ(pod_hint(pod, {.pod_before = &pod, .pod_after = &tolerant}), QueueingHint::kQueue);
  EXPECT_EQ(pod_hint(pod, {.pod_before = &pod, .pod_after = &pod}), QueueingHint::kSkip);
  EXPECT_EQ(pod_hint(pod, {.pod_before = &other, .pod_after = &other}), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::plugins
