// SPDX-License-Identifier: Apache-2.0
// PreFilter and Filter as upstream runs them, nominated pods, and what-ifs.
#include "framework/cycle_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "berth/testing.h"
#include "framework/judge.h"
#include "testing/fake_stages.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Reason kFull{"full"};
constexpr Reason kWrong{"wrong", Remedy::kNone};

// Counts the pods it was told of.
struct Counter : StateOf<Counter> {
  int pods = 0;
};

class CycleRunTest : public ::testing::Test {
 protected:
  PreFilterRuling RunPreFilter() {
    const Snapshot snapshot = cluster_.snapshot();
    CycleRun run(maker_.profile(), table_, pod_, snapshot, {});
    return run.RunPreFilter();
  }
  Judgement Run(JudgeOptions options = {}) {
    return Judge(maker_.profile(), table_, clock_).Run(pod_, cluster_.snapshot(), options);
  }
  // Node to "plugin: message", feasible ones to "".
  std::map<std::string, std::string> Rulings(const Judgement& judgement) {
    std::map<std::string, std::string> rulings;
    const Snapshot snapshot = cluster_.snapshot();
    for (Row row = 0; row < snapshot.rows(); ++row) {
      std::string& text = rulings[snapshot.node(row).name()];
      const VerdictId id = judgement.verdicts[row];
      if (id == kFitsId) continue;
      const std::string plugin =
          judgement.plugins[row] == kNoPlugin ? "nobody" : maker_.profile().name(judgement.plugins[row]);
      text = plugin + ": " + (id == kNotJudged ? judgement.absent : table_.Get(id)).message();
    }
    return rulings;
  }
  void AddNodes(int count) {
    for (int i = 0; i < count; ++i) cluster_.Add(MakeNode("n" + std::to_string(i)));
  }

  ProfileMaker maker_;
  TestCluster cluster_;
  VerdictTable table_;
  ManualClock clock_;
  Pod pod_ = MakePod("p").Priority(5);
};

TEST_F(CycleRunTest, APluginThatSkipsPreFilterIsNotAskedInFilter) {
  AddNodes(1);
  maker_.PreFilter("a", [] { return PreFilterOutcome::Skip(); });
  maker_.FilterNodes("a", [](const NodeView&) { return Verdict(kFull); });
  maker_.PreFilter("b", [] { return PreFilterOutcome::Ok(); });
  EXPECT_EQ(Run().feasible.size(), 1u);
}

TEST_F(CycleRunTest, UnresolvableStopsPreFilterAtOnce) {
  bool reached = false;
  maker_.PreFilter("a", [] { return PreFilterOutcome::Reject(kWrong); });
  maker_.PreFilter("b", [&] { return reached = true, PreFilterOutcome::Ok(); });
  const PreFilterRuling ruling = RunPreFilter();
  EXPECT_EQ(ruling.ruling.verdict, Verdict(kWrong));
  EXPECT_EQ(ruling.ruling.plugin, 0);
  EXPECT_FALSE(reached);
}

TEST_F(CycleRunTest, UnschedulableLetsTheOthersRunAndTheLastOneIsReported) {
  int ran = 0;
  maker_.PreFilter("a", [&] { return ++ran, PreFilterOutcome::Reject(Verdict(Code::kUnschedulable, "first")); });
  maker_.PreFilter("b", [&] { return ++ran, PreFilterOutcome::Reject(Verdict(Code::kUnschedulable, "second")); });
  maker_.PreFilter("c", [&] { return ++ran, PreFilterOutcome::Ok(); });
  const PreFilterRuling ruling = RunPreFilter();
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(ruling.ruling.verdict.message(), "second");
  EXPECT_EQ(ruling.ruling.plugin, 1);
}

TEST_F(CycleRunTest, AnythingElseFromPreFilterIsAnErrorThatNamesThePlugin) {
  maker_.PreFilter("a", [] { return PreFilterOutcome::Fail("no lister"); });
  EXPECT_EQ(RunPreFilter().ruling.verdict, Verdict::Fail("running PreFilter plugin \"a\": no lister"));
  for (const Code code : {Code::kWait, Code::kPending}) {
    ProfileMaker other;
    other.PreFilter("b", [code] { return PreFilterOutcome::Reject(Verdict(code, "what")); });
    const Snapshot snapshot = cluster_.snapshot();
    CycleRun run(other.profile(), table_, pod_, snapshot, {});
    EXPECT_EQ(run.RunPreFilter().ruling.verdict, Verdict::Fail("running PreFilter plugin \"b\": what"));
  }
}

