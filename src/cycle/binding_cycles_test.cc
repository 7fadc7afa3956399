// SPDX-License-Identifier: Apache-2.0
// From Reserve to PostBind: what each failure undoes, says and leads to.
#include "cycle/binding_cycles.h"

#include <chrono>
#include <thread>

#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class BindingCyclesTest : public CycleTest {
 protected:
  // A plugin that makes pods wait for `patience` at Permit.
  Hooks& Gate(const std::string& name, Duration patience) {
    Hooks& hooks = Plug(name);
    hooks.permit = [patience](const Placement&) { return PermitOutcome::Wait(patience); };
    return hooks;
  }
  std::shared_ptr<WaitingPod> Waiting(const std::string& name) {
    return scheduler_->engine().services().waiting.Find("pod-default/" + name);
  }
  // A plugin whose PreBind is done when the test calls `pre_bound_`.
  Hooks& SlowPreBind() {
    Hooks& hooks = Plug("Slow");
    hooks.pre_bind = [this](const Placement&, Done done) { pre_bound_ = std::move(done); };
    return hooks;
  }
  Hooks& Reserving(const std::string& name, const Verdict& verdict = {}) {
    Hooks& hooks = Plug(name);
    hooks.reserve = [this, name, verdict](const Placement&) { return calls_.push_back("+" + name), verdict; };
    hooks.unreserve = [this, name](const Placement&) { calls_.push_back("-" + name); };
    return hooks;
  }

  std::vector<std::string> calls_;
  Done pre_bound_;
};

// Reserve and Permit, within the scheduling cycle.

TEST_F(BindingCyclesTest, ARejectionByReserveIsUndoneBackwardsAndCanBeCuredByAnEvent) {
  Reserving("A");
  Reserving("B", Verdict(Code::kUnschedulable, "taken")).events = {{{EventResource::kNode, action::kAdd}, nullptr}};
  Reserving("C");
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(calls_, ElementsAre("+A", "+B", "-C", "-B", "-A"));
  EXPECT_THAT(journal_.attempts, ElementsAre("p: 0/1 nodes are available: 1 taken."));
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: 0/1 nodes are available: 1 taken.");
  EXPECT_THAT(Patches(),
              ElementsAre("p: PodScheduled False Unschedulable: 0/1 nodes are available: 1 taken. nominated \"\""));
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("B"));
  calls_.clear();
  Put(SmallNode("n2"));
  EXPECT_THAT(calls_, Contains("+B"));
  EXPECT_EQ(journal_.results.front(), "unschedulable default-scheduler");
}

TEST_F(BindingCyclesTest, AFailureOfReserveIsASchedulerError) {
  Reserving("A", Verdict::Fail("boom"));
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(calls_, ElementsAre("+A", "-A"));
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: running Reserve plugin \"A\": boom");
  EXPECT_THAT(Patches(),
              ElementsAre(HasSubstr("PodScheduled False SchedulerError: running Reserve plugin \"A\": boom")));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_THAT(journal_.results, ElementsAre("error default-scheduler"));
}

TEST_F(BindingCyclesTest, ARejectionByPermitUndoesReserveAndNamesThePlugin) {
  Reserving("A");
  Plug("Strict").permit = [](const Placement&) {
    return PermitOutcome::Deny(Verdict(Code::kUnschedulable, "not today"));
  };
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(calls_, ElementsAre("+A", "-A"));
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: 0/1 nodes are available: 1 not today.");
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("Strict"));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(journal_.results.front(), "unschedulable default-scheduler");
}

TEST_F(BindingCyclesTest, APodThatPermitHoldsPendingSkipsBackoffWhenItIsWoken) {
  Hooks& hooks = Plug("Later");
  hooks.permit = [](const Placement&) { return PermitOutcome::Deny(Verdict(Code::kPending, "in a moment")); };
  hooks.events = {{{EventResource::kNode, action::kAdd}, nullptr}};
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  Put(SmallNode("n2"));
  EXPECT_THAT(journal_.moves, Contains("p active NodeAdd"));
}

