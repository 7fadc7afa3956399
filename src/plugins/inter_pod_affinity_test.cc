// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity: filtering and scoring in both directions, namespaces, what-ifs and hints.
#include "plugins/inter_pod_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "framework/cycle_run.h"

namespace berth::plugins {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr char kZone[] = "zone";

PodAffinityTerm Near(const std::string& app, const std::string& key = kZone) {
  PodAffinityTerm term;
  term.selector = SelectLabels({{"app", app}});
  term.topology_key = key;
  return term;
}
PodAffinityTerm InNamespaces(PodAffinityTerm term, std::optional<LabelSelector> selector,
                             std::vector<std::string> names = {}) {
  term.namespace_selector = std::move(selector);
  term.namespaces = std::move(names);
  return term;
}
LabelSelector Selector(Requirement requirement) { return {{std::move(requirement)}, ""}; }

MakePod App(const std::string& app, const std::string& name) { return MakePod(name).Label("app", app); }

// a1 and a2 in zone one, b1 in zone two, c1 in no zone.
void AddNodes(TestCluster& cluster) {
  cluster.Add(MakeNode("a1").Label(kZone, "one").Label("host", "a1"));
  cluster.Add(MakeNode("a2").Label(kZone, "one").Label("host", "a2"));
  cluster.Add(MakeNode("b1").Label(kZone, "two").Label("host", "b1"));
  cluster.Add(MakeNode("c1").Label("host", "c1"));
}

// `+` fits, `a` affinity, `n` own anti-affinity, `e` existing pods' anti-affinity.
std::string Letters(const std::map<std::string, Verdict>& verdicts) {
  std::string text;
  for (const auto& [node, verdict] : verdicts) {
    text += verdict.fits()                                                ? "+"
            : verdict == Verdict(InterPodAffinity::kAffinity)             ? "a"
            : verdict == Verdict(InterPodAffinity::kAntiAffinity)         ? "n"
            : verdict == Verdict(InterPodAffinity::kExistingAntiAffinity) ? "e"
                                                                          : "!";
  }
  return text;
}

TEST(InterPodAffinityTest, RequiredTermsNeedOrRefuseTheDomainOfMatchingPods) {
  TestCluster cluster;
  AddNodes(cluster);
  cluster.Add(App("db", "db").OnNode("a1")).Add(App("web", "web").OnNode("b1").Terminating());
  const struct {
    const char* name;
    Pod pod;
    const char* want;  // a1 a2 b1 c1
  } cases[] = {
      {"near db", MakePod().PodAffinity(Near("db")), "++aa"},
      {"terminating pods are still there", MakePod().PodAffinity(Near("web")), "aa+a"},
      {"near db's host", MakePod().PodAffinity(Near("db", "host")), "+aaa"},
      {"one pod must match all terms", MakePod().PodAffinity(Near("db")).PodAffinity(Near("web")), "aaaa"},
      {"away from db", MakePod().PodAntiAffinity(Near("db")), "nn++"},
      {"away from both, a term each", MakePod().PodAntiAffinity(Near("db")).PodAntiAffinity(Near("web")), "nnn+"},
      {"affinity comes before anti-affinity", MakePod().PodAffinity(Near("db")).PodAntiAffinity(Near("db")), "nnaa"},
      {"nobody matches", MakePod().PodAffinity(Near("cache")), "aaaa"},
      {"the first of its kind goes where its keys are", App("cache", "p").PodAffinity(Near("cache")), "+++a"},
      {"not the first: db is there", App("db", "p").PodAffinity(Near("db")), "++aa"},
      {"another namespace's pods do not count", MakePod().Namespace("x").PodAffinity(Near("db")), "aaaa"},
      {"unless it is listed", MakePod().Namespace("x").PodAffinity(InNamespaces(Near("db"), {}, {"default"})), "++aa"},
      {"or all of them are selected", MakePod().Namespace("x").PodAffinity(InNamespaces(Near("db"), LabelSelector())),
       "++aa"},
      {"a null selector matches nothing", MakePod().PodAntiAffinity([] {
         PodAffinityTerm term = Near("db");
         term.selector.reset();
         return term;
       }()),
       "++++"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), c.pod, cluster)), c.want);
  }
}

