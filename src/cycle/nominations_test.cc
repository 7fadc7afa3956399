// SPDX-License-Identifier: Apache-2.0
// Which node a pending pod counts on, and who is woken when it no longer does.
#include "cycle/nominations.h"

#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class NominationsTest : public CycleTest {
 protected:
  // A filter that keeps pods with a name of this beginning from every node.
  void Refuse(const std::string& beginning, const Verdict& verdict = Verdict(Code::kUnschedulable, "no")) {
    Plug("Refuse").filter = [=](const Pod& pod, const NodeView&) {
      return pod.name().starts_with(beginning) ? verdict : Verdict();
    };
  }
  void PostFilterSays(const PostFilterOutcome& outcome) {
    config_.profiles[0].plugins.multi_point.disabled.push_back({"DefaultPreemption", 0});
    config_.profiles[0].plugins[Point::kPostFilter].disabled.push_back({"*", 0});
    config_.profiles[0].plugins[Point::kPostFilter].enabled.push_back({"After", 0});
    Plug("After").post_filter = [outcome](const Cycle&) { return outcome; };
  }
};

TEST_F(NominationsTest, AnActivePodCountsWhereItsStatusSays) {
  Refuse("p");
  PostFilterSays({Verdict(Code::kUnschedulable, "cannot help"), std::nullopt, nullptr});
  Start({"n1", "n2"});
  Put(Wants("p", "1").Priority(5).Nominated("n2"));
  EXPECT_EQ(NominationOf("p"), "n2") << "left alone by PostFilter";
  Put(Wants("q", "1").Priority(1));
  EXPECT_EQ(journal_.attempts.back(), "q -> n1") << "n2 is held for p";
}

TEST_F(NominationsTest, PostFilterMayMoveANomination) {
  Refuse("p");
  PostFilterSays({Verdict(), "n1", nullptr});
  Start({"n1", "n2"});
  Put(MakePod("p").Nominated("n2"));
  EXPECT_EQ(NominationOf("p"), "n1");
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr("nominated \"n1\"")));
}

TEST_F(NominationsTest, PostFilterMayWithdrawANomination) {
  Refuse("p");
  PostFilterSays({Verdict(Code::kUnschedulable, "hopeless"), "", nullptr});
  Start({"n1"});
  Put(MakePod("p").Nominated("n1"));
  EXPECT_EQ(NominationOf("p"), "");
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr("nominated \"\"")));
}

TEST_F(NominationsTest, AnErrorWithdrawsTheNomination) {
  Refuse("p", Verdict::Fail("boom"));
  Start({"n1"});
  Put(MakePod("p").Nominated("n1"));
  EXPECT_EQ(NominationOf("p"), "");
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr("nominated \"\"")));
}

TEST_F(NominationsTest, ANominationFollowsTheStatusOfAQueuedPod) {
  Refuse("p");
  PostFilterSays({Verdict(Code::kUnschedulable, "cannot help"), std::nullopt, nullptr});
  Start({"n1", "n2"});
  Put(MakePod("p"));
  EXPECT_EQ(NominationOf("p"), "");
  Change("p", [](Pod& pod) { pod.nominated_node_name = "n1"; });
  EXPECT_EQ(NominationOf("p"), "n1");
  Change("p", [](Pod& pod) { pod.nominated_node_name = "n2"; });
  EXPECT_EQ(NominationOf("p"), "n2");
  Change("p", [](Pod& pod) { pod.nominated_node_name = ""; });
  EXPECT_EQ(NominationOf("p"), "");
}

TEST_F(NominationsTest, ANominationOfOursIsKeptWhenAnOldStatusComesIn) {
  Refuse("p");
  PostFilterSays({Verdict(), "n1", nullptr});
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_EQ(NominationOf("p"), "n1");
  Change("p", [](Pod& pod) { pod.meta.labels = Labels({{"touched", "yes"}}); });
  EXPECT_EQ(NominationOf("p"), "n1");
  AcceptAll();
  EXPECT_EQ(NominationOf("p"), "n1");
}

TEST_F(NominationsTest, AGatedPodCountsFromItsFirstUpdateOn) {
  Start({"n1"});
  Put(MakePod("p").Gate("wait").Nominated("n1"));
  EXPECT_EQ(NominationOf("p"), "");
  Change("p", [](Pod& pod) { pod.meta.labels = Labels({{"touched", "yes"}}); });
  EXPECT_EQ(NominationOf("p"), "n1");
}

TEST_F(NominationsTest, ANominationThatIsGivenUpWakesPodsUpToItsPriority) {
  Plug("Refuse").filter = [](const Pod& pod, const NodeView&) {
    return pod.name() == "p" ? Verdict(Code::kUnschedulable, "no") : Verdict();
  };
  PostFilterSays({Verdict(Code::kUnschedulable, "cannot help"), std::nullopt, nullptr});
  Start({"n1"});
  Put(Wants("p", "1").Priority(5).Nominated("n1"));
  Put(Wants("low", "1").Priority(4));
  EXPECT_EQ(PlaceOf("low"), Place::kUnschedulable);
  AcceptAll();
  Change("p", [](Pod& pod) { pod.nominated_node_name = ""; });
  EXPECT_EQ(journal_.attempts.back(), "low -> n1");
}

TEST_F(NominationsTest, ANominatedPodThatIsDeletedWakesPodsUpToItsPriorityOnly) {
  PostFilterSays({Verdict(Code::kUnschedulable, "cannot help"), std::nullopt, nullptr});
  Refuse("p");
  Start({"n1"});
  Put(Wants("p", "1").Priority(5).Nominated("n1"));
  Put(Wants("low", "1").Priority(4));
  Put(Wants("high", "2").Priority(6));
  const size_t before = journal_.moves.size();
  RemovePod("p");
  EXPECT_EQ(NominationOf("p"), "");
  const std::vector<std::string> after(journal_.moves.begin() + static_cast<ptrdiff_t>(before), journal_.moves.end());
  EXPECT_THAT(after, Contains("low backoff AssignedPodDelete"));
  EXPECT_THAT(after, Not(Contains(HasSubstr("high"))));
  EXPECT_EQ(journal_.attempts.back(), "low -> n1");
}

TEST_F(NominationsTest, APodThatIsBoundElsewhereCountsNowhereElse) {
  Refuse("p");
  PostFilterSays({Verdict(), "n1", nullptr});
  Start({"n1", "n2"});
  Put(MakePod("p"));
  Change("p", [](Pod& pod) { pod.node_name = "n2"; });
  EXPECT_EQ(NominationOf("p"), "");
  EXPECT_EQ(scheduler_->state().nomination_count(), 0u);
}

TEST_F(NominationsTest, ANominatedNodeThatFitsIsTakenWithoutLookingFurther) {
  Start({"n1", "n2"});
  Put(Wants("p", "100m").Nominated("n2"));
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
  EXPECT_EQ(NominationOf("p"), "");
  EXPECT_THAT(api_.patches, IsEmpty());
}

}  // namespace
}  // namespace berth::cycle
