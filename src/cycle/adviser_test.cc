// SPDX-License-Identifier: Apache-2.0
// Decisions that wait for somebody outside: suspended, resumed, refused, failed, overtaken by events.
#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AdviserTest : public CycleTest {
 protected:
  AdviserTest() { options_.adviser = &adviser_; }
  void Resume(const Verdict& verdict = {}, const framework::Advice& advice = {}) {
    ASSERT_FALSE(adviser_.questions.empty());
    inbox_.Post([resume = std::move(adviser_.questions.front().resume), verdict, advice] { resume(verdict, advice); });
    adviser_.questions.pop_front();
    Run();
  }
  static framework::Advice Against(const std::vector<std::string>& nodes) {
    framework::Advice advice;
    for (const std::string& node : nodes) advice.rejected[node] = Verdict(Code::kUnschedulable, "no licence");
    return advice;
  }
  FakeAdviser adviser_;
};

TEST_F(AdviserTest, ADecisionIsSuspendedUntilTheAnswerAndNobodyOvertakesIt) {
  Start({"n2", "n1"});
  Put(MakePod("p"));
  Put(MakePod("q"));
  ASSERT_THAT(adviser_.questions, SizeIs(1));
  EXPECT_EQ(adviser_.questions[0].pod, "p");
  EXPECT_THAT(adviser_.questions[0].feasible, ElementsAre("n1", "n2"));
  EXPECT_EQ(PlaceOf("p"), Place::kInFlight);
  EXPECT_EQ(PlaceOf("q"), Place::kActive);
  EXPECT_FALSE(scheduler_->idle());
  EXPECT_THAT(journal_.attempts, IsEmpty());
  Put(SmallNode("n3"));
  EXPECT_EQ(scheduler_->state().snapshot().node_count(), 3u) << "news are applied meanwhile";
  framework::Advice advice;
  advice.scores["n2"] = 1000;
  Resume({}, advice);
  EXPECT_EQ(journal_.attempts[0], "p -> n2");
  ASSERT_THAT(adviser_.questions, SizeIs(1));
  EXPECT_EQ(adviser_.questions[0].pod, "q");
}

TEST_F(AdviserTest, AnAdviserThatDropsItsQuestionHasFailedAndTheNextPodIsTried) {
  Start({"n1"});
  Put(MakePod("p"));
  Put(MakePod("q"));
  adviser_.questions.clear();
  Run();
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  ASSERT_THAT(adviser_.questions, SizeIs(1));
  EXPECT_EQ(adviser_.questions[0].pod, "q");
}

TEST_F(AdviserTest, AnAdviserWithNothingToSayIsNotWaitedFor) {
  adviser_.interested = false;
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n1"));
}

TEST_F(AdviserTest, AnAdviserIsNotAskedAboutAPodThatFitsNowhere) {
  Start({"n1"});
  Put(Wants("p", "2"));
  EXPECT_THAT(adviser_.questions, IsEmpty());
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("NodeResourcesFit"));
}

TEST_F(AdviserTest, NodesThatAreAdvisedAgainstAreLeftOut) {
  Start({"n1", "n2"});
  Put(MakePod("p"));
  Resume({}, Against({"n1"}));
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
}

TEST_F(AdviserTest, WhenNoNodeIsLeftExtenderIsARejectorThatAnyEventMayCure) {
  Start({"n1"});
  Put(MakePod("p"));
  Resume({}, Against({"n1"}));
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("0/1 nodes are available: 1 no licence.")));
  EXPECT_THAT(RejectorsOf("p"), Contains("Extender"));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  PutNamed<StorageClass>("fast");
  EXPECT_THAT(adviser_.questions, SizeIs(1)) << "asked again";
}

TEST_F(AdviserTest, AnAdviserThatFailsIsASchedulerError) {
  Start({"n1"});
  Put(MakePod("p"));
  Resume(Verdict::Fail("connection refused"));
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: connection refused");
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr("PodScheduled False SchedulerError: connection refused")));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  Wait(Duration::Seconds(3));
  EXPECT_THAT(adviser_.questions, SizeIs(1));
  EXPECT_THAT(journal_.attempts, ElementsAre("p: connection refused"));
  EXPECT_THAT(journal_.results, ElementsAre("error default-scheduler"));
}

TEST_F(AdviserTest, ANodeThatWentMeanwhileIsNotChosenAndOneThatCameWasNotAskedAbout) {
  Start({"n1", "n2"});
  Put(MakePod("p"));
  api_.Remove(Kind::kNode, "n1");
  Put(SmallNode("n3"));
  Put(Wants("big", "1").OnNode("n2"));
  Resume();
  ASSERT_THAT(journal_.attempts, SizeIs(1));
  EXPECT_EQ(journal_.attempts[0], "p -> n2");
}

TEST_F(AdviserTest, WhenTheFeasibleNodesAreFullByThenThePodGoesBack) {
  Start({"n1"});
  Put(Wants("p", "500m"));
  Put(Wants("big", "1").OnNode("n1"));
  Resume();
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("1 Insufficient cpu")));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
}

TEST_F(AdviserTest, APodThatIsGoneByThenIsLetGo) {
  Start({"n1"});
  Put(MakePod("p"));
  RemovePod("p");
  Resume();
  EXPECT_THAT(journal_.attempts, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(AdviserTest, APodThatIsBoundByThenIsLetGo) {
  Start({"n1"});
  Put(MakePod("p"));
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  Resume();
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(AdviserTest, APodThatWasRecreatedMeanwhileIsAskedAboutAnew) {
  Start({"n1"});
  Put(MakePod("p"));
  Put(MakePod("p").Uid("second"));
  Resume();
  EXPECT_THAT(api_.binds, IsEmpty());
  Resume();
  ASSERT_THAT(api_.binds, SizeIs(1));
  EXPECT_EQ(api_.binds[0].pod.uid, "second");
}

TEST_F(AdviserTest, APodThatIsTerminatingByThenIsSkippedWithItsEvent) {
  Start({"n1"});
  Put(MakePod("p"));
  Change("p", [](Pod& pod) { pod.meta.deletion_time = Time{1}; });
  Resume();
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(Events(), ElementsAre("p: Warning FailedScheduling Scheduling: skip schedule deleting pod: default/p"));
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(AdviserTest, AnAnswerAfterTheEndIsDropped) {
  Start({"n1"});
  Put(MakePod("p"));
  scheduler_.reset();
  adviser_.questions[0].resume({}, {});
  EXPECT_THAT(api_.binds, IsEmpty());
}

TEST_F(AdviserTest, ASecondAnswerIsDropped) {
  Start({"n1"});
  Put(MakePod("p"));
  const auto resume = adviser_.questions[0].resume;
  Resume();
  inbox_.Post([&] { resume(Verdict::Fail("twice"), {}); });
  Run();
  EXPECT_THAT(api_.binds, SizeIs(1));
  EXPECT_THAT(api_.events, IsEmpty());
}

}  // namespace
}  // namespace berth::cycle
