// SPDX-License-Identifier: Apache-2.0
// Decisions that wait for extenders: whom they concern, what is asked in which order, what comes of the answers, and
// what happens meanwhile.
#include "cycle/consultations.h"

#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class ConsultationsTest : public CycleTest {
 protected:
  ConsultationsTest() { options_.extenders = {extender_}; }
  std::shared_ptr<FakeExtender> Another(const std::string& name) {
    auto extender = std::make_shared<FakeExtender>();
    extender->is.name = name;
    options_.extenders.push_back(extender);
    return extender;
  }
  void Pass(const std::vector<std::string>& nodes) {
    extender_->Pass(nodes);
    Run();
  }
  void Answer(const FakeExtender::Filtered& answer) {
    extender_->AnswerFilter(answer);
    Run();
  }
  void Fail(const std::string& text) {
    extender_->AnswerFilter(Error(text));
    Run();
  }
  static FakeExtender::Filtered Against(const std::vector<std::string>& nodes, const std::string& why = "no licence") {
    FakeExtender::Filtered answer;
    for (const std::string& node : nodes) answer.failed[node] = why;
    return answer;
  }
  // p would preempt "low" on n1, and "also" on n2.
  void StartWithVictims() {
    extender_->is.preempts = true;
    extender_->is.filters = false;
    Start({"n1", "n2"});
    Put(Wants("low", "1").OnNode("n1"));
    Put(Wants("also", "1").OnNode("n2").Priority(1));
  }
  static MakePod Important(const std::string& name) { return Wants(name, "1").Priority(100); }
  static FakeExtender::VictimMap Victims(const std::string& node, const std::vector<std::string>& pods) {
    FakeExtender::VictimMap map;
    for (const std::string& pod : pods) map[node].uids.push_back("pod-default/" + pod);
    if (pods.empty()) map[node] = {};
    return map;
  }
  std::shared_ptr<FakeExtender> extender_ = std::make_shared<FakeExtender>();
};

TEST_F(ConsultationsTest, ADecisionIsSuspendedUntilTheAnswerAndOthersAreDecidedMeanwhile) {
  extender_->interested = [](const Pod& pod) { return pod.name() != "other"; };
  Start({"n1", "n2"});
  Put(MakePod("p"));
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_EQ(extender_->filters[0].pod, "p");
  EXPECT_THAT(extender_->filters[0].nodes, UnorderedElementsAre("n1", "n2"));
  EXPECT_EQ(PlaceOf("p"), Place::kInFlight);
  EXPECT_FALSE(scheduler_->idle());
  EXPECT_EQ(scheduler_->consultations(), 1u);
  EXPECT_THAT(journal_.attempts, IsEmpty());
  Put(MakePod("other"));
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("other -> ")));
  Put(MakePod("q"));
  EXPECT_THAT(extender_->filters, SizeIs(2)) << "several may wait";
  Pass({"n2"});
  EXPECT_EQ(journal_.attempts.back(), "p -> n2");
}

TEST_F(ConsultationsTest, WithTooManyWaitingNobodyIsPopped) {
  options_.max_consultations = 2;
  Start({"n1"});
  for (const char* name : {"p", "q", "r"}) Put(MakePod(name));
  EXPECT_THAT(extender_->filters, SizeIs(2));
  EXPECT_EQ(PlaceOf("r"), Place::kActive);
  Pass({"n1"});
  EXPECT_THAT(extender_->filters, SizeIs(2)) << "q and r";
}

TEST_F(ConsultationsTest, OneThatNeverAnswersHoldsSixtyFourQuestionsAndNoMore) {
  Start({"n1"});
  std::set<std::string> asked;
  for (int i = 0; i < 200; ++i) Put(MakePod("p" + std::to_string(i)));
  for (int i = 0; i < 400; ++i) {
    ASSERT_THAT(extender_->filters, SizeIs(64));
    EXPECT_EQ(scheduler_->consultations(), 64u);
    // As a client with a timeout: the next in turn has failed.
    const auto next = std::min_element(extender_->filters.begin(), extender_->filters.end(),
                                       [](const auto& a, const auto& b) { return *a.turn < *b.turn; });
    asked.insert(next->pod);
    const auto answer = next->filter;
    extender_->filters.erase(next);
    answer(Error("timed out"));
    Run();
    Wait(Duration::Seconds(1));
  }
  EXPECT_THAT(asked, SizeIs(200)) << "everybody gets a turn";
}

