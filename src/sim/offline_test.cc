// SPDX-License-Identifier: Apache-2.0
// What of the files counts when one pod is explained.
#include "sim/offline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "config/load.h"
#include "plugins/builtin.h"

namespace berth::sim {
namespace {

using framework::Engine;

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OfflineTest : public ::testing::Test {
 protected:
  OfflineTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    engine_ = std::move(Engine::Make(config::DefaultConfiguration(registry_), registry_, clock_)).value();
  }
  void Add(const Node& node) { objects_.of<Node>().push_back(std::make_shared<const Node>(node)); }
  void Add(const Pod& pod) { objects_.of<Pod>().push_back(std::make_shared<const Pod>(pod)); }
  framework::Explanation Explain(const std::string& name) {
    return ExplainOffline(*engine_, engine_->first_profile(), objects_, *FindPod(objects_, name));
  }

  Registry registry_;
  ManualClock clock_;
  std::unique_ptr<Engine> engine_;
  LoadedObjects objects_;
};

TEST_F(OfflineTest, PodsAreFoundByNamespaceAndNameOrInDefault) {
  Add(MakePod("p"));
  Add(MakePod("p").Namespace("shop"));
  EXPECT_EQ(FindPod(objects_, "p"), objects_.of<Pod>()[0]);
  EXPECT_EQ(FindPod(objects_, "shop/p"), objects_.of<Pod>()[1]);
  EXPECT_EQ(FindPod(objects_, "shop/q"), nullptr);
  EXPECT_EQ(FindPod(objects_, ""), nullptr);
}

TEST_F(OfflineTest, ABoundPodIsJudgedAsIfItWereNotOnItsNode) {
  Add(MakeNode("n").Capacity({{"cpu", "1"}, {"pods", "10"}}));
  Add(MakePod("p").OnNode("n").Request({{"cpu", "1"}}));
  EXPECT_THAT(Explain("p").winners, ElementsAre("n"));
}

TEST_F(OfflineTest, OtherPodsHoldTheirResourcesUnlessTheyHaveFinished) {
  Add(MakeNode("n").Capacity({{"cpu", "1"}, {"pods", "10"}}));
  for (const char* phase : {"Succeeded", "Failed"})
    Add(MakePod(phase).OnNode("n").Request({{"cpu", "1"}}).With([&](Pod& pod) { pod.phase = phase; }));
  Add(MakePod("p").Request({{"cpu", "1"}}));
  EXPECT_THAT(Explain("p").winners, ElementsAre("n"));
  Add(MakePod("running").OnNode("n").Request({{"cpu", "1"}}));
  EXPECT_THAT(Explain("p").winners, IsEmpty());
}

TEST_F(OfflineTest, NominationsOfPodsWeScheduleCountAndOthersDoNot) {
  Add(MakeNode("n").Capacity({{"cpu", "1"}, {"pods", "10"}}));
  Add(MakePod("p").Request({{"cpu", "1"}}).Nominated("n"));
  const MakePod nominated = MakePod("other").Priority(9).Request({{"cpu", "1"}}).Nominated("n");
  Add(MakePod(nominated).With([](Pod& pod) { pod.scheduler_name = "somebody-else"; }));
  EXPECT_THAT(Explain("p").winners, ElementsAre("n"));
  objects_.of<Pod>()[1] = std::make_shared<const Pod>(MakePod(nominated).Gate("quota").Build());
  EXPECT_THAT(Explain("p").winners, ElementsAre("n")) << "a gated pod reserves nothing";
  objects_.of<Pod>()[1] = std::make_shared<const Pod>(nominated.Build());
  EXPECT_THAT(Explain("p").winners, IsEmpty());
}

TEST_F(OfflineTest, ItsOwnNominationDoesNotNarrowTheNodes) {
  Add(MakeNode("small").Capacity({{"cpu", "2"}, {"memory", "4Gi"}, {"pods", "10"}}));
  Add(MakeNode("large").Capacity({{"cpu", "64"}, {"memory", "256Gi"}, {"pods", "10"}}));
  Add(MakePod("p").Request({{"cpu", "1"}}).Nominated("small"));
  const framework::Explanation explanation = Explain("p");
  EXPECT_TRUE(explanation.nodes[0].feasible);
  EXPECT_TRUE(explanation.nodes[1].feasible) << "every node is judged";
  EXPECT_THAT(explanation.winners, ElementsAre("large")) << "and scored";
}

TEST_F(OfflineTest, APodWhoseVictimsAreStillOnItsNominatedNodeMayNotPreempt) {
  for (const char* name : {"a", "b"}) Add(MakeNode(name).Capacity({{"cpu", "1"}, {"pods", "10"}}));
  const MakePod victim = MakePod("victim").OnNode("a").Request({{"cpu", "1"}}).Terminating().With([](Pod& pod) {
    pod.conditions.push_back({"DisruptionTarget", "True", "PreemptionByScheduler", ""});
  });
  Add(victim);
  Add(MakePod("other").OnNode("b").Request({{"cpu", "1"}}));
  const MakePod asked = MakePod("p").Priority(9).Request({{"cpu", "1"}});
  const struct {
    std::string nominated;
    bool eligible;
  } cases[] = {{"a", false}, {"b", true}, {"unknown", true}, {"", true}};
  Add(asked);
  for (const auto& test : cases) {
    objects_.of<Pod>()[2] = std::make_shared<const Pod>(MakePod(asked).Nominated(test.nominated).Build());
    const framework::Explanation explanation = Explain("p");
    EXPECT_EQ(explanation.preemption.has_value(), test.eligible) << test.nominated;
    EXPECT_EQ(
        explanation.message.find("not eligible due to a terminating pod on the nominated node.") == std::string::npos,
        test.eligible)
        << explanation.message;
  }
}

TEST_F(OfflineTest, AGatedPodIsExplainedByItsGate) {
  Add(MakeNode("n"));
  Add(MakePod("p").Gate("example.com/quota"));
  const framework::Explanation explanation = Explain("p");
  ASSERT_TRUE(explanation.pre_filter);
  EXPECT_EQ(explanation.pre_filter->plugin, "SchedulingGates");
  EXPECT_THAT(explanation.nodes, IsEmpty());
}

TEST_F(OfflineTest, ObjectsOfTheFilesReachThePlugins) {
  for (const char* name : {"a", "b"}) Add(MakeNode(name).Label("kubernetes.io/hostname", name));
  Namespace ns;
  ns.meta.name = "default";
  ns.meta.labels = Labels{{"team", "web"}};
  objects_.of<Namespace>().push_back(std::make_shared<const Namespace>(ns));
  PodAffinityTerm term;
  term.selector = LabelSelector{};
  term.namespace_selector = SelectLabels({{"team", "web"}});
  term.topology_key = "kubernetes.io/hostname";
  Add(MakePod("there").OnNode("a"));
  Add(MakePod("p").PodAntiAffinity(term));
  EXPECT_THAT(Explain("p").winners, ElementsAre("b"));
}

}  // namespace
}  // namespace berth::sim
