// SPDX-License-Identifier: Apache-2.0
// Runs of scenarios: steps at their times, what the cluster wrote stays, expectations, churn, and equal results.
#include "sim/sim_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "config/load.h"
#include "plugins/builtin.h"
#include "sim/sim_report.h"
#include "sim/sim_run_changes.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string NodeText(const std::string& name, const std::string& cpu) {
  return "{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {topology.kubernetes.io/zone: z" + name +
         "}}, status: {allocatable: {cpu: '" + cpu + "', memory: 8Gi, pods: '110'}}}";
}
std::string PodText(const std::string& name, const std::string& cpu, const std::string& spec = "",
                    const std::string& meta = "") {
  return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + meta + "}, spec: {" + spec +
         "containers: [{name: c, image: i, resources: {requests: {cpu: '" + cpu + "', memory: 1Gi}}}]}}";
}

class SimRunTest : public ::testing::Test {
 protected:
  SimRunTest() { plugins::RegisterBuiltinPlugins(registry_); }
  RunResult Play(const std::string& text, RunOptions options = {}, ScenarioInput input = {}) {
    const ScenarioLoad load =
        LoadScenarioFromText("apiVersion: berth.dev/v1alpha1\nkind: Scenario\n" + text, "s.yaml", input);
    EXPECT_THAT(load.errors, IsEmpty());
    return Play(load.scenario, options);
  }
  RunResult Play(const Scenario& scenario, const RunOptions& options) {
    Result<RunResult> result = sim::Run(scenario, config::DefaultConfiguration(registry_), registry_, options);
    EXPECT_TRUE(result.ok());
    return std::move(result).value();
  }
  // "pod>node", "pod?" for a pending one.
  static std::vector<std::string> Lines(const RunResult& result) {
    std::vector<std::string> lines;
    for (const PodLine& line : result.placements) lines.push_back(line.pod + ">" + line.node);
    for (const PodLine& line : result.pending) lines.push_back(line.pod + "?");
    return lines;
  }
  Registry registry_;
};