TEST_F(ConsultationsTest, PodsThatAreGoneKeepNobodyWaiting) {
  options_.max_consultations = 2;
  Start({"n1"});
  for (const char* name : {"p", "q", "r"}) Put(MakePod(name));
  EXPECT_THAT(extender_->filters, SizeIs(2));
  const framework::Turn of_p = extender_->filters[0].turn;
  RemovePod("p");
  EXPECT_EQ(*of_p, framework::kWithdrawn) << "its call need not be made";
  ASSERT_THAT(extender_->filters, SizeIs(3));
  EXPECT_EQ(extender_->filters[2].pod, "r");
  Pass({"n1"});  // about p
  EXPECT_THAT(journal_.attempts, IsEmpty());
  EXPECT_EQ(scheduler_->consultations(), 2u);
}

// Whatever has become of them.
TEST_F(ConsultationsTest, PodsThatNeedNoDecisionKeepNobodyWaiting) {
  options_.max_consultations = 2;
  Start({"n1"});
  Put(MakePod("p").Uid("first"));
  Put(MakePod("q"));
  Put(MakePod("r"));
  EXPECT_THAT(extender_->filters, SizeIs(2));
  Put(MakePod("p").Uid("first").OnNode("n1"));  // by somebody else
  ASSERT_THAT(extender_->filters, SizeIs(3));
  EXPECT_EQ(extender_->filters[2].pod, "r");
  Put(MakePod("s"));
  EXPECT_THAT(extender_->filters, SizeIs(3));
  Pod ending = MakePod("q");
  ending.meta.deletion_time = clock_.Now();
  Put(ending);
  ASSERT_THAT(extender_->filters, SizeIs(4));
  EXPECT_EQ(extender_->filters[3].pod, "s");
  Put(MakePod("t"));
  EXPECT_THAT(extender_->filters, SizeIs(4));
  RemovePod("r");
  Put(MakePod("r").Uid("another"));
  ASSERT_THAT(extender_->filters, SizeIs(5));
  EXPECT_EQ(extender_->filters[4].pod, "t");
}

TEST_F(ConsultationsTest, AnExtenderThatLosesItsQuestionHasFailed) {
  Start({"n1"});
  Put(MakePod("p"));
  extender_->filters.clear();
  Run();
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_THAT(journal_.attempts, ElementsAre("p: the extender gave no answer"));
}

TEST_F(ConsultationsTest, AnExtenderIsNotAskedAboutAPodThatFitsNowhere) {
  Start({"n1"});
  Put(Wants("p", "2"));
  EXPECT_THAT(extender_->filters, IsEmpty());
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("NodeResourcesFit"));
}

TEST_F(ConsultationsTest, NodesThatDoNotPassAreLeftOut) {
  Start({"n1", "n2"});
  Put(MakePod("p"));
  Answer({{"n2"}, {{"n1", "no licence"}}, {}});
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
}

TEST_F(ConsultationsTest, WhenNoNodePassesExtenderIsARejectorThatAnyEventMayCure) {
  Start({"n1", "n2"});
  Put(MakePod("p"));
  FakeExtender::Filtered answer = Against({"n1"});
  answer.unresolvable["n2"] = "no such rack";
  answer.failed["n2"] = "and no licence";  // the other one wins
  Answer(answer);
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("p: 0/2 nodes are available: 1 no licence, 1 no such rack. ")));
  EXPECT_THAT(RejectorsOf("p"), Contains("Extender"));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  PutNamed<StorageClass>("fast");
  EXPECT_THAT(extender_->filters, SizeIs(1)) << "asked again";
}