TEST_F(CycleRunTest, APluginThatThrowsInPreFilterCostsThePod) {
  maker_.PreFilter("a", []() -> PreFilterOutcome { throw std::runtime_error("boom"); });
  EXPECT_EQ(RunPreFilter().ruling.verdict, Verdict::Fail("running PreFilter plugin \"a\": plugin threw: boom"));
}

PreFilterOutcome Only(std::vector<std::string> names) {
  PreFilterOutcome outcome = PreFilterOutcome::Ok();
  outcome.node_names = std::move(names);
  return outcome;
}

TEST_F(CycleRunTest, NodeNamesOfSeveralPluginsAreIntersected) {
  AddNodes(4);
  maker_.PreFilter("b", [] { return Only({"n3", "n1", "n1", "n2"}); });
  maker_.PreFilter("a", [] { return Only({"n1", "n3", "unknown"}); });
  const PreFilterRuling ruling = RunPreFilter();
  EXPECT_THAT(*ruling.node_names, ElementsAre("n1", "n3"));
  EXPECT_THAT(ruling.narrowed_by, ElementsAre("a", "b"));
  const Judgement judgement = Run();
  EXPECT_THAT(judgement.feasible, ElementsAre(1, 3));
  EXPECT_EQ(judgement.evaluated, 2u);
  EXPECT_EQ(Rulings(judgement).at("n0"), "nobody: node(s) didn't satisfy plugin(s) [a b]");
}

TEST_F(CycleRunTest, OnePluginThatAllowsNoNodeRejectsByItsName) {
  maker_.PreFilter("a", [] { return Only({}); });
  const Ruling ruling = RunPreFilter().ruling;
  EXPECT_EQ(ruling.verdict, Verdict(Code::kUnschedulableAndUnresolvable, "node(s) didn't satisfy plugin a"));
  EXPECT_EQ(ruling.plugin, kNoPlugin);
}

TEST_F(CycleRunTest, AnEmptyIntersectionNamesAllPluginsSorted) {
  bool reached = false;
  maker_.PreFilter("b", [] { return Only({"n1"}); });
  maker_.PreFilter("a", [] { return Only({"n2"}); });
  maker_.PreFilter("c", [&] { return reached = true, PreFilterOutcome::Ok(); });
  EXPECT_EQ(RunPreFilter().ruling.verdict.message(), "node(s) didn't satisfy plugin(s) [a b] simultaneously");
  EXPECT_FALSE(reached);
}

TEST_F(CycleRunTest, NodeNamesThatNoNodeHasLeaveNothingFeasible) {
  AddNodes(2);
  maker_.PreFilter("a", [] { return Only({"elsewhere"}); });
  EXPECT_EQ(Run().message, "0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [a].");
}

TEST_F(CycleRunTest, TheFirstPluginInOrderThatRejectsANodeIsTheOneReported) {
  AddNodes(3);
  std::vector<std::string> asked;
  maker_.FilterNodes("a", [](const NodeView& node) { return node.name() == "n0" ? Verdict(kFull) : Verdict(); });
  maker_.FilterNodes("b", [&](const NodeView& node) {
    asked.push_back(node.name());
    return node.name() != "n2" ? Verdict(kWrong) : Verdict();
  });
  EXPECT_THAT(Rulings(Run()),
              ElementsAre(std::pair("n0", "a: full"), std::pair("n1", "b: wrong"), std::pair("n2", "")));
  EXPECT_THAT(asked, ElementsAre("n1", "n2")) << "a rejected node is not asked about again";
}

TEST_F(CycleRunTest, AnswersForRowsThatAreNotActiveAreIgnored) {
  AddNodes(2);
  maker_.FilterNodes("a", [](const NodeView& node) { return node.name() == "n0" ? Verdict(kFull) : Verdict(); });
  maker_.Filter("b", [](const PluginState*, const NodeBatch&, Rejections& out) {
    out.Reject(0, out.Intern(kWrong));
    return Error::Ok();
  });
  EXPECT_THAT(Rulings(Run()), ElementsAre(std::pair("n0", "a: full"), std::pair("n1", "")));
}