TEST(InterPodAffinityTest, ExistingPodsKeepOthersAway) {
  TestCluster cluster;
  AddNodes(cluster);
  cluster.Add(App("db", "db").OnNode("a1").PodAntiAffinity(Near("web")).PodAntiAffinity(Near("job", "host")));
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("web", "p"), cluster)), "ee++");
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("job", "p"), cluster)), "e+++");
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("other", "p"), cluster)), "++++");
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("web", "p").Namespace("x"), cluster)), "++++");
}

TEST(InterPodAffinityTest, ExistingPodsSelectNamespacesByTheirLabels) {
  Namespace prod;
  prod.meta.name = "prod";
  prod.meta.labels = Labels({{"env", "prod"}});
  TestCluster cluster;
  AddNodes(cluster);
  cluster.AddObject(prod);
  cluster.Add(App("db", "db")
                  .OnNode("a1")
                  .PodAntiAffinity(InNamespaces(Near("web"), Selector(Require("env", SelectorOp::kIn, {"prod"})))));
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("web", "p").Namespace("prod"), cluster)), "ee++");
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("web", "p").Namespace("unknown"), cluster)), "++++");
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("web", "p"), cluster)), "++++") << "own one is not implied";
}

// Upstream 1.34 to 1.36 asks the namespace selector about a namespace without labels as well.
TEST(InterPodAffinityTest, NegativeNamespaceSelectorsMatchEveryNamespaceAsUpstreamHasIt) {
  Namespace prod, test;
  prod.meta.name = "prod";
  prod.meta.labels = Labels({{"env", "prod"}});
  test.meta.name = "test";
  test.meta.labels = Labels({{"env", "test"}});
  TestCluster cluster;
  AddNodes(cluster);
  cluster.AddObject(prod).AddObject(test);
  cluster.Add(App("db", "db").Namespace("prod").OnNode("a1"));
  const auto pod = [](Requirement requirement) {
    return MakePod().PodAntiAffinity(InNamespaces(Near("db"), Selector(std::move(requirement)))).Build();
  };
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), pod(Require("env", SelectorOp::kIn, {"prod"})), cluster)), "nn++");
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), pod(Require("env", SelectorOp::kIn, {"test"})), cluster)), "++++");
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), pod(Require("env", SelectorOp::kNotIn, {"prod"})), cluster)), "nn++");
}

TEST(InterPodAffinityTest, UnparsableSelectorsRejectThePodOutright) {
  PodAffinityTerm bad = Near("db");
  bad.selector->invalid = "bad one";
  TestCluster cluster;
  AddNodes(cluster);
  const Verdict one = FilterAll(InterPodAffinity(), MakePod().PodAffinity(bad), cluster).at("a1");
  EXPECT_EQ(one, Verdict(Code::kUnschedulableAndUnresolvable, "parsing pod: requiredAffinityTerms: bad one"));
  const Verdict two =
      FilterAll(InterPodAffinity(), MakePod().PodAffinity(bad).PreferPodAntiAffinity(1, bad), cluster).at("a1");
  EXPECT_EQ(two.message(), "parsing pod: [requiredAffinityTerms: bad one, preferredAntiAffinityTerms: bad one]");
}

TEST(InterPodAffinityTest, ExistingPodsWithAnUnparsableTermHaveNoneOfThatList) {
  PodAffinityTerm bad = Near("x");
  bad.namespace_selector = LabelSelector{{}, "bad one"};
  TestCluster cluster;
  AddNodes(cluster);
  cluster.Add(App("db", "db").OnNode("a1").PodAntiAffinity(Near("web")).PodAntiAffinity(bad));
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("web", "p"), cluster)), "++++");
}

