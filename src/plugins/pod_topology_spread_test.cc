// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread: filtering, scoring, defaults, arguments and hints. Expected scores follow from the formula.
#include "plugins/pod_topology_spread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "berth/testing.h"
#include "framework/judge.h"

namespace berth::plugins {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr char kZoneKey[] = "zone";
constexpr char kHost[] = "kubernetes.io/hostname";

TopologySpreadConstraint Constraint(int32_t max_skew, std::string key, WhenUnsatisfiable when,
                                    std::optional<LabelSelector> selector = SelectLabels({{"app", "a"}})) {
  TopologySpreadConstraint c;
  c.max_skew = max_skew;
  c.topology_key = std::move(key);
  c.when_unsatisfiable = when;
  c.selector = std::move(selector);
  return c;
}
TopologySpreadConstraint Hard(int32_t max_skew, std::string key = kZoneKey) {
  return Constraint(max_skew, std::move(key), WhenUnsatisfiable::kDoNotSchedule);
}
TopologySpreadConstraint Soft(int32_t max_skew, std::string key = kZoneKey) {
  return Constraint(max_skew, std::move(key), WhenUnsatisfiable::kScheduleAnyway);
}

MakePod OfApp(const std::string& name) { return MakePod(name).Label("app", "a"); }
MakeNode InZone(const std::string& name, const std::string& zone) {
  return MakeNode(name).Label(kZoneKey, zone).Label(kHost, name);
}

// Zone one: a1, a2 with two matching pods; zone two: b1 with none.
void FillTwoZones(TestCluster& cluster) {
  cluster.Add(InZone("a1", "one")).Add(InZone("a2", "one")).Add(InZone("b1", "two"));
  cluster.Add(OfApp("p1").OnNode("a1")).Add(OfApp("p2").OnNode("a2"));
}

std::string SpreadLetters(const std::map<std::string, Verdict>& verdicts) {
  std::string text;
  for (const auto& [node, verdict] : verdicts) {
    text += text.empty() ? "" : " ";
    text += node + (verdict.fits()                                         ? "+"
                    : verdict == Verdict(PodTopologySpread::kSkewTooLarge) ? "-"
                    : verdict == Verdict(PodTopologySpread::kKeyMissing)   ? "?"
                                                                           : "!");
  }
  return text;
}

TEST(PodTopologySpreadTest, FilterComparesTheSkewWithTheEmptiestDomain) {
  TestCluster cluster;
  FillTwoZones(cluster);
  cluster.Add(MakeNode("c1"));
  // Two in zone one and none in zone two: one more in zone one makes a skew of three.
  const struct {
    const char* name;
    Pod pod;
    const char* want;
  } cases[] = {
      {"skew of one", OfApp("p").Spread(Hard(1)), "a1- a2- b1+ c1?"},
      {"skew of two", OfApp("p").Spread(Hard(2)), "a1- a2- b1+ c1?"},
      {"skew of three", OfApp("p").Spread(Hard(3)), "a1+ a2+ b1+ c1?"},
      {"the pod itself does not match", MakePod("p").Spread(Hard(2)), "a1+ a2+ b1+ c1?"},
      {"pods of another namespace do not count", OfApp("p").Namespace("other").Spread(Hard(1)), "a1+ a2+ b1+ c1?"},
      {"soft constraints do not filter", OfApp("p").Spread(Soft(1)), "a1+ a2+ b1+ c1+"},
      {"the first constraint that fails is reported", OfApp("p").Spread(Hard(1)).Spread(Hard(1, "rack")),
       "a1? a2? b1? c1?"},
      {"a null selector matches nothing",
       OfApp("p").Spread(Constraint(1, kZoneKey, WhenUnsatisfiable::kDoNotSchedule, std::nullopt)), "a1+ a2+ b1+ c1?"},
      {"an empty selector counts none of the existing pods",
       OfApp("p").Spread(Constraint(1, kZoneKey, WhenUnsatisfiable::kDoNotSchedule, LabelSelector())),
       "a1+ a2+ b1+ c1?"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), c.pod, cluster)), c.want);
  }
}

TEST(PodTopologySpreadTest, TerminatingPodsDoNotCount) {
  TestCluster cluster;
  cluster.Add(InZone("a1", "one")).Add(InZone("b1", "two"));
  cluster.Add(OfApp("p1").OnNode("a1").Terminating());
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), OfApp("p").Spread(Hard(1)), cluster)), "a1+ b1+");
}

