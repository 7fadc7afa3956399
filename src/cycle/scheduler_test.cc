// SPDX-License-Identifier: Apache-2.0
// The scheduling cycle and the failure handler: pods that are bound, rejected, failed, skipped and tried again.
#include "cycle/scheduler.h"

#include "cycle/cycle_test_util.h"
#include "cycle/recorder.h"

namespace berth::cycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SchedulerTest : public CycleTest {};

constexpr char kTooBig[] =
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 "
    "Preemption is not helpful for scheduling.";

TEST_F(SchedulerTest, APodIsAssumedThenBoundThenConfirmedByTheWatch) {
  Start({"n1"});
  Put(Wants("p", "500m"));
  ASSERT_EQ(api_.binds.size(), 1u);
  EXPECT_EQ(api_.binds[0].pod.namespace_, "default");
  EXPECT_EQ(api_.binds[0].pod.name, "p");
  EXPECT_EQ(api_.binds[0].pod.uid, "pod-default/p");
  EXPECT_EQ(api_.binds[0].node, "n1");
  EXPECT_TRUE(Assumed("p"));
  EXPECT_EQ(PlaceOf("p"), Place::kInFlight);
  EXPECT_FALSE(scheduler_->idle());
  EXPECT_THAT(api_.events, IsEmpty());

  AnswerBind();
  EXPECT_THAT(Events(), ElementsAre("p: Normal Scheduled Binding: Successfully assigned default/p to n1"));
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_TRUE(Assumed("p"));

  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  EXPECT_FALSE(Assumed("p"));
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_TRUE(scheduler_->idle());
  EXPECT_THAT(api_.patches, IsEmpty());
}

TEST_F(SchedulerTest, TheWatchMayKnowOfABindingBeforeItIsAnswered) {
  Start({"n1"});
  Put(Wants("p", "500m"));
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  EXPECT_FALSE(Assumed("p"));
  EXPECT_EQ(PlaceOf("p"), Place::kInFlight);
  AnswerBind();
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_EQ(NodeOf("p"), "n1");
  EXPECT_THAT(LastEvent(), HasSubstr("Successfully assigned"));
}

TEST_F(SchedulerTest, TheNextPodIsDecidedWhileTheFirstIsStillBeingBound) {
  Start({"n1", "n2"});
  api_.Put(Wants("a", "600m").Build());
  api_.Put(Wants("b", "600m").Build());
  Run();
  ASSERT_EQ(api_.binds.size(), 2u);
  EXPECT_NE(api_.binds[0].node, api_.binds[1].node);
  Put(SmallNode("n3"));
  EXPECT_EQ(scheduler_->queue().recorded_events(), 0u) << "both are decided: events are nothing to them";
}

TEST_F(SchedulerTest, APodThatFitsNowhereIsExplainedInAnEventAndAConditionOnce) {
  Start({"n1"});
  Put(Wants("p", "2"));
  EXPECT_THAT(journal_.attempts, ElementsAre(std::string("p: ") + kTooBig));
  EXPECT_THAT(Events(), ElementsAre(std::string("p: Warning FailedScheduling Scheduling: ") + kTooBig));
  EXPECT_THAT(Patches(),
              ElementsAre(std::string("p: PodScheduled False Unschedulable: ") + kTooBig + " nominated \"\""));
  EXPECT_EQ(api_.patches[0].patch.pod.uid, "pod-default/p");
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("NodeResourcesFit"));
  AcceptAll();
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);

  // The second failure says the same: an event, but no patch.
  Put(SmallNode("n0"));
  api_.Remove(Kind::kNode, "n0");
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable) << "a node too small is no help";
  Put(MakeNode("n1").Capacity({{"cpu", "1500m"}, {"pods", "110"}}));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable) << "neither is one that is still too small";
  EXPECT_EQ(journal_.attempts.size(), 1u);
  Wait(Duration::Seconds(400));
  EXPECT_EQ(journal_.attempts.size(), 2u) << "flushed";
  EXPECT_THAT(Patches(), IsEmpty());
  EXPECT_EQ(api_.events.size(), 2u);
}

TEST_F(SchedulerTest, AHelpfulEventLeadsToAnotherAttemptAndAnUnhelpfulOneDoesNot) {
  Start({"n1"});
  Put(Wants("p", "2"));
  PutNamed<Service>("s");
  Put(MakeNode("small"));  // 4 cpu: helps
  EXPECT_THAT(journal_.moves, Contains("p backoff NodeAdd"));
  EXPECT_THAT(journal_.attempts, ElementsAre(StartsWith("p: "), "p -> small"));
}