TEST_F(ConsultationsTest, ANodeThatIsDroppedWithoutAWordHasNoReason) {
  Start({"n1", "n2"});
  Put(MakePod("p"));
  Answer(Against({"n1"}));
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("p: 0/2 nodes are available: 1 no licence. ")));
}

TEST_F(ConsultationsTest, AFailureIsASchedulerError) {
  Start({"n1"});
  Put(MakePod("p"));
  Fail("connection refused");
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: connection refused");
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr("PodScheduled False SchedulerError: connection refused")));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  Wait(Duration::Seconds(3));
  EXPECT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(journal_.attempts, ElementsAre("p: connection refused"));
  EXPECT_THAT(journal_.results, ElementsAre("error default-scheduler"));
}

TEST_F(ConsultationsTest, AnIgnorableExtenderThatFailsIsPassedOverAndComesLast) {
  extender_->is.ignorable = true;
  const auto second = Another("http://second");
  Start({"n1", "n2"});
  Put(MakePod("p"));
  EXPECT_THAT(extender_->filters, IsEmpty()) << "the other one goes first";
  second->Pass({"n2"});
  Run();
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, ElementsAre("n2")) << "what the first has left";
  Fail("gone");
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
  EXPECT_THAT(journal_.extenders, ElementsAre("p: filter of http://fake: gone"));
}

TEST_F(ConsultationsTest, WhenNothingIsLeftTheNextIsNotAsked) {
  const auto second = Another("http://second");
  Start({"n1"});
  Put(MakePod("p"));
  Answer(Against({"n1"}));
  EXPECT_THAT(second->filters, IsEmpty());
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
}

TEST_F(ConsultationsTest, ScoresOfAllAreAddedTenfoldAndByWeight) {
  extender_->is = {"http://fake", 2, false, true, false, false, false};
  const auto second = Another("http://second");
  second->is = {"http://second", 1, false, true, false, false, false};
  Start({"n1", "n2", "n3"});
  Put(MakePod("p"));
  ASSERT_THAT(extender_->priorities, SizeIs(1));
  ASSERT_THAT(second->priorities, SizeIs(1)) << "at the same time";
  EXPECT_THAT(extender_->priorities[0].nodes, UnorderedElementsAre("n1", "n2", "n3"));
  extender_->AnswerScores(FakeExtender::Scores{{"n1", 3}, {"n2", 5}, {"nowhere", 10}});
  Run();
  EXPECT_THAT(journal_.attempts, IsEmpty()) << "one answer is out";
  second->AnswerScores(FakeExtender::Scores{{"n1", 3}, {"n1", 2}});  // 60 + 50 against 100
  Run();
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n1"));
}

TEST_F(ConsultationsTest, AnExtenderThatCannotScoreGivesNoScores) {
  extender_->is.prioritizes = true;
  Start({"n1", "n2"});
  Put(MakePod("p"));
  Pass({"n1", "n2"});
  ASSERT_THAT(extender_->priorities, SizeIs(1));
  extender_->AnswerScores(Error("no"));
  Run();
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n1"));
  EXPECT_THAT(journal_.extenders, ElementsAre("p: prioritize of http://fake: no"));
}

TEST_F(ConsultationsTest, OneNodeIsNotScored) {
  extender_->is.prioritizes = true;
  Start({"n1", "n2"});
  Put(MakePod("p"));
  Pass({"n2"});
  EXPECT_THAT(extender_->priorities, IsEmpty());
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
}

TEST_F(ConsultationsTest, NodesAreSampledAsUpstreamDoesAndTheNextSearchGoesOn) {
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("n" + std::to_string(1000 + i));
  Start(names);
  Put(MakePod("p"));
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, SizeIs(144)) << "48 % of 300";
  const std::string first = extender_->filters[0].nodes[0];
  Pass({first});
  Put(MakePod("q"));
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, SizeIs(144));
  EXPECT_NE(extender_->filters[0].nodes[0], first);
}

