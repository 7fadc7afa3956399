// SPDX-License-Identifier: Apache-2.0
#include "queue/event_derivation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::queue {
namespace {

using enum EventResource;
using ::testing::ElementsAreArray;

TEST(EventDerivationTest, PodUpdatesBecomeTheEventsThatPluginsRegisterFor) {
  const MakePod base = MakePod("p").Request({{"cpu", "2"}, {"example.com/gpu", "1"}});
  const auto with = [&](auto&& change) {
    MakePod pod = base;
    change(pod);
    return pod.Build();
  };
  const Pod plain = base.Build();
  const Pod gated = with([](MakePod& p) { p.Gate("g"); });
  const Pod two_gates = with([](MakePod& p) { p.Gate("g").Gate("h"); });
  const Pod labelled = with([](MakePod& p) { p.Label("a", "b"); });
  const Pod tolerant = with([](MakePod& p) { p.Tolerate({}); });
  const Pod smaller = with([](MakePod& p) { p.Request({{"cpu", "1"}, {"example.com/gpu", "1"}}); });
  const Pod without_gpu = with([](MakePod& p) { p.Request({{"cpu", "2"}}); });
  const Pod larger = with([](MakePod& p) { p.Request({{"cpu", "3"}, {"example.com/gpu", "1"}}); });
  const Pod nominated = with([](MakePod& p) { p.Nominated("n"); });
  const Pod both = with([](MakePod& p) { p.Label("a", "b").Tolerate({}); });
  const struct {
    const char* name;
    const Pod &before, &after;
    std::vector<ActionType> want;
  } cases[] = {
      {"a label came", plain, labelled, {action::kUpdatePodLabel}},
      {"a label went", labelled, plain, {action::kUpdatePodLabel}},
      {"fewer cpus", plain, smaller, {action::kUpdatePodScaleDown}},
      {"a resource is no longer wanted", plain, without_gpu, {action::kUpdatePodScaleDown}},
      {"more cpus", plain, larger, {action::kUpdate}},
      {"the last gate went", gated, plain, {action::kUpdatePodSchedulingGatesEliminated}},
      {"one of two gates went", two_gates, gated, {action::kUpdate}},
      {"a toleration came", plain, tolerant, {action::kUpdatePodToleration}},
      {"two things at once", plain, both, {action::kUpdatePodLabel, action::kUpdatePodToleration}},
      {"something without a name", plain, nominated, {action::kUpdate}},
  };
  for (const auto& c : cases) {
    std::vector<ClusterEvent> want;
    for (ActionType action : c.want) want.push_back({kUnschedulablePod, action});
    EXPECT_THAT(PodSchedulingPropertiesChange(c.after, c.before), ElementsAreArray(want)) << c.name;
  }
}

TEST(EventDerivationTest, APodWithANodeIsAnAssignedPod) {
  const Pod before = MakePod("p").OnNode("n"), after = MakePod("p").OnNode("n").Label("a", "b");
  EXPECT_EQ(PodSchedulingPropertiesChange(after, before),
            (std::vector<ClusterEvent>{{kAssignedPod, action::kUpdatePodLabel}}));
}

TEST(EventDerivationTest, NodeUpdatesComeInUpstreamsOrderAndOnlyWhenSomethingMattersChanged) {
  const Node plain = MakeNode("n");
  const auto with = [&](auto&& change) {
    Node node = plain;
    change(node);
    return node;
  };
  const Node cordoned = MakeNode("n").Unschedulable();
  const struct {
    const char* name;
    Node before, after;
    std::vector<ActionType> want;
  } cases[] = {
      {"nothing", plain, plain, {}},
      {"a new resourceVersion", plain, with([](Node& n) { n.meta.resource_version = "7"; }), {}},
      {"cordoned", plain, cordoned, {}},
      {"uncordoned", cordoned, plain, {action::kUpdateNodeTaint}},
      {"allocatable", plain, with([](Node& n) { n.allocatable.milli_cpu = 1; }), {action::kUpdateNodeAllocatable}},
      {"labels", plain, MakeNode("n").Label("a", "b"), {action::kUpdateNodeLabel}},
      {"taints", plain, MakeNode("n").Taint("a", "", TaintEffect::kNoSchedule), {action::kUpdateNodeTaint}},
      {"a condition",
       plain,
       with([](Node& n) {
         n.conditions = {{"Ready", "True"}};
       }),
       {action::kUpdateNodeCondition}},
      {"conditions in another order",
       with([](Node& n) {
         n.conditions = {{"A", "True"}, {"B", "True"}};
       }),
       with([](Node& n) {
         n.conditions = {{"B", "True"}, {"A", "True"}};
       }),
       {}},
      {"annotations",
       plain,
       with([](Node& n) {
         n.meta.annotations = Labels{{"a", "b"}};
       }),
       {action::kUpdateNodeAnnotation}},
      {"declared features", plain, MakeNode("n").Feature("f"), {action::kUpdateNodeDeclaredFeature}},
      {"uncordoned, relabelled and tainted",
       cordoned,
       MakeNode("n").Label("a", "b").Taint("a", "", TaintEffect::kNoSchedule),
       {action::kUpdateNodeTaint, action::kUpdateNodeLabel, action::kUpdateNodeTaint}},
  };
  for (const auto& c : cases) {
    std::vector<ClusterEvent> want;
    for (ActionType action : c.want) want.push_back({kNode, action});
    EXPECT_THAT(NodeSchedulingPropertiesChange(c.after, c.before), ElementsAreArray(want)) << c.name;
  }
}

}  // namespace
}  // namespace berth::queue