TEST_F(SchedulerTest, AnAssignedPodThatGoesMakesRoom) {
  Start({"n1"});
  Put(Wants("old", "1").OnNode("n1"));
  Put(Wants("p", "500m"));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  RemovePod("old");
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(SchedulerTest, AnEventWhileThePodIsInFlightIsNotLost) {
  Hooks& slow = Plug("Slow");
  slow.reserve = [](const Placement& placement) {
    return placement.pod->name() == "p" ? Verdict(Code::kUnschedulable, "not yet") : Verdict();
  };
  slow.permit = [](const Placement&) { return PermitOutcome::Approve(); };
  slow.events = {{{EventResource::kNode, action::kAdd}, nullptr}};
  const auto extender = std::make_shared<FakeExtender>();
  options_.extenders = {extender};
  Start({"n1"});
  Put(Wants("p", "500m"));
  ASSERT_EQ(extender->filters.size(), 1u);
  Put(SmallNode("n2"));  // while p is in flight
  extender->Pass({"n1"});
  extender->interested = [](const Pod&) { return false; };
  ASSERT_TRUE(Step());
  EXPECT_THAT(journal_.moves, Contains("p backoff ScheduleAttemptFailure"));
}

TEST_F(SchedulerTest, ALongMessageIsCutInTheEventAndWholeInTheCondition) {
  const std::string reason(2000, 'x');
  Plug("Wordy").filter = [&](const Pod&, const NodeView&) { return Verdict(Code::kUnschedulable, reason); };
  Start({"n1"});
  Put(MakePod("p"));
  ASSERT_EQ(api_.events.size(), 1u);
  const std::string& note = api_.events[0].note;
  EXPECT_EQ(note.size(), kNoteLimit);
  EXPECT_EQ(note.substr(kNoteLimit - 5), "x ...");
  EXPECT_THAT(Patches(), ElementsAre(HasSubstr(reason)));
}

TEST_F(SchedulerTest, ANoteOfExactlyTheLimitIsLeftAlone) {
  EXPECT_EQ(TruncateNote(std::string(kNoteLimit, 'y')), std::string(kNoteLimit, 'y'));
  EXPECT_EQ(TruncateNote(std::string(kNoteLimit + 1, 'y')), std::string(kNoteLimit - 4, 'y') + " ...");
}

TEST_F(SchedulerTest, WithoutAnyNodeThePodIsUnschedulableAndRetriedLikeAfterAnError) {
  Start();
  Put(MakePod("p"));
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: no nodes available to schedule pods");
  EXPECT_THAT(Patches(),
              ElementsAre("p: PodScheduled False Unschedulable: no nodes available to schedule pods nominated \"\""));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  Wait(Duration::Seconds(2));
  EXPECT_EQ(journal_.attempts.size(), 2u);
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
}

TEST_F(SchedulerTest, APluginThatFailsMakesASchedulerErrorAndBackoff) {
  Plug("Broken").filter = [](const Pod&, const NodeView&) { return Verdict::Fail("boom"); };
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: running \"Broken\" filter plugin: boom");
  EXPECT_THAT(Patches(), ElementsAre(StartsWith("p: PodScheduled False SchedulerError: running \"Broken\"")));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_THAT(RejectorsOf("p"), IsEmpty());
}