TEST(PodTopologySpreadTest, MinDomainsTreatsMissingDomainsAsEmpty) {
  TestCluster cluster;
  cluster.Add(InZone("a1", "one")).Add(InZone("b1", "two"));
  cluster.Add(OfApp("p1").OnNode("a1")).Add(OfApp("p2").OnNode("b1"));
  auto with_min = [](int32_t domains) {
    TopologySpreadConstraint c = Hard(1);
    c.min_domains = domains;
    return c;
  };
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), OfApp("p").Spread(with_min(2)), cluster)), "a1+ b1+");
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), OfApp("p").Spread(with_min(3)), cluster)), "a1- b1-");
}

TEST(PodTopologySpreadTest, MatchLabelKeysNarrowTheSelectorToThePodsOwnValues) {
  TestCluster cluster;
  cluster.Add(InZone("a1", "one")).Add(InZone("b1", "two"));
  cluster.Add(OfApp("old").Label("hash", "1").OnNode("a1"));
  TopologySpreadConstraint c = Hard(1);
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), OfApp("p").Label("hash", "2").Spread(c), cluster)), "a1- b1+");
  c.match_label_keys = {"hash", "absent"};
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), OfApp("p").Label("hash", "2").Spread(c), cluster)), "a1+ b1+");
}

TEST(PodTopologySpreadTest, InclusionPoliciesDecideWhichNodesAreDomains) {
  TestCluster cluster;
  cluster.Add(InZone("a1", "one").Label("disk", "ssd"));
  cluster.Add(InZone("b1", "two").Label("disk", "hdd"));
  cluster.Add(InZone("c1", "three").Label("disk", "ssd").Taint("k", "v", TaintEffect::kNoSchedule));
  cluster.Add(OfApp("p1").OnNode("a1"));
  const auto pod = [](NodeInclusionPolicy affinity, NodeInclusionPolicy taints) {
    TopologySpreadConstraint c = Hard(1);
    c.node_affinity_policy = affinity;
    c.node_taints_policy = taints;
    return OfApp("p").NodeSelector("disk", "ssd").Spread(c).Build();
  };
  using Policy = NodeInclusionPolicy;
  // By default nodes the selector leaves out are no domains, tainted ones are: c1 keeps the minimum at zero.
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), pod(Policy::kDefault, Policy::kDefault), cluster)),
            "a1- b1+ c1+");
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), pod(Policy::kHonor, Policy::kHonor), cluster)), "a1+ b1+ c1+");
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), pod(Policy::kIgnore, Policy::kHonor), cluster)),
            "a1- b1+ c1+");
}

TEST(PodTopologySpreadTest, NominatedPodsCountWhereTheyAreNominated) {
  TestCluster cluster;
  cluster.Add(InZone("a1", "one")).Add(InZone("b1", "two"));
  cluster.Add(OfApp("n").Priority(5).Nominated("a1"));
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), OfApp("p").Spread(Hard(1)), cluster)), "a1- b1+");
}

TEST(PodTopologySpreadTest, UnparsableSelectorFailsTheCycle) {
  TopologySpreadConstraint c = Hard(1);
  c.selector->invalid = "\"x\" is not a valid label selector operator";
  TestCluster cluster;
  cluster.Add(InZone("a1", "one"));
  EXPECT_EQ(FilterAll(PodTopologySpread(), OfApp("p").Spread(c), cluster).at("a1").message(),
            "running PreFilter plugin \"test\": get constraints from pod: obtaining pod's hard topology spread "
            "constraints: \"x\" is not a valid label selector operator");
}

TEST(PodTopologySpreadTest, ScoreWeighsDomainsByTheLogarithmOfTheirNumber) {
  TestCluster cluster;
  FillTwoZones(cluster);
  const ScoreResult got = ScoreAll(PodTopologySpread(), OfApp("p").Spread(Soft(1)), cluster);
  // Two zones: weight ln 4 = 1.386; two pods: round(2.77) = 3.
  EXPECT_THAT(got.raw, ElementsAre(Pair("a1", 3), Pair("a2", 3), Pair("b1", 0)));
  EXPECT_THAT(got.normalized, ElementsAre(Pair("a1", 0), Pair("a2", 0), Pair("b1", 100)));
}