TEST_F(BindingCyclesTest, WhichPluginHasStoppedAPodIsToldInItsOwnWords) {
  const auto fails_for = [](const std::string& name) {
    return [name](const Placement& placement) {
      return placement.pod->name() == name ? Verdict::Fail("boom") : Verdict{};
    };
  };
  Hooks& hooks = Plug("A");
  hooks.reserve = [fails = fails_for("reserve")](const Placement& placement) {
    return placement.pod->name() == "rejected" ? Verdict(Code::kUnschedulable, "taken") : fails(placement);
  };
  hooks.permit = [fails = fails_for("permit")](const Placement& placement) {
    PermitOutcome outcome;
    outcome.verdict = fails(placement);
    return outcome;
  };
  bool flies = true;
  hooks.pre_flight = [&flies] {
    PreFlight flight;
    if (!flies) flight.verdict = Verdict::Fail("boom");
    return flight;
  };
  hooks.pre_bind = [fails = fails_for("pre-bind")](const Placement& placement, const Done& done) {
    done(fails(placement));
  };
  Start({"n1"});
  for (const char* name : {"rejected", "reserve", "permit", "pre-bind", "bind"}) Put(MakePod(name));
  AnswerBind({403, "boom"});
  flies = false;
  Put(MakePod("flight"));
  EXPECT_THAT(journal_.stopped,
              ElementsAre("rejected: Reserve A Unschedulable: taken", "reserve: Reserve A Error: boom",
                          "permit: Permit A Error: boom", "pre-bind: PreBind A Error: boom",
                          "bind: Bind DefaultBinder Error: boom", "flight: PreBindPreFlight A Error: boom"));
}

// Waiting at Permit.

TEST_F(BindingCyclesTest, APodThatWaitsIsBoundWhenEverybodyAllowsIt) {
  Gate("A", Duration::Seconds(10));
  Gate("B", Duration::Seconds(20));
  Start({"n1"});
  Put(MakePod("p"));
  ASSERT_NE(Waiting("p"), nullptr);
  EXPECT_TRUE(Assumed("p"));
  EXPECT_THAT(Patches(), ElementsAre("p: nominated \"n1\"")) << "others are told where it is going";
  AcceptAll();
  EXPECT_TRUE(Assumed("p")) << "the news of its own nomination changes nothing";
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_FALSE(scheduler_->idle());
  Waiting("p")->Allow("A");
  Run();
  EXPECT_THAT(api_.binds, IsEmpty());
  Waiting("p")->Allow("B");
  Run();
  EXPECT_EQ(Waiting("p"), nullptr);
  ASSERT_THAT(api_.binds, SizeIs(1));
  AcceptBind();
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
  EXPECT_TRUE(scheduler_->idle());
  EXPECT_THAT(journal_.measured, ElementsAre("Permit Success 0s"));
}

TEST_F(BindingCyclesTest, APluginMayAllowThePodBeforeAnybodyLooks) {
  Hooks& hooks = Plug("Quick");
  std::shared_ptr<WaitingPod> early;
  hooks.permit = [](const Placement&) { return PermitOutcome::Wait(Duration::Seconds(10)); };
  hooks.pre_bind = [](const Placement&, Done done) { done({}); };
  // Pre-flight runs when the pod waits already.
  hooks.pre_flight = [&] {
    hooks.handle->waiting().ForEach([](WaitingPod& pod) { pod.Allow("Quick"); });
    return PreFlight{};
  };
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(api_.binds, SizeIs(1));
}

