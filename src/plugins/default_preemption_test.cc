// SPDX-License-Identifier: Apache-2.0
// DefaultPreemption: eligibility, victims, budgets, tie-breaks and messages, over other plugins and the real framework.
#include "plugins/default_preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "berth/host/prospects.h"
#include "berth/testing.h"
#include "framework/judge.h"
#include "plugins/default_preemption_victims.h"
#include "plugins/node_resources_fit.h"
#include "plugins/taint_toleration.h"

namespace berth::plugins {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Time kEarly{1'000}, kLate{2'000};

MakeNode Cpus(const std::string& name, const std::string& cpu) {
  return MakeNode(name).Capacity({{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}});
}
MakePod Cpu(const std::string& name, const std::string& cpu, int32_t priority) {
  return MakePod(name).Uid(name).Request({{"cpu", cpu}}).Priority(priority);
}
PodDisruptionBudget Budget(const std::string& name, std::vector<Labels::Entry> labels, int32_t allowed) {
  PodDisruptionBudget budget;
  budget.meta.name = name;
  budget.meta.namespace_ = "default";
  budget.selector = SelectLabels(std::move(labels));
  budget.disruptions_allowed = allowed;
  return budget;
}

class DefaultPreemptionTest : public ::testing::Test {
 protected:
  // Judges the pod; `outcome_` is what PostFilter said.
  void Run(const Pod& pod, const DefaultPreemption::Args& args = {}) {
    const DefaultPreemption plugin(args, *handle_);
    const framework::Profile profile = ProfileWith(plugin);
    VerdictTable table;
    const ManualClock clock;
    const Snapshot snapshot = cluster_.snapshot();
    framework::Judgement found = framework::Judge(profile, table, clock).Run(pod, snapshot);
    ASSERT_TRUE(found.post_filter_ran) << found.message;
    outcome_ = std::move(found.post_filter);
  }
  framework::Profile ProfileWith(const DefaultPreemption& plugin) const {
    framework::Profile profile;
    profile.plugins.resize(3);
    profile.plugins[0].name = "TaintToleration";
    profile.plugins[1].name = "NodeResourcesFit";
    profile.plugins[2].name = "DefaultPreemption";
    profile.filter.push_back({&taints_, 0});
    profile.pre_filter.push_back({&fit_, 1});
    profile.filter.push_back({&fit_, 1});
    profile.post_filter.push_back({&plugin, 2});
    EXPECT_TRUE(framework::TakeDeclarations(profile).ok());
    return profile;
  }
  std::string Message() const { return outcome_.verdict.message(); }
  // Victims of the node's candidacy, `-` when it is no candidate.
  std::string Victims(const std::string& node) const {
    if (!outcome_.plan) return "-";
    for (const PreemptionCandidate& candidate : outcome_.plan->candidates) {
      if (candidate.node != node) continue;
      std::string text;
      for (const auto& pod : candidate.victims) text += (text.empty() ? "" : " ") + pod->name();
      return text + (candidate.pdb_violations > 0 ? " !" + std::to_string(candidate.pdb_violations) : "");
    }
    return "-";
  }

  std::unique_ptr<Handle> handle_ = MakeTestHandle();
  TaintToleration taints_;
  NodeResourcesFit fit_{NodeResourcesFit::Args(), *handle_};
  TestCluster cluster_;
  PostFilterOutcome outcome_;
};

TEST_F(DefaultPreemptionTest, SparesThePodsThatStillFit) {
  cluster_.Add(Cpus("n", "4"));
  cluster_.Add(Cpu("a", "1", 1).OnNode("n")).Add(Cpu("b", "1", 3).OnNode("n")).Add(Cpu("c", "2", 2).OnNode("n"));
  Run(Cpu("p", "2", 10));
  EXPECT_TRUE(outcome_.verdict.fits());
  EXPECT_EQ(Message(), "");
  // b (3) is spared first; c (2) would take both remaining cpus; then a fits.
  EXPECT_EQ(Victims("n"), "c");
  EXPECT_EQ(outcome_.nominated_node, "n");
  EXPECT_EQ(outcome_.plan->selected, "n");
}

TEST_F(DefaultPreemptionTest, PodsOfEqualOrHigherPriorityStay) {
  cluster_.Add(Cpus("n", "2")).Add(Cpu("a", "2", 10).OnNode("n"));
  Run(Cpu("p", "2", 10));
  EXPECT_EQ(outcome_.verdict.code(), Code::kUnschedulable);
  EXPECT_EQ(Message(), "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.");
  EXPECT_EQ(outcome_.nominated_node, "") << "an older nomination is cleared";
  EXPECT_EQ(outcome_.plan, nullptr);
}

TEST_F(DefaultPreemptionTest, TheMessageCountsWhyNoNodeHelps) {
  cluster_.Add(Cpus("full", "2")).Add(Cpu("a", "2", 10).OnNode("full"));
  cluster_.Add(Cpus("mixed", "2")).Add(Cpu("b", "1", 1).OnNode("mixed")).Add(Cpu("c", "1", 10).OnNode("mixed"));
  cluster_.Add(Cpus("tainted", "2").Taint("k", "v", TaintEffect::kNoSchedule));
  cluster_.Add(Cpus("small", "1"));
  Run(Cpu("p", "2", 10));
  EXPECT_EQ(Message(),
            "preemption: 0/4 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, "
            "2 Preemption is not helpful for scheduling.");
}

// A report of a host that knows more than the verdicts.
class Foresight final : public ProspectReport {
 public:
  explicit Foresight(Prospects prospects) : prospects_(std::move(prospects)) {}
  const Verdict& verdict(Row) const override { return verdict_; }
  std::vector<Row> Resolvable() const override { return {}; }
  Prospects LookAhead() const override { return prospects_; }