TEST_F(CycleRunTest, MoreRowsThanABatchAreAskedInSeveralCallsAndNoneIsLost) {
  AddNodes(2500);
  std::vector<size_t> sizes;
  maker_.Filter("a", [&](const PluginState*, const NodeBatch& nodes, Rejections& out) {
    sizes.push_back(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes.row(i) % 3) out.Reject(i, out.Intern(kFull));
    return Error::Ok();
  });
  const Judgement judgement = Run();
  EXPECT_THAT(sizes, ElementsAre(1024, 1024, 452));
  ASSERT_EQ(judgement.feasible.size(), 834u);
  for (size_t i = 0; i < judgement.feasible.size(); ++i) ASSERT_EQ(judgement.feasible[i], 3 * i);
}

TEST_F(CycleRunTest, AnErrorOnOneNodeFailsTheCycleAndStaysWithTheNode) {
  AddNodes(2);
  maker_.FilterNodes("a", [](const NodeView& node) { return node.name() == "n1" ? Verdict::Fail("oops") : Verdict(); });
  const Judgement failed = Run();
  EXPECT_EQ(failed.kind, Judgement::Kind::kFailed);
  EXPECT_EQ(failed.message, "running \"a\" filter plugin: oops");
  EXPECT_TRUE(failed.feasible.empty());
  EXPECT_EQ(failed.verdicts[0], kFitsId);
  EXPECT_EQ(table_.Get(failed.verdicts[1]), Verdict::Fail("oops"));
}

TEST_F(CycleRunTest, AnErrorReturnedFromFilterOrThrownIsEveryActiveNodesError) {
  AddNodes(2);
  maker_.FilterNodes("first", [](const NodeView& node) { return node.name() == "n0" ? Verdict(kFull) : Verdict(); });
  maker_.Filter("a", [](const PluginState*, const NodeBatch&, Rejections&) -> Error { throw 42; });
  EXPECT_EQ(Run().message, "running \"a\" filter plugin: plugin threw something that is not a std::exception");
  const Judgement kept = Run();
  EXPECT_EQ(table_.Get(kept.verdicts[0]).code(), Code::kUnschedulable) << "the first rejection stands";
  EXPECT_EQ(table_.Get(kept.verdicts[1]).code(), Code::kError);
}

TEST_F(CycleRunTest, FilterMaySayNothingButFitsRejectedOrError) {
  AddNodes(2);
  maker_.FilterNodes("a", [](const NodeView&) { return Verdict(Code::kSkip, "skipping"); });
  EXPECT_EQ(Run().message, "running \"a\" filter plugin: skipping");
  ProfileMaker fine;
  fine.Filter("b", [](const PluginState*, const NodeBatch&, Rejections& out) {
    out.Reject(0, out.Intern(Verdict(Code::kSuccess, "with a remark")));
    out.Reject(1, out.Intern(Verdict(Code::kPending, "soon")));
    return Error::Ok();
  });
  const Judgement judgement = Judge(fine.profile(), table_, clock_).Run(pod_, cluster_.snapshot());
  EXPECT_THAT(judgement.feasible, ElementsAre(0)) << "a success with a remark is a success";
}

// A plugin that lets at most two pods on a node, counted through the batch.
void AtMostTwoPods(ProfileMaker& maker, const std::string& name) {
  maker.Filter(name, [](const PluginState*, const NodeBatch& nodes, Rejections& out) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes.pod_count()[i] >= 2) out.Reject(i, out.Intern(kFull));
    return Error::Ok();
  });
}

TEST_F(CycleRunTest, PodsNominatedWithAtLeastThisPriorityMustFitToo) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("there").OnNode("n0"));
  AtMostTwoPods(maker_, "a");
  EXPECT_EQ(Run().feasible.size(), 1u);
  cluster_.Add(MakePod("weaker").Priority(4).Nominated("n0"));
  EXPECT_EQ(Run().feasible.size(), 1u) << "a nominated pod of lower priority is ignored";
  cluster_.Add(MakePod("p").Priority(9).Nominated("n0"));
  EXPECT_EQ(Run().feasible.size(), 1u) << "so is the pod's own nomination";
  cluster_.Add(MakePod("equal").Priority(5).Nominated("n0"));
  EXPECT_THAT(Rulings(Run()), ElementsAre(std::pair("n0", "a: full")));
}

TEST_F(CycleRunTest, TheNodeMustFitWithoutTheNominatedPodsAsWell) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("friend").Priority(9).Nominated("n0"));
  maker_.Filter("lonely", [](const PluginState*, const NodeBatch& nodes, Rejections& out) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes.pods(i).empty()) out.Reject(i, out.Intern(kWrong));
    return Error::Ok();
  });
  EXPECT_THAT(Rulings(Run()), ElementsAre(std::pair("n0", "lonely: wrong")));
}