TEST_F(BindingCyclesTest, AWaitingPodThatIsRejectedGoesBackAndWakesOthersButNotItself) {
  Hooks& gate = Gate("Gate", Duration::Seconds(10));
  gate.permit = [](const Placement& placement) {
    return placement.pod->name() == "p" ? PermitOutcome::Wait(Duration::Seconds(10)) : PermitOutcome::Approve();
  };
  gate.events = {{{EventResource::kAssignedPod, action::kDelete}, nullptr}};
  Reserving("A");
  Start({"n1"});
  Put(Wants("p", "1"));
  Put(Wants("next", "1"));
  EXPECT_EQ(PlaceOf("next"), Place::kUnschedulable);
  AcceptAll();
  Waiting("p")->Reject("Gate", "no quorum");
  Run();
  EXPECT_THAT(Events(), Contains("p: Warning FailedScheduling Scheduling: 0/1 nodes are available: 1 no quorum."));
  EXPECT_THAT(journal_.failed, ElementsAre("p: 0/1 nodes are available: 1 no quorum."));
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("Gate"));
  EXPECT_EQ(PlaceOf("p"), Place::kUnschedulable);
  EXPECT_THAT(calls_, ElementsAre("+A", "-A", "+A"));
  EXPECT_EQ(journal_.attempts.back(), "next -> n1");
  EXPECT_THAT(Patches(), Contains("p: PodScheduled False Unschedulable: 0/1 nodes are available: 1 no quorum. "
                                  "nominated \"\""));
  EXPECT_EQ(journal_.results.front(), "unschedulable default-scheduler");
}

TEST_F(BindingCyclesTest, WhoeverHasTheLeastPatienceEndsTheWaiting) {
  Gate("Patient", Duration::Seconds(60));
  Gate("Hasty", Duration::Seconds(10));
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_EQ(scheduler_->NextWake(), clock_.Now() + Duration::Seconds(10));
  Wait(Duration::Seconds(9));
  EXPECT_NE(Waiting("p"), nullptr);
  Wait(Duration::Seconds(1));
  EXPECT_EQ(LastEvent(),
            "p: Warning FailedScheduling Scheduling: 0/1 nodes are available: 1 rejected due to timeout after waiting "
            "10s at plugin Hasty.");
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("Hasty"));
  EXPECT_EQ(NodeOf("p"), "");
}

TEST_F(BindingCyclesTest, HowLongPermitHeldAPodIsTold) {
  Gate("A", Duration::Seconds(10));
  Start({"n1"});
  Put(MakePod("p"));
  Wait(Duration::Seconds(3));
  Waiting("p")->Reject("A", "no");
  Run();
  EXPECT_THAT(journal_.measured, ElementsAre("Permit Unschedulable 3s"));
}

TEST_F(BindingCyclesTest, AWaitingPodThatIsDeletedFreesItsPlace) {
  Hooks& gate = Gate("Gate", Duration::Seconds(10));
  gate.permit = [](const Placement& placement) {
    return placement.pod->name() == "p" ? PermitOutcome::Wait(Duration::Seconds(10)) : PermitOutcome::Approve();
  };
  Reserving("A");
  Start({"n1"});
  Put(Wants("p", "1"));
  AcceptAll();
  Put(Wants("next", "1"));
  RemovePod("p");
  EXPECT_EQ(Waiting("p"), nullptr);
  EXPECT_THAT(journal_.failed, ElementsAre("p: 0/1 nodes are available: 1 removed."));
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_THAT(calls_, ElementsAre("+A", "-A", "+A"));
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_EQ(journal_.attempts.back(), "next -> n1");
}

TEST_F(BindingCyclesTest, AWaitingPodThatStartsTerminatingFreesItsPlace) {
  Gate("Gate", Duration::Seconds(10));
  Start({"n1"});
  Put(Wants("p", "1"));
  AcceptAll();
  Change("p", [](Pod& pod) { pod.meta.deletion_time = Time{1}; });
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_THAT(journal_.failed, ElementsAre("p: 0/1 nodes are available: 1 removed."));
}

TEST_F(BindingCyclesTest, APodThatWaitsWhenTheSchedulerEndsIsDroppedQuietly) {
  Gate("Gate", Duration::Seconds(10));
  Start({"n1"});
  Put(MakePod("p"));
  const std::shared_ptr<WaitingPod> waiting = Waiting("p");
  scheduler_.reset();
  waiting->Allow("Gate");
  EXPECT_EQ(inbox_.Drain(), 0u);
  EXPECT_THAT(api_.binds, IsEmpty());
}

// PreBind.

