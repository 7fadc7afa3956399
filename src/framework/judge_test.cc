// SPDX-License-Identifier: Apache-2.0
// PostFilter, scoring, limits, the winner, and the sentences for pods that do not fit.
#include "framework/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "berth/testing.h"
#include "testing/fake_stages.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Kind = Judgement::Kind;

class JudgeTest : public ::testing::Test {
 protected:
  Judgement Run(JudgeOptions options = {}) {
    return Judge(maker_.profile(), table_, clock_).Run(pod_, cluster_.snapshot(), options);
  }
  void AddNodes(int count) {
    for (int i = 0; i < count; ++i) cluster_.Add(MakeNode("n" + std::to_string(i)));
  }
  // No node fits.
  void RejectAll(const std::string& reason = "no") {
    maker_.FilterNodes("reject", [reason](const NodeView&) { return Verdict(Code::kUnschedulable, reason); });
  }
  static PostFilterOutcome Says(Verdict verdict, std::optional<std::string> nominated = std::nullopt) {
    return {std::move(verdict), std::move(nominated), nullptr};
  }
  // Scores by node name's number.
  static std::function<int64_t(const std::string&)> ByNumber(std::vector<int64_t> scores) {
    return [scores](const std::string& node) { return scores.at(std::stoul(node.substr(1))); };
  }

  ProfileMaker maker_;
  TestCluster cluster_;
  VerdictTable table_;
  ManualClock clock_;
  Pod pod_ = MakePod("p");
};

TEST_F(JudgeTest, WithoutNodesThereIsASentenceAndNoPostFilter) {
  bool ran = false;
  maker_.PostFilter(
      "x", [&](const Cycle&, const PluginState*, const FilterReport&) { return ran = true, PostFilterOutcome{}; });
  cluster_.Add(MakePod("ghost").OnNode("gone"));
  const Judgement judgement = Run();
  EXPECT_EQ(judgement.kind, Kind::kNoNodes);
  EXPECT_EQ(judgement.message, "no nodes available to schedule pods");
  EXPECT_FALSE(ran);
}

TEST_F(JudgeTest, AGatedPodIsNotTriedAndTheGateIsNamed) {
  AddNodes(1);
  maker_.PreEnqueue("open", [](const Pod&) { return Verdict(); });
  maker_.PreEnqueue("gate", [](const Pod&) { return Verdict(Code::kUnschedulableAndUnresolvable, "waiting for x"); });
  EXPECT_EQ(Run().kind, Kind::kFits) << "gates are asked on request only";
  JudgeOptions options;
  options.pre_enqueue = true;
  const Judgement judgement = Run(options);
  EXPECT_EQ(judgement.kind, Kind::kGated);
  EXPECT_EQ(judgement.message, "waiting for x");
  ASSERT_TRUE(judgement.outright);
  EXPECT_EQ(judgement.outright->plugin, 1);
}

TEST_F(JudgeTest, ARejectionByPreFilterIsTheWholeMessageButPostFilterStillRuns) {
  AddNodes(3);
  const Verdict bad(Code::kUnschedulableAndUnresolvable, "bad pod");
  maker_.PreFilter("a", [bad] { return PreFilterOutcome::Reject(bad); });
  maker_.PostFilter("x", [&](const Cycle& cycle, const PluginState*, const FilterReport& report) {
    for (Row row = 0; row < cycle.snapshot().rows(); ++row) EXPECT_EQ(report.verdict(row).message(), "bad pod");
    return Says(Verdict(Code::kUnschedulable, "nothing to do"));
  });
  const Judgement judgement = Run();
  EXPECT_EQ(judgement.kind, Kind::kRejected);
  EXPECT_EQ(judgement.message, "0/3 nodes are available: bad pod. nothing to do");
  EXPECT_TRUE(judgement.post_filter_ran);
}

TEST_F(JudgeTest, ReasonsAreCountedOverNodesAndSortedAsTexts) {
  AddNodes(13);
  maker_.FilterNodes("a", [](const NodeView& node) {
    const int number = std::stoi(node.name().substr(1));
    if (number == 0) return Verdict(Code::kUnschedulable, std::vector<std::string>{"few cpu", "few memory"});
    return Verdict(Code::kUnschedulable, number <= 10 ? "zebra" : "few cpu");
  });
  EXPECT_EQ(Run().message, "0/13 nodes are available: 1 few memory, 10 zebra, 3 few cpu.");
}

