// SPDX-License-Identifier: Apache-2.0
// The protocol's verbs on small plugins.
#include "extender/extender_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "config/load.h"
#include "extender/extender_test_util.h"
#include "extender/preset_plugins.h"
#include "testing/fake_registry.h"
#include "testing/throwing_plugin.h"

namespace berth::extender {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

class ExtenderServiceTest : public ::testing::Test {
 protected:
  ExtenderServiceTest() {
    registry_.Add<Heat>();
    registry_.Add<Couples>();
    registry_.Add<Door>();
    RegisterPresetPlugins(registry_);
    nodes_.Add(MakeNode("cool").Label("celsius", "10"));
    nodes_.Add(MakeNode("warm").Label("celsius", "25"));
    nodes_.Add(MakeNode("hot").Label("celsius", "40"));
  }

  std::unique_ptr<ExtenderService> Make(const config::Profile& profile, ServiceOptions options = {},
                                        bool with_cluster = true) {
    Result<std::unique_ptr<ExtenderService>> made =
        ExtenderService::Make(profile, registry_, clock_, with_cluster ? &nodes_ : nullptr,
                              with_cluster ? &binder_ : nullptr, std::move(options));
    if (made.ok()) return std::move(made).value();
    ADD_FAILURE() << made.error().text();
    return nullptr;
  }
  std::string Refusal(const config::Profile& profile) {
    const auto made = ExtenderService::Make(profile, registry_, clock_, nullptr, nullptr);
    return made.ok() ? "" : made.error().text();
  }
  static std::vector<Node> ThreeNodes() {
    return {MakeNode("hot").Label("celsius", "40"), MakeNode("cool").Label("celsius", "10"),
            MakeNode("warm").Label("celsius", "25")};
  }
  std::string BindError(ExtenderService& service, const ExtenderBindingArgs& args) {
    std::string said = "nothing";
    service.Bind(args, [&](std::string error) { said = std::move(error); });
    return said;
  }

