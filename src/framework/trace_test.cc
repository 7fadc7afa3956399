// SPDX-License-Identifier: Apache-2.0
// Traces: what they keep of a judgement, and that they stay small.
#include "framework/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "testing/fake_stages.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

size_t HeapBytes(const std::string& text) { return text.capacity() > 15 ? text.capacity() + 1 : 0; }

// Everything the trace holds on to.
size_t Bytes(const CycleTrace& trace) {
  size_t bytes = sizeof(trace) + HeapBytes(trace.pod) + HeapBytes(trace.selected);
  bytes += trace.reasons.capacity() * sizeof(trace.reasons[0]);
  for (const auto& reason : trace.reasons) bytes += HeapBytes(reason.example);
  bytes += trace.top.capacity() * sizeof(trace.top[0]);
  for (const auto& candidate : trace.top)
    bytes += HeapBytes(candidate.node) + candidate.scores.capacity() * sizeof(candidate.scores[0]);
  return bytes;
}

class TraceTest : public ::testing::Test {
 protected:
  CycleTrace Run() {
    const Snapshot snapshot = cluster_.snapshot();
    const Judgement judgement = Judge(maker_.profile(), table_, clock_).Run(pod_, snapshot);
    return MakeTrace(pod_, snapshot, judgement, table_, 17);
  }
  // Rejects node i with the text that `reason` gives; an empty text lets it pass.
  void Reject(std::function<std::string(int)> reason) {
    maker_.FilterNodes("filter", [reason](const NodeView& node) {
      const std::string text = reason(static_cast<int>(node.row()));
      return text.empty() ? Verdict() : Verdict(Code::kUnschedulable, text);
    });
  }

  ProfileMaker maker_;
  TestCluster cluster_;
  VerdictTable table_;
  ManualClock clock_;
  Pod pod_ = MakePod("some-deployment-5d4f8c7b9-x2x4z").Namespace("some-namespace");
};

TEST_F(TraceTest, TheReasonsOfFiveThousandNodesAndTheBestCandidatesFitInTwoKilobytes) {
  for (int i = 0; i < 5000; ++i) cluster_.Add(MakeNode("ip-10-0-" + std::to_string(1000 + i) + ".ec2.internal"));
  Reject([](int i) { return i % 2 ? "" : "reason " + std::to_string(i % 100); });
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"})
    maker_.Score(name, 2, [](const std::string& node) { return static_cast<int64_t>(node.back() % 2 + node[8] % 10); });
  const CycleTrace trace = Run();
  EXPECT_EQ(trace.nodes, 5000u);
  EXPECT_EQ(trace.evaluated, 5000u);
  EXPECT_EQ(trace.feasible, 2500u);
  EXPECT_EQ(trace.reasons.size(), CycleTrace::kMaxReasons);
  EXPECT_EQ(trace.top.size(), CycleTrace::kMaxCandidates);
  EXPECT_LE(Bytes(trace), 2048u);
}

TEST_F(TraceTest, ReasonsComeWithTheirCountAnExampleAndWhoGaveThem) {
  for (int i = 0; i < 6; ++i) cluster_.Add(MakeNode("n" + std::to_string(i)));
  Reject([](int i) { return i == 0 ? "rare" : "common"; });
  const CycleTrace trace = Run();
  EXPECT_EQ(trace.pod, "some-namespace/some-deployment-5d4f8c7b9-x2x4z");
  EXPECT_EQ(trace.position, 17u);
  EXPECT_EQ(trace.kind, Judgement::Kind::kRejected);
  ASSERT_EQ(trace.reasons.size(), 2u);
  EXPECT_EQ(table_.Get(trace.reasons[0].verdict).message(), "common") << "most nodes first";
  EXPECT_EQ(trace.reasons[0].nodes, 5u);
  EXPECT_EQ(trace.reasons[0].example, "n1");
  EXPECT_EQ(maker_.profile().name(trace.reasons[0].plugin), "filter");
  EXPECT_EQ(trace.reasons[1].nodes, 1u);
  EXPECT_EQ(trace.reasons[1].example, "n0");
  EXPECT_THAT(trace.top, IsEmpty());
}

TEST_F(TraceTest, ReasonsThatAlternateAreStillCountedTogether) {
  for (int i = 0; i < 6; ++i) cluster_.Add(MakeNode("n" + std::to_string(i)));
  Reject([](int i) { return i % 2 ? "odd" : "even"; });
  const CycleTrace trace = Run();
  ASSERT_EQ(trace.reasons.size(), 2u);
  EXPECT_EQ(trace.reasons[0].nodes, 3u);
  EXPECT_EQ(trace.reasons[1].nodes, 3u);
}