 private:
  Prospects prospects_;
  Verdict verdict_{Code::kUnschedulable, "full"};
};

TEST_F(DefaultPreemptionTest, NodesWithoutHopeAreCountedNotTried) {
  for (const char* name : {"a", "b", "c", "d"})
    cluster_.Add(Cpus(name, "2")).Add(Cpu(std::string("on-") + name, "2", 1).OnNode(name));
  const DefaultPreemption plugin({}, *handle_);
  const framework::Profile profile = ProfileWith(plugin);
  VerdictTable table;
  const Pod pod = Cpu("p", "2", 10);
  const Snapshot snapshot = cluster_.snapshot();
  framework::CycleRun run(profile, table, pod, snapshot, Time());
  run.RunPreFilter();
  const Verdict why(Code::kUnschedulable, "too cold");
  Prospects prospects{3, {}, 1, {{&why, 2}}};
  EXPECT_EQ(plugin.PostFilter(run, nullptr, Foresight(prospects)).verdict.message(),
            "preemption: 0/4 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not "
            "helpful for scheduling, 2 too cold.");
  prospects = {3, {{1, snapshot.FindRow("b")}}, 1, {{&why, 1}}};
  const PostFilterOutcome outcome = plugin.PostFilter(run, nullptr, Foresight(prospects));
  ASSERT_NE(outcome.plan, nullptr);
  ASSERT_EQ(outcome.plan->candidates.size(), 1u);
  EXPECT_EQ(outcome.nominated_node, "b");
}

TEST_F(DefaultPreemptionTest, NeverMeansNever) {
  cluster_.Add(Cpus("n", "2")).Add(Cpu("a", "2", 1).OnNode("n"));
  Run(Cpu("p", "2", 10).With([](Pod& pod) { pod.preemption_policy = PreemptionPolicy::kNever; }));
  EXPECT_EQ(Message(), "preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_EQ(outcome_.nominated_node, std::nullopt);
}

TEST_F(DefaultPreemptionTest, WaitsForVictimsThatAreAlreadyOnTheirWay) {
  const auto victim = [](const char* reason) {
    return Cpu("a", "2", 1).OnNode("n").Terminating().With([&](Pod& pod) {
      pod.conditions = {{"DisruptionTarget", "True", reason, ""}};
    });
  };
  const Pod pod = Cpu("p", "2", 10).Nominated("n");
  cluster_.Add(Cpus("n", "2")).Add(victim("PreemptionByScheduler"));
  Run(pod);
  EXPECT_EQ(Message(), "preemption: not eligible due to a terminating pod on the nominated node.");
  EXPECT_EQ(outcome_.nominated_node, std::nullopt);
}

TEST_F(DefaultPreemptionTest, PodsThatLeaveForOtherReasonsAreNotWaitedFor) {
  cluster_.Add(Cpus("n", "2"));
  cluster_.Add(Cpu("a", "2", 1).OnNode("n").Terminating().With([](Pod& pod) {
    pod.conditions = {{"DisruptionTarget", "True", "EvictionByEvictionAPI", ""}};
  }));
  Run(Cpu("p", "2", 10).Nominated("n"));
  EXPECT_EQ(Victims("n"), "a") << "terminating pods may be victims";
}

TEST_F(DefaultPreemptionTest, BudgetsDecideWhoIsSparedFirst) {
  cluster_.Add(Cpus("n", "2"));
  cluster_.Add(Cpu("important", "1", 5).OnNode("n")).Add(Cpu("guarded", "1", 1).Label("app", "g").OnNode("n"));
  cluster_.AddObject(Budget("pdb", {{"app", "g"}}, 0));
  Run(Cpu("p", "1", 10));
  EXPECT_EQ(Victims("n"), "important");
}

TEST_F(DefaultPreemptionTest, OverdrawnBudgetsAreCountedAndAvoided) {
  cluster_.Add(Cpus("guarded", "1")).Add(Cpu("g", "1", 1).Label("app", "g").OnNode("guarded"));
  cluster_.Add(Cpus("free", "1")).Add(Cpu("f", "1", 9).OnNode("free"));
  cluster_.AddObject(Budget("pdb", {{"app", "g"}}, 0));
  Run(Cpu("p", "1", 10));
  EXPECT_EQ(Victims("guarded"), "g !1");
  EXPECT_EQ(outcome_.plan->selected, "free") << "rather a higher priority than a violated budget";
}

TEST_F(DefaultPreemptionTest, ABudgetIsUsedUpFromTheMostImportantPodOn) {
  cluster_.Add(Cpus("n", "3"));
  for (const char* name : {"a", "b", "c"}) {
    cluster_.Add(Cpu(name, "1", name[0] - 'a' + 1).Label("app", "g").OnNode("n"));
  }
  PodDisruptionBudget budget = Budget("pdb", {{"app", "g"}}, 1);
  cluster_.AddObject(budget);
  Run(Cpu("p", "3", 10));
  EXPECT_EQ(Victims("n"), "c b a !2");
  budget.disrupted_pods = {"a", "b"};
  cluster_.AddObject(budget);
  Run(Cpu("p", "3", 10));
  EXPECT_EQ(Victims("n"), "c b a") << "disrupted pods are accounted for already";
}

TEST_F(DefaultPreemptionTest, BudgetsWithoutSelectorsMatchNothing) {
  cluster_.Add(Cpus("n", "1")).Add(Cpu("a", "1", 1).Label("app", "g").OnNode("n"));
  cluster_.AddObject(Budget("empty", {}, 0));
  PodDisruptionBudget null = Budget("null", {}, 0);
  null.selector.reset();
  cluster_.AddObject(null);
  Run(Cpu("p", "1", 10));
  EXPECT_EQ(Victims("n"), "a");
}

TEST_F(DefaultPreemptionTest, NominatedPodsOfEqualPriorityKeepTheirRoom) {
  cluster_.Add(Cpus("n", "2")).Add(Cpu("a", "2", 1).OnNode("n"));
  cluster_.Add(Cpu("waiting", "1", 10).Nominated("n"));
  Run(Cpu("p", "2", 10));
  EXPECT_EQ(Message(), "preemption: 0/1 nodes are available: 1 Insufficient cpu.");
  Run(Cpu("p", "1", 10));
  EXPECT_EQ(Victims("n"), "a");
  Run(Cpu("p", "2", 11));
  EXPECT_EQ(Victims("n"), "a") << "lower priority nominations are overruled";
}

struct TieBreak {
  const char* name;
  std::vector<Pod> on_a, on_b;
  const char* want;
};

class TieBreakTest : public DefaultPreemptionTest, public ::testing::WithParamInterface<TieBreak> {};

TEST_P(TieBreakTest, PicksTheCheapestNode) {
  cluster_.Add(Cpus("a", "2")).Add(Cpus("b", "2"));
  for (Pod pod : GetParam().on_a) {
    pod.node_name = "a";
    cluster_.Add(pod);
  }
  for (Pod pod : GetParam().on_b) {
    pod.node_name = "b";
    cluster_.Add(pod);
  }
  Run(Cpu("p", "2", 1000));
  ASSERT_NE(outcome_.plan, nullptr);
  std::string equals;
  for (const size_t i : outcome_.plan->equals) equals += outcome_.plan->candidates[i].node;
  std::sort(equals.begin(), equals.end());  // one letter each
  EXPECT_EQ(equals, GetParam().want);
  EXPECT_THAT(equals, ::testing::HasSubstr(outcome_.plan->selected));
}

INSTANTIATE_TEST_SUITE_P(
    DefaultPreemption, TieBreakTest,
    ::testing::Values(
        TieBreak{"lowest highest priority", {Cpu("a1", "2", 5)}, {Cpu("b1", "1", 4), Cpu("b2", "1", 4)}, "b"},
        TieBreak{"smallest sum", {Cpu("a1", "1", 5), Cpu("a2", "1", 4)}, {Cpu("b1", "1", 5), Cpu("b2", "1", 3)}, "b"},
        TieBreak{"negative priorities still cost", {Cpu("a1", "1", -5), Cpu("a2", "1", -5)}, {Cpu("b1", "2", -5)}, "b"},
        TieBreak{"a victim of the lowest priority adds nothing to the sum, but is one more",
                 {Cpu("a1", "1", 5), Cpu("a2", "1", -2147483648)},
                 {Cpu("b1", "2", 5)},
                 "b"},
        TieBreak{"latest start", {Cpu("a1", "2", 5).StartTime(kLate)}, {Cpu("b1", "2", 5).StartTime(kEarly)}, "a"},
        TieBreak{"only the highest priority's starts count",
                 {Cpu("a1", "1", 5).StartTime(kEarly), Cpu("a2", "1", 4).StartTime(kLate)},
                 {Cpu("b1", "1", 5).StartTime(kLate), Cpu("b2", "1", 4).StartTime(kEarly)},
                 "b"},
        TieBreak{"not started counts as starting now", {Cpu("a1", "2", 5)}, {Cpu("b1", "2", 5).StartTime(kLate)}, "a"},
        TieBreak{"all equal", {Cpu("a1", "2", 5)}, {Cpu("b1", "2", 5)}, "ab"}),
    [](const auto& info) {
      std::string name;
      for (const char c : std::string(info.param.name)) {
        if (std::isalnum(c)) name += c;
      }
      return name;
    });

TEST_F(DefaultPreemptionTest, StopsOnceEnoughCandidatesAreFound) {
  for (int i = 0; i < 10; ++i) {
    const std::string n = std::to_string(i);
    cluster_.Add(Cpus("n" + n, "1")).Add(Cpu("v" + n, "1", 1).OnNode("n" + n));
  }
  DefaultPreemption::Args args;
  args.min_candidate_nodes_absolute = 3;
  Run(Cpu("p", "1", 10), args);
  EXPECT_EQ(outcome_.plan->candidates.size(), 3u);
  EXPECT_EQ(DefaultPreemption(args, *handle_).CandidatesWanted(1000), 100);
  EXPECT_EQ(DefaultPreemption(args, *handle_).CandidatesWanted(2), 2);
}

std::vector<std::string> Sorted(const std::vector<Pod>& pods) {
  std::vector<PodRecord> records;
  for (const Pod& pod : pods) records.push_back({std::make_shared<const Pod>(pod)});
  std::vector<const PodRecord*> order;
  for (const PodRecord& record : records) order.push_back(&record);
  SortByImportance(order, {3'000});
  std::vector<std::string> names;
  for (const PodRecord* record : order) names.push_back(record->pod->name());
  return names;
}

TEST(SortByImportanceTest, PriorityThenStartThenOrder) {
  EXPECT_THAT(Sorted({Cpu("a", "1", 1).StartTime(kEarly), Cpu("b", "1", 2).StartTime(kLate),
                      Cpu("c", "1", 2).StartTime(kEarly), Cpu("d", "1", 1).StartTime(kEarly)}),
              ElementsAre("c", "b", "a", "d"));
}

TEST(SortByImportanceTest, PodsThatHaveNotStartedAreReversedAsUpstreamHasIt) {
  EXPECT_THAT(Sorted({Cpu("a", "1", 1), Cpu("b", "1", 1), Cpu("c", "1", 1).StartTime(kEarly), Cpu("d", "1", 1)}),
              ElementsAre("c", "d", "b", "a"));
}

TEST(SortByImportanceTest, ManyPodsKeepTheirOrderWhereEqual) {
  std::vector<Pod> pods;
  std::vector<std::string> want;
  for (int i = 0; i < 20; ++i) {
    pods.push_back(Cpu("p" + std::to_string(i), "1", 1).StartTime(kEarly));
    want.push_back("p" + std::to_string(i));
  }
  EXPECT_EQ(Sorted(pods), want);
}

TEST(DefaultPreemptionArgsTest, NotBothMayBeZero) {
  const Value value =
      Value::Object({{"minCandidateNodesPercentage", Value::Int(0)}, {"minCandidateNodesAbsolute", Value::Int(0)}});
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  DefaultPreemption::Args args;
  args.Read(reader);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].ToString(),
            "args.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesAbsolute");
  EXPECT_EQ(errors[1].ToString(),
            "args.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as "
            "minCandidateNodesPercentage");
}

TEST(DefaultPreemptionArgsTest, OutOfRangeIsRefused) {
  const Value value =
      Value::Object({{"minCandidateNodesPercentage", Value::Int(101)}, {"minCandidateNodesAbsolute", Value::Int(-1)}});
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  DefaultPreemption::Args args;
  args.Read(reader);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].text, "Invalid value: 101: not in valid range [0, 100]");
  EXPECT_EQ(errors[1].text, "Invalid value: -1: not in valid range [0, inf)");
}

}  // namespace
}  // namespace berth::plugins