TEST_F(ConsultationsTest, APercentageIsObeyed) {
  config_.percentage_of_nodes_to_score = 100;
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("n" + std::to_string(1000 + i));
  Start(names);
  Put(MakePod("p"));
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, SizeIs(300));
}

TEST_F(ConsultationsTest, TheNominatedNodeIsAskedAboutAlone) {
  extender_->is.prioritizes = true;
  Start({"n1", "n2"});
  Put(MakePod("p").Nominated("n2"));
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, ElementsAre("n2"));
  Pass({"n2"});
  EXPECT_THAT(extender_->priorities, IsEmpty());
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
}

TEST_F(ConsultationsTest, ANominatedNodeThatDoesNotPassLeadsToAllNodes) {
  Start({"n1", "n2"});
  Put(MakePod("p").Nominated("n2"));
  Answer(Against({"n2"}));
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, UnorderedElementsAre("n1", "n2"));
  Pass({"n1", "n2"});
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n1")) << "the nomination counts no more";
}

TEST_F(ConsultationsTest, AFailureAboutTheNominatedNodeIsToldAndLeadsToAllNodes) {
  Start({"n1", "n2"});
  Put(MakePod("p").Nominated("n2"));
  Fail("down");
  EXPECT_THAT(journal_.extenders, ElementsAre("p: nominated node: down"));
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, SizeIs(2));
}

TEST_F(ConsultationsTest, ANodeThatWentMeanwhileIsNotChosenAndOneThatCameWasNotAskedAbout) {
  Start({"n1", "n2"});
  Put(MakePod("p"));
  api_.Remove(Kind::kNode, "n1");
  Put(SmallNode("n3"));
  Put(Wants("big", "1").OnNode("n2"));
  Pass({"n1", "n2"});
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
}

TEST_F(ConsultationsTest, WhenNothingThatPassedFitsAnyMoreItIsAskedAgain) {
  Start({"n1", "n2"});
  Put(Wants("p", "500m"));
  Put(Wants("big", "1").OnNode("n1"));
  Pass({"n1"});
  EXPECT_THAT(journal_.attempts, IsEmpty());
  ASSERT_THAT(extender_->filters, SizeIs(1));
  EXPECT_THAT(extender_->filters[0].nodes, ElementsAre("n2"));
  Pass({"n2"});
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n2"));
}

TEST_F(ConsultationsTest, AndIfNothingFitsAtAllByThenThePodGoesBack) {
  Start({"n1"});
  Put(Wants("p", "500m"));
  Put(Wants("big", "1").OnNode("n1"));
  Pass({"n1"});
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("1 Insufficient cpu")));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
}

TEST_F(ConsultationsTest, WhoWasOvertakenThreeTimesIsWaitedFor) {
  extender_->interested = [](const Pod& pod) { return pod.name() == "p"; };
  Start({"n1", "n2", "n3", "n4", "n5"});
  Put(Wants("p", "500m"));
  for (const char* node : {"n1", "n2", "n3"}) {
    Put(Wants(std::string("big-") + node, "1").OnNode(node));
    Pass({node});
  }
  ASSERT_THAT(extender_->filters, SizeIs(1));
  Put(MakePod("other"));
  EXPECT_EQ(PlaceOf("other"), Place::kActive);
  Pass({"n4"});
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n4", HasSubstr("other -> ")));
}

TEST_F(ConsultationsTest, WhoMattersMoreIsAskedAboutFirstWheneverItCame) {
  extender_->is.prioritizes = true;
  Start({"n1", "n2"});
  for (const auto& [name, priority] :
       std::vector<std::pair<std::string, int>>{{"a", 1}, {"b", 1}, {"high", 5}, {"low", 0}})
    Put(MakePod(name).Priority(priority));
  ASSERT_THAT(extender_->filters, SizeIs(4));
  const auto number = [&](size_t i) { return extender_->filters.at(i).turn->load(); };
  EXPECT_LT(number(2), number(0)) << "high before a";
  EXPECT_LT(number(0), number(1)) << "a before b, as they came";
  EXPECT_LT(number(1), number(3)) << "low last";
  const framework::Turn of_a = extender_->filters.at(0).turn;
  Pass({"n1", "n2"});
  ASSERT_THAT(extender_->priorities, SizeIs(1));
  EXPECT_EQ(extender_->priorities[0].turn, of_a) << "a pod keeps its place through all of its calls";
}

