// SPDX-License-Identifier: Apache-2.0
// Which node each placement names, with an index and without.
#include "controller/placements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "controller/controller_config.h"
#include "framework/engine.h"
#include "plugins/builtin.h"
#include "util/random.h"

namespace berth::controller {
namespace {

Node Usable(const std::string& name) {
  Node node = MakeNode(name).Build();
  node.conditions = {{"MemoryPressure", "False"}, {"Ready", "True"}};
  return node;
}

// A cluster, and the decisions that an engine with one placement makes about it.
class PlacementsTest : public ::testing::Test {
 protected:
  PlacementsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    RegisterPlacements(registry_);
  }
  std::unique_ptr<framework::Engine> Make(const ControllerOptions& options, uint64_t seed = 7) {
    const auto config = ControllerConfiguration(options, registry_);
    EXPECT_TRUE(config.ok()) << config.error().text();
    auto engine = framework::Engine::Make(*config, registry_, clock_, seed);
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    return std::move(engine).value();
  }
  static ControllerOptions Placing(const std::string& placement, bool ready_nodes_only = false) {
    ControllerOptions options;
    options.scheduler_name = "mine";
    options.placement = placement;
    options.ready_nodes_only = ready_nodes_only;
    return options;
  }
  // As a scheduler does: the engine remembers, and its indexes are fed.
  void Feed(framework::Engine& engine) {
    for (PluginIndex* index : engine.Indexes()) state_.AddIndex(index);
    engine.Remember();
  }
  // The node's name, or what is said instead of one.
  std::string Decide(framework::Engine& engine) {
    const Pod pod = MakePod("p" + std::to_string(++pods_)).With([](Pod& p) { p.scheduler_name = "mine"; }).Build();
    const framework::Decision decision = engine.Decide(engine.first_profile(), pod, state_.snapshot());
    if (decision.kind != framework::Judgement::Kind::kFits) return decision.message;
    return state_.snapshot().node(decision.row).name();
  }
  void Put(const Node& node) { state_.PutNode(std::make_shared<const Node>(node)); }
  void Occupy(const std::string& node, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = "q" + std::to_string(++pods_);
      EXPECT_TRUE(state_.AddPod(std::make_shared<const Pod>(MakePod(name).Uid(name).OnNode(node).Build())).ok());
    }
  }

  Registry registry_;
  ManualClock clock_;
  cluster::ClusterState state_;
  int pods_ = 0;
};

TEST_F(PlacementsTest, RandomTakesEveryNodeAboutEquallyOften) {
  for (const char* name : {"a", "b", "c", "d"}) Put(Usable(name));
  const auto engine = Make(Placing("random"));
  Feed(*engine);
  std::map<std::string, int> times;
  for (int i = 0; i < 4000; ++i) ++times[Decide(*engine)];
  ASSERT_EQ(times.size(), 4u);
  for (const auto& [name, count] : times) EXPECT_NEAR(count, 1000, 150) << name;
  for (PluginIndex* index : engine->Indexes()) state_.RemoveIndex(index);
}

TEST_F(PlacementsTest, EqualSeedsGiveEqualPlacements) {
  for (const char* name : {"a", "b", "c", "d"}) Put(Usable(name));
  const auto one = Make(Placing("random"), 1), same = Make(Placing("random"), 1), other = Make(Placing("random"), 2);
  std::string of_one, of_same, of_other;
  for (int i = 0; i < 50; ++i) {
    of_one += Decide(*one);
    of_same += Decide(*same);
    of_other += Decide(*other);
  }
  EXPECT_EQ(of_one, of_same);
  EXPECT_NE(of_one, of_other);
}

// Which the API server tells of in the order of their last reports.
TEST_F(PlacementsTest, TheOrderInWhichNodesComeIsNothingToASeed) {
  cluster::ClusterState other_way_round;
  const auto one = Make(Placing("random"), 1), same = Make(Placing("random"), 1);
  for (PluginIndex* index : one->Indexes()) state_.AddIndex(index);
  for (PluginIndex* index : same->Indexes()) other_way_round.AddIndex(index);
  for (const char* name : {"a", "b", "c", "d"}) Put(Usable(name));
  for (const char* name : {"d", "b", "c", "a"}) other_way_round.PutNode(std::make_shared<const Node>(Usable(name)));
  std::string of_one, of_same;
  const Pod pod = MakePod("p").With([](Pod& p) { p.scheduler_name = "mine"; }).Build();
  for (int i = 0; i < 50; ++i) {
    of_one += Decide(*one);
    const framework::Decision decision = same->Decide(same->first_profile(), pod, other_way_round.snapshot());
    of_same += other_way_round.snapshot().node(decision.row).name();
  }
  EXPECT_EQ(of_one, of_same);
  for (PluginIndex* index : one->Indexes()) state_.RemoveIndex(index);
  for (PluginIndex* index : same->Indexes()) other_way_round.RemoveIndex(index);
}

TEST_F(PlacementsTest, NodesThatCannotBeUsedAreLeftOutOnlyWhenThatIsAskedFor) {
  Node cordoned = Usable("cordoned"), unready = MakeNode("unready").Build();
  cordoned.unschedulable = true;
  unready.conditions = {{"Ready", "Unknown"}};
  for (const Node& node : {cordoned, unready, Usable("usable"), MakeNode("silent").Build()}) Put(node);
  for (const std::string placement : {"random", "first", "least-pods"}) {
    SCOPED_TRACE(placement);
    const auto any = Make(Placing(placement)), ready = Make(Placing(placement, true));
    Feed(*any);
    Feed(*ready);
    for (int i = 0; i < 30; ++i) EXPECT_EQ(Decide(*ready), "usable");
    if (placement != "random") {
      EXPECT_EQ(Decide(*any), "cordoned");
    }
    for (PluginIndex* index : any->Indexes()) state_.RemoveIndex(index);
    for (PluginIndex* index : ready->Indexes()) state_.RemoveIndex(index);
  }
}