TEST_F(BindingCyclesTest, WhenPreBindHasWorkTheNodeIsAnnouncedFirst) {
  SlowPreBind();
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(Patches(), ElementsAre("p: nominated \"n1\""));
  EXPECT_THAT(api_.binds, IsEmpty());
  pre_bound_({});
  Run();
  EXPECT_THAT(api_.binds, SizeIs(1));
}

TEST_F(BindingCyclesTest, APluginThatDropsItsAnswerHasFailedAndThePodComesBack) {
  SlowPreBind();
  Start({"n1"});
  Put(MakePod("p"));
  pre_bound_ = nullptr;
  Run();
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_EQ(scheduler_->state().pod_count(), 0u);
}

TEST_F(BindingCyclesTest, AnAnnouncementThatFailedIsNotRepeatedOnceThePodIsBound) {
  SlowPreBind();
  Start({"n1"});
  Put(MakePod("p"));
  api_.AnswerPatch({500, "later"});
  pre_bound_({});
  Run();
  AcceptBind();
  Wait(Duration::Seconds(10));
  EXPECT_THAT(api_.patches, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(BindingCyclesTest, WhenPreBindHasNoWorkNothingIsAnnounced) {
  SlowPreBind().pre_flight = [] { return PreFlight{Verdict::Skip(), false}; };
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(api_.patches, IsEmpty());
  EXPECT_THAT(api_.binds, SizeIs(1));
  EXPECT_FALSE(pre_bound_);
}

TEST_F(BindingCyclesTest, PreBindMayFinishOnAnotherThread) {
  SlowPreBind();
  Start({"n1"});
  Put(MakePod("p"));
  std::thread other([this] { pre_bound_({}); });
  while (api_.binds.empty()) {
    inbox_.WaitFor(std::chrono::milliseconds(100));
    Step();
  }
  other.join();
  EXPECT_EQ(api_.binds[0].node, "n1");
}

TEST_F(BindingCyclesTest, AFailedPreFlightEndsTheCycle) {
  SlowPreBind().pre_flight = [] { return PreFlight{Verdict::Fail("no volume"), false}; };
  Gate("Gate", Duration::Seconds(10));
  Reserving("A");
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_EQ(Waiting("p"), nullptr);
  EXPECT_THAT(journal_.failed, ElementsAre(HasSubstr("no volume")));
  EXPECT_THAT(calls_, ElementsAre("+A", "-A"));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_THAT(journal_.results, ElementsAre("error default-scheduler"));
}

TEST_F(BindingCyclesTest, AFailureOfPreBindIsAnErrorThatTakesTheAnnouncementBack) {
  SlowPreBind();
  Reserving("A");
  Start({"n1"});
  Put(MakePod("p"));
  AcceptAll();
  EXPECT_EQ(api_.FindPod("p")->nominated_node_name, "n1");
  pre_bound_(Verdict::Fail("boom"));
  Run();
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: running PreBind plugin \"Slow\": boom");
  EXPECT_THAT(Patches(), ElementsAre("p: PodScheduled False SchedulerError: running PreBind plugin \"Slow\": boom "
                                     "nominated \"\""));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(NominationOf("p"), "");
  EXPECT_THAT(calls_, ElementsAre("+A", "-A"));
}

TEST_F(BindingCyclesTest, ARejectionByPreBindIsUnschedulableButRetriedLikeAnError) {
  SlowPreBind();
  Start({"n1"});
  Put(MakePod("p"));
  AcceptAll();
  pre_bound_(Verdict(Code::kUnschedulable, "claim is gone"));
  Run();
  EXPECT_EQ(LastEvent(), "p: Warning FailedScheduling Scheduling: claim is gone");
  EXPECT_THAT(Patches(), ElementsAre("p: PodScheduled False Unschedulable: claim is gone nominated \"\""));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_EQ(journal_.results.front(), "unschedulable default-scheduler");
}

TEST_F(BindingCyclesTest, APodDeletedDuringPreBindIsForgottenAtOnceAndLetGoAfterwards) {
  SlowPreBind();
  Start({"n1"});
  Put(Wants("p", "1"));
  AcceptAll();
  RemovePod("p");
  EXPECT_EQ(NodeOf("p"), "");
  pre_bound_({});
  Run();
  ASSERT_THAT(api_.binds, SizeIs(1)) << "it fails by itself";
  AnswerBind({404, "pods \"p\" not found"});
  EXPECT_TRUE(scheduler_->idle());
}

// Bind.

TEST_F(BindingCyclesTest, ABindingThatIsRefusedIsAnErrorAndFreesThePlace) {
  for (const int code : {400, 404, 409, 429}) {
    SCOPED_TRACE(code);
    if (!scheduler_) Start({"n1"});
    const std::string name = "p" + std::to_string(code);
    Put(Wants(name, "1"));
    ASSERT_THAT(api_.binds, SizeIs(1));
    AnswerBind({code, "no"});
    EXPECT_EQ(LastEvent(), name + ": Warning FailedScheduling Scheduling: running Bind plugin \"DefaultBinder\": no");
    EXPECT_THAT(Patches(), ElementsAre(HasSubstr("PodScheduled False SchedulerError: running Bind plugin")));
    EXPECT_EQ(PlaceOf(name), Place::kErrorBackoff);
    EXPECT_EQ(NodeOf(name), "");
    EXPECT_THAT(api_.gets, IsEmpty());
    api_.AcceptPatch();
    RemovePod(name);
  }
  EXPECT_EQ(journal_.results.front(), "error default-scheduler");
}

TEST_F(BindingCyclesTest, AFailedBindingWakesPodsThatWaitForThePlace) {
  Start({"n1"});
  Put(Wants("p", "1"));
  Put(Wants("next", "1"));
  AnswerBind({409, "no"});
  EXPECT_THAT(journal_.moves, Contains("next backoff AssignedPodDelete"));
  EXPECT_EQ(journal_.attempts.back(), "next -> n1");
}

TEST_F(BindingCyclesTest, APodThatSomebodyElseBoundMeanwhileIsLetGo) {
  Start({"n1", "n2"});
  Put(MakePod("p"));
  const std::string other = api_.binds[0].node == "n1" ? "n2" : "n1";
  Change("p", [&](Pod& pod) { pod.node_name = other; });
  EXPECT_EQ(NodeOf("p"), other) << "the watch is believed";
  EXPECT_THAT(std::exchange(journal_.complaints, {}), ElementsAre(HasSubstr("but it was assumed on")));
  AnswerBind({409, "already assigned"});
  EXPECT_EQ(NodeOf("p"), other);
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_THAT(api_.patches, IsEmpty());
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(BindingCyclesTest, ABindingRefusedBeforeTheWatchTellsWhyIsLetGoWhenItDoes) {
  Start({"n1"});
  Put(MakePod("p"));
  AnswerBind({409, "already assigned"});
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  Change("p", [&](Pod& pod) { pod.node_name = "n9"; });
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_EQ(NodeOf("p"), "n9");
  AcceptAll();
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(BindingCyclesTest, AnotherBindPluginMayTakeThePod) {
  config_.profiles[0].plugins.multi_point.disabled.push_back({"DefaultBinder", 0});
  Plug("Skipper").bind = [](const Placement&, Done done) { done(Verdict::Skip()); };
  Done bound;
  Plug("Taker").bind = [&](const Placement&, Done done) { bound = std::move(done); };
  std::vector<std::string> told;
  Plug("After").post_bind = [&](const Placement& p) { told.push_back(p.pod->name() + "@" + p.node); };
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(told, IsEmpty());
  bound({});
  Run();
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
  EXPECT_THAT(told, ElementsAre("p@n1"));
}

TEST_F(BindingCyclesTest, APodThatNoBindPluginTakesFails) {
  config_.profiles[0].plugins.multi_point.disabled.push_back({"DefaultBinder", 0});
  Plug("Skipper").bind = [](const Placement&, Done done) { done(Verdict::Skip()); };
  Start({"n1"});
  Put(MakePod("p"));
  EXPECT_THAT(journal_.failed, SizeIs(1));
  EXPECT_THAT(journal_.failed[0], Not(HasSubstr("p: \n")));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_EQ(NodeOf("p"), "");
}

}  // namespace
}  // namespace berth::cycle