TEST_F(JudgeTest, PostFilterSeesEachNodesVerdictAndItsPreFilterState) {
  struct Left : StateOf<Left> {};
  AddNodes(2);
  maker_.PreFilter("x", [] { return PreFilterOutcome::Skip(std::make_unique<Left>()); });
  maker_.FilterNodes("a", [](const NodeView& node) {
    return Verdict(node.name() == "n0" ? Code::kUnschedulable : Code::kUnschedulableAndUnresolvable, "no");
  });
  maker_.PostFilter("x", [&](const Cycle&, const PluginState* state, const FilterReport& report) {
    EXPECT_NE(state, nullptr);
    EXPECT_EQ(report.verdict(0).code(), Code::kUnschedulable);
    EXPECT_EQ(report.verdict(1).code(), Code::kUnschedulableAndUnresolvable);
    return Says(Verdict(Code::kUnschedulable, "seen"));
  });
  EXPECT_EQ(Run().message, "0/2 nodes are available: 2 no. seen");
}

TEST_F(JudgeTest, ASuccessfulPostFilterEndsItAndLeavesNoText) {
  AddNodes(1);
  RejectAll();
  maker_.PostFilter("x", Says(Verdict(Code::kUnschedulable, "earlier")));
  maker_.PostFilter("y", Says(Verdict(), "n0"));
  maker_.PostFilter("z", Says(Verdict(Code::kUnschedulable, "later")));
  const Judgement judgement = Run();
  EXPECT_EQ(judgement.kind, Kind::kRejected) << "the pod itself still has to wait";
  EXPECT_EQ(judgement.message, "0/1 nodes are available: 1 no.");
  EXPECT_EQ(judgement.post_filter.nominated_node, "n0");
}

TEST_F(JudgeTest, UnresolvableEndsPostFilterAndDropsWhatWasSaidBefore) {
  AddNodes(1);
  RejectAll();
  maker_.PostFilter("x", Says(Verdict(Code::kUnschedulable, "earlier")));
  maker_.PostFilter("y", Says(Verdict(Code::kUnschedulableAndUnresolvable, "hopeless")));
  maker_.PostFilter("z", Says(Verdict(Code::kUnschedulable, "later")));
  EXPECT_EQ(Run().message, "0/1 nodes are available: 1 no. hopeless");
}

TEST_F(JudgeTest, AFailingPostFilterEndsItWithItsTextAlone) {
  AddNodes(1);
  RejectAll();
  maker_.PostFilter("x", Says(Verdict(Code::kUnschedulable, "earlier"), ""));
  maker_.PostFilter("y", [](const Cycle&, const PluginState*, const FilterReport&) -> PostFilterOutcome {
    throw std::runtime_error("boom");
  });
  const Judgement judgement = Run();
  EXPECT_EQ(judgement.kind, Kind::kRejected);
  EXPECT_EQ(judgement.message, "0/1 nodes are available: 1 no. plugin threw: boom");
  EXPECT_EQ(judgement.post_filter.verdict.code(), Code::kError);
  EXPECT_FALSE(judgement.post_filter.nominated_node);
}

TEST_F(JudgeTest, UnschedulableAnswersOfPostFilterAreJoined) {
  AddNodes(1);
  RejectAll();
  maker_.PostFilter("x", Says(Verdict(Code::kUnschedulable, "one"), ""));
  maker_.PostFilter("y", Says(Verdict(Code::kUnschedulable, "two")));
  const Judgement judgement = Run();
  EXPECT_EQ(judgement.message, "0/1 nodes are available: 1 no. one, two");
  EXPECT_EQ(judgement.post_filter.nominated_node, "") << "the last result that says something is kept";
}

TEST_F(JudgeTest, WithoutPostFilterPluginsTheNominationIsCleared) {
  AddNodes(1);
  RejectAll();
  const Judgement judgement = Run();
  EXPECT_FALSE(judgement.post_filter_ran);
  EXPECT_EQ(judgement.post_filter.nominated_node, "");
  JudgeOptions options;
  options.post_filter = false;
  EXPECT_FALSE(Run(options).post_filter.nominated_node);
}

TEST_F(JudgeTest, ASingleFeasibleNodeIsNotScored) {
  AddNodes(1);
  maker_.PreScore("a", [](std::span<const Row>) -> PreScoreOutcome { throw std::logic_error("must not be asked"); });
  maker_.Score("a", 1, [](const std::string&) -> int64_t { throw std::logic_error("must not be asked"); });
  const Judgement judgement = Run();
  EXPECT_EQ(judgement.kind, Kind::kFits);
  EXPECT_THAT(judgement.totals, IsEmpty());
  EXPECT_EQ(PickWinner(judgement, cluster_.snapshot()), 0u);
}