  Registry registry_;
  ManualClock clock_;
  TestNodes nodes_;
  TestBinder binder_;
};

TEST_F(ExtenderServiceTest, FilterTellsWhoPassesAndWhyOthersDoNot) {
  const auto service = Make(ProfileOf({"Heat", "Couples"}));
  nodes_.Add(MakePod("a").Uid("a").OnNode("warm")).Add(MakePod("b").Uid("b").OnNode("warm"));
  const ExtenderArgs args = AskAboutNames(MakePod("p"), {"hot", "warm", "cool", "gone", "gone"});
  const FilterResult result = service->Filter(args);
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(Passed(args, result), ElementsAre("cool"));
  EXPECT_THAT(FailedOf(args, result),
              ElementsAre("!hot: node(s) were hot", "warm: node(s) had two pods already", "gone: node not found"));
}

TEST_F(ExtenderServiceTest, CompleteNodesNeedNoClusterAndAreJudgedAsTheyCame) {
  const auto service = Make(ProfileOf({"Heat"}), {}, /*with_cluster=*/false);
  const ExtenderArgs args = AskAboutNodes(MakePod("p"), ThreeNodes());
  EXPECT_THAT(Passed(args, service->Filter(args)), ElementsAre("cool", "warm"));
}

TEST_F(ExtenderServiceTest, CompleteNodesAreJudgedWithThePodsThatWeKnow) {
  const auto service = Make(ProfileOf({"Heat", "Couples"}));
  nodes_.Add(MakePod("a").Uid("a").OnNode("warm")).Add(MakePod("b").Uid("b").OnNode("warm"));
  // What the request says of a node counts, and a node that only the request knows is judged too.
  const ExtenderArgs args =
      AskAboutNodes(MakePod("p"), {MakeNode("hot").Label("celsius", "5"), MakeNode("warm"), MakeNode("new")});
  const FilterResult result = service->Filter(args);
  EXPECT_THAT(Passed(args, result), ElementsAre("hot", "new"));
  EXPECT_THAT(FailedOf(args, result), ElementsAre("warm: node(s) had two pods already"));
}

TEST_F(ExtenderServiceTest, APodWithListsTooLongForTheClusterIsRefused) {
  const auto service = Make(ProfileOf({"Heat", "Couples"}));
  ExtenderArgs names = AskAboutNames(MakePod("p"), {"cool"});
  ExtenderArgs nodes = AskAboutNodes(MakePod("p"), {MakeNode("cool")});
  ExtenderPreemptionArgs preemption;
  preemption.pod = MakePod("p");
  preemption.meta_victims = VictimMap{{"cool", Evict({})}};
  // Three nodes with a label each.
  names.pod_items = nodes.pod_items = preemption.pod_items = kMaxPairs / 6;
  EXPECT_EQ(service->Filter(names).error, "");
  EXPECT_EQ(service->Filter(nodes).error, "");
  EXPECT_TRUE(service->Prioritize(names).ok());
  EXPECT_TRUE(service->Preempt(preemption).ok());
  nodes_.Add(MakePod("a").Uid("a").OnNode("warm")).Add(MakePod("b").Uid("b").OnNode("warm"));
  const std::string refusal =
      "the lists of the pod have 333333333 items, and there are 8 nodes, items of their lists and pods in the cluster: "
      "the product must be at most 2000000000";
  EXPECT_EQ(service->Filter(names).error, refusal);
  EXPECT_THAT(service->Filter(nodes).error, HasSubstr("and there are 7 nodes"));  // its own node has no label
  EXPECT_EQ(service->Prioritize(names).error().text(), refusal);
  EXPECT_EQ(service->Preempt(preemption).error().text(), refusal);
}

TEST_F(ExtenderServiceTest, NodesWithTooManyResourcesAreRefusedBesideACluster) {
  Node rich = MakeNode("rich");
  for (int i = 0; i < 6'400; ++i) {
    rich.allocatable.scalars.emplace_back(InternResource("example.com/rich" + std::to_string(i)), 1);
  }
  std::vector<Node> nodes(10'000, MakeNode("plain"));
  nodes.push_back(std::move(rich));
  const ExtenderArgs args = AskAboutNodes(MakePod("p"), nodes);
  for (const bool with_cluster : {true, false}) {
    const auto service = Make(ProfileOf({"Couples"}), {}, with_cluster);
    EXPECT_THAT(service->Filter(args).error, HasSubstr("10001 nodes with 6400 different resources"));
    const auto scores = service->Prioritize(args);
    ASSERT_FALSE(scores.ok());
    EXPECT_THAT(scores.error().text(), HasSubstr("must be at most 64000000"));
  }
}

TEST_F(ExtenderServiceTest, WhatIsKeptOfTheClusterFollowsFromWhatPluginsDeclare) {
  EXPECT_THAT(Make(ProfileOf({"TruePredicate", "IndexPriority"}))->Kinds(true, true), IsEmpty());
  EXPECT_THAT(Make(ProfileOf({"TruePredicate", "LabelPriority"}))->Kinds(true, true), ElementsAre(Kind::kNode));
  const auto undeclared = Make(ProfileOf({"TruePredicate", "Heat"}));
  EXPECT_THAT(undeclared->Kinds(false, false), IsEmpty());
  const std::vector<Kind> all = undeclared->Kinds(true, false);
  EXPECT_EQ(all.size(), kKindCount - 1);  // priority classes are admission's business
  EXPECT_EQ(std::set<Kind>(all.begin(), all.end()).size(), all.size());
  EXPECT_EQ(std::count(all.begin(), all.end(), Kind::kPriorityClass), 0);
}

TEST_F(ExtenderServiceTest, NodesThatWereNotAskedAboutAreNotAnswered) {
  const auto service = Make(ProfileOf({"Heat"}));
  const ExtenderArgs args = AskAboutNames(MakePod("p"), {"warm"});
  const FilterResult result = service->Filter(args);
  EXPECT_THAT(Passed(args, result), ElementsAre("warm"));
  EXPECT_THAT(result.failed, IsEmpty());
}

TEST_F(ExtenderServiceTest, ANominatedPodIsJudgedOnAllNodes) {
  const auto service = Make(ProfileOf({"Heat"}));
  const ExtenderArgs args = AskAboutNames(MakePod("p").Nominated("warm"), {"cool", "warm"});
  EXPECT_THAT(Passed(args, service->Filter(args)), ElementsAre("cool", "warm"));
}

TEST_F(ExtenderServiceTest, ARejectionBeforeAllNodesIsTheReplysError) {
  const auto service = Make(ProfileOf({"Door"}));
  EXPECT_EQ(service->Filter(AskAboutNames(MakePod("stranger"), {"cool"})).error, "strangers stay outside");
  EXPECT_THAT(service->Filter(AskAboutNames(MakePod("broken"), {"cool"})).error, HasSubstr("the door is stuck"));
  const ExtenderArgs picked = AskAboutNames(MakePod("pick-warm"), {"cool", "warm"});
  const FilterResult result = service->Filter(picked);
  EXPECT_THAT(Passed(picked, result), ElementsAre("warm"));
  EXPECT_THAT(FailedOf(picked, result), ElementsAre("!cool: node(s) didn't satisfy plugin(s) [Door]"));
}

TEST_F(ExtenderServiceTest, WithoutPodOrNodesThereIsASentence) {
  const auto service = Make(ProfileOf({"Heat"}));
  ExtenderArgs args;
  EXPECT_EQ(service->Filter(args).error, "Pod: Required value");
  args.pod = MakePod("p").Build();
  EXPECT_THAT(service->Filter(args).error, HasSubstr("Nodes: Required value"));
  EXPECT_FALSE(service->Prioritize(args).ok());
  EXPECT_FALSE(service->Preempt({}).ok());
}

TEST_F(ExtenderServiceTest, AnEmptyListIsAnsweredWithOne) {
  const auto service = Make(ProfileOf({"Heat"}));
  const FilterResult result = service->Filter(AskAboutNames(MakePod("p"), {}));
  EXPECT_EQ(result.error, "");
  EXPECT_THAT(result.passed, IsEmpty());
  const ExtenderArgs none = AskAboutNodes(MakePod("p"), {});
  EXPECT_THAT(*service->Prioritize(none), IsEmpty());
}

TEST_F(ExtenderServiceTest, NamesWithoutAClusterFailWhereAPluginReadsNodes) {
  const auto service = Make(ProfileOf({"Heat"}), {}, /*with_cluster=*/false);
  EXPECT_THAT(service->Filter(AskAboutNames(MakePod("p"), {"a"})).error, HasSubstr("no API server is configured"));
  const ExtenderArgs named = AskAboutNames(MakePod("p"), {"a"});
  EXPECT_FALSE(service->Prioritize(named).ok());
  ExtenderPreemptionArgs preempt;
  preempt.pod = MakePod("p").Build();
  preempt.meta_victims = VictimMap{{"a", Evict({"x"}, 0)}};
  EXPECT_FALSE(service->Preempt(preempt).ok());
  const auto blind = Make(ProfileOf({"TruePredicate", "ZeroPriority"}), {}, /*with_cluster=*/false);
  const ExtenderArgs args = AskAboutNames(MakePod("p"), {"a", "b"});
  EXPECT_THAT(Passed(args, blind->Filter(args)), ElementsAre("a", "b"));
  EXPECT_EQ(*blind->Preempt(preempt), *preempt.meta_victims);
}

TEST_F(ExtenderServiceTest, AClusterThatIsNotReadYetIsAnError) {
  const auto service = Make(ProfileOf({"Heat"}));
  nodes_.synced = false;
  EXPECT_FALSE(service->ready());
  EXPECT_THAT(service->Filter(AskAboutNames(MakePod("p"), {"cool"})).error, HasSubstr("not been read yet"));
}

TEST_F(ExtenderServiceTest, ScoresAreScaledToTenAndRounded) {
  const auto service = Make(ProfileOf({"Heat"}));
  // 90, 75 and 60 of 100; whether a node would pass is no matter.
  const ExtenderArgs args = AskAboutNames(MakePod("p"), {"cool", "gone", "warm", "hot"});
  const auto list = service->Prioritize(args);
  ASSERT_TRUE(list.ok()) << list.error().text();
  EXPECT_THAT(*list, ElementsAre(HostPriority{"cool", 9}, HostPriority{"gone", 0}, HostPriority{"warm", 8},
                                 HostPriority{"hot", 6}));
}

TEST_F(ExtenderServiceTest, WeightsAreSharesOfTheTen) {
  config::Profile profile = ProfileOf({"Heat", "ZeroPriority"});
  profile.plugins.multi_point.enabled[0].weight = 3;
  const ExtenderArgs args = AskAboutNames(MakePod("p"), {"cool"});
  const auto list = Make(profile)->Prioritize(args);
  ASSERT_TRUE(list.ok()) << list.error().text();
  EXPECT_THAT(*list, ElementsAre(HostPriority{"cool", 7}));  // 270 of 400: 6.75
}

TEST_F(ExtenderServiceTest, WithoutScorePluginsEveryNodeHasZero) {
  const ExtenderArgs args = AskAboutNames(MakePod("p"), {"cool", "hot"});
  const auto list = Make(ProfileOf({"Couples"}))->Prioritize(args);
  ASSERT_TRUE(list.ok()) << list.error().text();
  EXPECT_THAT(*list, ElementsAre(HostPriority{"cool", 0}, HostPriority{"hot", 0}));
}

TEST_F(ExtenderServiceTest, OnlyTheBestNodePassesAndTheFirstOfEquals) {
  const auto service = Make(ProfileOf({"Heat"}));
  const ExtenderArgs args = AskAboutNodes(MakePod("p"), ThreeNodes());
  const FilterResult result = service->Filter(args, /*only_best=*/true);
  EXPECT_THAT(Passed(args, result), ElementsAre("cool"));
  EXPECT_THAT(FailedOf(args, result), ElementsAre("!hot: node(s) were hot", "!warm: another node was preferred"));
  const ExtenderArgs equal = AskAboutNodes(MakePod("p"), {MakeNode("z"), MakeNode("a")});
  EXPECT_THAT(Passed(equal, service->Filter(equal, true)), ElementsAre("z"));
}

TEST_F(ExtenderServiceTest, ACandidateStaysIfThePodFitsWithoutItsVictims) {
  const auto service = Make(ProfileOf({"Heat", "Couples"}));
  for (const char* node : {"cool", "warm", "hot"}) {
    for (const char* pod : {"a", "b", "c"}) {
      nodes_.Add(MakePod(std::string(node) + pod).Uid(std::string(node) + pod).OnNode(node));
    }
  }
  ExtenderPreemptionArgs args;
  args.pod = MakePod("p").Build();
  args.meta_victims = VictimMap{{"cool", Evict({"coola", "coolb"}, 3)},
                                {"warm", Evict({"warma", "unknown"}, 0)},
                                {"hot", Evict({"hota", "hotb", "hotc"}, 0)},
                                {"gone", Evict({"x"}, 0)}};
  const Result<VictimMap> kept = service->Preempt(args);
  ASSERT_TRUE(kept.ok()) << kept.error().text();
  EXPECT_THAT(*kept, ElementsAre(Pair("cool", Evict({"coola", "coolb"}, 3))));
  std::swap(args.victims, args.meta_victims);
  EXPECT_EQ(*service->Preempt(args), *kept);
  args.victims.reset();
  EXPECT_THAT(*service->Preempt(args), IsEmpty());
}

TEST_F(ExtenderServiceTest, BindChecksThePodAndPosts) {
  const auto service = Make(ProfileOf({"Heat"}), {.scheduler_names = {"default-scheduler"}});
  binder_.pods["default/p"] = MakePod("p").Uid("u");
  EXPECT_EQ(BindError(*service, {"p", "default", "u", "n"}), "");
  EXPECT_THAT(binder_.bound, ElementsAre("default/p to n"));
  binder_.answer = Verdict::Fail("conflict");
  EXPECT_EQ(BindError(*service, {"p", "default", "u", "n"}), "conflict");
  binder_.bound.clear();

  EXPECT_EQ(BindError(*service, {"p", "default", "", "n"}), "PodUID: Required value");
  EXPECT_EQ(BindError(*service, {"p", "default", "u", ""}), "Node: Required value");
  EXPECT_EQ(BindError(*service, {"q", "default", "u", "n"}), "pod default/q not found");
  EXPECT_THAT(BindError(*service, {"p", "default", "other", "n"}), HasSubstr("has uid \"u\", not \"other\""));
  binder_.pods["default/p"] = MakePod("p").Uid("u").OnNode("m");
  EXPECT_THAT(BindError(*service, {"p", "default", "u", "n"}), HasSubstr("already assigned to node \"m\""));
  // As the API server refuses them.
  binder_.pods["default/p"] = MakePod("p").Uid("u").OnNode("m").Terminating();
  EXPECT_EQ(BindError(*service, {"p", "default", "u", "n"}),
            "pod default/p is being deleted, cannot be assigned to a host");
  binder_.pods["default/p"] =
      MakePod("p").Uid("u").With([](Pod& pod) { pod.scheduling_gates.Edit().push_back("later"); });
  EXPECT_EQ(BindError(*service, {"p", "default", "u", "n"}), "pod default/p has non-empty .spec.schedulingGates");
  binder_.pods["default/p"] = MakePod("p").Uid("u").With([](Pod& pod) { pod.scheduler_name = "other"; });
  EXPECT_THAT(BindError(*service, {"p", "default", "u", "n"}), HasSubstr("belongs to scheduler \"other\""));
  EXPECT_THAT(binder_.bound, IsEmpty());
}

TEST_F(ExtenderServiceTest, WhatABindWaitedBeforeCountsTowardsItsTime) {
  const auto service = Make(ProfileOf({"Heat"}));
  binder_.pods["default/p"] = MakePod("p").Uid("u");
  const auto came = std::chrono::steady_clock::now() - std::chrono::seconds(3);
  std::string said = "nothing";
  service->Bind(
      {"p", "default", "u", "n"}, [&](std::string error) { said = std::move(error); }, came);
  EXPECT_EQ(said, "");
  EXPECT_EQ(binder_.find_by, came + std::chrono::milliseconds(4500));
  EXPECT_EQ(binder_.bind_by, came + std::chrono::milliseconds(4500));
}

TEST_F(ExtenderServiceTest, BindTakesNamesThatKubernetesTakes) {
  const auto service = Make(ProfileOf({"Heat"}));
  const std::string longest = std::string(63, 'x') + "." + std::string(63, 'y') + "." + std::string(63, 'z') + "." +
                              std::string(61, 'w');  // 253 bytes
  binder_.pods["kube-system/" + longest] = MakePod(longest).Namespace("kube-system").Uid("u");
  EXPECT_EQ(BindError(*service, {longest, "kube-system", "u", "a.b-c.example"}), "");
  binder_.bound.clear();
  for (const std::string& bad : {std::string(".."), std::string("."), std::string("a/b"), std::string("a%2fb"),
                                 std::string("A"), std::string("a\nb"), std::string("-a"), longest + "v"}) {
    const std::string shown = bad.size() > 64 ? bad.substr(0, 64) : Value::String(bad).ToJson();
    EXPECT_THAT(BindError(*service, {bad, "default", "u", "n"}),
                AllOf(StartsWith("PodName: Invalid value: "), HasSubstr(shown)));
    EXPECT_THAT(BindError(*service, {"p", bad, "u", "n"}), StartsWith("PodNamespace: Invalid value: "));
    EXPECT_THAT(BindError(*service, {"p", "default", "u", bad}), StartsWith("Node: Invalid value: "));
  }
  EXPECT_THAT(BindError(*service, {"p", "a.b", "u", "n"}), StartsWith("PodNamespace: Invalid value: \"a.b\": "));
  // Sentences stay short, whatever was sent.
  const std::string huge(1'000'000, 'x');
  for (const ExtenderBindingArgs& args : {ExtenderBindingArgs{huge, "default", "u", "n"},
                                          {"p", huge, "u", "n"},
                                          {"p", "default", huge, "n"},
                                          {"p", "default", "u", huge}}) {
    const std::string error = BindError(*service, args);
    EXPECT_THAT(error, HasSubstr("(1000000 bytes)"));
    EXPECT_LT(error.size(), 1000u);
  }
  EXPECT_THAT(binder_.bound, IsEmpty());
}

TEST_F(ExtenderServiceTest, BindTakesNoOtherPodThanTheOneAskedFor) {
  const auto service = Make(ProfileOf({"Heat"}));
  binder_.pods["default/p"] = MakePod("other").Uid("u");
  EXPECT_EQ(BindError(*service, {"p", "default", "u", "n"}),
            "pod default/p was asked for, but the API server answered with pod \"default/other\"");
  binder_.pods["default/p"] = MakePod("p").Namespace("kube-system").Uid("u");
  EXPECT_THAT(BindError(*service, {"p", "default", "u", "n"}), HasSubstr("pod \"kube-system/p\""));
  EXPECT_THAT(binder_.bound, IsEmpty());
}

// Answers in the call itself that the next one shall do it.
class Passes final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "Passes";
  void Bind(const Placement&, StateSlot&, Done done) const override { done(Verdict(Code::kSkip, "not mine")); }
};
// Says that it was done and throws.
class SaysAndThrows final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "SaysAndThrows";
  void Bind(const Placement&, StateSlot&, Done done) const override {
    done({});
    throw std::runtime_error("too late");
  }
};
// Throws and says nothing.
class Throws final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "Throws";
  void Bind(const Placement&, StateSlot&, Done) const override { throw std::runtime_error("stuck"); }
};