TEST_F(CycleRunTest, TheReasonOfThePassWithNominatedPodsIsTheOneReported) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").OnNode("n0")).Add(MakePod("y").Priority(9).Nominated("n0"));
  maker_.Filter("count", [](const PluginState*, const NodeBatch& nodes, Rejections& out) {
    for (size_t i = 0; i < nodes.size(); ++i)
      out.Reject(i, out.Intern(Verdict(Code::kUnschedulable, std::to_string(nodes.pods(i).size()) + " pods")));
    return Error::Ok();
  });
  EXPECT_THAT(Rulings(Run()), ElementsAre(std::pair("n0", "count: 2 pods")));
}

TEST_F(CycleRunTest, ANominatedPodThatAPluginCannotAddFailsTheCycle) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").Priority(9).Nominated("n0"));
  maker_.PreFilter("a", [] { return PreFilterOutcome::Ok(); }).told = [](PluginState*, const PodRecord&, bool) {
    return Error("lost count");
  };
  const Judgement judgement = Run();
  EXPECT_EQ(judgement.kind, Judgement::Kind::kFailed);
  EXPECT_EQ(judgement.message, "running AddPod on PreFilter plugin \"a\": lost count");
  EXPECT_THAT(judgement.feasible, IsEmpty());
}

TEST_F(CycleRunTest, NominatedPodsAreAddedToAClonedState) {
  AddNodes(2);
  cluster_.Add(MakePod("x").Priority(9).Nominated("n0"));
  maker_.PreFilter("a", [] { return PreFilterOutcome::Ok(std::make_unique<Counter>()); }).told =
      [](PluginState* state, const PodRecord&, bool added) {
        static_cast<Counter*>(state)->pods += added ? 1 : -1;
        return Error::Ok();
      };
  maker_.Filter("a", [](const PluginState* state, const NodeBatch& nodes, Rejections& out) {
    for (size_t i = 0; i < nodes.size(); ++i)
      if (static_cast<const Counter*>(state)->pods > 0) out.Reject(i, out.Intern(kFull));
    return Error::Ok();
  });
  EXPECT_THAT(Rulings(Run()), ElementsAre(std::pair("n0", "a: full"), std::pair("n1", "")));
}

class WhatIfTest : public CycleRunTest {
 protected:
  // Asks from within PostFilter, as preemption does.
  void Imagine(std::function<void(WhatIf&, const Snapshot&)> question) {
    bool asked = false;
    maker_.PostFilter("ask", [&](const Cycle& cycle, const PluginState*, const FilterReport&) {
      asked = true;
      question(*cycle.Imagine(0), cycle.snapshot());
      return PostFilterOutcome{};
    });
    Run();
    maker_.parts.post_filter.clear();
    EXPECT_TRUE(asked);
  }
};

TEST_F(WhatIfTest, TakingPodsAwayMakesRoomAndPuttingThemBackFillsItAgain) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").OnNode("n0")).Add(MakePod("y").OnNode("n0"));
  AtMostTwoPods(maker_, "a");
  Imagine([](WhatIf& what_if, const Snapshot& snapshot) {
    EXPECT_EQ(what_if.Judge(), Verdict(kFull));
    const PodRecord& victim = *snapshot.pods(0)[0];
    EXPECT_TRUE(what_if.RemovePod(victim).ok());
    EXPECT_TRUE(what_if.Judge().fits());
    EXPECT_TRUE(what_if.Fits());
    EXPECT_TRUE(what_if.AddPod(victim).ok());
    EXPECT_EQ(what_if.Judge(), Verdict(kFull));
    EXPECT_FALSE(what_if.Fits());
    EXPECT_EQ(snapshot.pods(0).size(), 2u) << "the snapshot is untouched";
  });
}

TEST_F(WhatIfTest, AFilterThatFailsIsNamed) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").OnNode("n0"));
  maker_.Filter("a", [](const PluginState*, const NodeBatch& nodes, Rejections& out) {
    out.Reject(0, out.Intern(nodes.pods(0).empty() ? Verdict::Fail("oops") : Verdict(kFull)));
    return Error::Ok();
  });
  Imagine([](WhatIf& what_if, const Snapshot& snapshot) {
    EXPECT_EQ(what_if.Judge(), Verdict(kFull)) << "a rejection is the plugin's own";
    EXPECT_TRUE(what_if.RemovePod(*snapshot.pods(0)[0]).ok());
    EXPECT_EQ(what_if.Judge(), Verdict::Fail("running \"a\" filter plugin: oops"));
  });
}