class WhatIfTest : public ::testing::Test {
 protected:
  // What is said of `node` while the named pods are away from it.
  std::string Without(const std::vector<std::string>& pods, const std::string& node, const Pod& pod) {
    framework::Profile profile;
    profile.plugins.push_back({"test", nullptr});
    profile.pre_filter.push_back({&plugin_, 0});
    profile.filter.push_back({&plugin_, 0});
    EXPECT_TRUE(framework::TakeDeclarations(profile).ok());
    VerdictTable table;
    const Snapshot snapshot = cluster_.snapshot();
    framework::CycleRun run(profile, table, pod, snapshot, {});
    EXPECT_TRUE(run.RunPreFilter().ruling.verdict.fits());
    const Row row = snapshot.FindRow(node);
    const auto what_if = run.Imagine(row);
    for (const PodRecord* record : snapshot.pods(row)) {
      if (std::find(pods.begin(), pods.end(), record->pod->name()) == pods.end()) continue;
      EXPECT_TRUE(what_if->RemovePod(*record).ok());
    }
    return Letters({{node, what_if->Judge()}});
  }
  InterPodAffinity plugin_;
  TestCluster cluster_;
};

TEST_F(WhatIfTest, RemovedPodsNoLongerMatch) {
  AddNodes(cluster_);
  cluster_.Add(App("db", "db1").OnNode("a1")).Add(App("db", "db2").OnNode("a2"));
  cluster_.Add(App("lone", "lone").OnNode("b1").PodAntiAffinity(Near("new")));
  const Pod away = App("new", "p").Uid("p").PodAntiAffinity(Near("db", "host"));
  EXPECT_EQ(Without({}, "a1", away), "n");
  EXPECT_EQ(Without({"db1"}, "a1", away), "+");
  EXPECT_EQ(Without({}, "b1", away), "e");
  EXPECT_EQ(Without({"lone"}, "b1", away), "+");
  const Pod zone_away = MakePod("p").Uid("p").PodAntiAffinity(Near("db"));
  EXPECT_EQ(Without({"db1"}, "a1", zone_away), "n") << "db2 is in the same zone";
}

TEST_F(WhatIfTest, TheLastMatchGoneMakesThePodTheFirstOfItsKind) {
  AddNodes(cluster_);
  cluster_.Add(App("db", "db1").OnNode("a1"));
  EXPECT_EQ(Without({"db1"}, "a1", MakePod("p").Uid("p").PodAffinity(Near("db"))), "a");
  EXPECT_EQ(Without({"db1"}, "a1", App("db", "p").Uid("p").PodAffinity(Near("db"))), "+");
}

TEST(InterPodAffinityTest, NominatedPodsKeepOthersAwayOnKeysNobodyElseUses) {
  TestCluster cluster;
  AddNodes(cluster);
  cluster.Add(App("db", "db").OnNode("b1").PodAntiAffinity(Near("web")));
  cluster.Add(App("n", "n").Priority(5).Nominated("a1").PodAntiAffinity(Near("web", "host")));
  EXPECT_EQ(Letters(FilterAll(InterPodAffinity(), App("web", "p"), cluster)), "e+e+");
}

TEST(InterPodAffinityScoreTest, WeightsAddUpByDomain) {
  TestCluster cluster;
  AddNodes(cluster);
  cluster.Add(App("db", "db1").OnNode("a1")).Add(App("db", "db2").OnNode("a1")).Add(App("web", "web").OnNode("b1"));
  const ScoreResult got = ScoreAll(
      InterPodAffinity(), MakePod().PreferPodAffinity(10, Near("db")).PreferPodAntiAffinity(5, Near("web")), cluster);
  EXPECT_THAT(got.raw, ElementsAre(Pair("a1", 20), Pair("a2", 20), Pair("b1", -5), Pair("c1", 0)));
  EXPECT_THAT(got.normalized, ElementsAre(Pair("a1", 100), Pair("a2", 100), Pair("b1", 0), Pair("c1", 20)));
}

TEST(InterPodAffinityScoreTest, ExistingPodsPreferTheNewOneToo) {
  TestCluster cluster;
  AddNodes(cluster);
  cluster.Add(App("db", "db1").OnNode("a1").PodAffinity(Near("web", "host")));
  cluster.Add(App("db", "db2").OnNode("b1").PreferPodAntiAffinity(3, Near("web", "host")));
  const Pod pod = App("web", "p");
  EXPECT_THAT(ScoreAll(InterPodAffinity(), pod, cluster).raw,
              ElementsAre(Pair("a1", 1), Pair("a2", 0), Pair("b1", -3), Pair("c1", 0)));
  InterPodAffinity::Args args;
  args.hard_pod_affinity_weight = 7;
  EXPECT_EQ(ScoreAll(InterPodAffinity(args), pod, cluster).raw.at("a1"), 7);
  args.ignore_preferred_terms_of_existing_pods = true;
  EXPECT_TRUE(ScoreAll(InterPodAffinity(args), pod, cluster).raw.empty());
  const Pod own = App("web", "p").PreferPodAffinity(1, Near("none"));
  EXPECT_EQ(ScoreAll(InterPodAffinity(args), own, cluster).raw.at("b1"), -3) << "own terms make the flag moot";
}