TEST_F(ConsultationsTest, WhoIsWaitedForGoesFirst) {
  extender_->interested = [](const Pod& pod) { return pod.name() != "other"; };
  Start({"n1", "n2", "n3", "n4", "n5"});
  Put(Wants("p", "500m"));
  for (const char* node : {"n1", "n2", "n3"}) {
    if (node == std::string("n3")) {  // two that matter more
      Put(Wants("q", "100m").Priority(9));
      Put(Wants("r", "100m").Priority(9));
    }
    Put(Wants(std::string("big-") + node, "1").OnNode(node));
    Pass({node});
  }
  ASSERT_THAT(extender_->filters, SizeIs(3));
  EXPECT_EQ(extender_->filters[2].pod, "p");
  EXPECT_LT(*extender_->filters[2].turn, *extender_->filters[0].turn);
  EXPECT_LT(*extender_->filters[2].turn, *extender_->filters[1].turn);
}

TEST_F(ConsultationsTest, QuestionsAboutVictimsCountToo) {
  extender_->is.preempts = true;
  extender_->interested = [](const Pod& pod) { return pod.name() == "p"; };
  Start({"n1"});
  Put(Wants("low-0", "1").OnNode("n1"));
  Put(Important("p"));
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    // Whom to evict is asked; meanwhile there is room, so nodes are asked about; and then there is none again.
    ASSERT_THAT(extender_->preempts, SizeIs(1));
    const std::string victim = "low-" + std::to_string(i);
    RemovePod(victim);
    extender_->AnswerPreempt(Victims("n1", {victim}));
    Run();
    ASSERT_THAT(extender_->filters, SizeIs(1));
    Put(Wants("low-" + std::to_string(i + 1), "1").OnNode("n1"));
    Pass({"n1"});
  }
  ASSERT_THAT(extender_->preempts, SizeIs(1));
  Put(MakePod("other"));
  EXPECT_EQ(PlaceOf("other"), Place::kActive) << "p was overtaken often enough";
  extender_->AnswerPreempt(Victims("n1", {"low-3"}));
  Run();
  EXPECT_EQ(NominationOf("p"), "n1");
  EXPECT_NE(PlaceOf("other"), Place::kActive);
}

