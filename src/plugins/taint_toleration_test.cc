// SPDX-License-Identifier: Apache-2.0
// Taints that keep pods away, and taints that merely discourage them.
#include "plugins/taint_toleration.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

using Scores = std::map<std::string, int64_t>;
constexpr TaintEffect kHard = TaintEffect::kNoSchedule, kSoft = TaintEffect::kPreferNoSchedule,
                      kEvict = TaintEffect::kNoExecute;

Toleration Equal(std::string key, std::string value, TaintEffect effect) {
  return {.key = std::move(key), .op = TolerationOp::kEqual, .value = std::move(value), .effect = effect};
}
Toleration Exists(std::string key, TaintEffect effect) {
  return {.key = std::move(key), .op = TolerationOp::kExists, .value = "", .effect = effect};
}

TEST(TaintTolerationTest, EveryHardTaintMustBeTolerated) {
  const Verdict rejected = TaintToleration::kUntolerated;
  const Node dedicated = MakeNode("n").Taint("dedicated", "user1", kHard);
  const struct {
    const char* name;
    Pod pod;
    Node node;
    Verdict want;
  } cases[] = {
      {"no taints", MakePod(), MakeNode("n"), {}},
      {"no tolerations", MakePod(), dedicated, rejected},
      {"equal key and value", MakePod().Tolerate(Equal("dedicated", "user1", kHard)), dedicated, {}},
      {"another value", MakePod().Tolerate(Equal("dedicated", "user2", kHard)), dedicated, rejected},
      {"another effect", MakePod().Tolerate(Equal("dedicated", "user1", kEvict)), dedicated, rejected},
      {"no effect stands for all", MakePod().Tolerate(Equal("dedicated", "user1", TaintEffect::kNone)), dedicated, {}},
      {"exists ignores the value", MakePod().Tolerate(Exists("dedicated", kHard)), dedicated, {}},
      {"exists without a key tolerates all", MakePod().Tolerate(Exists("", TaintEffect::kNone)), dedicated, {}},
      {"an unknown operator matches nothing",
       MakePod().Tolerate({.key = "dedicated", .op = TolerationOp::kUnknown, .value = "user1", .effect = kHard}),
       dedicated, rejected},
      {"a comparison is behind a gate that is off",
       MakePod().Tolerate({.key = "level", .op = TolerationOp::kGt, .value = "1", .effect = kHard}),
       MakeNode("n").Taint("level", "2", kHard), rejected},
      {"NoExecute keeps away too", MakePod(), MakeNode("n").Taint("gone", "", kEvict), rejected},
      {"PreferNoSchedule does not", MakePod(), MakeNode("n").Taint("slow", "", kSoft), {}},
      {"one of two tolerated is not enough", MakePod().Tolerate(Equal("a", "", kHard)),
       MakeNode("n").Taint("a", "", kHard).Taint("b", "", kHard), rejected},
  };
  const TaintToleration plugin;
  for (const auto& c : cases) EXPECT_EQ(FilterOne(plugin, c.pod, c.node), c.want) << c.name;
  EXPECT_EQ(rejected.code(), Code::kUnschedulableAndUnresolvable);
}

TEST(TaintTolerationTest, ManyNodesWithDifferentTaintsAreEachJudgedByTheirOwn) {
  TestCluster cluster;
  for (int i = 0; i < 3000; ++i) {
    MakeNode node("n" + std::to_string(i));
    if (i % 3 == 1) node.Taint("zone", std::to_string(i), kHard);
    if (i % 3 == 2) node.Taint("pool", "x", kHard);
    cluster.Add(node);
  }
  const auto verdicts = FilterAll(TaintToleration(), MakePod().Tolerate(Exists("pool", kHard)), cluster);
  ASSERT_EQ(verdicts.size(), 3000u);
  for (int i = 0; i < 3000; ++i) {
    EXPECT_EQ(verdicts.at("n" + std::to_string(i)).fits(), i % 3 != 1) << i;
  }
}