TEST_F(TraceTest, TheBestCandidatesComeFirstWithTheirScoresAndTiesAreCounted) {
  for (int i = 0; i < 7; ++i) cluster_.Add(MakeNode("n" + std::to_string(i)));
  const std::vector<int64_t> scores = {1, 9, 2, 9, 3, 4, 5};
  maker_.Score("a", 3, [scores](const std::string& node) { return scores.at(static_cast<size_t>(node[1] - '0')); });
  maker_.Score("b", 1, [](const std::string&) { return 100; });
  const CycleTrace trace = Run();
  EXPECT_EQ(trace.kind, Judgement::Kind::kFits);
  EXPECT_EQ(trace.ties, 2u);
  std::vector<std::string> names;
  for (const auto& candidate : trace.top) names.push_back(candidate.node);
  EXPECT_THAT(names, ElementsAre("n1", "n3", "n6", "n5", "n4"));
  EXPECT_EQ(trace.top[0].total, 127);
  EXPECT_THAT(trace.top[0].scores, ElementsAre(std::pair(0, 9), std::pair(1, 100)));
}

TEST_F(TraceTest, AnExtendersScoresMayBeAnyNumbers) {
  for (const char* name : {"n0", "n1", "n2"}) cluster_.Add(MakeNode(name));
  maker_.Score("a", 1, [](const std::string&) { return 0; });
  Advice advice;
  advice.about_nodes = true;
  std::vector<Ptr<Node>> nodes;
  for (const char* name : {"n0", "n1", "n2"}) nodes.push_back(std::make_shared<const Node>(MakeNode(name).Build()));
  advice.asked = std::move(nodes);
  advice.scores = {{"http://x", 1, {INT64_MIN / 10, 1, INT64_MAX / 10}}};
  const Snapshot snapshot = cluster_.snapshot();
  Judgement judgement = Judge(maker_.profile(), table_, clock_).Run(pod_, snapshot, {.advice = &advice});
  judgement.totals[0] = INT64_MIN;
  const CycleTrace trace = MakeTrace(pod_, snapshot, judgement, table_, 17);
  ASSERT_EQ(trace.top.size(), 3u);
  EXPECT_EQ(trace.top[0].node, "n2");
  EXPECT_EQ(trace.top[1].node, "n1");
  EXPECT_EQ(trace.top[2].node, "n0") << "the least of all numbers has no opposite";
}

TEST_F(TraceTest, AnOnlyCandidateIsThereWithoutScores) {
  cluster_.Add(MakeNode("n0"));
  const CycleTrace trace = Run();
  ASSERT_EQ(trace.top.size(), 1u);
  EXPECT_EQ(trace.top[0].node, "n0");
  EXPECT_THAT(trace.top[0].scores, IsEmpty());
  EXPECT_EQ(trace.ties, 1u);
}

TEST_F(TraceTest, PreemptionIsSummedUp) {
  cluster_.Add(MakeNode("n0"));
  Reject([](int) { return "full"; });
  PreemptionPlan plan;
  const auto victim = std::make_shared<const Pod>(MakePod("v").Build());
  plan.candidates = {{"n0", {victim, victim}, 0}, {"n1", {victim}, 0}};
  plan.selected = "n0";
  maker_.PostFilter("x", PostFilterOutcome{{}, "n0", std::make_shared<const PreemptionPlan>(plan)});
  const CycleTrace trace = Run();
  EXPECT_EQ(trace.selected, "n0");
  EXPECT_EQ(trace.preemption_candidates, 2u);
  EXPECT_EQ(trace.victims, 2u);
}

TEST(TraceRingTest, TheRingForgetsTheOldestAndFindsTheNewest) {
  TraceRing ring(2);
  EXPECT_EQ(ring.Find("p"), nullptr);
  auto add = [&](const std::string& pod, uint64_t position) {
    CycleTrace trace;
    trace.pod = pod;
    trace.position = position;
    ring.Add(std::move(trace));
  };
  add("p", 1);
  EXPECT_EQ(ring.size(), 1u);
  add("p", 2);
  EXPECT_EQ(ring.Find("p")->position, 2u);
  add("q", 3);
  add("r", 4);
  EXPECT_EQ(ring.size(), 2u);
  EXPECT_EQ(ring.Find("p"), nullptr);
  EXPECT_EQ(ring.Find("q")->position, 3u);
}

}  // namespace
}  // namespace berth::framework