TEST_F(JudgeTest, TotalsAreWeightedSumsOfNormalizedScores) {
  AddNodes(3);
  maker_.Score("a", 3, ByNumber({1, 2, 3})).normalize = [](std::span<int64_t> scores) {
    for (int64_t& score : scores) score *= 10;
    return Error::Ok();
  };
  maker_.Score("b", 2, ByNumber({100, 0, 50}));
  const Judgement judgement = Run();
  EXPECT_THAT(judgement.totals, ElementsAre(30 + 200, 60, 90 + 100));
  ASSERT_EQ(judgement.scores.size(), 2u);
  EXPECT_THAT(judgement.scores[0].raw, ElementsAre(1, 2, 3));
  EXPECT_THAT(judgement.scores[0].normalized, ElementsAre(10, 20, 30));
  EXPECT_EQ(judgement.scores[0].weight, 3);
}

TEST_F(JudgeTest, TheLargestWeightsAProfileMayHaveDoNotOverflow) {
  AddNodes(2);
  constexpr int64_t kWeight = std::numeric_limits<int64_t>::max() / 200;
  for (const char* name : {"a", "b"}) maker_.Score(name, kWeight, ByNumber({100, 0}));
  EXPECT_THAT(Run().totals, ElementsAre(kWeight * 200, 0));
}

TEST_F(JudgeTest, PreScoreThatSkipsLeavesThePluginOutOfScoring) {
  AddNodes(2);
  maker_.PreScore("a", [](std::span<const Row>) { return PreScoreOutcome::Skip(); });
  maker_.Score("a", 1, [](const std::string&) -> int64_t { throw std::logic_error("must not be asked"); });
  maker_.Score("b", 1, ByNumber({4, 5}));
  const Judgement judgement = Run();
  EXPECT_THAT(judgement.totals, ElementsAre(4, 5));
  EXPECT_EQ(judgement.scores.size(), 1u);
}

TEST_F(JudgeTest, PreScoreSeesTheFeasibleRowsOnly) {
  AddNodes(4);
  maker_.FilterNodes(
      "f", [](const NodeView& node) { return node.name() == "n2" ? Verdict(Code::kUnschedulable, "no") : Verdict(); });
  std::vector<Row> seen;
  maker_.PreScore("a", [&](std::span<const Row> rows) {
    seen.assign(rows.begin(), rows.end());
    return PreScoreOutcome::Ok();
  });
  Run();
  EXPECT_THAT(seen, ElementsAre(0, 1, 3));
}

TEST_F(JudgeTest, WithoutScorePluginsEveryNodeGetsOne) {
  AddNodes(2);
  EXPECT_THAT(Run().totals, ElementsAre(1, 1));
}

TEST_F(JudgeTest, FailuresOfScoringNameThePluginAndLeaveNoHalfScores) {
  AddNodes(2);
  auto message = [&](ProfileMaker& maker) {
    const Judgement judgement = Judge(maker.profile(), table_, clock_).Run(pod_, cluster_.snapshot());
    EXPECT_EQ(judgement.kind, Kind::kFailed);
    EXPECT_THAT(judgement.totals, IsEmpty());
    EXPECT_THAT(judgement.scores, IsEmpty());
    return judgement.message;
  };
  ProfileMaker pre_score, score, normalize, range, thrown;
  pre_score.PreScore("x", [](std::span<const Row>) { return PreScoreOutcome::Fail("no list"); });
  EXPECT_EQ(message(pre_score), "running PreScore plugin \"x\": no list");
  score.Score("fine", 1, ByNumber({1, 2}));
  score.Score("x", 1, ByNumber({1, 2})).before = [] { return Error("no node"); };
  EXPECT_EQ(message(score), "running Score plugins: plugin \"x\" failed with: no node");
  normalize.Score("x", 1, ByNumber({1, 2})).normalize = [](std::span<int64_t>) { return Error("no max"); };
  EXPECT_EQ(message(normalize), "running Normalize on Score plugins: plugin \"x\" failed with: no max");
  range.Score("x", 1, ByNumber({1, 101}));
  EXPECT_EQ(message(range),
            "applying score defaultWeights on Score plugins: plugin \"x\" returns an invalid score 101, it should in "
            "the range of [0, 100] after normalizing");
  thrown.Score("x", 1, [](const std::string&) -> int64_t { throw std::runtime_error("boom"); });
  EXPECT_EQ(message(thrown), "running Score plugins: plugin \"x\" failed with: plugin threw: boom");
}

