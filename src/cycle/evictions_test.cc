// SPDX-License-Identifier: Apache-2.0
// Preemption as it is carried out: conditions, deletions, their order, what goes wrong, and who waits for whom.
#include "cycle/evictions.h"

#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr char kTarget[] =
    ": DisruptionTarget True PreemptionByScheduler: default-scheduler: preempting to accommodate a higher priority pod";

class EvictionsTest : public CycleTest {
 protected:
  void PutVictim(const std::string& name, const std::string& cpu, int priority = 1) {
    Put(Wants(name, cpu).Priority(priority).OnNode("n1"));
  }
  void PutPreemptor() { Put(Wants("high", "1").Priority(10)); }
  void AnswerPatch(const ApiStatus& status = {}) {
    api_.AnswerPatch(status);
    Run();
  }
  void AnswerDelete(const ApiStatus& status = {}) {
    api_.AnswerDelete(status);
    Run();
  }
  // Answers the open patch of this pod.
  void AnswerPatchOf(const std::string& name, const ApiStatus& status = {}) {
    const auto it = std::find_if(api_.patches.begin(), api_.patches.end(),
                                 [&](const FakeApi::PatchCall& call) { return call.patch.pod.name == name; });
    ASSERT_NE(it, api_.patches.end()) << name;
    std::rotate(api_.patches.begin(), it, it + 1);
    AnswerPatch(status);
  }
  std::vector<std::string> Deletes() const {
    std::vector<std::string> names;
    for (const FakeApi::DeleteCall& call : api_.deletes) names.push_back(call.pod.name);
    return names;
  }
};

TEST_F(EvictionsTest, VictimsAreCountedWhenTheyAreChosenAndTheirEndIsToldWhenItIsKnown) {
  Start({"n1"});
  PutVictim("low", "1");
  PutPreemptor();
  EXPECT_THAT(journal_.measured, ElementsAre("victims 1"));
  clock_.Advance(Duration::Seconds(2));
  AnswerPatchOf("low");
  AnswerDelete({500, "no"});
  EXPECT_THAT(journal_.measured, ElementsAre("victims 1", "not preempted after 2s", "victims 1"));
  AnswerPatchOf("low");
  AnswerDelete();
  EXPECT_EQ(journal_.measured.back(), "preempted after 0s");
  journal_.complaints.clear();
}

TEST_F(EvictionsTest, AVictimGetsItsConditionThenIsDeletedAndThePreemptorTakesItsPlace) {
  Start({"n1"});
  PutVictim("low", "1");
  PutPreemptor();
  EXPECT_EQ(journal_.attempts.back(), "high: 0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_THAT(Patches(),
              UnorderedElementsAre(std::string("low") + kTarget,
                                   "high: PodScheduled False Unschedulable: 0/1 nodes are available: 1 Insufficient "
                                   "cpu. nominated \"n1\""));
  EXPECT_THAT(Deletes(), IsEmpty());
  EXPECT_EQ(NominationOf("high"), "n1") << "before the status says so";
  EXPECT_EQ(PlaceOf("high"), Place::kUnschedulable);

  AnswerPatchOf("low");
  ASSERT_THAT(Deletes(), ElementsAre("low"));
  EXPECT_EQ(api_.deletes[0].pod.uid, "pod-default/low") << "that pod and no other of its name";
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("Preempted"))));
  AnswerDelete();
  EXPECT_EQ(LastEvent(), "low: Normal Preempted Preempting: Preempted by pod pod-default/high on node n1");
  EXPECT_EQ(api_.events.back().related, "default/high");
  AcceptAll();
  EXPECT_EQ(NominationOf("high"), "n1");

  Change("low", [](Pod& pod) { pod.meta.deletion_time = Time{1}; });
  EXPECT_EQ(PlaceOf("high"), Place::kUnschedulable);
  RemovePod("low");
  EXPECT_EQ(journal_.attempts.back(), "high -> n1");
  EXPECT_EQ(NominationOf("high"), "") << "assumed now";
}