TEST_F(SchedulerTest, ATerminatingPodIsSkippedWithAnEvent) {
  Start({"n1"});
  Put(MakePod("p").Terminating());
  EXPECT_THAT(Events(), ElementsAre("p: Warning FailedScheduling Scheduling: skip schedule deleting pod: default/p"));
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(api_.patches, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(SchedulerTest, PodsOfOtherSchedulersAreIgnoredUntilTheyAreBoundAndThenCount) {
  Start({"n1"});
  Put(Wants("theirs", "1").With([](Pod& pod) { pod.scheduler_name = "other"; }));
  EXPECT_EQ(PlaceOf("theirs"), Place::kNone);
  EXPECT_TRUE(scheduler_->idle());
  Change("theirs", [](Pod& pod) { pod.node_name = "n1"; });
  EXPECT_EQ(NodeOf("theirs"), "n1");
  Put(Wants("ours", "500m"));
  EXPECT_THAT(LastEvent(), HasSubstr("Insufficient cpu"));
  RemovePod("theirs");
  EXPECT_EQ(journal_.attempts.back(), "ours -> n1");
}

TEST_F(SchedulerTest, APodThatIsGivenToUsIsTaken) {
  Start({"n1"});
  Put(MakePod("p").With([](Pod& pod) { pod.scheduler_name = "other"; }));
  Change("p", [](Pod& pod) { pod.scheduler_name = "default-scheduler"; });
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(SchedulerTest, EveryProfileSchedulesItsOwnPodsByItsOwnPlugins) {
  config_.profiles.emplace_back().scheduler_name = "second";
  Hooks& picky = Plug("Picky");
  picky.filter = [](const Pod& pod, const NodeView&) {
    return pod.scheduler_name == "second" ? Verdict(Code::kUnschedulable, "not for the second") : Verdict();
  };
  Start({"n1"});
  Put(Wants("a", "100m"));
  Put(Wants("b", "100m").With([](Pod& pod) { pod.scheduler_name = "second"; }));
  EXPECT_EQ(journal_.attempts[0], "a -> n1");
  EXPECT_THAT(journal_.attempts[1], HasSubstr("1 not for the second"));
  EXPECT_EQ(api_.events.back().reporting_controller, "second");
  EXPECT_THAT(RejectorsOf("b"), ElementsAre("Picky"));
}

TEST_F(SchedulerTest, HigherPriorityGoesFirst) {
  Start({"n1"});
  api_.Put(Wants("low", "1").Priority(1).Build());
  api_.Put(Wants("high", "1").Priority(2).Build());
  Run();
  EXPECT_EQ(journal_.attempts[0], "high -> n1");
  EXPECT_THAT(journal_.attempts[1], StartsWith("low: "));
}

TEST_F(SchedulerTest, APodBoundBySomebodyElseWhileQueuedIsLetGo) {
  Start({"n1"});
  Put(Wants("p", "2"));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_EQ(NodeOf("p"), "n1");
}

TEST_F(SchedulerTest, APodDeletedWhileQueuedIsForgotten) {
  Start({"n1"});
  Put(Wants("p", "2"));
  RemovePod("p");
  EXPECT_EQ(scheduler_->queue().counts(), queue::SchedulingQueue::Counts{});
}

TEST_F(SchedulerTest, AGatedPodWaitsUntilItsGateIsRemoved) {
  Start({"n1"});
  Put(MakePod("p").Gate("wait"));
  EXPECT_EQ(PlaceOf("p"), Place::kGated);
  EXPECT_THAT(journal_.attempts, IsEmpty());
  Change("p", [](Pod& pod) { pod.scheduling_gates.clear(); });
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(SchedulerTest, NodesComeChangeAndGo) {
  Start();
  Put(MakePod("zone").NodeSelector("zone", "a"));
  Put(SmallNode("n1"));
  Wait(Duration::Seconds(2));
  EXPECT_THAT(RejectorsOf("zone"), ElementsAre("NodeAffinity"));
  Node labelled = SmallNode("n1");
  labelled.meta.labels = Labels({{"zone", "a"}});
  Put(labelled);
  EXPECT_THAT(journal_.moves, Contains("zone backoff NodeUpdateNodeLabel"));
  EXPECT_EQ(journal_.attempts.back(), "zone -> n1");
  AcceptAll();
  api_.Remove(Kind::kNode, "n1");
  Run();
  EXPECT_EQ(scheduler_->state().snapshot().node_count(), 0u);
  EXPECT_EQ(NodeOf("zone"), "n1") << "its pods stay until they are gone themselves";
  RemovePod("zone");
  EXPECT_EQ(scheduler_->state().pod_count(), 0u);
}

TEST_F(SchedulerTest, ANodeUpdateThatChangesNothingWakesNobody) {
  Start({"n1"});
  Put(MakePod("p").NodeSelector("zone", "a"));
  const size_t moves = journal_.moves.size();
  Put(SmallNode("n1"));
  EXPECT_EQ(journal_.moves.size(), moves);
}

TEST_F(SchedulerTest, OtherObjectsReachThePluginsAndTheQueue) {
  Start({"n1"});
  Put(MakePod("p").With([](Pod& pod) { pod.volumes.push_back({"v", VolumeKind::kClaim, "data", false}); }));
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("persistentvolumeclaim \"data\" not found")));
  PutNamed<PersistentVolumeClaim>("data");
  EXPECT_THAT(journal_.moves, Contains("p backoff PersistentVolumeClaimAdd"));
}

TEST_F(SchedulerTest, APluginMayActivateAPod) {
  Hooks& pairs = Plug("Pairs");
  pairs.filter = [](const Pod& pod, const NodeView& node) {
    const bool partner = !node.pods().empty();
    return pod.name() == "second" && !partner ? Verdict(Code::kUnschedulable, "alone") : Verdict();
  };
  Ptr<Pod> second;
  pairs.post_bind = [&](const Placement&) {
    if (second) pairs.handle->Activate({std::exchange(second, nullptr)});
  };
  Start({"n1"});
  Put(MakePod("second"));
  EXPECT_EQ(PlaceOf("second"), Place::kUnschedulable);
  second = api_.FindPod("second");
  Put(MakePod("first"));
  EXPECT_EQ(PlaceOf("second"), Place::kUnschedulable);
  AnswerBind();
  EXPECT_THAT(journal_.moves, Contains("second active ForceActivate"));
  EXPECT_EQ(journal_.attempts.back(), "second -> n1");
}

TEST_F(SchedulerTest, WhatKubeSchedulerRefusesAtStartIsRefused) {
  config_.profiles[0].plugins[Point::kFilter].enabled.push_back({"Nonsense", 0});
  plugins::RegisterBuiltinPlugins(registry_);
  config_.profiles[0].plugins = config::MergePlugins(config_.profiles[0].plugins);
  const auto made = Scheduler::Make(config_, registry_, api_, inbox_, clock_, options_);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().text(), HasSubstr("Nonsense"));
}

TEST_F(SchedulerTest, AnswersThatComeAfterTheEndAreDropped) {
  Start({"n1"});
  Put(MakePod("p"));
  Put(Wants("q", "2"));
  scheduler_.reset();
  api_.AnswerBind();
  api_.AnswerPatch();
  api_.Put(MakePod("late").Build());
  EXPECT_GT(inbox_.Drain(), 0u);
}

TEST_F(SchedulerTest, NothingIsScheduledBeforeEverythingIsListed) {
  plugins::RegisterBuiltinPlugins(registry_);
  config_.profiles[0].plugins = config::MergePlugins({});
  api_.Put(SmallNode("n1"));
  api_.Put(MakePod("p").Build());
  options_.observer = &journal_;
  scheduler_ = std::move(Scheduler::Make(config_, registry_, api_, inbox_, clock_, options_)).value();
  api_.held = Kind::kStorageClass;
  scheduler_->Start();
  Run();
  EXPECT_FALSE(scheduler_->synced());
  EXPECT_FALSE(scheduler_->idle());
  EXPECT_EQ(PlaceOf("p"), Place::kActive);
  EXPECT_THAT(journal_.attempts, IsEmpty());
  inbox_.Post(std::exchange(api_.held_list, nullptr));
  EXPECT_TRUE(Step());
  EXPECT_TRUE(scheduler_->attempted());
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n1"));
  EXPECT_FALSE(Step());
  EXPECT_FALSE(scheduler_->attempted());
}

// While a pod is in flight.

TEST_F(SchedulerTest, APodUpdatedInFlightComesBackAsItIsByThen) {
  Start({"n1"});
  Put(MakePod("p"));
  Change("p", [](Pod& pod) { pod.meta.labels = Labels({{"new", "yes"}}); });
  EXPECT_EQ(PlaceOf("p"), Place::kInFlight);
  AnswerBind({409, "conflict"});
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  const queue::QueuedPodInfo* info = scheduler_->queue().Find("default/p");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->pod->meta.labels, Labels({{"new", "yes"}}));
  EXPECT_TRUE(info->pod->node_name.empty());
}