TEST(PodTopologySpreadTest, HostnameCountsThePodsOfTheNodeItself) {
  TestCluster cluster;
  FillTwoZones(cluster);
  cluster.Add(OfApp("p3").OnNode("a1"));
  const ScoreResult got = ScoreAll(PodTopologySpread(), OfApp("p").Spread(Soft(3, kHost)), cluster);
  // Three nodes: weight ln 5 = 1.609; maxSkew - 1 = 2 is added: 2*1.609+2, 1*1.609+2, 0+2.
  EXPECT_THAT(got.raw, ElementsAre(Pair("a1", 5), Pair("a2", 4), Pair("b1", 2)));
  EXPECT_THAT(got.normalized, ElementsAre(Pair("a1", 40), Pair("a2", 60), Pair("b1", 100)));
}

TEST(PodTopologySpreadTest, NodesWithoutTheKeyScoreNothingUnderOwnConstraints) {
  TestCluster cluster;
  FillTwoZones(cluster);
  cluster.Add(MakeNode("c1"));
  const ScoreResult got = ScoreAll(PodTopologySpread(), OfApp("p").Spread(Soft(1)), cluster);
  EXPECT_THAT(got.normalized, ElementsAre(Pair("a1", 0), Pair("a2", 0), Pair("b1", 100), Pair("c1", 0)));
}

TEST(PodTopologySpreadTest, AllNodesScoreTheMostWhenNothingMatches) {
  TestCluster cluster;
  cluster.Add(InZone("a1", "one")).Add(InZone("b1", "two"));
  const ScoreResult got = ScoreAll(PodTopologySpread(), OfApp("p").Spread(Soft(1)), cluster);
  EXPECT_THAT(got.normalized, ElementsAre(Pair("a1", 100), Pair("b1", 100)));
}

MakeNode InRealZone(const std::string& name, const std::string& zone) {
  return MakeNode(name).Label("topology.kubernetes.io/zone", zone).Label(kHost, name);
}
Service ServiceOf(std::vector<Labels::Entry> selector) {
  Service service;
  service.meta.name = "svc";
  service.meta.namespace_ = "default";
  service.selector = Labels(std::move(selector));
  return service;
}

TEST(PodTopologySpreadTest, SystemDefaultsSpreadThePodsOfAServiceSoftly) {
  TestCluster cluster;
  cluster.Add(InRealZone("a1", "one")).Add(InRealZone("b1", "two")).Add(MakeNode("c1").Label(kHost, "c1"));
  cluster.Add(OfApp("p1").OnNode("a1"));
  EXPECT_TRUE(ScoreAll(PodTopologySpread(), OfApp("p"), cluster).raw.empty()) << "nobody gives a selector";
  cluster.AddObject(ServiceOf({{"app", "a"}}));
  const ScoreResult got = ScoreAll(PodTopologySpread(), OfApp("p"), cluster);
  // Hosts: 3 nodes, ln 5, skew 3. Zones: one, two and the unlabelled one, ln 5, skew 5; c1 adds nothing for its zone.
  EXPECT_THAT(got.raw, ElementsAre(Pair("a1", 9), Pair("b1", 6), Pair("c1", 2)));
  EXPECT_EQ(SpreadLetters(FilterAll(PodTopologySpread(), OfApp("p"), cluster)), "a1+ b1+ c1+");
}

TEST(PodTopologySpreadTest, DefaultSelectorsComeFromServicesAndTheControllerAlone) {
  TestCluster cluster;
  cluster.Add(InRealZone("a1", "one")).Add(InRealZone("b1", "two")).Add(OfApp("p1").OnNode("a1"));
  ReplicaSet set;
  set.meta.name = "rs";
  set.meta.namespace_ = "default";
  set.selector = SelectLabels({{"app", "a"}});
  cluster.AddObject(set);
  const auto owned = [](std::string api_version, std::string kind, bool controller) {
    return OfApp("p").With([&](Pod& pod) { pod.meta.owners = {{api_version, kind, "rs", "u", controller}}; }).Build();
  };
  EXPECT_EQ(ScoreAll(PodTopologySpread(), owned("apps/v1", "ReplicaSet", true), cluster).raw.size(), 2u);
  EXPECT_TRUE(ScoreAll(PodTopologySpread(), owned("apps/v1", "ReplicaSet", false), cluster).raw.empty());
  EXPECT_TRUE(ScoreAll(PodTopologySpread(), owned("extensions/v1beta1", "ReplicaSet", true), cluster).raw.empty());
  EXPECT_TRUE(ScoreAll(PodTopologySpread(), owned("apps/v1", "StatefulSet", true), cluster).raw.empty());
}