TEST_F(EvictionsTest, TheLastVictimGoesWhenTheOthersAreGoneAndThePreemptorIsGatedMeanwhile) {
  Start({"n1"});
  PutVictim("a", "300m", 3);
  PutVictim("b", "300m", 2);
  PutVictim("c", "300m", 1);
  PutPreemptor();
  AnswerPatchOf("high");
  EXPECT_THAT(Patches(), ElementsAre(std::string("a") + kTarget, std::string("b") + kTarget));
  AnswerPatchOf("a");
  EXPECT_THAT(Deletes(), ElementsAre("a"));
  AnswerDelete();
  EXPECT_THAT(Patches(), ElementsAre(std::string("b") + kTarget)) << "c waits for b";
  AnswerPatchOf("b");
  RemovePod("a");
  EXPECT_EQ(PlaceOf("high"), Place::kGated) << "another attempt would be too early";
  EXPECT_THAT(RejectorsOf("high"), ElementsAre("DefaultPreemption", "NodeResourcesFit"));
  AnswerDelete();
  EXPECT_THAT(Patches(), ElementsAre(std::string("c") + kTarget));
  RemovePod("b");
  EXPECT_EQ(PlaceOf("high"), Place::kGated);
  AnswerPatchOf("c");
  RemovePod("c");  // the news comes before the answer, and counts
  EXPECT_EQ(journal_.attempts.back(), "high -> n1");
  AnswerDelete();
  AcceptAll();
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(EvictionsTest, APreemptorThatWasGatedIsWokenByTheLastVictim) {
  Start({"n1"});
  PutVictim("a", "500m", 2);
  PutVictim("b", "500m", 1);
  PutPreemptor();
  AnswerPatchOf("high");
  AnswerPatchOf("a");
  RemovePod("a");
  EXPECT_EQ(PlaceOf("high"), Place::kGated);
  AnswerDelete();
  AnswerPatchOf("b");
  AnswerDelete();
  EXPECT_EQ(PlaceOf("high"), Place::kGated) << "nobody told it yet";
  RemovePod("b");
  EXPECT_EQ(journal_.attempts.back(), "high -> n1");
}

TEST_F(EvictionsTest, WhileEarlierVictimsAreThereTheLastOneIsNoReasonToTry) {
  Start({"n1"});
  PutVictim("a", "500m", 2);
  PutVictim("b", "500m", 1);
  PutPreemptor();
  RemovePod("b");
  EXPECT_EQ(PlaceOf("high"), Place::kGated);
}

TEST_F(EvictionsTest, WhenACallFailsTheRestIsGivenUpAndThePreemptorTriesAgain) {
  for (const bool patch : {true, false}) {
    SCOPED_TRACE(patch ? "patch" : "delete");
    if (!scheduler_) {
      Start({"n1"});
      PutVictim("a", "500m", 2);
      PutVictim("b", "500m", 1);
      PutPreemptor();
      AnswerPatchOf("high");
    }
    const size_t attempts = journal_.attempts.size();
    AnswerPatchOf("a", patch ? ApiStatus{500, "oops"} : ApiStatus{});
    if (!patch) AnswerDelete({500, "oops"});
    EXPECT_THAT(std::exchange(journal_.complaints, {}),
                ElementsAre("preemption for default/high on n1 failed: 500 oops"));
    EXPECT_THAT(journal_.moves, Contains("high active ForceActivate"));
    EXPECT_EQ(journal_.attempts.size(), attempts + 1);
    EXPECT_THAT(Patches(), Contains(std::string("a") + kTarget)) << "again";
    EXPECT_THAT(Patches(), Not(Contains(std::string("b") + kTarget)));
    EXPECT_THAT(Events(), Not(Contains(HasSubstr("Preempted"))));
    while (!api_.patches.empty() && api_.patches.front().patch.pod.name == "high") AnswerPatch();
  }
}

TEST_F(EvictionsTest, AVictimThatIsGoneAlreadyCountsAsEvicted) {
  Start({"n1"});
  PutVictim("a", "300m", 3);
  PutVictim("b", "300m", 2);
  PutVictim("c", "300m", 1);
  PutPreemptor();
  AnswerPatchOf("high");
  AnswerPatchOf("a", {404, "not found"});
  AnswerPatchOf("b");
  AnswerDelete({404, "not found"});
  EXPECT_THAT(Patches(), ElementsAre(std::string("c") + kTarget));
  EXPECT_THAT(journal_.complaints, IsEmpty());
  EXPECT_THAT(Events(), Not(Contains(HasSubstr("Preempted"))));
}

TEST_F(EvictionsTest, AVictimReplacedByAnotherPodCountsAsEvicted) {
  Start({"n1"});
  PutVictim("low", "1");
  PutPreemptor();
  AnswerPatchOf("high");
  AnswerPatchOf("low");
  Put(Wants("low", "1").Priority(1).Uid("second").With([](Pod& pod) { pod.scheduler_name = "other"; }));
  AnswerDelete({409, "the UID in the precondition does not match"});
  EXPECT_THAT(journal_.complaints, IsEmpty());
  EXPECT_EQ(journal_.attempts.back(), "high -> n1");
}

TEST_F(EvictionsTest, AConflictWithoutAReasonIsAFailure) {
  Start({"n1"});
  PutVictim("low", "1");
  PutPreemptor();
  AnswerPatchOf("high");
  AnswerPatchOf("low", {409, "conflict"});
  EXPECT_THAT(std::exchange(journal_.complaints, {}), SizeIs(1));
  EXPECT_THAT(journal_.moves, Contains("high active ForceActivate"));
}

TEST_F(EvictionsTest, AVictimThatIsTerminatingIsLeftAlone) {
  Start({"n1"});
  Put(Wants("low", "1").Priority(1).OnNode("n1").Terminating());
  PutPreemptor();
  EXPECT_EQ(NominationOf("high"), "n1");
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr("high: PodScheduled")));
  EXPECT_THAT(Deletes(), IsEmpty());
}

