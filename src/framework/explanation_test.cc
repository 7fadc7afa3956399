// SPDX-License-Identifier: Apache-2.0
// From judgements to explanations, and the JSON that other tools build on.
#include "framework/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "testing/fake_stages.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ExplanationTest : public ::testing::Test {
 protected:
  Explanation Run(JudgeOptions options = {}) {
    const Snapshot snapshot = cluster_.snapshot();
    const Judgement judgement = Judge(maker_.profile(), table_, clock_).Run(pod_, snapshot, options);
    return Explain(pod_, maker_.profile(), table_, snapshot, judgement);
  }
  void ScoreBy(const std::string& name, int64_t weight, std::map<std::string, int64_t> scores) {
    maker_.Score(name, weight, [scores](const std::string& node) { return scores.at(node); });
  }

  ProfileMaker maker_;
  TestCluster cluster_;
  VerdictTable table_;
  ManualClock clock_;
  Pod pod_ = MakePod("web-1");
};

TEST_F(ExplanationTest, TheDocumentHasTheFieldsThatItsReadersRelyOn) {
  cluster_.Add(MakeNode("b")).Add(MakeNode("a")).Add(MakeNode("c"));
  maker_.FilterNodes("Taints", [](const NodeView& node) {
    return node.name() == "b" ? Verdict(Code::kUnschedulableAndUnresolvable, "tainted") : Verdict();
  });
  ScoreBy("Fit", 2, {{"a", 75}, {"c", 50}});
  EXPECT_EQ(ToValue(Run()).ToJson(),
            R"({"apiVersion":"berth.dev/v1alpha1","kind":"Explanation","pod":"default/web-1","profile":"test",)"
            R"("preFilter":null,"nodes":[)"
            R"({"name":"a","feasible":true,"scores":{"Fit":{"raw":75,"normalized":75,"weighted":150}},"total":150},)"
            R"({"name":"b","feasible":false,"plugin":"Taints","code":"UnschedulableAndUnresolvable",)"
            R"("reasons":["tainted"]},)"
            R"({"name":"c","feasible":true,"scores":{"Fit":{"raw":50,"normalized":50,"weighted":100}},"total":100}],)"
            R"("winners":["a"],"message":"","preemption":null})");
}

TEST_F(ExplanationTest, ASingleFeasibleNodeHasNeitherScoresNorTotal) {
  cluster_.Add(MakeNode("a"));
  ScoreBy("Fit", 1, {{"a", 1}});
  EXPECT_EQ(ToValue(Run()).ToJson(),
            R"({"apiVersion":"berth.dev/v1alpha1","kind":"Explanation","pod":"default/web-1","profile":"test",)"
            R"("preFilter":null,"nodes":[{"name":"a","feasible":true}],"winners":["a"],"message":"",)"
            R"("preemption":null})");
  EXPECT_FALSE(Run().margin());
}

TEST_F(ExplanationTest, AnOutrightRejectionHasNoNodes) {
  cluster_.Add(MakeNode("a"));
  maker_.PreFilter("Volumes",
                   [] { return PreFilterOutcome::Reject(Verdict(Code::kUnschedulableAndUnresolvable, "no claim")); });
  const Explanation explanation = Run();
  EXPECT_THAT(explanation.nodes, IsEmpty());
  EXPECT_EQ(explanation.message, "0/1 nodes are available: no claim.");
  EXPECT_EQ(ToValue(explanation).Find("preFilter")->ToJson(),
            R"({"plugin":"Volumes","code":"UnschedulableAndUnresolvable","reasons":["no claim"]})");
}

TEST_F(ExplanationTest, AGateIsReportedInPreFilterWithoutAMessage) {
  cluster_.Add(MakeNode("a"));
  maker_.PreEnqueue("Gates", [](const Pod&) { return Verdict(Code::kUnschedulableAndUnresolvable, "gated"); });
  JudgeOptions options;
  options.pre_enqueue = true;
  const Explanation explanation = Run(options);
  EXPECT_EQ(explanation.pre_filter->plugin, "Gates");
  EXPECT_EQ(explanation.message, "");
}