TEST_F(ExtenderServiceTest, BindPluginsAreAskedInTurnUntilOneTakesThePod) {
  registry_.Add<Passes>();
  registry_.Add<SaysAndThrows>();
  registry_.Add<Throws>();
  binder_.pods["default/p"] = MakePod("p").Uid("u");
  const ExtenderBindingArgs args = {"p", "default", "u", "n"};
  EXPECT_EQ(BindError(*Make(ProfileOf({"Passes", "SaysAndThrows", "Throws"})), args), "");
  EXPECT_THAT(BindError(*Make(ProfileOf({"Passes", "Throws"})), args), HasSubstr("stuck"));
  EXPECT_EQ(BindError(*Make(ProfileOf({"Passes"})), args), "no Bind plugin took the pod");
}

// Binds the pod where it was asked to, and, which nobody asked for, elsewhere.
class BindsTwice final : public BindPlugin {
 public:
  static constexpr std::string_view kName = "BindsTwice";
  static inline std::function<void(const char*)> said;
  explicit BindsTwice(Handle& handle) : handle_(handle) {}
  void Bind(const Placement& placement, StateSlot&, Done done) const override {
    handle_.writer().Bind(*placement.pod, placement.node, [](const Verdict&) { said("asked for"); });
    handle_.writer().Bind(*placement.pod, "elsewhere", [](const Verdict&) { said("not asked for"); });
    done({});
  }