TEST_F(EvictionsTest, AVictimThatHasItsConditionIsDeletedRightAway) {
  Start({"n1"});
  Put(Wants("low", "1").Priority(1).OnNode("n1").With([](Pod& pod) {
    pod.conditions.push_back({"DisruptionTarget", "True", "PreemptionByScheduler",
                              "default-scheduler: preempting to accommodate a higher priority pod"});
  }));
  PutPreemptor();
  EXPECT_THAT(Deletes(), ElementsAre("low"));
}

TEST_F(EvictionsTest, AnotherReasonToBeDisruptedIsNoTransition) {
  Start({"n1"});
  Put(Wants("low", "1").Priority(1).OnNode("n1").With([](Pod& pod) {
    pod.meta.generation = 4;
    pod.conditions.push_back({"DisruptionTarget", "True", "DeletionByTaintManager", "a taint"});
  }));
  PutPreemptor();
  const auto it = std::find_if(api_.patches.begin(), api_.patches.end(),
                               [](const FakeApi::PatchCall& call) { return call.patch.pod.name == "low"; });
  ASSERT_NE(it, api_.patches.end());
  EXPECT_FALSE(it->patch.transition);
  EXPECT_EQ(it->patch.generation, 4);
}

TEST_F(EvictionsTest, NominationsOfLowerPriorityOnTheNodeAreWithdrawn) {
  Start({"n1"});
  PutVictim("low", "1");
  Put(Wants("middle", "1").Priority(5));
  EXPECT_EQ(NominationOf("middle"), "n1");
  AnswerPatchOf("low", {500, "later"});  // the attempt of middle fails and is made again
  EXPECT_THAT(std::exchange(journal_.complaints, {}), SizeIs(1));
  AcceptAll();
  EXPECT_EQ(api_.FindPod("middle")->nominated_node_name, "n1");
  Put(MakePod("peer").Priority(10).Gate("wait").Nominated("n1"));
  Change("peer", [](Pod& pod) { pod.meta.labels = Labels({{"touched", "yes"}}); });
  ASSERT_EQ(NominationOf("peer"), "n1");
  PutPreemptor();
  EXPECT_THAT(Patches(), Not(Contains(HasSubstr("peer")))) << "its priority is not lower";
  EXPECT_EQ(NominationOf("high"), "n1");
  EXPECT_THAT(Patches(), Contains("middle: nominated \"\""));
  AnswerPatchOf("high");
  api_.AcceptPatch();
  Run();
  EXPECT_EQ(api_.FindPod("middle")->nominated_node_name, "");
  EXPECT_NE(NominationOf("middle"), "n1");
  EXPECT_EQ(NominationOf("high"), "n1");
}

TEST_F(EvictionsTest, AVictimThatWaitsAtPermitOnlyLosesItsBinding) {
  Plug("Gate").permit = [](const Placement& placement) {
    return placement.pod->name() == "low" ? PermitOutcome::Wait(Duration::Seconds(60)) : PermitOutcome::Approve();
  };
  Start({"n1"});
  Put(Wants("low", "1").Priority(1));
  AcceptAll();
  ASSERT_TRUE(Assumed("low"));
  PutPreemptor();
  EXPECT_THAT(Events(), Contains("low: Normal Preempted Preempting: Preempted by pod pod-default/high on node n1 (in "
                                 "kube-scheduler memory)."));
  EXPECT_THAT(Events(), Contains("low: Warning FailedScheduling Scheduling: waiting on permit for pod: preempted"));
  EXPECT_THAT(journal_.failed, ElementsAre("low: waiting on permit for pod: preempted"));
  EXPECT_THAT(Deletes(), IsEmpty());
  EXPECT_EQ(PlaceOf("low"), Place::kErrorBackoff);
  EXPECT_EQ(journal_.attempts.back(), "high -> n1");
}