TEST(InterPodAffinityScoreTest, NothingMatchedMeansSkipped) {
  TestCluster cluster;
  AddNodes(cluster);
  cluster.Add(App("db", "db1").OnNode("c1"));
  EXPECT_TRUE(ScoreAll(InterPodAffinity(), MakePod(), cluster).raw.empty());
  EXPECT_TRUE(ScoreAll(InterPodAffinity(), MakePod().PreferPodAffinity(1, Near("db")), cluster).raw.empty())
      << "db's node has no zone";
}

TEST(InterPodAffinityArgsTest, TheWeightIsFromZeroToAHundred) {
  const Value value = Value::Object({{"hardPodAffinityWeight", Value::Int(101)}});
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  InterPodAffinity::Args args;
  args.Read(reader);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].ToString(), "args.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]");
  EXPECT_EQ(InterPodAffinity::Args().Write().ToJson(),
            R"({"kind":"InterPodAffinityArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("hardPodAffinityWeight":1,"ignorePreferredTermsOfExistingPods":false})");
}

TEST(InterPodAffinityHintTest, PodsWakeByWhatTheyMatch) {
  const auto events = *InterPodAffinity().EventsToRegister();
  const Pod rejected = App("web", "p").Uid("p").PodAffinity(Near("db")).PodAntiAffinity(Near("job"));
  const Pod db = App("db", "q").Uid("q").OnNode("n"), job = App("job", "q").Uid("q").OnNode("n");
  const Pod other = App("x", "q").Uid("q").OnNode("n"), pending = App("db", "q").Uid("q");
  const Pod hater = App("x", "q").Uid("q").OnNode("n").PodAntiAffinity(Near("web"));
  const auto hint = [&](const Pod* before, const Pod* after) {
    EventObjects objects;
    objects.pod_before = before;
    objects.pod_after = after;
    return events[0].hint(rejected, objects) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(hint(nullptr, &db));
  EXPECT_TRUE(hint(&job, nullptr));
  EXPECT_TRUE(hint(&hater, nullptr));
  EXPECT_TRUE(hint(&other, &db));
  EXPECT_TRUE(hint(&job, &other));
  EXPECT_TRUE(hint(&rejected, &rejected));
  EXPECT_FALSE(hint(nullptr, &job));
  EXPECT_FALSE(hint(nullptr, &pending));
  EXPECT_FALSE(hint(&db, nullptr));
  EXPECT_FALSE(hint(&db, &other));
}

TEST(InterPodAffinityHintTest, NodesWakeByTheirTopologyKeys) {
  const auto events = *InterPodAffinity().EventsToRegister();
  const Node one = MakeNode("n").Label(kZone, "one"), two = MakeNode("n").Label(kZone, "two"), bare = MakeNode("n");
  const auto hint = [&](const Pod& rejected, const Node* before, const Node* after) {
    EventObjects objects;
    objects.node_before = before;
    objects.node_after = after;
    return events[1].hint(rejected, objects) == QueueingHint::kQueue;
  };
  const Pod near = MakePod().PodAffinity(Near("db")), away = MakePod().PodAntiAffinity(Near("db"));
  EXPECT_TRUE(hint(near, nullptr, &one));
  EXPECT_TRUE(hint(near, &bare, &one));
  EXPECT_TRUE(hint(near, &one, &two));
  EXPECT_FALSE(hint(near, nullptr, &bare));
  EXPECT_FALSE(hint(near, &one, &bare));
  EXPECT_TRUE(hint(away, nullptr, &bare));
  EXPECT_TRUE(hint(away, &one, &bare));
  EXPECT_TRUE(hint(away, &one, &two));
  EXPECT_FALSE(hint(away, &bare, &one));
}

}  // namespace
}  // namespace berth::plugins