 private:
  Handle& handle_;
};

TEST_F(ExtenderServiceTest, ABindRequestHasOneDeadlineForAllThatIsSentForIt) {
  binder_.pods["default/p"] = MakePod("p").Uid("u");
  const ExtenderBindingArgs args = {"p", "default", "u", "n"};
  ASSERT_EQ(BindError(*Make(ProfileOf({"Heat"})), args), "");
  EXPECT_LT(util::Left(binder_.find_by), Duration::Seconds(5)) << "kube-scheduler gives up then";
  EXPECT_FALSE(util::IsOver(binder_.find_by));
  EXPECT_EQ(binder_.bind_by, binder_.find_by);

  registry_.Add<BindsTwice>();
  std::vector<std::pair<std::string, bool>> said;
  BindsTwice::said = [&](const char* what) { said.emplace_back(what, binder_.bind_by == binder_.find_by); };
  ASSERT_EQ(BindError(*Make(ProfileOf({"BindsTwice"})), args), "");
  EXPECT_THAT(said, ElementsAre(std::pair("asked for", true), std::pair("not asked for", false)));
}

TEST_F(ExtenderServiceTest, ARejectionBeforeAllNodesIsAboutTheNodesAskedAboutInBothShapes) {
  const std::string label(LabelPriority::kDefaultLabel);
  const std::string error = "all node do not have label " + label;
  nodes_.Add(MakeNode("labelled").Label(label, "3"));
  const std::vector<Node> without = {MakeNode("cool"), MakeNode("warm")};
  // With another plugin that looks at pods both shapes are judged on the whole cluster.
  for (const std::vector<std::string>& plugins :
       {std::vector<std::string>{"LabelPriority"}, std::vector<std::string>{"LabelPriority", "Couples"}}) {
    const auto service = Make(ProfileOf(plugins));
    EXPECT_EQ(service->Filter(AskAboutNames(MakePod("p"), {"cool", "warm"})).error, error);
    EXPECT_EQ(service->Filter(AskAboutNames(MakePod("p"), {"cool", "cool", "gone"})).error, error);
    EXPECT_EQ(service->Filter(AskAboutNodes(MakePod("p"), without)).error, error);
    EXPECT_EQ(service->Filter(AskAboutNames(MakePod("p"), {"cool"}), /*only_best=*/true).error, error);
    const ExtenderArgs some = AskAboutNames(MakePod("p"), {"cool", "labelled"});
    EXPECT_EQ(service->Filter(some).error, "");
    EXPECT_THAT(Passed(some, service->Filter(some)), ElementsAre("labelled"));
    EXPECT_EQ(service->Filter(AskAboutNames(MakePod("p"), {"gone"})).error, "");
    EXPECT_EQ(service->Filter(AskAboutNames(MakePod("p"), {})).error, "");
  }
}