TEST_F(EvictionsTest, AVictimInPreBindOnlyLosesItsBinding) {
  Done pre_bound;
  Hooks& slow = Plug("Slow");
  slow.pre_bind = [&](const Placement& placement, Done done) {
    if (placement.pod->name() != "low") return done({});
    pre_bound = std::move(done);
  };
  Start({"n1"});
  Put(Wants("low", "1").Priority(1));
  AcceptAll();
  ASSERT_TRUE(pre_bound);
  PutPreemptor();
  EXPECT_THAT(LastEvent(), HasSubstr("high: Warning FailedScheduling"));
  EXPECT_THAT(Events(), Contains(HasSubstr("low: Normal Preempted")));
  EXPECT_THAT(Deletes(), IsEmpty());
  EXPECT_TRUE(Assumed("low")) << "until its PreBind is over";
  Put(Wants("higher", "1").Priority(20));
  EXPECT_THAT(Deletes(), IsEmpty()) << "asked for twice, it loses its binding all the same";
  EXPECT_THAT(Patches(), Not(Contains(std::string("low") + kTarget)));
  RemovePod("higher");
  pre_bound({});
  Run();
  EXPECT_THAT(journal_.failed, ElementsAre("low: preempted by DefaultPreemption"));
  EXPECT_THAT(api_.binds, SizeIs(1)) << "of high";
  EXPECT_EQ(journal_.attempts.back(), "high -> n1");
}

TEST_F(EvictionsTest, AVictimWhoseBindingIsUnderWayIsDeletedLikeAnyOther) {
  Start({"n1"});
  Put(Wants("low", "1").Priority(1));
  ASSERT_THAT(api_.binds, SizeIs(1));
  PutPreemptor();
  EXPECT_THAT(Patches(), Contains(std::string("low") + kTarget));
}

TEST_F(EvictionsTest, APreemptorIsWokenWhenTheBindingOfItsVictimFailsMeanwhile) {
  Start({"n1"});
  Put(Wants("low", "1").Priority(1));
  PutPreemptor();
  AnswerPatchOf("low");
  ASSERT_THAT(Deletes(), ElementsAre("low"));
  api_.AnswerBind({429, "busy"});
  Run();
  EXPECT_EQ(PlaceOf("high"), Place::kGated) << "the place is free, but the victim has not been deleted yet";
  RemovePod("low");  // pending by now: no pod leaves a node
  EXPECT_EQ(PlaceOf("high"), Place::kGated);
  AnswerDelete();
  EXPECT_EQ(journal_.attempts.back(), "high -> n1");
}

TEST_F(EvictionsTest, APreemptorThatIsDeletedMeanwhileIsNotBroughtBack) {
  Start({"n1"});
  PutVictim("low", "1");
  PutPreemptor();
  RemovePod("high");
  EXPECT_EQ(NominationOf("high"), "");
  AnswerPatchOf("low", {500, "oops"});
  EXPECT_THAT(std::exchange(journal_.complaints, {}), SizeIs(1));
  while (!api_.patches.empty()) AnswerPatch({404, "not found"});
  EXPECT_EQ(PlaceOf("high"), Place::kNone);
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(EvictionsTest, ALaterPreemptionForThePodIsNotEndedByAnEarlierOne) {
  // Preempts whenever it is asked, and does not gate.
  config_.profiles[0].plugins.multi_point.disabled.push_back({"DefaultPreemption", 0});
  config_.profiles[0].plugins[Point::kPostFilter].disabled.push_back({"*", 0});
  config_.profiles[0].plugins[Point::kPostFilter].enabled.push_back({"Eager", 0});
  Hooks& eager = Plug("Eager");
  eager.post_filter = [this](const Cycle&) {
    auto plan = std::make_shared<PreemptionPlan>();
    plan->candidates.push_back({"n1", {api_.FindPod("low")}, 0});
    plan->selected = "n1";
    return PostFilterOutcome{Verdict(), "n1", plan};
  };
  Start({"n1"});
  PutVictim("low", "1");
  PutPreemptor();
  eager.handle->Activate({api_.FindPod("high")});
  Run();
  ASSERT_THAT(journal_.attempts, SizeIs(2));
  const auto preempting = [&] { return scheduler_->engine().services().preempting("pod-default/high"); };
  AnswerPatchOf("low");
  AnswerDelete();
  EXPECT_TRUE(preempting());
  AnswerPatchOf("low");
  AnswerDelete();
  EXPECT_FALSE(preempting());
}

TEST_F(EvictionsTest, APodThatMayNotPreemptDoesNot) {
  Start({"n1"});
  PutVictim("low", "1");
  Put(Wants("meek", "1").Priority(10).With([](Pod& pod) { pod.preemption_policy = PreemptionPolicy::kNever; }));
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr("not eligible due to preemptionPolicy=Never.")));
}

}  // namespace
}  // namespace berth::cycle