TEST(TaintTolerationTest, NodesWithFewerUntoleratedPreferencesScoreHigher) {
  const struct {
    const char* name;
    Pod pod;
    std::vector<Node> nodes;
    Scores raw, normalized;
  } cases[] = {
      {"tolerated preference",
       MakePod().Tolerate(Equal("foo", "bar", kSoft)),
       {MakeNode("a").Taint("foo", "bar", kSoft), MakeNode("b").Taint("foo", "blah", kSoft)},
       {{"a", 0}, {"b", 1}},
       {{"a", 100}, {"b", 0}}},
      {"all tolerated",
       MakePod().Tolerate(Equal("cpu", "arm64", kSoft)).Tolerate(Equal("disk", "ssd", kSoft)),
       {MakeNode("a"), MakeNode("b").Taint("cpu", "arm64", kSoft),
        MakeNode("c").Taint("cpu", "arm64", kSoft).Taint("disk", "ssd", kSoft)},
       {{"a", 0}, {"b", 0}, {"c", 0}},
       {{"a", 100}, {"b", 100}, {"c", 100}}},
      {"counted",
       MakePod().Tolerate(Equal("foo", "bar", kSoft)),
       {MakeNode("a"), MakeNode("b").Taint("cpu", "arm64", kSoft),
        MakeNode("c").Taint("cpu", "arm64", kSoft).Taint("disk", "ssd", kSoft)},
       {{"a", 0}, {"b", 1}, {"c", 2}},
       {{"a", 100}, {"b", 50}, {"c", 0}}},
      {"a hard toleration does not help a preference",
       MakePod().Tolerate(Equal("cpu", "arm64", kHard)).Tolerate(Equal("disk", "ssd", kHard)),
       {MakeNode("a"), MakeNode("b").Taint("cpu", "arm64", kSoft),
        MakeNode("c").Taint("cpu", "arm64", kSoft).Taint("disk", "ssd", kSoft)},
       {{"a", 0}, {"b", 1}, {"c", 2}},
       {{"a", 100}, {"b", 50}, {"c", 0}}},
      {"hard taints are not counted",
       MakePod(),
       {MakeNode("a").Taint("cpu", "arm64", kHard), MakeNode("b").Taint("cpu", "arm64", kSoft)},
       {{"a", 0}, {"b", 1}},
       {{"a", 100}, {"b", 0}}},
      {"thirds are truncated before they are reversed",
       MakePod(),
       {MakeNode("a").Taint("x", "", kSoft),
        MakeNode("b").Taint("x", "", kSoft).Taint("y", "", kSoft).Taint("z", "", kSoft)},
       {{"a", 1}, {"b", 3}},
       {{"a", 67}, {"b", 0}}},
  };
  const TaintToleration plugin;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    TestCluster cluster;
    for (const Node& node : c.nodes) cluster.Add(node);
    const ScoreResult got = ScoreAll(plugin, c.pod, cluster);
    EXPECT_EQ(got.raw, c.raw);
    EXPECT_EQ(got.normalized, c.normalized);
  }
}

TEST(TaintTolerationTest, ARejectedPodIsWokenWhenANodeBecomesTolerable) {
  const auto events = *TaintToleration().EventsToRegister();
  ASSERT_EQ(events.size(), 2u);
  const Pod pod = MakePod("p").Uid("1").Tolerate(Exists("mine", kHard)), other = MakePod("o").Uid("2");
  const Node bad = MakeNode("n").Taint("x", "", kHard), good = MakeNode("n").Taint("mine", "", kHard);
  const auto& hint = events[0].hint;
  EXPECT_EQ(hint(pod, {.node_after = &good}), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, {.node_after = &bad}), QueueingHint::kSkip);
  EXPECT_EQ(hint(pod, {.node_before = &bad, .node_after = &good}), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, {.node_before = &good, .node_after = &good}), QueueingHint::kSkip);
  EXPECT_EQ(events[1].hint(pod, {.pod_before = &pod, .pod_after = &pod}), QueueingHint::kQueue);
  EXPECT_EQ(events[1].hint(pod, {.pod_before = &other, .pod_after = &other}), QueueingHint::kSkip);
}

TEST(TaintTolerationTest, PodsWithEqualTolerationsHaveEqualSignatures) {
  const TaintToleration plugin;
  const auto sign = [&](const Pod& pod) {
    Signature signature;
    EXPECT_TRUE(plugin.Sign(pod, signature));
    return signature.text();
  };
  EXPECT_EQ(sign(MakePod("a").Tolerate(Exists("x", kHard))), sign(MakePod("b").Tolerate(Exists("x", kHard))));
  EXPECT_NE(sign(MakePod().Tolerate(Exists("x", kHard))), sign(MakePod().Tolerate(Exists("x", kSoft))));
  EXPECT_NE(sign(MakePod().Tolerate(Equal("x", "y", kHard))), sign(MakePod().Tolerate(Equal("xy", "", kHard))));
}

}  // namespace
}  // namespace berth::plugins