TEST_F(ExtenderServiceTest, BindGoesThroughTheProfilesBindPlugins) {
  registry_.Add(testing::FakeDescriptor("TakesAll", {Point::kBind}));
  const auto service = Make(ProfileOf({"TakesAll"}));
  binder_.pods["default/p"] = MakePod("p").Uid("u");
  EXPECT_EQ(BindError(*service, {"p", "default", "u", "n"}), "");
  EXPECT_THAT(binder_.bound, IsEmpty());  // the plugin said that it did it
}

TEST_F(ExtenderServiceTest, WithoutAnApiServerBindSaysSo) {
  const auto service = Make(ProfileOf({"Heat"}), {}, /*with_cluster=*/false);
  EXPECT_EQ(BindError(*service, {"p", "default", "u", "n"}), "cannot bind: no API server is configured");
}

TEST_F(ExtenderServiceTest, WhatTheProtocolCannotCarryIsRefusedByNameAndExtensionPoint) {
  for (const Point point : {Point::kPreEnqueue, Point::kQueueSort, Point::kPostFilter, Point::kReserve, Point::kPermit,
                            Point::kPreBind, Point::kPostBind}) {
    const std::string name = "At" + std::string(ToString(point));
    registry_.Add(testing::FakeDescriptor(name, {Point::kFilter, point}));
    config::Profile profile = ProfileOf({"Heat", name});
    EXPECT_THAT(Refusal(profile),
                HasSubstr("plugin \"" + name + "\" cannot be served at " + std::string(ToString(point)) + ": "));
    // Without that point it can be served.
    profile.plugins[point].disabled.push_back({name, 0});
    EXPECT_EQ(Refusal(profile), "");
  }
}