TEST_F(JudgeTest, ThrowingInPreScoreNormalizeOrAGateCostsOnlyThePod) {
  AddNodes(2);
  ProfileMaker pre_score, normalize, gate;
  pre_score.PreScore("x", [](std::span<const Row>) -> PreScoreOutcome { throw 1; });
  normalize.Score("x", 1, ByNumber({1, 2})).normalize = [](std::span<int64_t>) -> Error { throw 1; };
  gate.PreEnqueue("x", [](const Pod&) -> Verdict { throw 1; });
  JudgeOptions options;
  options.pre_enqueue = true;
  for (ProfileMaker* maker : {&pre_score, &normalize})
    EXPECT_EQ(Judge(maker->profile(), table_, clock_).Run(pod_, cluster_.snapshot(), options).kind, Kind::kFailed);
  EXPECT_EQ(Judge(gate.profile(), table_, clock_).Run(pod_, cluster_.snapshot(), options).kind, Kind::kGated);
}

TEST_F(JudgeTest, ALimitScoresTheFirstFeasibleNodesInNodeOrderFromTheStart) {
  for (const char* name : {"n0", "n1", "n2"}) cluster_.Add(MakeNode(name).Label("topology.kubernetes.io/zone", "a"));
  for (const char* name : {"n3", "n4", "n5"}) cluster_.Add(MakeNode(name).Label("topology.kubernetes.io/zone", "b"));
  // Node order: n0 n3 n1 n4 n2 n5; n4 does not fit.
  maker_.FilterNodes(
      "f", [](const NodeView& node) { return node.name() == "n4" ? Verdict(Code::kUnschedulable, "no") : Verdict(); });
  maker_.Score("a", 1, ByNumber({1, 1, 1, 1, 1, 1}));
  JudgeOptions options;
  options.limit = 2;
  EXPECT_THAT(Run(options).feasible, ElementsAre(0, 3));
  options.start = 2;
  EXPECT_THAT(Run(options).feasible, ElementsAre(1, 2));
  options.start = 5;
  EXPECT_THAT(Run(options).feasible, ElementsAre(0, 5));
  options.limit = 100;
  EXPECT_EQ(Run(options).feasible.size(), 5u);
}

TEST_F(JudgeTest, ASampleEndsWithOneMoreThanAnExtenderIsAskedAbout) {
  constexpr size_t kNodes = 2000;
  for (size_t i = 0; i < kNodes; ++i)
    cluster_.Add(MakeNode("n" + std::to_string(i)).Label("topology.kubernetes.io/zone", i < 700 ? "a" : "b"));
  for (const int passes : {1, 3, 500, 5000}) {  // one node in `passes` fits
    SCOPED_TRACE(passes);
    maker_ = {};
    maker_.FilterNodes("f", [&](const NodeView& node) {
      const int number = std::stoi(node.name().substr(1));
      return number % passes == 0 && number > 0 ? Verdict() : Verdict(Code::kUnschedulable, "no");
    });
    const size_t asked = NodesToAsk(maker_.profile(), kNodes);
    ASSERT_EQ(asked, AdaptiveNodesToFind(kNodes));
    JudgeOptions options;
    options.score = false;
    const Judgement all = Run(options);
    for (const size_t start : {size_t{0}, size_t{1234}, kNodes - 1}) {
      options.sample = true;
      options.start = start;
      const Judgement some = Run(options);
      EXPECT_EQ(some.kind, all.kind);
      EXPECT_EQ(some.eligible, kNodes);
      EXPECT_EQ(some.message, all.message);
      EXPECT_TRUE(std::is_sorted(some.feasible.begin(), some.feasible.end()));
      EXPECT_GE(some.feasible.size(), std::min(all.feasible.size(), asked + 1));
      if (all.feasible.size() > 2 * asked) {
        EXPECT_LT(some.evaluated, kNodes);
      }
      // As many as are asked about are the same, in the same order, as if all had been looked at.
      const auto first = [&](const Judgement& judged) {
        std::vector<Row> rows;
        const Snapshot snapshot = cluster_.snapshot();
        const std::span<const Row> order = snapshot.order();
        for (size_t i = 0; i < kNodes && rows.size() <= asked; ++i)
          if (judged.verdicts[order[(start + i) % kNodes]] == kFitsId) rows.push_back(order[(start + i) % kNodes]);
        return rows;
      };
      EXPECT_EQ(first(some), first(all));
    }
  }
}

