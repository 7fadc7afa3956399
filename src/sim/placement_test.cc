// SPDX-License-Identifier: Apache-2.0
// Placing pods one after another: the order, what later pods see of earlier ones, and who is left out.
#include "sim/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "config/load.h"
#include "plugins/builtin.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlacementTest : public ::testing::Test {
 protected:
  PlacementTest() { plugins::RegisterBuiltinPlugins(registry_); }
  void Add(const Node& node) { objects_.nodes.push_back(std::make_shared<const Node>(node)); }
  void Add(const Pod& pod) { objects_.pods.push_back(std::make_shared<const Pod>(pod)); }
  Placements Place(const std::string& configuration = "") {
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + configuration, registry_);
    EXPECT_TRUE(loaded.ok());
    auto engine = Engine::Make(loaded.config, registry_, clock_);
    EXPECT_TRUE(engine.ok());
    return PlaceAll(**engine, objects_);
  }
  // "pod>node" in the order of trying.
  static std::vector<std::string> Lines(const Placements& placements) {
    std::vector<std::string> lines;
    for (const PodOutcome& outcome : placements.outcomes) lines.push_back(outcome.pod + ">" + outcome.node);
    return lines;
  }

  Registry registry_;
  ManualClock clock_;
  LoadedObjects objects_;
};

TEST_F(PlacementTest, EachPodSeesThosePlacedBefore) {
  Add(MakeNode("n").Capacity({{"cpu", "2"}, {"memory", "1Gi"}, {"pods", "10"}}));
  for (const char* name : {"p1", "p2", "p3"}) Add(MakePod(name).Request({{"cpu", "1"}}));
  const Placements placements = Place();
  EXPECT_THAT(Lines(placements), ElementsAre("default/p1>n", "default/p2>n", "default/p3>"));
  EXPECT_THAT(placements.outcomes[2].message, HasSubstr("0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(placements.nodes, 1u);
}

TEST_F(PlacementTest, HigherPriorityGoesFirstThenTheOlderOneThenTheOrderOfTheFiles) {
  Add(MakeNode("n"));
  Add(MakePod("young").With([](Pod& pod) { pod.meta.creation_time = Time{20}; }));
  Add(MakePod("old").With([](Pod& pod) { pod.meta.creation_time = Time{10}; }));
  Add(MakePod("twin").With([](Pod& pod) { pod.meta.creation_time = Time{10}; }));
  Add(MakePod("urgent").Priority(5).With([](Pod& pod) { pod.meta.creation_time = Time{30}; }));
  EXPECT_THAT(Lines(Place()), ElementsAre("default/urgent>n", "default/old>n", "default/twin>n", "default/young>n"));
}

TEST_F(PlacementTest, BoundFinishedAndTerminatingPodsAreNotTried) {
  Add(MakeNode("n"));
  Add(MakePod("bound").OnNode("n"));
  Add(MakePod("done").With([](Pod& pod) { pod.phase = "Succeeded"; }));
  Add(MakePod("leaving").Terminating());
  const Placements placements = Place();
  EXPECT_THAT(placements.outcomes, IsEmpty());
  EXPECT_EQ(placements.already_placed, 1u);
}

TEST_F(PlacementTest, PodsOfOtherSchedulersAreNamedAndLeftAlone) {
  Add(MakeNode("n"));
  Add(MakePod("p").With([](Pod& pod) { pod.scheduler_name = "somebody-else"; }));
  const Placements placements = Place();
  EXPECT_THAT(placements.outcomes, IsEmpty());
  EXPECT_THAT(placements.foreign, ElementsAre("default/p"));
}

TEST_F(PlacementTest, APodThatCouldPreemptIsPendingWithWhatItWouldTake) {
  Add(MakeNode("n").Capacity({{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "10"}}));
  Add(MakePod("victim").OnNode("n").Request({{"cpu", "1"}}));
  Add(MakePod("p").Priority(10).Request({{"cpu", "1"}}));
  const Placements placements = Place();
  ASSERT_EQ(placements.outcomes.size(), 1u);
  EXPECT_EQ(placements.outcomes[0].node, "");
  EXPECT_EQ(placements.outcomes[0].preemption_node, "n");
  EXPECT_THAT(placements.outcomes[0].victims, ElementsAre("default/victim"));
}

TEST_F(PlacementTest, AGatedPodWaitsWithTheGatesWords) {
  Add(MakeNode("n"));
  Add(MakePod("p").Gate("example.com/quota"));
  EXPECT_EQ(Place().outcomes.at(0).message, "waiting for scheduling gates: [example.com/quota]");
}

TEST_F(PlacementTest, AChoiceComesWithTotalAndMarginAndAnOnlyNodeWithout) {
  Add(MakeNode("small").Capacity({{"cpu", "2"}, {"memory", "4Gi"}, {"pods", "10"}}));
  Add(MakeNode("large").Capacity({{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "10"}}));
  Add(MakePod("choice").Request({{"cpu", "1"}}));
  Add(MakePod("only").Request({{"cpu", "32"}}));
  const Placements placements = Place();
  ASSERT_EQ(placements.outcomes.size(), 2u);
  const PodOutcome& choice = placements.outcomes[0];
  EXPECT_EQ(choice.node, "large");
  ASSERT_TRUE(choice.total && choice.margin);
  EXPECT_EQ(choice.margin->runner_up, "small");
  EXPECT_EQ(choice.feasible, 2u);
  EXPECT_FALSE(placements.outcomes[1].total);
  EXPECT_FALSE(placements.outcomes[1].margin);
}

// With an explicit percentage the search begins where the last one ended, as kube-scheduler's does.
TEST_F(PlacementTest, WithAPercentageTheSearchGoesOnFromTheFirstFeasibleNodeItDidNotTake) {
  for (int i = 0; i < 200; ++i) {
    MakeNode node("n" + std::to_string(i));
    // Nodes 100 to 109 take nobody: the search walks over them before it meets one node too many.
    if (i >= 100 && i < 110) node.Unschedulable();
    Add(node);
  }
  // The one score is 0 everywhere, so the first node of the search wins.
  for (const char* name : {"p1", "p2", "p3"}) Add(MakePod(name));
  const Placements placements = Place(
      "percentageOfNodesToScore: 50\n"
      "profiles: [{plugins: {preScore: {disabled: [{name: '*'}]},"
      " score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality}]}}}]\n");
  EXPECT_THAT(Lines(placements), ElementsAre("default/p1>n0", "default/p2>n110", "default/p3>n10"));
}

TEST_F(PlacementTest, WithFewFeasibleNodesTheSearchSeesAllAndBeginsWhereItBegan) {
  for (int i = 0; i < 200; ++i) {
    MakeNode node("n" + std::to_string(i));
    if (i % 4) node.Unschedulable();
    Add(node);
  }
  for (const char* name : {"p1", "p2"}) Add(MakePod(name));
  const Placements placements = Place(
      "percentageOfNodesToScore: 50\n"
      "profiles: [{plugins: {preScore: {disabled: [{name: '*'}]},"
      " score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality}]}}}]\n");
  EXPECT_THAT(Lines(placements), ElementsAre("default/p1>n0", "default/p2>n0"));
}

TEST_F(PlacementTest, EmptyFilesPlaceNothing) {
  const Placements placements = Place();
  EXPECT_THAT(placements.outcomes, IsEmpty());
  Add(MakePod("p"));
  EXPECT_EQ(Place().outcomes.at(0).message, "no nodes available to schedule pods");
}

}  // namespace
}  // namespace berth::sim