TEST_F(ExtenderServiceTest, PlacementPointsAreNotCarriedEither) {
  registry_.Add(testing::FakeDescriptor("NodeResourcesFit", {Point::kFilter}));
  config::Profile profile = ProfileOf({"NodeResourcesFit"});
  EXPECT_EQ(Refusal(profile), "");
  profile.plugins.placement_score.enabled.push_back({"NodeResourcesFit", 1});
  EXPECT_THAT(Refusal(profile), HasSubstr("plugin \"NodeResourcesFit\" cannot be served at PlacementScore: "));
}

// Rejects every node, and says why at length.
class Chatty final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Chatty";
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  Verdict FilterNode(const Pod&, NodeView) const override {
    return Verdict(Code::kUnschedulable, std::string(100'000, 'x'));
  }
};

TEST_F(ExtenderServiceTest, ReasonsAreCutAndAnAnswerOfNothingElseHasAnEnd) {
  registry_.Add<Chatty>();
  const auto service = Make(ProfileOf({"Chatty"}));
  ExtenderArgs args;
  args.pod = MakePod("p");
  args.node_names.emplace();
  for (int i = 0; i < 3; ++i) args.node_names->push_back("n" + std::to_string(i));
  const FilterResult few = service->Filter(args);
  EXPECT_EQ(few.error, "");
  ASSERT_EQ(few.failed.size(), 3u);
  ASSERT_EQ(few.texts.size(), 1u);
  EXPECT_THAT(few.texts[0], StartsWith(std::string(1000, 'x')));
  EXPECT_LT(few.texts[0].size(), 1040u);
  for (int i = 3; i < 70'000; ++i) args.node_names->push_back("n" + std::to_string(i));
  EXPECT_THAT(service->Filter(args).error, StartsWith("the reasons of 70000 nodes have "));
}

TEST_F(ExtenderServiceTest, APluginThatThrowsFromADeclarationIsRefusedByName) {
  for (const char* function : {"DependsOn", "TracksPods", "normalization", "EventsToRegister"}) {
    SCOPED_TRACE(function);
    using enum Point;
    const std::string name = std::string("Throws") + function;
    registry_.Add(berth::testing::ThrowingDescriptor(name, {kPreFilter, kFilter, kPreScore, kScore}, function));
    EXPECT_THAT(Refusal(ProfileOf({name})), HasSubstr("plugin \"" + name + "\", " + function + ": plugin threw: boom"));
  }
}

TEST_F(ExtenderServiceTest, UnknownAndMissingPluginsAreRefused) {
  EXPECT_THAT(Refusal(ProfileOf({"Nobody"})), HasSubstr("\"Nobody\" does not exist"));
  EXPECT_THAT(Refusal(ProfileOf({})), HasSubstr("names no plugin"));
}

TEST_F(ExtenderServiceTest, AConfigurationsProfileIsServedWithoutDefaultPlugins) {
  const config::Loaded loaded = config::LoadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n"
      "- {schedulerName: s, plugins: {filter: {enabled: [{name: Heat}]}}}\n",
      registry_, config::UnnamedPlugins::kNone);
  ASSERT_TRUE(loaded.ok()) << loaded.errors.front().ToString();
  const auto service = Make(loaded.config.profiles.front());
  ASSERT_EQ(service->profile().plugins.size(), 1u);
  EXPECT_EQ(service->profile().filter.size(), 1u);
  EXPECT_EQ(service->profile().score.size(), 0u);
}

}  // namespace
}  // namespace berth::extender