TEST_F(JudgeTest, ASampleIsOfWhatPreFilterLeftAndCountsNominatedPods) {
  constexpr size_t kNodes = 1500;
  for (size_t i = 0; i < kNodes; ++i) cluster_.Add(MakeNode("n" + std::to_string(i)));
  // Half of the nodes; among the first of these, some are kept for others, and one far behind fails.
  maker_.PreFilter("half", [] {
    PreFilterOutcome outcome;
    outcome.node_names.emplace();
    for (size_t i = 0; i < kNodes; i += 2) outcome.node_names->push_back("n" + std::to_string(i));
    return outcome;
  });
  for (const char* node : {"n0", "n2", "n4", "n40"})
    cluster_.Add(MakePod(std::string("for-") + node).Priority(9).Nominated(node));
  maker_.Filter("lonely", [](const PluginState*, const NodeBatch& nodes, Rejections& out) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes.active()[i] && !nodes.pods(i).empty()) out.Reject(i, out.Intern(Verdict(Code::kUnschedulable, "no")));
    return Error::Ok();
  });
  maker_.parts.percentage_of_nodes_to_score = 20;
  JudgeOptions options;
  options.score = false;
  options.sample = true;
  Judgement some = Run(options);
  EXPECT_EQ(some.kind, Kind::kFits);
  EXPECT_EQ(some.eligible, kNodes / 2);
  ASSERT_GE(some.feasible.size(), 151u) << "a fifth of those that are left, and one";
  EXPECT_LT(some.evaluated, kNodes / 2);
  EXPECT_THAT(std::vector<Row>(some.feasible.begin(), some.feasible.begin() + 4), ElementsAre(6, 8, 10, 12));
  EXPECT_EQ(std::count(some.feasible.begin(), some.feasible.end(), 40u), 0);

  maker_.FilterNodes("fails far behind",
                     [](const NodeView& node) { return node.name() == "n1000" ? Verdict::Fail("broken") : Verdict(); });
  EXPECT_EQ(Run(options).kind, Kind::kFits) << "as upstream, which does not get there either";
  options.start = 900;
  EXPECT_EQ(Run(options).kind, Kind::kFailed);
  options.start = 0;
  options.sample = false;
  EXPECT_EQ(Run(options).kind, Kind::kFailed);
}

TEST_F(JudgeTest, ExplicitPercentagesFindAsManyNodesAsUpstream) {
  struct Case {
    int32_t percent;
    size_t nodes, want;
  };
  const std::vector<Case> cases = {{0, 5000, 5000}, {100, 5000, 5000}, {50, 99, 99},   {50, 100, 100},
                                   {50, 150, 100},  {50, 1000, 500},   {1, 5000, 100}, {30, 5000, 1500},
                                   {33, 1001, 330}, {99, 0, 0}};
  for (const Case& c : cases)
    EXPECT_EQ(FeasibleNodesToFind(c.percent, c.nodes), c.want) << c.percent << "% of " << c.nodes;
}

TEST_F(JudgeTest, AmongEqualsTheFirstInNodeOrderFromTheStartWins) {
  AddNodes(5);
  auto winner = [&](std::vector<int64_t> scores, size_t start = 0) {
    maker_.parts.score.clear();
    maker_.Score("a", 1, ByNumber(std::move(scores)));
    return PickWinner(Run(), cluster_.snapshot(), start);
  };
  EXPECT_EQ(winner({1, 1, 5, 5, 5}), 2u);
  EXPECT_EQ(winner({5, 5, 5, 5, 5}), 0u);
  EXPECT_EQ(winner({1, 5, 2, 5, 5}), 1u);
  EXPECT_EQ(winner({1, 2, 3, 4, 9}), 4u);
  EXPECT_EQ(winner({5, 5, 5, 5, 5}, 2), 2u) << "the search begins at the start";
  EXPECT_EQ(winner({5, 5, 1, 1, 5}, 2), 4u);
  EXPECT_EQ(winner({5, 5, 1, 1, 1}, 2), 0u) << "and goes on at the front";
}