TEST_F(SchedulerTest, APodDeletedWhileItIsBeingBoundIsForgottenAtOnce) {
  Start({"n1"});
  Put(Wants("p", "1"));
  Put(Wants("next", "1"));
  EXPECT_EQ(PlaceOf("next"), Place::kUnschedulable);
  RemovePod("p");
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(journal_.attempts.back(), "next -> n1");
  AnswerBind({404, "pods \"p\" not found"});
  EXPECT_EQ(scheduler_->queue().counts().in_flight, 1u) << "only next";
  EXPECT_THAT(api_.patches, ::testing::SizeIs(1)) << "of next; nothing is left of p to write on";
}

TEST_F(SchedulerTest, APodThatStartsTerminatingWhileItIsBeingBoundIsForgottenAtOnce) {
  Start({"n1"});
  Put(Wants("p", "1"));
  Put(Wants("next", "1"));
  Change("p", [](Pod& pod) { pod.meta.deletion_time = Time{1}; });
  EXPECT_FALSE(Assumed("p"));
  EXPECT_EQ(journal_.attempts.back(), "next -> n1");
  AnswerBind({409, "pod p is being deleted, cannot be assigned to a host"});
  Wait(Duration::Seconds(5));
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: skip schedule deleting pod: default/p");
}

TEST_F(SchedulerTest, ARecreatedPodIsAnotherPod) {
  Start({"n1"});
  Put(Wants("p", "600m"));
  ASSERT_EQ(api_.binds.size(), 1u);
  Put(Wants("p", "600m").Uid("second"));
  ASSERT_EQ(api_.binds.size(), 2u);
  EXPECT_EQ(api_.binds[1].pod.uid, "second");
  EXPECT_FALSE(Assumed("p"));
  EXPECT_TRUE(scheduler_->state().IsAssumed("second"));
  const size_t events = api_.events.size();
  AnswerBind({409, "uid"});
  EXPECT_EQ(api_.events.size(), events) << "nothing is said of the old one";
  EXPECT_THAT(api_.patches, IsEmpty());
  AcceptBind();
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
}

}  // namespace
}  // namespace berth::cycle
