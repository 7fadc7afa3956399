// SPDX-License-Identifier: Apache-2.0
// Reading judgements: rejectors, and where the next search begins.
#include "cycle/decision.h"

#include "cycle/cycle_test_util.h"
#include "testing/fake_stages.h"

namespace berth::cycle {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DecisionTest : public ::testing::Test {
 protected:
  DecisionTest() {
    for (const char* name : {"n0", "n1", "n2", "n3"}) cluster_.Add(MakeNode(name));
  }
  // Judges a pod by `maker_`'s plugins.
  framework::Judgement Judge() {
    return framework::Judge(maker_.profile(), table_, clock_).Run(MakePod("p").Build(), cluster_.snapshot());
  }
  queue::Rejectors Rejectors(framework::Judgement judgement) {
    return RejectorsOf(framework::DecisionOf(judgement, cluster_.snapshot(), table_, 0), maker_.profile());
  }
  // The nodes of these names fit.
  framework::Judgement Fits(const std::vector<std::string>& names) {
    framework::Judgement judgement;
    const Snapshot snapshot = cluster_.snapshot();
    for (Row row = 0; row < snapshot.rows(); ++row) {
      const bool fits = std::find(names.begin(), names.end(), snapshot.node(row).name()) != names.end();
      judgement.verdicts.push_back(fits ? kFitsId : kNotJudged);
      judgement.plugins.push_back(framework::kNoPlugin);
    }
    return judgement;
  }
  TestCluster cluster_;
  framework::ProfileMaker maker_;
  VerdictTable table_;
  ManualClock clock_;
};

TEST_F(DecisionTest, EverybodyWhoRejectedAnyNodeIsARejector) {
  maker_.FilterNodes(
      "A", [](const NodeView& node) { return node.name() < "n2" ? Verdict(Code::kUnschedulable, "a") : Verdict(); });
  maker_.FilterNodes("B", [](const NodeView& node) {
    return node.name() == "n2" ? Verdict(Code::kPending, "b") : Verdict(Code::kUnschedulableAndUnresolvable, "b");
  });
  maker_.FilterNodes("C", [](const NodeView&) { return Verdict(Code::kUnschedulable, "never asked"); });
  const queue::Rejectors rejectors = Rejectors(Judge());
  EXPECT_THAT(rejectors.unschedulable, ElementsAre("A", "B"));
  EXPECT_THAT(rejectors.pending, ElementsAre("B"));
}

TEST_F(DecisionTest, APluginThatRejectsThePodAsAWholeIsARejector) {
  maker_.PreFilter("A", [] { return PreFilterOutcome::Reject(Verdict(Code::kUnschedulableAndUnresolvable, "no")); });
  EXPECT_THAT(Rejectors(Judge()).unschedulable, ElementsAre("A"));
}

TEST_F(DecisionTest, APluginThatNarrowedTheNodesIsARejector) {
  maker_.PreFilter("A", [] { return PreFilterOutcome{{}, nullptr, std::vector<std::string>{"n1"}, {}}; });
  maker_.FilterNodes("B", [](const NodeView&) { return Verdict(Code::kUnschedulable, "no"); });
  EXPECT_THAT(Rejectors(Judge()).unschedulable, ElementsAre("A", "B"));
}

TEST_F(DecisionTest, AdviceAgainstNodesMakesExtenderARejector) {
  EXPECT_THAT(Rejectors(Fits({})).unschedulable, IsEmpty());
  framework::Judgement judgement = Fits({});
  judgement.advised_against = true;
  EXPECT_THAT(Rejectors(std::move(judgement)).unschedulable, ElementsAre("Extender"));
}

TEST_F(DecisionTest, TheNextSearchBeginsAtTheFirstFeasibleNodeTooMany) {
  const Snapshot snapshot = cluster_.snapshot();
  const framework::Judgement all = Fits({"n0", "n1", "n2", "n3"});
  EXPECT_EQ(NextStart(all, snapshot, 0, 2), 2u);
  EXPECT_EQ(NextStart(all, snapshot, 3, 2), 1u) << "it goes round";
  EXPECT_EQ(NextStart(all, snapshot, 1, 4), 1u) << "all were needed";
  const framework::Judgement some = Fits({"n0", "n3"});
  EXPECT_EQ(NextStart(some, snapshot, 0, 1), 3u) << "n1 and n2 were looked at";
  EXPECT_EQ(NextStart(some, snapshot, 2, 1), 0u);
  EXPECT_EQ(NextStart(some, snapshot, 2, 2), 2u) << "everything was looked at";
}

}  // namespace
}  // namespace berth::cycle