TEST_F(JudgeTest, FreeAndGhostRowsAreNeverJudged) {
  cluster_.Add(MakePod("ghost").OnNode("gone"));  // row 0
  AddNodes(2);
  int asked = 0;
  maker_.FilterNodes("f", [&](const NodeView& node) {
    ++asked;
    return node.name() == "n0" ? Verdict(Code::kUnschedulable, "no") : Verdict();
  });
  const Judgement judgement = Run();
  EXPECT_THAT(judgement.feasible, ElementsAre(2));
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(judgement.evaluated, 2u);
}

TEST_F(JudgeTest, OnlyTheRowsAskedAboutAreJudged) {
  AddNodes(4);
  std::vector<std::string> asked;
  maker_.FilterNodes("f", [&](const NodeView& node) {
    asked.push_back(node.name());
    return node.name() == "n3" ? Verdict(Code::kUnschedulable, "no") : Verdict();
  });
  const std::vector<uint8_t> only = {0, 1, 0, 1};
  JudgeOptions options;
  options.only = only;
  const Judgement judgement = Run(options);
  EXPECT_THAT(asked, ElementsAre("n1", "n3"));
  EXPECT_THAT(judgement.feasible, ElementsAre(1));
  EXPECT_EQ(judgement.verdicts[0], kNotJudged);
  EXPECT_EQ(judgement.evaluated, 2u);
}

TEST_F(JudgeTest, WithoutScoringANominatedPodKeepsAllNodesThatFit) {
  AddNodes(3);
  maker_.Score("s", 1, ByNumber({1, 2, 3}));
  pod_ = MakePod("p").Nominated("n1");
  JudgeOptions options;
  options.score = false;
  const Judgement judgement = Run(options);
  EXPECT_EQ(judgement.kind, Kind::kFits);
  EXPECT_THAT(judgement.feasible, ElementsAre(0, 1, 2));
  EXPECT_THAT(judgement.scores, IsEmpty());
}

TEST_F(JudgeTest, ANominationIsFollowedUnlessTheCallerWantsToKnowOfAllNodes) {
  AddNodes(3);
  maker_.Score("s", 1, ByNumber({1, 2, 3}));
  pod_ = MakePod("p").Nominated("n1");
  JudgeOptions options;
  EXPECT_THAT(Run(options).feasible, ElementsAre(1));
  options.follow_nomination = false;
  const Judgement judgement = Run(options);
  EXPECT_FALSE(judgement.nominated);
  EXPECT_THAT(judgement.feasible, ElementsAre(0, 1, 2));
  EXPECT_THAT(judgement.totals, ElementsAre(1, 2, 3));
}

TEST_F(JudgeTest, GivenRowsAreScoredWhetherTheyFitOrNot) {
  AddNodes(3);
  RejectAll();
  maker_.Score("s", 2, ByNumber({10, 20, 30}));
  const Judge judge(maker_.profile(), table_, clock_);
  EXPECT_THAT(judge.Score(pod_, cluster_.snapshot(), {0, 2}).totals, ElementsAre(20, 60));
  EXPECT_THAT(judge.Score(pod_, cluster_.snapshot(), {1}).totals, ElementsAre(40));
  EXPECT_EQ(judge.Score(pod_, cluster_.snapshot(), {}).kind, Kind::kFits);
  maker_.parts.score.clear();
  maker_.Score("s", 1, [](const std::string&) -> int64_t { throw std::runtime_error("boom"); });
  const Judgement failed = judge.Score(pod_, cluster_.snapshot(), {1});
  EXPECT_EQ(failed.kind, Kind::kFailed);
  EXPECT_NE(failed.message.find("boom"), std::string::npos);
}

TEST(AdaptiveNodesToFindTest, IsKubeSchedulersChoice) {
  const std::pair<size_t, size_t> cases[] = {{0, 0},      {99, 99},    {100, 100},  {300, 144},
                                             {1000, 420}, {5000, 500}, {6000, 300}, {20000, 1000}};
  for (const auto& [nodes, wanted] : cases) EXPECT_EQ(AdaptiveNodesToFind(nodes), wanted) << nodes;
}

TEST(WeightedExtenderScoreTest, IsTenfoldAndGoesOverTheEndAsGoDoes) {
  EXPECT_EQ(WeightedExtenderScore(7, 3), 210);
  EXPECT_EQ(WeightedExtenderScore(-1, 2), -20);
  EXPECT_EQ(WeightedExtenderScore(INT64_MAX, 1), -10);
}

}  // namespace
}  // namespace berth::framework