TEST_F(WhatIfTest, ItsAnswersIncludeNominatedPods) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").OnNode("n0")).Add(MakePod("y").OnNode("n0"));
  cluster_.Add(MakePod("first").Priority(9).Nominated("n0"));
  AtMostTwoPods(maker_, "a");
  Imagine([](WhatIf& what_if, const Snapshot& snapshot) {
    EXPECT_TRUE(what_if.RemovePod(*snapshot.pods(0)[0]).ok());
    EXPECT_FALSE(what_if.Judge().fits()) << "the room belongs to the nominated pod";
    EXPECT_FALSE(what_if.Fits());
    EXPECT_TRUE(what_if.RemovePod(*snapshot.pods(0)[1]).ok());
    EXPECT_TRUE(what_if.Judge().fits());
  });
}

TEST_F(WhatIfTest, PluginsThatTrackPodsAreToldOnAStateOfTheirOwn) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").OnNode("n0")).Add(MakePod("y").OnNode("n0"));
  int told_skipped = 0;
  maker_.PreFilter("a", [] { return PreFilterOutcome::Ok(std::make_unique<Counter>()); }).told =
      [](PluginState* state, const PodRecord&, bool added) {
        static_cast<Counter*>(state)->pods += added ? 1 : -1;
        return Error::Ok();
      };
  maker_.PreFilter("skips", [] { return PreFilterOutcome::Skip(); }).told = [&](PluginState*, const PodRecord&, bool) {
    return ++told_skipped, Error::Ok();
  };
  maker_.Filter("a", [](const PluginState* state, const NodeBatch&, Rejections& out) {
    if (static_cast<const Counter*>(state)->pods > -2) out.Reject(0, out.Intern(kFull));
    return Error::Ok();
  });
  Imagine([](WhatIf& what_if, const Snapshot& snapshot) {
    EXPECT_FALSE(what_if.Judge().fits());
    EXPECT_TRUE(what_if.RemovePod(*snapshot.pods(0)[0]).ok());
    EXPECT_FALSE(what_if.Judge().fits());
    EXPECT_TRUE(what_if.RemovePod(*snapshot.pods(0)[1]).ok());
    EXPECT_TRUE(what_if.Judge().fits()) << "both removals count";
  });
  EXPECT_EQ(told_skipped, 0);
  EXPECT_THAT(Rulings(Run()), ElementsAre(std::pair("n0", "a: full"))) << "the original state did not move";
}

TEST_F(WhatIfTest, StatesAreNotClonedWhenNobodyTracksPods) {
  struct Unclonable : PluginState {
    std::unique_ptr<PluginState> Clone() const override {
      ADD_FAILURE() << "cloned";
      return std::make_unique<Unclonable>();
    }
  };
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").OnNode("n0")).Add(MakePod("y").OnNode("n0"));
  maker_.PreFilter("a", [] { return PreFilterOutcome::Ok(std::make_unique<Unclonable>()); });
  AtMostTwoPods(maker_, "a");
  Imagine([](WhatIf& what_if, const Snapshot& snapshot) {
    EXPECT_TRUE(what_if.RemovePod(*snapshot.pods(0)[0]).ok());
    EXPECT_TRUE(what_if.Fits());
  });
}

TEST_F(WhatIfTest, AFailureToRemoveIsAnErrorThatNamesThePlugin) {
  cluster_.Add(MakeNode("n0")).Add(MakePod("x").OnNode("n0"));
  PreFilterFake& plugin = maker_.PreFilter("a", [] { return PreFilterOutcome::Ok(); });
  plugin.told = [](PluginState*, const PodRecord&, bool) -> Error { throw std::runtime_error("boom"); };
  maker_.FilterNodes("a", [](const NodeView&) { return Verdict(kFull); });
  Imagine([](WhatIf& what_if, const Snapshot& snapshot) {
    EXPECT_EQ(what_if.RemovePod(*snapshot.pods(0)[0]).text(),
              "running RemovePod on PreFilter plugin \"a\": plugin threw: boom");
  });
}

}  // namespace
}  // namespace berth::framework