TEST_F(SimRunTest, PodsArePlacedPendingGatedOrSomebodyElses) {
  const RunResult result =
      Play("steps:\n- apply: [" + NodeText("a", "4") + ", " + NodeText("b", "2") + ", " + PodText("p", "1") + ", " +
           PodText("big", "3") + ", " + PodText("huge", "64") + ", " +
           PodText("held", "1", "schedulingGates: [{name: g}], ") + ", " +
           PodText("theirs", "1", "schedulerName: other, ") + ", " + PodText("old", "500m", "nodeName: b, ") + "]\n");
  EXPECT_THAT(Lines(result), ElementsAre("default/big>a", "default/old>b", "default/p>b", "default/held?",
                                         "default/huge?", "default/theirs?"));
  EXPECT_THAT(result.placements[0].text, "the only node that fits");
  EXPECT_EQ(result.placements[1].total, std::nullopt) << "not placed by us";
  EXPECT_FALSE(result.placements[1].ours);
  EXPECT_THAT(result.pending[0].text, HasSubstr("scheduling gates: [g]"));
  EXPECT_THAT(result.pending[1].text, HasSubstr("0/2 nodes are available: 2 Insufficient cpu."));
  EXPECT_EQ(result.pending[2].text, "belongs to another scheduler: \"other\"");
  EXPECT_EQ(result.summary.nodes, 2u);
  EXPECT_EQ(result.summary.placed, 3u);
  EXPECT_EQ(result.summary.pending, 3u);
  EXPECT_EQ(result.summary.cpu, 750) << "4500m of 6";
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST_F(SimRunTest, ABestNodeIsExplainedByItsMargin) {
  const RunResult result =
      Play("steps:\n- apply: [" + NodeText("a", "8") + ", " + NodeText("b", "2") + ", " + PodText("p", "1") + "]\n");
  ASSERT_THAT(result.placements, SizeIs(1));
  EXPECT_THAT(result.placements[0].text,
              ::testing::MatchesRegex("best of 2, ahead of b by [0-9]+ .NodeRes.* .[0-9]+."));
  EXPECT_NE(result.placements[0].total, std::nullopt);
}

TEST_F(SimRunTest, ExpectationsSeeTheTimeTheyNameAndTheEnd) {
  const RunResult result = Play("steps:\n- apply: [" + NodeText("z", "100m") + ", " + PodText("p", "1") +
                                "]\n- {at: 30s, apply: " + NodeText("a", "4") +
                                "}\nexpect:\n"
                                "- {pod: p, node: a}\n"
                                "- {at: 20s, pod: p, pending: true, message: Insufficient cpu}\n"
                                "- {at: 20s, pod: p, node: a}\n"
                                "- {at: 20s, pod: p, pending: true, message: Insufficient memory}\n"
                                "- {at: 40s, pod: p, pending: false}\n"
                                "- {at: 50s, pod: p, pending: true}\n"
                                "- {pod: p, gone: true}\n");
  std::vector<bool> met;
  for (const ExpectationResult& expectation : result.expectations) met.push_back(expectation.met);
  EXPECT_THAT(met, ElementsAre(true, true, false, false, true, false, false));
  EXPECT_FALSE(result.met());
  EXPECT_EQ(result.expectations[2].expected, "on node a");
  EXPECT_THAT(result.expectations[2].actual, HasSubstr("pending since 0s: 0/1 nodes are available"));
  EXPECT_THAT(result.expectations[5].actual, HasSubstr("on node a since 30."));
  EXPECT_EQ(result.expectations[0].at, "end");
}

TEST_F(SimRunTest, AChangeKeepsWhatTheClusterWrote) {
  const RunResult result = Play("steps:\n- apply: [" + NodeText("a", "4") + ", " + PodText("p", "1") +
                                "]\n- {at: 10s, patch: {kind: Pod, name: p, patch: {metadata: {labels: {k: v}}}}}\n"
                                "- {at: 20s, apply: " +
                                PodText("p", "1", "", ", labels: {k: w}") +
                                "}\n- {at: 20s, patch: {kind: Node, name: a, patch: {spec: {unschedulable: true}}}}\n"
                                "- {at: 30s, apply: " +
                                PodText("q", "1") + "}\nexpect:\n- {at: 15s, pod: p, node: a}\n- {pod: p, node: a}\n" +
                                "- {pod: q, pending: true, message: were unschedulable}\n");
  EXPECT_TRUE(result.met());
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST_F(SimRunTest, WhatTheStepItselfChangesIsNotKept) {
  Pod before = MakePod("p"), after = MakePod("p").OnNode("n"), now = MakePod("p").OnNode("m").Uid("u");
  now.phase = "Running";
  auto shared = [](const Pod& pod) { return ClusterObject(std::make_shared<const Pod>(pod)); };
  Change change{Kind::kPod, "default", "p", shared(before), shared(after), false};
  const ClusterObject merged = Merge(change, shared(now));
  const Pod& pod = *std::get<Ptr<Pod>>(merged);
  EXPECT_EQ(pod.node_name, "n") << "the step says so";
  EXPECT_EQ(pod.phase, "Running") << "the step says nothing of it";
  EXPECT_EQ(pod.uid(), "u");

  std::swap(change.before, change.after);
  const ClusterObject left_out = Merge(change, shared(now));
  EXPECT_EQ(std::get<Ptr<Pod>>(left_out)->node_name, "m") << "pods are not unbound by leaving out the node";
}

TEST_F(SimRunTest, PreemptionEvictsAndTheVictimIsGone) {
  const RunResult result = Play("steps:\n- apply: [" + NodeText("a", "2") + ", " + PodText("low", "2") +
                                "]\n- {at: 10s, apply: " + PodText("high", "2", "priority: 10, ") +
                                "}\n- {at: 60s, patch: {kind: Pod, name: low, patch: {metadata: {labels: {k: v}}}}}\n"
                                "expect:\n- {at: 9s, pod: low, node: a}\n- {pod: low, gone: true}\n"
                                "- {pod: high, node: a}\n- {pod: low, node: a}\n");
  EXPECT_EQ(result.summary.evictions, 1u);
  ASSERT_THAT(result.evictions, SizeIs(1));
  EXPECT_EQ(result.evictions[0].pod, "default/low");
  EXPECT_EQ(result.evictions[0].by, "default/high");
  EXPECT_TRUE(result.expectations[0].met);
  EXPECT_TRUE(result.expectations[1].met);
  EXPECT_TRUE(result.expectations[2].met) << result.expectations[2].actual;
  EXPECT_FALSE(result.expectations[3].met);
  EXPECT_THAT(result.expectations[3].actual, HasSubstr("gone; it went to a at "));
  EXPECT_THAT(result.notes, ElementsAre("steps[2]: Pod \"default/low\" is gone already"));
}

TEST_F(SimRunTest, APodThatIsAppliedAgainAfterItsEvictionIsAnother) {
  const std::string low = PodText("low", "2", "", ", uid: u, annotations: {sim.berth.dev/run-for: 10s}");
  const RunResult result = Play("steps:\n- apply: [" + NodeText("a", "2") + ", " + low +
                                "]\n- {at: 2s, apply: " + PodText("first", "2", "priority: 10, ") +
                                "}\n- {at: 5s, delete: {kind: Pod, name: first}}\n- {at: 8s, apply: " + low +
                                "}\n- {at: 15s, apply: " + PodText("second", "2", "priority: 10, ") +
                                "}\nexpect:\n- {at: 14s, pod: low, node: a}\n- {at: 20s, pod: low, gone: true}\n");
  EXPECT_TRUE(result.expectations[0].met) << result.expectations[0].actual;
  EXPECT_THAT(result.expectations[0].actual, HasSubstr("on node a since 8"));
  EXPECT_TRUE(result.expectations[1].met) << "the first one's end is not its own: " << result.expectations[1].actual;
  EXPECT_EQ(result.summary.evictions, 2u);
  EXPECT_EQ(result.summary.finished, 0u);
}

TEST_F(SimRunTest, SumsBeyond64BitsAreStillRatios) {
  std::string nodes;
  for (const char* name : {"a", "b", "c"})
    nodes += std::string("{apiVersion: v1, kind: Node, metadata: {name: ") + name +
             "}, status: {allocatable: {cpu: '4', memory: '9000000000000000000', pods: '110'}}}, ";
  std::string pods;
  for (const char* name : {"p", "q"})
    pods += std::string("{apiVersion: v1, kind: Pod, metadata: {name: ") + name +
            "}, spec: {containers: [{name: c, image: i, resources: {requests: {memory: '8000000000000000000'}}}]}}, ";
  const RunResult result = Play("steps:\n- apply: [" + nodes + pods + "]\n");
  EXPECT_EQ(result.summary.placed, 2u);
  EXPECT_EQ(result.summary.memory, 592);
}

TEST_F(SimRunTest, WithoutNodesTheRunEndsOnceEveryPodWasTried) {
  const RunResult result = Play("steps:\n- apply: [" + PodText("p", "1") + ", " + PodText("q", "1") + ", " +
                                PodText("held", "1", "schedulingGates: [{name: g}], ") + "]\n");
  EXPECT_THAT(Lines(result), ElementsAre("default/held?", "default/p?", "default/q?"));
  EXPECT_EQ(result.pending[1].text, "no nodes available to schedule pods");
  EXPECT_LT(result.summary.time, Duration::Seconds(10));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("there are no nodes; 2 pods are tried again and again until one "
                                                  "comes, which none does: ended after ")));
}