TEST_F(ExplanationTest, NodesLeftOutByPreFilterHaveNoPlugin) {
  cluster_.Add(MakeNode("a")).Add(MakeNode("b"));
  maker_.PreFilter("NodeAffinity", [] {
    PreFilterOutcome outcome = PreFilterOutcome::Ok();
    outcome.node_names = std::vector<std::string>{"a"};
    return outcome;
  });
  const Explanation explanation = Run();
  EXPECT_TRUE(explanation.nodes[0].feasible);
  EXPECT_EQ(explanation.nodes[1].refusal.plugin, "");
  EXPECT_EQ(explanation.nodes[1].refusal.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_THAT(explanation.nodes[1].refusal.reasons, ElementsAre("node(s) didn't satisfy plugin(s) [NodeAffinity]"));
}

TEST_F(ExplanationTest, APluginThatFailedOnANodeIsReportedThere) {
  cluster_.Add(MakeNode("a"));
  maker_.FilterNodes("Broken", [](const NodeView&) { return Verdict::Fail("oops"); });
  const Explanation explanation = Run();
  EXPECT_TRUE(explanation.winners.empty());
  EXPECT_EQ(explanation.message, "running \"Broken\" filter plugin: oops");
  EXPECT_EQ(explanation.nodes[0].refusal.plugin, "Broken");
  EXPECT_EQ(explanation.nodes[0].refusal.code, Code::kError);
}

TEST_F(ExplanationTest, AllNodesWithTheTopTotalAreWinners) {
  cluster_.Add(MakeNode("c")).Add(MakeNode("b")).Add(MakeNode("a"));
  ScoreBy("Fit", 1, {{"a", 5}, {"b", 4}, {"c", 5}});
  EXPECT_THAT(Run().winners, ElementsAre("a", "c"));
}

TEST_F(ExplanationTest, OnlyNodesThatWereScoredCanWin) {
  for (const char* name : {"a", "b", "c"}) cluster_.Add(MakeNode(name));
  ScoreBy("Fit", 1, {{"a", 0}, {"b", 0}, {"c", 0}});
  JudgeOptions options;
  options.limit = 2;
  EXPECT_THAT(Run(options).winners, ElementsAre("a", "b"));
  options.limit = 1;
  EXPECT_THAT(Run(options).winners, ElementsAre("a"));
}

TEST_F(ExplanationTest, TheMarginNamesTheRunnerUpAndTheTermThatDecided) {
  for (const char* name : {"a", "b", "c"}) cluster_.Add(MakeNode(name));
  ScoreBy("Fit", 1, {{"a", 10}, {"b", 60}, {"c", 5}});
  ScoreBy("Taints", 3, {{"a", 90}, {"b", 50}, {"c", 5}});
  const auto margin = Run().margin();
  ASSERT_TRUE(margin);
  EXPECT_EQ(margin->runner_up, "b");
  EXPECT_EQ(margin->by, 280 - 210);
  EXPECT_EQ(margin->term, "Taints");
  EXPECT_EQ(margin->term_by, 120);
}

TEST_F(ExplanationTest, AmongEqualsTheMarginIsNothing) {
  for (const char* name : {"a", "b"}) cluster_.Add(MakeNode(name));
  ScoreBy("Fit", 1, {{"a", 10}, {"b", 10}});
  const auto margin = Run().margin();
  ASSERT_TRUE(margin);
  EXPECT_EQ(margin->by, 0);
  EXPECT_EQ(margin->term, "");
}

TEST_F(ExplanationTest, ScoringThatFailedLeavesAMessageAndNoWinner) {
  for (const char* name : {"a", "b"}) cluster_.Add(MakeNode(name));
  ScoreBy("Fit", 1, {{"a", 10}, {"b", 101}});
  const Explanation explanation = Run();
  EXPECT_THAT(explanation.winners, IsEmpty());
  EXPECT_THAT(explanation.message, ::testing::HasSubstr("returns an invalid score 101"));
  EXPECT_FALSE(explanation.nodes[0].total);
}

TEST_F(ExplanationTest, PreemptionListsItsCandidatesByNodeName) {
  cluster_.Add(MakeNode("a"));
  maker_.FilterNodes("Full", [](const NodeView&) { return Verdict(Code::kUnschedulable, "full"); });
  PreemptionPlan plan;
  const auto victim = std::make_shared<const Pod>(MakePod("v").Namespace("ml").Build());
  plan.candidates = {{"b", {victim}, 2}, {"a", {victim}, 0}};
  plan.selected = "a";
  maker_.PostFilter("Preemption", PostFilterOutcome{{}, "a", std::make_shared<const PreemptionPlan>(plan)});
  EXPECT_EQ(ToValue(Run()).Find("preemption")->ToJson(),
            R"({"candidates":[{"node":"a","victims":["ml/v"],"pdbViolations":0},)"
            R"({"node":"b","victims":["ml/v"],"pdbViolations":2}],"selected":"a"})");
}

TEST_F(ExplanationTest, WithoutNodesThereIsJustTheMessage) {
  const Explanation explanation = Run();
  EXPECT_THAT(explanation.nodes, IsEmpty());
  EXPECT_EQ(explanation.message, "no nodes available to schedule pods");
}

AskedNodes Nodes(const std::vector<std::string>& names) {
  std::vector<Ptr<Node>> nodes;
  for (const std::string& name : names) nodes.push_back(std::make_shared<const Node>(MakeNode(name).Build()));
  return nodes;
}

TEST_F(ExplanationTest, WhatExtendersSayStandsBesideThePlugins) {
  cluster_.Add(MakeNode("a")).Add(MakeNode("b")).Add(MakeNode("c")).Add(MakeNode("d"));
  ScoreBy("Fit", 1, {{"a", 10}, {"b", 20}, {"c", 0}});
  Advice advice;
  advice.about_nodes = true;
  advice.asked = Nodes({"a", "b", "c"});
  advice.rejected["c"] = Verdict(Code::kUnschedulable, "no licence");
  advice.scores = {{"http://x", 2, {3, std::nullopt}}};
  JudgeOptions options;
  options.advice = &advice;
  const Explanation explanation = Run(options);
  EXPECT_THAT(explanation.winners, ElementsAre("a"));
  EXPECT_EQ(ToValue(explanation).Find("nodes")->ToJson(),
            R"([{"name":"a","feasible":true,"scores":{"Fit":{"raw":10,"normalized":10,"weighted":10},)"
            R"("http://x":{"raw":3,"normalized":3,"weighted":60}},"total":70},)"
            R"({"name":"b","feasible":true,"scores":{"Fit":{"raw":20,"normalized":20,"weighted":20}},"total":20},)"
            R"({"name":"c","feasible":false,"plugin":"Extender","code":"Unschedulable","reasons":["no licence"]},)"
            R"({"name":"d","feasible":false,"plugin":"","code":"UnschedulableAndUnresolvable","reasons":[]}])");
  ASSERT_TRUE(explanation.margin());
  EXPECT_EQ(explanation.margin()->term, "http://x");
}

TEST_F(ExplanationTest, ScoresFromTheEndsOfTheNumbersAreComparedWithoutGoingOverThem) {
  cluster_.Add(MakeNode("a")).Add(MakeNode("b"));
  ScoreBy("Fit", 1, {{"a", 0}, {"b", 0}});
  Advice advice;
  advice.about_nodes = true;
  advice.asked = Nodes({"a", "b"});
  // Weighted as Go multiplies: ten times these are the greatest multiple of ten and its opposite.
  advice.scores = {{"http://x", 1, {INT64_MAX / 10, INT64_MIN / 10}}};
  JudgeOptions options;
  options.advice = &advice;
  const std::optional<Explanation::Margin> margin = Run(options).margin();
  ASSERT_TRUE(margin);
  EXPECT_EQ(margin->runner_up, "b");
  EXPECT_EQ(margin->by, INT64_MAX);
  EXPECT_EQ(margin->term, "http://x");
  EXPECT_EQ(margin->term_by, INT64_MAX);
}

}  // namespace
}  // namespace berth::framework