TEST_F(PlacementsTest, WithoutAnyNodeTheReasonIsSaid) {
  const auto engine = Make(Placing("random", true));
  EXPECT_EQ(Decide(*engine), "no nodes available to schedule pods");
  Put(MakeNode("unready").Build());
  EXPECT_EQ(Decide(*engine), "0/1 nodes are available: no node is ready and schedulable.");
}

TEST_F(PlacementsTest, FirstIsByNameAndFollowsTheCluster) {
  const auto engine = Make(Placing("first"));
  Feed(*engine);
  for (const char* name : {"n-2", "n-1", "n-3"}) Put(Usable(name));
  EXPECT_EQ(Decide(*engine), "n-1");
  EXPECT_TRUE(state_.RemoveNode("n-1").ok());
  EXPECT_EQ(Decide(*engine), "n-2");
  Put(Usable("n-0"));
  EXPECT_EQ(Decide(*engine), "n-0");
  for (PluginIndex* index : engine->Indexes()) state_.RemoveIndex(index);
}

TEST_F(PlacementsTest, LeastPodsCountsEverybodysPods) {
  const auto engine = Make(Placing("least-pods"));
  Feed(*engine);
  for (const char* name : {"a", "b", "c"}) Put(Usable(name));
  EXPECT_EQ(Decide(*engine), "a");
  Occupy("a", 2);
  Occupy("c", 1);
  EXPECT_EQ(Decide(*engine), "b");
  Occupy("b", 3);
  EXPECT_EQ(Decide(*engine), "c");
  for (PluginIndex* index : engine->Indexes()) state_.RemoveIndex(index);
}

TEST_F(PlacementsTest, TheIndexAnswersAsALookAtTheWholeClusterDoes) {
  for (const std::string placement : {"random", "first", "least-pods"}) {
    for (const bool ready : {false, true}) {
      // How often a pod that fits nowhere makes it draw is not what is tested here.
      if (placement == "random" && ready) continue;
      SCOPED_TRACE(placement + (ready ? " of ready nodes" : ""));
      const auto engine = Make(Placing(placement, ready)), reference = Make(Placing(placement, ready));
      Feed(*engine);  // the reference has no index
      util::Random dice(42);
      std::vector<std::string> uids;
      for (int step = 0; step < 600; ++step) {
        const std::string name = "n-" + std::to_string(dice.Below(8));
        if (dice.Chance(40)) {
          Node node = Usable(name);
          node.unschedulable = dice.Chance(20);
          if (dice.Chance(20)) node.conditions = {{"Ready", "False"}};
          Put(node);
        } else if (dice.Chance(15)) {
          (void)state_.RemoveNode(name);  // which may not be there
        } else if (dice.Chance(70) || uids.empty()) {
          Occupy(name, 1);
          uids.push_back("q" + std::to_string(pods_));
        } else {
          const auto at = uids.begin() + dice.Below(static_cast<int64_t>(uids.size()));
          EXPECT_TRUE(state_.RemovePod(*at).ok());
          uids.erase(at);
        }
        ASSERT_EQ(Decide(*engine), Decide(*reference)) << "after step " << step;
      }
      for (PluginIndex* index : engine->Indexes()) state_.RemoveIndex(index);
      for (const std::string& uid : uids) EXPECT_TRUE(state_.RemovePod(uid).ok());
    }
  }
}

TEST_F(PlacementsTest, APluginDecidesByItsFilterAndScore) {
  ControllerOptions options;
  options.scheduler_name = "mine";
  options.plugins = {"NodeResourcesFit"};
  options.ready_nodes_only = true;
  const auto engine = Make(options);
  Node large = Usable("large"), larger = MakeNode("larger").Capacity({{"cpu", "64"}, {"pods", "110"}}).Build();
  Put(large);
  Put(larger);
  EXPECT_EQ(Decide(*engine), "large") << "the larger one is not ready";
}

TEST_F(PlacementsTest, WhatIsWrongWithTheOptionsIsSaidByTheirFlags) {
  const auto wrong = [&](const ControllerOptions& options) {
    const auto config = ControllerConfiguration(options, registry_);
    return config.ok() ? "nothing" : config.error().text();
  };
  ControllerOptions options;
  EXPECT_EQ(wrong(options), "--scheduler-name is missing: the spec.schedulerName of the pods to bind");
  options.scheduler_name = "mine";
  EXPECT_EQ(wrong(options), "nothing");
  options.placement = "best";
  EXPECT_EQ(wrong(options), "--placement: there is no \"best\"; random, first and least-pods are");
  options.plugins = {"Nonsense"};
  EXPECT_EQ(wrong(options), "--plugin: there is no plugin \"Nonsense\"");
  options.plugins = {"DefaultBinder"};
  EXPECT_EQ(wrong(options), "--plugin DefaultBinder: it neither filters nor scores nodes");
  options.plugins = {"NodeResourcesFit=7"};
  EXPECT_EQ(wrong(options), "--plugin NodeResourcesFit: its arguments are not a JSON object");
  options.plugins = {"NodeResourcesFit={"};
  EXPECT_THAT(wrong(options), ::testing::StartsWith("--plugin NodeResourcesFit: its arguments are not JSON: "));
  options.plugins = {"NodeResourcesFit={\"nonsense\": 1}"};
  EXPECT_THAT(wrong(options), ::testing::HasSubstr("nonsense"));
}

}  // namespace
}  // namespace berth::controller