TEST(PodTopologySpreadTest, ListDefaultsCanBeHard) {
  TestCluster cluster;
  FillTwoZones(cluster);
  PodTopologySpread::Args args;
  args.defaulting_type = "List";
  args.default_constraints = {Constraint(1, kZoneKey, WhenUnsatisfiable::kDoNotSchedule, std::nullopt)};
  const PodTopologySpread plugin(args);
  EXPECT_EQ(SpreadLetters(FilterAll(plugin, OfApp("p"), cluster)), "a1+ a2+ b1+") << "no selector, no constraint";
  cluster.AddObject(ServiceOf({{"app", "a"}}));
  EXPECT_EQ(SpreadLetters(FilterAll(plugin, OfApp("p"), cluster)), "a1- a2- b1+");
  EXPECT_EQ(SpreadLetters(FilterAll(plugin, OfApp("p").Spread(Hard(9)), cluster)), "a1+ a2+ b1+")
      << "own ones come instead";
}

// Taking a pod away and asking again must equal a cluster where it never was, and putting it back must undo it.
RC_GTEST_PROP(PodTopologySpreadProperty, RemovedPodsAreJudgedAsIfTheyHadNeverBeen, ()) {
  const int nodes = *rc::gen::inRange(1, 6);
  const int pods = *rc::gen::inRange(1, 12);
  const int skew = *rc::gen::inRange(1, 3);
  TestCluster with;
  std::vector<int> places;
  for (int n = 0; n < nodes; ++n) with.Add(InZone("n" + std::to_string(n), n % 2 == 0 ? "even" : "odd"));
  for (int p = 0; p < pods; ++p) {
    places.push_back(*rc::gen::inRange(0, nodes));
    with.Add(OfApp("p" + std::to_string(p)).OnNode("n" + std::to_string(places.back())));
  }
  const int gone = places[0];
  TestCluster without;
  for (int n = 0; n < nodes; ++n) without.Add(InZone("n" + std::to_string(n), n % 2 == 0 ? "even" : "odd"));
  for (int p = 0; p < pods; ++p) {
    if (places[p] != gone) without.Add(OfApp("p" + std::to_string(p)).OnNode("n" + std::to_string(places[p])));
  }
  const PodTopologySpread plugin;
  const Pod pod = OfApp("new").Uid("new").Spread(Hard(skew)).Spread(Hard(skew, kHost));
  framework::Profile profile;
  profile.plugins.push_back({"test", nullptr});
  profile.pre_filter.push_back({&plugin, 0});
  profile.filter.push_back({&plugin, 0});
  RC_ASSERT(framework::TakeDeclarations(profile).ok());
  VerdictTable table;
  const Snapshot snapshot = with.snapshot();
  framework::CycleRun run(profile, table, pod, snapshot, {});
  RC_ASSERT(run.RunPreFilter().ruling.verdict.fits());
  const std::string name = "n" + std::to_string(gone);
  const Row row = snapshot.FindRow(name);
  const auto what_if = run.Imagine(row);
  const Verdict before = what_if->Judge();
  for (const PodRecord* record : snapshot.pods(row)) RC_ASSERT(what_if->RemovePod(*record).ok());
  RC_ASSERT(what_if->Judge() == FilterAll(plugin, pod, without).at(name));
  for (const PodRecord* record : snapshot.pods(row)) RC_ASSERT(what_if->AddPod(*record).ok());
  RC_ASSERT(what_if->Judge() == before);
}

std::vector<std::string> ReadArgs(Value value, PodTopologySpread::Args& args) {
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  args.Read(reader);
  reader.Finish();
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return texts;
}

TEST(PodTopologySpreadArgsTest, DefaultsAreWrittenAsKubeSchedulerShowsThem) {
  EXPECT_EQ(PodTopologySpread::Args().Write().ToJson(),
            R"({"kind":"PodTopologySpreadArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("defaultingType":"System"})");
}