TEST_F(SimRunTest, ANameThatIsBeingDeletedIsWaitedFor) {
  const RunResult result =
      Play("steps:\n- apply: [" + NodeText("a", "4") + ", " + PodText("p", "1") +
           "]\n- {at: 10s, delete: {kind: Pod, name: p}}\n- {at: 10s, apply: " + PodText("p", "2") + "}\n");
  EXPECT_THAT(Lines(result), ElementsAre("default/p>a"));
  EXPECT_EQ(result.summary.cpu, 500) << "the new one";
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST_F(SimRunTest, PodsThatFinishAreInNeitherList) {
  const RunResult result =
      Play("steps:\n- apply: [" + NodeText("a", "1") + ", " +
           PodText("job", "1", "", ", annotations: {sim.berth.dev/run-for: 30s}") +
           "]\n- {at: 5s, apply: " + PodText("next", "1") + "}\nexpect: [{at: 10s, pod: next, pending: true}]\n");
  EXPECT_THAT(Lines(result), ElementsAre("default/next>a"));
  EXPECT_EQ(result.summary.finished, 1u);
  EXPECT_TRUE(result.met());
}

TEST_F(SimRunTest, GeneratedPodsAreAllListedOnce) {
  const ScenarioInput input{.generated = {.nodes = 30, .pods = 300, .seed = 5}};
  const ScenarioLoad load = LoadWithoutScenario(input);
  const RunResult result = Play(load.scenario, {.seed = 5});
  ASSERT_EQ(result.placements.size() + result.pending.size(), 300u);
  EXPECT_EQ(result.placements.front().pod, "default/pod-000000");
  EXPECT_EQ(result.summary.attempts, 300u);
  EXPECT_EQ(result.summary.zones.size(), 3u);
  EXPECT_LT(result.summary.time, Duration::Seconds(60));

  RunOptions slow{.seed = 5, .duration = Duration::Seconds(600)};
  const RunResult spread = Play(load.scenario, slow);
  EXPECT_EQ(spread.placements.size() + spread.pending.size(), 300u);
  EXPECT_GE(spread.summary.time, Duration::Seconds(597));
}

TEST_F(SimRunTest, AScenariosSeedIsThatOfItsGeneratedObjectsUnlessOneIsGiven) {
  auto generated = [&](bool given) {
    const ScenarioInput input{.generated = {.nodes = 1, .pods = 1, .seed = 3}, .seed_given = given};
    return LoadScenarioFromText("apiVersion: berth.dev/v1alpha1\nkind: Scenario\nseed: 8\n", "s", input)
        .scenario.generated.seed;
  };
  EXPECT_EQ(generated(false), 8u);
  EXPECT_EQ(generated(true), 3u);
}

TEST_F(SimRunTest, ChurnReplacesTheOldestPods) {
  const ScenarioInput input{.generated = {.nodes = 20, .pods = 100, .seed = 5}};
  const RunResult result =
      Play(LoadWithoutScenario(input).scenario, {.seed = 5, .duration = Duration::Seconds(10), .churn = 7});
  ASSERT_EQ(result.placements.size(), 100u);
  EXPECT_EQ(result.placements.front().pod, "default/pod-000070");
  EXPECT_EQ(result.placements.back().pod, "default/pod-000169");
  EXPECT_EQ(result.summary.attempts, 170u);
}

TEST_F(SimRunTest, EqualSeedsGiveEqualBytesWithFaultsToo) {
  const ScenarioInput input{.generated = {.nodes = 20, .pods = 200, .seed = 5}};
  const Scenario scenario = LoadWithoutScenario(input).scenario;
  for (const bool faults : {false, true}) {
    const RunOptions options{.seed = 9, .faults = faults};
    auto json = [&] {
      return ToValue(std::vector<ScenarioReport>{{"", "", {{"default", Play(scenario, options)}}}}).ToJson(2);
    };
    const std::string first = json();
    EXPECT_EQ(json(), first);
    EXPECT_THAT(first, HasSubstr("\"placed\": 200"));
  }
}

TEST_F(SimRunTest, AnExplanationIsTheLastDecisionInFull) {
  const std::string steps = "steps:\n- apply: [" + NodeText("a", "2") + ", " + NodeText("b", "4") + ", " +
                            PodText("p", "1") + ", " + PodText("huge", "64") + ", " +
                            PodText("held", "1", "schedulingGates: [{name: g}], ") + ", " +
                            PodText("theirs", "1", "schedulerName: other, ") + "]\n";
  const RunResult placed = Play(steps, {.explain = "default/p"});
  ASSERT_TRUE(placed.explanation);
  EXPECT_THAT(placed.explanation->winners, ElementsAre("b"));
  EXPECT_THAT(placed.explanation_text, HasSubstr("on node b: best of 2"));
  const RunResult pending = Play(steps, {.explain = "default/huge"});
  ASSERT_TRUE(pending.explanation);
  EXPECT_THAT(pending.explanation->message, HasSubstr("Insufficient cpu"));
  const RunResult gated = Play(steps, {.explain = "default/held"});
  ASSERT_TRUE(gated.explanation);
  ASSERT_TRUE(gated.explanation->pre_filter);
  EXPECT_EQ(gated.explanation->pre_filter->plugin, "SchedulingGates");
  const RunResult foreign = Play(steps, {.explain = "default/theirs"});
  EXPECT_FALSE(foreign.explanation);
  EXPECT_THAT(foreign.explanation_text, HasSubstr("belongs to another scheduler"));
}

}  // namespace
}  // namespace berth::sim