TEST_F(ConsultationsTest, APodThatIsGoneByThenIsLetGo) {
  Start({"n1"});
  Put(MakePod("p"));
  RemovePod("p");
  Pass({"n1"});
  EXPECT_THAT(journal_.attempts, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(ConsultationsTest, APodThatIsBoundByThenIsLetGo) {
  Start({"n1"});
  Put(MakePod("p"));
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  Pass({"n1"});
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(ConsultationsTest, APodThatWasRecreatedMeanwhileIsAskedAboutAnew) {
  Start({"n1"});
  Put(MakePod("p"));
  Put(MakePod("p").Uid("second"));
  Pass({"n1"});
  EXPECT_THAT(api_.binds, IsEmpty());
  Pass({"n1"});
  ASSERT_THAT(api_.binds, SizeIs(1));
  EXPECT_EQ(api_.binds[0].pod.uid, "second");
}

TEST_F(ConsultationsTest, APodThatIsTerminatingByThenIsSkippedWithItsEvent) {
  Start({"n1"});
  Put(MakePod("p"));
  Change("p", [](Pod& pod) { pod.meta.deletion_time = Time{1}; });
  Pass({"n1"});
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(Events(), ElementsAre("p: Warning FailedScheduling Scheduling: skip schedule deleting pod: default/p"));
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(ConsultationsTest, AnAnswerAfterTheEndIsDropped) {
  Start({"n1"});
  Put(MakePod("p"));
  scheduler_.reset();
  extender_->Pass({"n1"});
  EXPECT_THAT(api_.binds, IsEmpty());
}

TEST_F(ConsultationsTest, ASecondAnswerIsDropped) {
  Start({"n1"});
  Put(MakePod("p"));
  const auto answer = extender_->filters[0].filter;
  Pass({"n1"});
  answer(Error("twice"));
  Run();
  EXPECT_THAT(api_.binds, SizeIs(1));
  EXPECT_THAT(api_.events, IsEmpty());
}

TEST_F(ConsultationsTest, AfterAHaltAnswersLeadToNothing) {
  Start({"n1"});
  Put(MakePod("p"));
  scheduler_->Halt();
  Pass({"n1"});
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(journal_.attempts, IsEmpty());
}

// Preemption.

TEST_F(ConsultationsTest, VictimsAreAskedAboutBeforeTheyGo) {
  StartWithVictims();
  Put(Important("p"));
  ASSERT_THAT(extender_->preempts, SizeIs(1));
  EXPECT_THAT(extender_->preempts[0].candidates, SizeIs(2));
  EXPECT_THAT(api_.deletes, IsEmpty());
  extender_->AnswerPreempt(Victims("n2", {"also"}));  // not the one that would be chosen
  Run();
  EXPECT_THAT(journal_.measured, Contains("victims 1"));
  EXPECT_THAT(Patches(), Contains(HasSubstr("p: PodScheduled False Unschedulable")));
  EXPECT_EQ(NominationOf("p"), "n2");
}

TEST_F(ConsultationsTest, WhenNoCandidateIsLeftNobodyGoesAndTheNominationStays) {
  StartWithVictims();
  Put(Important("p"));
  extender_->AnswerPreempt(FakeExtender::VictimMap());
  Run();
  EXPECT_THAT(journal_.attempts,
              ElementsAre(HasSubstr("2 Insufficient cpu. preemption: no candidate node for preemption")));
  EXPECT_THAT(api_.deletes, IsEmpty());
  EXPECT_EQ(NominationOf("p"), "");
}

TEST_F(ConsultationsTest, AFailureIsTheEndOfPreemptionAndNotOfThePod) {
  StartWithVictims();
  Put(Important("p"));
  extender_->AnswerPreempt(Error("failed preempt with extender at URL http://h/preempt, code 500"));
  Run();
  EXPECT_THAT(journal_.attempts,
              ElementsAre(HasSubstr("p: 0/2 nodes are available: 2 Insufficient cpu. preemption: failed preempt with "
                                    "extender at URL http://h/preempt, code 500")));
  EXPECT_THAT(journal_.results, ElementsAre("unschedulable default-scheduler"));
  EXPECT_THAT(api_.deletes, IsEmpty());
}

TEST_F(ConsultationsTest, WhatDoesNotMakeSenseIsAFailureInUpstreamsWords) {
  const struct {
    FakeExtender::VictimMap answer;
    const char* text;
  } cases[] = {
      {Victims("nowhere", {"low"}), "preemption: nodeinfo not found for node name \"nowhere\""},
      {Victims("n1", {"also"}),
       "preemption: extender: http://fake claims to preempt pod (UID: &{pod-default/also}) on node: n1, but the pod is "
       "not found on that node"},
      {Victims("n1", {}), "preemption: expected at least one victim pod on node \"n1\""},
  };
  StartWithVictims();
  int i = 0;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.text);
    Put(Important("p" + std::to_string(++i)));
    ASSERT_THAT(extender_->preempts, SizeIs(1));
    extender_->AnswerPreempt(c.answer);
    Run();
    EXPECT_THAT(journal_.attempts.back(), HasSubstr(c.text));
  }
  EXPECT_THAT(api_.deletes, IsEmpty());
}

TEST_F(ConsultationsTest, AnIgnorableOnesFailureLeavesTheCandidatesAsTheyWere) {
  extender_->is.ignorable = true;
  StartWithVictims();
  Put(Important("p"));
  extender_->AnswerPreempt(Victims("nowhere", {"low"}));
  Run();
  EXPECT_EQ(NominationOf("p"), "n1");
  EXPECT_THAT(journal_.extenders, ElementsAre(HasSubstr("p: preempt of http://fake: nodeinfo not found")));
}

TEST_F(ConsultationsTest, AVictimThatWentMeanwhileIsNobodysFault) {
  StartWithVictims();
  Put(SmallNode("n3"));
  Put(Wants("x", "600m").OnNode("n3"));
  Put(Wants("y", "400m").OnNode("n3"));
  Put(Important("p"));
  ASSERT_THAT(extender_->preempts, SizeIs(1));
  RemovePod("y");
  extender_->AnswerPreempt(Victims("n3", {"x", "y"}));
  Run();
  EXPECT_EQ(NominationOf("p"), "n3");
  EXPECT_THAT(journal_.measured, Contains("victims 1"));
}

TEST_F(ConsultationsTest, APodThatFitsByThenEvictsNobody) {
  StartWithVictims();
  Put(Important("p"));
  RemovePod("low");
  extender_->AnswerPreempt(Victims("n2", {"also"}));
  Run();
  EXPECT_THAT(api_.deletes, IsEmpty());
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n1"));
}

TEST_F(ConsultationsTest, NodesThatAnExtenderFailedAreCandidatesAndThoseItCallsHopelessAreNot) {
  extender_->is.preempts = true;
  Start({"n1", "n2"});
  Put(Wants("low", "500m").OnNode("n1"));
  Put(Wants("also", "500m").OnNode("n2"));
  Put(Wants("p", "500m").Priority(100));
  FakeExtender::Filtered answer = Against({"n1"});
  answer.unresolvable["n2"] = "never";
  Answer(answer);
  // Upstream, too: the dry run finds that nobody need go on n1.
  EXPECT_THAT(journal_.attempts.back(), HasSubstr("preemption: expected at least one victim pod on node \"n1\""));
  EXPECT_THAT(extender_->preempts, IsEmpty());
}

// Binding.

TEST_F(ConsultationsTest, ABinderBindsInPlaceOfThePlugins) {
  extender_->is = {"http://fake", 0, false, false, false, true, false};
  Start({"n1"});
  Put(MakePod("p"));
  ASSERT_THAT(extender_->binds, SizeIs(1));
  EXPECT_EQ(extender_->binds[0].node, "n1");
  EXPECT_EQ(scheduler_->bindings_under_way(), 1u);
  extender_->AnswerBind();
  Run();
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
  EXPECT_EQ(LastEvent(), "p: Normal Scheduled Binding: Successfully assigned default/p to n1");
  EXPECT_TRUE(Assumed("p")) << "until the watch tells of the binding";
}

TEST_F(ConsultationsTest, ABinderThatFailsFailsTheBinding) {
  extender_->is = {"http://fake", 0, false, false, false, true, false};
  Start({"n1"});
  Put(MakePod("p"));
  extender_->AnswerBind(Error("no room"));
  Run();
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: no room");
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_FALSE(Assumed("p"));
}

TEST_F(ConsultationsTest, AnIgnorableBinderThatFailsLeavesItToThePlugins) {
  extender_->is = {"http://fake", 0, false, false, false, true, true};
  Start({"n1"});
  Put(MakePod("p"));
  extender_->AnswerBind(Error("no room"));
  Run();
  EXPECT_THAT(api_.binds, SizeIs(1));
}

TEST_F(ConsultationsTest, ABindingThatHappenedAllTheSameIsFoundOut) {
  extender_->is = {"http://fake", 0, false, false, false, true, false};
  Start({"n1"});
  Put(MakePod("p"));
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  extender_->AnswerBind(Error("timed out"));
  Run();
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_EQ(NodeOf("p"), "n1");
}

}  // namespace
}  // namespace berth::cycle