TEST(PodTopologySpreadArgsTest, BadConstraintsAreRefusedFieldByField) {
  PodTopologySpread::Args args;
  const auto constraint = [](int skew, const char* key, const char* when) {
    return Value::Object({{"maxSkew", Value::Int(skew)},
                          {"topologyKey", Value::String(key)},
                          {"whenUnsatisfiable", Value::String(when)}});
  };
  Value bad = constraint(0, "", "Never");
  bad.Set("labelSelector", Value::Object());
  EXPECT_THAT(
      ReadArgs(Value::Object({{"defaultingType", Value::String("List")},
                              {"defaultConstraints", Value::Array({constraint(1, "zone", "DoNotSchedule"), bad,
                                                                   constraint(2, "zone", "DoNotSchedule")})}}),
               args),
      ElementsAre("args.defaultConstraints[1].maxSkew: Invalid value: 0: not in valid range (0, inf)",
                  "args.defaultConstraints[1].topologyKey: Required value: can not be empty",
                  "args.defaultConstraints[1].whenUnsatisfiable: Unsupported value: \"Never\": supported values: "
                  "\"DoNotSchedule\", \"ScheduleAnyway\"",
                  "args.defaultConstraints[1].labelSelector: Forbidden: constraint must not define a selector, as they "
                  "deduced for each pod",
                  "args.defaultConstraints[2]: Duplicate value: \"{zone, DoNotSchedule}\""));
}

TEST(PodTopologySpreadArgsTest, ConstraintsNeedListDefaulting) {
  PodTopologySpread::Args args;
  EXPECT_THAT(ReadArgs(Value::Object(
                           {{"defaultConstraints",
                             Value::Array({Value::Object({{"maxSkew", Value::Int(1)},
                                                          {"topologyKey", Value::String("zone")},
                                                          {"whenUnsatisfiable", Value::String("ScheduleAnyway")}})})}}),
                       args),
              ElementsAre("args.defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"));
}

TEST(PodTopologySpreadHintTest, PodsThatChangeACountWakeTheRejectedPod) {
  const PodTopologySpread plugin;
  const auto events = *plugin.EventsToRegister();
  const Pod rejected = OfApp("p").Uid("p").Spread(Hard(1));
  const Pod matching = OfApp("q").Uid("q").OnNode("n"), other = MakePod("q").Uid("q").OnNode("n");
  const Pod pending = OfApp("q").Uid("q"), elsewhere = OfApp("q").Uid("q").Namespace("x").OnNode("n");
  const auto hint = [&](const Pod* before, const Pod* after) {
    EventObjects objects;
    objects.pod_before = before;
    objects.pod_after = after;
    return events[0].hint(rejected, objects) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(hint(nullptr, &matching));
  EXPECT_TRUE(hint(&matching, nullptr));
  EXPECT_TRUE(hint(&matching, &other));
  EXPECT_FALSE(hint(nullptr, &other));
  EXPECT_FALSE(hint(&matching, &matching));
  EXPECT_FALSE(hint(nullptr, &pending));
  EXPECT_FALSE(hint(&elsewhere, nullptr));
}

TEST(PodTopologySpreadHintTest, NodesThatChangeADomainWakeTheRejectedPod) {
  const PodTopologySpread plugin;
  const auto events = *plugin.EventsToRegister();
  const Pod rejected = OfApp("p").Uid("p").Spread(Hard(1));
  const Node one = InZone("n", "one"), two = InZone("n", "two"), bare = MakeNode("n");
  const Node tainted = InZone("n", "one").Taint("k", "v", TaintEffect::kNoSchedule);
  const auto hint = [&](const Node* before, const Node* after) {
    EventObjects objects;
    objects.node_before = before;
    objects.node_after = after;
    return events[1].hint(rejected, objects) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(hint(nullptr, &one));
  EXPECT_TRUE(hint(&one, nullptr));
  EXPECT_TRUE(hint(&one, &two));
  EXPECT_TRUE(hint(&bare, &one));
  EXPECT_TRUE(hint(&one, &tainted));
  EXPECT_FALSE(hint(nullptr, &bare));
  EXPECT_FALSE(hint(&one, &one));
}

}  // namespace
}  // namespace berth::plugins
