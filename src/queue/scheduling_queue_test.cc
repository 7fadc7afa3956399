// SPDX-License-Identifier: Apache-2.0
// The moves of the queue, one by one.
#include "queue/scheduling_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "queue/queue_test_util.h"

namespace berth::queue {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class SchedulingQueueTest : public ::testing::Test, public QueueFixture {
 protected:
  void TearDown() override { EXPECT_EQ(queue->CheckInvariants(), ""); }
  Place Where(const std::shared_ptr<const Pod>& pod) const { return queue->PlaceOf(*pod); }
};

const Rejectors kByFit{{"Fit"}, {}};

TEST_F(SchedulingQueueTest, PopsByQueueSortAndPodsThatAreEqualInOrderOfArrival) {
  for (const char* name : {"a", "b", "c", "d", "e"}) queue->Add(Share(MakePod(name)));
  queue->Add(Share(MakePod("high").Priority(5)));
  EXPECT_EQ(queue->Summary(), "activeQ:6; backoffQ:0; unschedulablePods:0");
  std::vector<std::string> names;
  for (std::string name; !(name = PopName()).empty();) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("high", "a", "b", "c", "d", "e"));
  EXPECT_EQ(queue->scheduling_cycle(), 6);
}

TEST_F(SchedulingQueueTest, AGatedPodWaitsAndIsNotPopped) {
  const auto pod = Share(MakePod("p").Gate("g"));
  EXPECT_EQ(queue->Add(pod), Place::kGated);
  EXPECT_FALSE(queue->Pop());
  const QueuedPodInfo* info = queue->Find("default/p");
  EXPECT_EQ(info->gate_verdict.message(), "gated");
  EXPECT_FALSE(info->initial_attempt);
  EXPECT_THAT(queue->RejectorNames(*info), ElementsAre("Gates"));
}

TEST_F(SchedulingQueueTest, TheLastGateGoneMakesAPodActive) {
  const auto two = Share(MakePod("p").Gate("g").Gate("h")), one = Share(MakePod("p").Gate("g"));
  const auto none = Share(MakePod("p"));
  queue->Add(two);
  const int calls = gate_calls;
  EXPECT_EQ(queue->Update(two, one), Place::kGated);
  EXPECT_EQ(gate_calls, calls) << "a generic update concerns no plugin here";
  EXPECT_EQ(queue->Update(one, none), Place::kActive);
  EXPECT_EQ(moves.back(), "p active UnschedulablePodUpdatePodSchedulingGatesEliminated");
  auto ticket = queue->Pop();
  EXPECT_EQ(ticket->pod(), none);
  ticket->Done();
}

TEST_F(SchedulingQueueTest, LeavingOneGateIsNotEnoughWhenAnotherPluginIsAgainstIt) {
  const auto gated = Share(MakePod("p").Gate("g")), open = Share(MakePod("p"));
  queue->Add(gated);
  closed = true;
  EXPECT_EQ(queue->Update(gated, open), Place::kGated);
  EXPECT_THAT(queue->RejectorNames(*queue->Find("default/p")), ElementsAre("Gates", "Tolerations"));
  closed = false;
  EXPECT_EQ(queue->MoveAll(kNodeAdd, {}), 0u) << "not an event of the plugin that gates it now";
  EXPECT_EQ(Where(open), Place::kGated);
  EXPECT_EQ(queue->MoveAll(kNodeTaint, {}), 1u);
  EXPECT_EQ(Where(open), Place::kActive);
}

TEST_F(SchedulingQueueTest, AGatedPodIsNotAskedAboutEventsOfOtherPlugins) {
  // Rejected by Fit, then gated on its way back.
  const auto pod = Rejected(MakePod("p"), kByFit);
  closed = true;
  queue->MoveAll(kNodeAdd, {});
  ASSERT_EQ(Where(pod), Place::kGated);
  const int hints = hint_calls, gates = gate_calls;
  queue->MoveAll(kPodDelete, {});
  EXPECT_EQ(hint_calls, hints);
  EXPECT_EQ(gate_calls, gates);
  queue->MoveAll(kWildCardEvent, {});
  EXPECT_EQ(gate_calls, gates + 1) << "wildcards are for everybody";
}

TEST_F(SchedulingQueueTest, ARejectedPodWaitsForAnEventThatItsRejectorTakesForHelpful) {
  const auto pod = Rejected(MakePod("p"), kByFit);
  EXPECT_EQ(Where(pod), Place::kUnschedulable);
  EXPECT_EQ(queue->MoveAll(kNodeLabel, {}), 0u);
  EXPECT_EQ(hint_calls, 0);
  fit_hint = [](const Pod&, const EventObjects&) { return QueueingHint::kSkip; };
  EXPECT_EQ(queue->MoveAll(kNodeAdd, {}), 0u);
  EXPECT_EQ(hint_calls, 1);
  EXPECT_EQ(Where(pod), Place::kUnschedulable);
  fit_hint = nullptr;
  EXPECT_EQ(queue->MoveAll(kNodeAdd, {}), 1u);
  EXPECT_EQ(Where(pod), Place::kBackoff) << "its second is not over";
  EXPECT_EQ(moves.back(), "p backoff NodeAdd");
}

TEST_F(SchedulingQueueTest, HintsGetTheObjectsOfTheEvent) {
  const auto pod = Rejected(MakePod("p"), kByFit);
  const auto gone = Share(MakePod("gone").OnNode("n"));
  queue->MoveAll(kPodDelete, {gone, nullptr, nullptr, nullptr});
  EXPECT_EQ(last_objects.pod_before, gone.get());
  EXPECT_EQ(last_objects.pod_after, nullptr);
}

TEST_F(SchedulingQueueTest, APodWhoseBackoffIsOverBecomesActiveAtOnce) {
  const auto pod = Rejected(MakePod("p"), kByFit);
  clock.Advance(Duration::Seconds(2));
  queue->MoveAll(kNodeAdd, {});
  EXPECT_EQ(Where(pod), Place::kActive);
}

TEST_F(SchedulingQueueTest, QueueFromAPendingPluginSkipsBackoff) {
  const auto waits = Rejected(MakePod("waits"), {{"Fit"}, {"Wait"}});
  queue->MoveAll(kPodDelete, {});
  EXPECT_EQ(Where(waits), Place::kBackoff) << "only Fit asked for this one";
  const auto also = Rejected(MakePod("also"), {{"Fit"}, {"Wait"}});
  queue->MoveAll(kNodeAdd, {});
  EXPECT_EQ(Where(also), Place::kActive);
  EXPECT_EQ(queue->hints().PluginName(queue->Find("default/also")->rejectors[1].plugin), "Wait");
}

TEST_F(SchedulingQueueTest, TaintUpdatesWakePodsOfPluginsThatAskedForNodeAdd) {
  fit_hint = [](const Pod&, const EventObjects&) { return QueueingHint::kSkip; };
  const auto pod = Rejected(MakePod("p"), kByFit);
  EXPECT_EQ(queue->MoveAll(kNodeTaint, {}), 1u);
  EXPECT_EQ(hint_calls, 0);
}

TEST_F(SchedulingQueueTest, APodListensToTheRegistrationsOfItsOwnProfile) {
  const auto other = Rejected(MakePod("p").With([](Pod& p) { p.scheduler_name = "other"; }), kByFit);
  EXPECT_EQ(queue->MoveAll(kNodeAdd, {}), 0u);
  EXPECT_EQ(queue->MoveAll(kNodeDelete, {}), 1u);
  EXPECT_EQ(Where(other), Place::kBackoff);
}

TEST_F(SchedulingQueueTest, APodOfNoProfileIsWokenByEveryEventThatSomebodyAskedFor) {
  const auto stray = Rejected(MakePod("p").With([](Pod& p) { p.scheduler_name = "nobody"; }), kByFit);
  EXPECT_EQ(queue->MoveAll({EventResource::kCsiNode, action::kAdd}, {}), 0u);
  EXPECT_EQ(Where(stray), Place::kUnschedulable);
  EXPECT_EQ(queue->MoveAll(kNodeLabel, {}), 1u);
}

TEST_F(SchedulingQueueTest, AnEventCanBeLimitedToSomePods) {
  const auto low = Rejected(MakePod("low").Priority(1), kByFit), high = Rejected(MakePod("high").Priority(9), kByFit);
  queue->MoveAll(kPodDelete, {}, [](const Pod& pod) { return pod.priority <= 5; });
  EXPECT_EQ(Where(low), Place::kBackoff);
  EXPECT_EQ(Where(high), Place::kUnschedulable);
}

TEST_F(SchedulingQueueTest, PopTakesFromBackoffWhenNothingIsActiveButNeverFromErrorBackoff) {
  const auto rejected = Rejected(MakePod("rejected"), kByFit);
  queue->MoveAll(kNodeAdd, {});
  const auto failed = Rejected(MakePod("failed"), {});
  EXPECT_EQ(Where(failed), Place::kErrorBackoff);
  queue->Add(Share(MakePod("fresh")));
  EXPECT_EQ(PopName(), "fresh");
  EXPECT_EQ(PopName(), "rejected");
  EXPECT_THAT(moves, Contains("rejected active PopFromBackoffQ"));
  EXPECT_EQ(PopName(), "");
  EXPECT_EQ(Where(failed), Place::kErrorBackoff);
}

TEST_F(SchedulingQueueTest, BackoffIsOrderedByWindowThenByQueueSort) {
  const auto first = Rejected(MakePod("first"), kByFit);
  clock.Advance(Duration::Millis(900));
  const auto urgent = Rejected(MakePod("urgent").Priority(7), kByFit);
  clock.Advance(Duration::Millis(200));
  const auto later = Rejected(MakePod("later").Priority(9), kByFit);
  queue->MoveAll(kNodeAdd, {});
  EXPECT_EQ(PopName(), "urgent");
  EXPECT_EQ(PopName(), "first");
  EXPECT_EQ(PopName(), "later");
}

TEST_F(SchedulingQueueTest, BackoffEndsAtTheWholeSecondAfterTheExpiry) {
  clock.Advance(Duration::Millis(700));
  const Time start = TruncateToSecond(clock.Now());
  const auto failed = Rejected(MakePod("p"), {});
  EXPECT_EQ(queue->NextWake(), start + Duration::Seconds(2));
  Advance(Duration::Millis(1299));
  EXPECT_EQ(Where(failed), Place::kErrorBackoff);
  const int gates = gate_calls;
  Advance(Duration::Millis(1));
  EXPECT_EQ(Where(failed), Place::kActive);
  EXPECT_EQ(gate_calls, gates) << "PreEnqueue was asked on the way into backoff";
  EXPECT_EQ(moves.back(), "p active BackoffComplete");
  EXPECT_EQ(queue->NextWake(), kNever);
}

TEST_F(SchedulingQueueTest, ErrorsAndRejectionsAreCountedApart) {
  queue->Add(Share(MakePod("p")));
  const auto attempt = [&](const Rejectors& rejectors) {
    auto ticket = queue->Pop();
    ASSERT_TRUE(ticket);
    ticket->Return(rejectors);
    queue->MoveAll(kWildCardEvent, {});
  };
  const auto check = [&](int rejections, int errors, int64_t backoff) {
    const QueuedPodInfo* info = queue->Find("default/p");
    EXPECT_EQ(info->unschedulable_count, rejections);
    EXPECT_EQ(info->consecutive_errors_count, errors);
    EXPECT_EQ(queue->NextWake(), TruncateToSecond(clock.Now()) + Duration::Seconds(backoff + 1));
    Advance(Duration::Seconds(backoff + 1));
    EXPECT_EQ(queue->Find("default/p")->where(), Place::kActive);
  };
  attempt(kByFit), check(1, 0, 1);
  attempt(kByFit), check(2, 0, 2);
  attempt({}), check(2, 1, 1);
  attempt({}), check(2, 2, 2);
  attempt(kByFit), check(3, 0, 4);
  EXPECT_EQ(queue->Find("default/p")->attempts, 5);
}

TEST_F(SchedulingQueueTest, WithoutBackoffAFailedPodIsActiveAgainAtOnce) {
  QueueFixture other(Backoff{Duration::Seconds(1), {}});
  const auto pod = other.Rejected(MakePod("p"), {});
  EXPECT_EQ(other.queue->PlaceOf(*pod), Place::kActive);
}

TEST_F(SchedulingQueueTest, EventsDuringAnAttemptAreReplayedWhenThePodComesBack) {
  const auto pod = Share(MakePod("p"));
  queue->Add(pod);
  auto ticket = queue->Pop();
  const auto node = std::make_shared<const Node>(MakeNode("n").Build());
  queue->MoveAll(kNodeDelete, {});
  queue->MoveAll(kNodeAdd, {nullptr, nullptr, nullptr, node});
  queue->MoveAll({EventResource::kCsiNode, action::kAdd}, {});
  EXPECT_EQ(queue->recorded_events(), 2u) << "what nobody asked for is not kept";
  EXPECT_EQ(hint_calls, 0);
  EXPECT_EQ(ticket->Return(kByFit), Place::kBackoff);
  EXPECT_EQ(last_objects.node_after, node.get());
  EXPECT_EQ(queue->recorded_events(), 0u);
  EXPECT_EQ(moves.back(), "p backoff ScheduleAttemptFailure");
}

TEST_F(SchedulingQueueTest, EventsThatAreKeptAreCountedByLabel) {
  queue->Add(Share(MakePod("a")));
  queue->Add(Share(MakePod("b")));
  auto a = queue->Pop();
  auto b = queue->Pop();
  for (const ClusterEvent& event : {kNodeAdd, kNodeDelete, kNodeAdd}) queue->MoveAll(event, {});
  using Labels = std::map<std::string, size_t>;
  EXPECT_EQ(queue->RecordedEvents(), (Labels{{"NodeAdd", 2}, {"NodeDelete", 1}}));
  EXPECT_EQ(queue->recording_pods(), 2u);
  a->Done();
  b->Done();
  EXPECT_EQ(queue->RecordedEvents(), Labels());
  EXPECT_EQ(queue->recording_pods(), 0u);
}

TEST_F(SchedulingQueueTest, PodsAreCountedForEveryPluginThatRejectedThem) {
  const auto counts = [&] {
    std::vector<std::string> lines;
    for (const SchedulingQueue::RejectedBy& by : queue->Rejected())
      lines.push_back(by.profile + " " + by.plugin + " " + std::to_string(by.pods));
    return lines;
  };
  const auto a = Rejected(MakePod("a"), {{"Fit", "Spread"}, {}});
  const auto b = Rejected(MakePod("b"), {{"Fit"}, {"Wait"}});
  queue->Add(Share(MakePod("gated").Gate("g")));
  EXPECT_THAT(counts(), ElementsAre("default-scheduler Fit 2", "default-scheduler Spread 1",
                                    "default-scheduler Gates 1", "default-scheduler Wait 1"));
  queue->MoveAll(kNodeLabel, {});  // `a` goes to backoff, and is still one that was rejected
  EXPECT_THAT(counts(), Contains("default-scheduler Spread 1"));
  auto ticket = queue->Pop();
  EXPECT_THAT(counts(), Contains("default-scheduler Spread 0")) << "not while it is tried again";
  EXPECT_EQ(ticket->Return({{"Tolerations"}, {}}), Place::kUnschedulable);
  EXPECT_THAT(counts(), Contains("default-scheduler Tolerations 1"));
  queue->Delete(*b);
  EXPECT_THAT(counts(), Contains("default-scheduler Fit 0"));
}

TEST_F(SchedulingQueueTest, OfAPodThatComesBackItIsToldWhoRejectedItAndWhatWillBe) {
  Rejected(MakePod("waits"), {.unschedulable = {"Spread", "Fit"}, .pending = {}});
  Rejected(MakePod("failed"), {});
  queue->Add(Share(MakePod("helped")));
  auto ticket = queue->Pop();
  queue->MoveAll(kNodeAdd, {});
  ticket->Return({.unschedulable = {}, .pending = {"Wait"}});
  EXPECT_THAT(returns,
              ElementsAre("waits unschedulable 0 1 Fit Spread", "failed error backoff 1 2", "helped active 2 3 Wait"));
}

TEST_F(SchedulingQueueTest, WhoWantsToKnowIsToldOfPodsThatAnEventDoesNotWake) {
  Rejected(MakePod("fit"), {.unschedulable = {"Fit"}, .pending = {}});
  Rejected(MakePod("spread"), {.unschedulable = {"Spread"}, .pending = {}});
  queue->Add(Share(MakePod("gated").Gate("g")));
  fit_hint = [](const Pod&, const EventObjects&) { return QueueingHint::kSkip; };
  queue->MoveAll(kNodeAdd, {});
  EXPECT_THAT(not_woken, IsEmpty());
  wants_not_woken = true;
  queue->MoveAll(kNodeAdd, {});
  EXPECT_THAT(std::exchange(not_woken, {}), UnorderedElementsAre("fit NodeAdd", "spread NodeAdd"));
  queue->MoveAll(kNodeAdd, {}, [](const Pod& pod) { return pod.name() == "fit"; });
  EXPECT_THAT(std::exchange(not_woken, {}), ElementsAre("fit NodeAdd"));
  queue->MoveAll(kNodeLabel, {});  // wakes the other one
  EXPECT_THAT(std::exchange(not_woken, {}), ElementsAre("fit NodeUpdateNodeLabel"));
  queue->MoveAll({EventResource::kCsiNode, action::kAdd}, {});  // nobody has asked for it
  EXPECT_THAT(not_woken, IsEmpty());
}

TEST_F(SchedulingQueueTest, OneHintInTenIsTimed) {
  fit_hint = [](const Pod&, const EventObjects&) { return QueueingHint::kSkip; };
  for (int i = 0; i < 21; ++i) Rejected(MakePod("p" + std::to_string(i)), kByFit);
  queue->MoveAll(kNodeAdd, {});
  EXPECT_EQ(hint_calls, 21);
  EXPECT_THAT(timed_hints, ElementsAre("Fit NodeAdd skip", "Fit NodeAdd skip", "Fit NodeAdd skip"));
}

TEST_F(SchedulingQueueTest, AnEventForAPendingPluginDuringTheAttemptSkipsBackoff) {
  queue->Add(Share(MakePod("p")));
  auto ticket = queue->Pop();
  queue->MoveAll(kPodDelete, {});
  queue->MoveAll(kNodeAdd, {});
  EXPECT_EQ(ticket->Return({{"Fit"}, {"Wait"}}), Place::kActive);
}

TEST_F(SchedulingQueueTest, EventsBeforeAnAttemptDoNotCount) {
  queue->Add(Share(MakePod("a")));
  queue->Add(Share(MakePod("b")));
  auto a = queue->Pop();
  queue->MoveAll(kNodeAdd, {});
  auto b = queue->Pop();
  EXPECT_EQ(b->Return(kByFit), Place::kUnschedulable);
  EXPECT_EQ(a->Return(kByFit), Place::kBackoff);
}

TEST_F(SchedulingQueueTest, OwnUpdatesDuringTheAttemptAreReplayedOnTheNewPod) {
  const auto before = Share(MakePod("p")), after = Share(MakePod("p").Tolerate({}));
  queue->Add(before);
  auto ticket = queue->Pop();
  EXPECT_EQ(queue->Update(before, after), Place::kInFlight);
  EXPECT_EQ(ticket->pod(), before) << "the attempt goes on with the pod it began with";
  EXPECT_EQ(ticket->Return({{"Tolerations"}, {}}), Place::kBackoff);
  EXPECT_EQ(queue->Find("default/p")->pod, after);
}

TEST_F(SchedulingQueueTest, AfterStopRecordingEventsAreLetGoAndAReturningPodBacksOff) {
  queue->Add(Share(MakePod("p")));
  auto ticket = queue->Pop();
  queue->MoveAll(kNodeLabel, {});
  ticket->StopRecording();
  EXPECT_EQ(queue->recorded_events(), 0u);
  queue->MoveAll(kNodeLabel, {});
  EXPECT_EQ(queue->recorded_events(), 0u);
  EXPECT_EQ(queue->counts().in_flight, 1u);
  EXPECT_EQ(ticket->Return(kByFit), Place::kBackoff);
}

TEST_F(SchedulingQueueTest, ADroppedTicketGivesThePodBack) {
  const auto pod = Share(MakePod("p"));
  queue->Add(pod);
  { auto ticket = queue->Pop(); }
  EXPECT_EQ(Where(pod), Place::kErrorBackoff);
  Advance(Duration::Seconds(2));
  auto ticket = queue->Pop();
  ticket = std::nullopt;
  EXPECT_EQ(Where(pod), Place::kErrorBackoff);
  EXPECT_EQ(queue->Find("default/p")->consecutive_errors_count, 2);
}

TEST_F(SchedulingQueueTest, AssigningATicketGivesBackThePodOfTheOldOne) {
  const auto a = Share(MakePod("a")), b = Share(MakePod("b"));
  queue->Add(a);
  queue->Add(b);
  PodTicket ticket = *queue->Pop();
  ticket = *queue->Pop();
  EXPECT_EQ(Where(a), Place::kErrorBackoff);
  EXPECT_EQ(Where(b), Place::kInFlight);
  ticket.Done();
  EXPECT_EQ(Where(b), Place::kNone);
  ticket.Done();
  EXPECT_EQ(ticket.Return(kByFit), Place::kNone) << "settled once and for all";
}

TEST_F(SchedulingQueueTest, ATicketMayOutliveItsQueue) {
  auto other = std::make_unique<QueueFixture>();
  other->queue->Add(Share(MakePod("p")));
  auto ticket = other->queue->Pop();
  other.reset();
  ticket->StopRecording();
  EXPECT_EQ(ticket->Return(kByFit), Place::kNone);
}

TEST_F(SchedulingQueueTest, APodDeletedInFlightIsLetGo) {
  const auto pod = Share(MakePod("p"));
  queue->Add(pod);
  auto ticket = queue->Pop();
  EXPECT_EQ(queue->Delete(*pod), Place::kInFlight);
  EXPECT_EQ(ticket->Return(kByFit), Place::kNone);
  EXPECT_EQ(Where(pod), Place::kNone);
}

TEST_F(SchedulingQueueTest, ARecreatedPodInheritsNothingFromItsNamesake) {
  const auto old = Share(MakePod("p").Uid("1")), fresh = Share(MakePod("p").Uid("2"));
  queue->Add(old);
  auto ticket = queue->Pop();
  queue->Delete(*old);
  EXPECT_EQ(queue->Add(fresh), Place::kActive);
  EXPECT_EQ(ticket->Return(kByFit), Place::kNone);
  EXPECT_EQ(Where(fresh), Place::kActive);
  EXPECT_EQ(queue->Find("default/p")->attempts, 0);
  EXPECT_EQ(queue->Delete(*old), Place::kNone) << "a late delete of the old one";
  EXPECT_EQ(Where(fresh), Place::kActive);
}

TEST_F(SchedulingQueueTest, AnUpdateToAnotherUidIsADeleteAndAnAdd) {
  const auto old = Rejected(MakePod("p").Uid("1"), kByFit);
  const auto fresh = Share(MakePod("p").Uid("2"));
  EXPECT_EQ(queue->Update(old, fresh), Place::kActive);
  EXPECT_EQ(queue->Find("default/p")->unschedulable_count, 0);
}

TEST_F(SchedulingQueueTest, DeleteTakesAPodOutOfEveryPlace) {
  const auto active = Share(MakePod("active")), gated = Share(MakePod("gated").Gate("g"));
  const auto backoff = Rejected(MakePod("backoff"), kByFit);
  queue->MoveAll(kNodeAdd, {});
  const auto failed = Rejected(MakePod("failed"), {});
  const auto rejected = Rejected(MakePod("rejected"), {{"Fit", "Spread"}, {}});
  queue->Add(active);
  queue->Add(gated);
  EXPECT_EQ(queue->counts(), (SchedulingQueue::Counts{1, 1, 1, 1, 1, 0}));
  EXPECT_EQ(queue->Queued().size(), 5u);
  EXPECT_EQ(queue->Delete(*active), Place::kActive);
  EXPECT_EQ(queue->Delete(*backoff), Place::kBackoff);
  EXPECT_EQ(queue->Delete(*failed), Place::kErrorBackoff);
  EXPECT_EQ(queue->Delete(*rejected), Place::kUnschedulable);
  EXPECT_EQ(queue->Delete(*gated), Place::kGated);
  EXPECT_EQ(queue->Delete(*gated), Place::kNone);
  EXPECT_EQ(queue->counts(), SchedulingQueue::Counts{});
}

TEST_F(SchedulingQueueTest, AnUpdateOfAnActivePodMovesItInPlaceWithoutAskingPreEnqueue) {
  const auto a = Share(MakePod("a")), b = Share(MakePod("b")), urgent = Share(MakePod("b").Priority(3).Gate("late"));
  queue->Add(a);
  queue->Add(b);
  const int gates = gate_calls;
  EXPECT_EQ(queue->Update(b, urgent), Place::kActive);
  EXPECT_EQ(gate_calls, gates);
  EXPECT_EQ(PopName(), "b");
}

TEST_F(SchedulingQueueTest, AnUpdateOfAPodInBackoffReordersIt) {
  const auto a = Rejected(MakePod("a"), kByFit), b = Rejected(MakePod("b"), kByFit);
  queue->MoveAll(kNodeAdd, {});
  EXPECT_EQ(queue->Update(b, Share(MakePod("b").Priority(3))), Place::kBackoff);
  EXPECT_EQ(PopName(), "b");
}

TEST_F(SchedulingQueueTest, AnUpdateOfARejectedPodAsksTheHints) {
  const auto pod = Rejected(MakePod("p"), {{"Tolerations"}, {}});
  const auto labelled = Share(MakePod("p").Label("a", "b"));
  EXPECT_EQ(queue->Update(pod, labelled), Place::kUnschedulable);
  EXPECT_EQ(queue->Find("default/p")->pod, labelled);
  EXPECT_EQ(queue->Update(labelled, Share(MakePod("p").Label("a", "c").Tolerate({}))), Place::kBackoff);
}

TEST_F(SchedulingQueueTest, TheFirstHelpfulChangeOfAnUpdateDecides) {
  const auto gated = Share(MakePod("p").Gate("g"));
  queue->Add(gated);
  closed = true;
  queue->Update(gated, Share(MakePod("p")));  // now both Gates and Tolerations have rejected it
  queue->Update(Share(MakePod("p")), gated);
  closed = false;
  moves.clear();
  EXPECT_EQ(queue->Update(gated, Share(MakePod("p").Tolerate({}))), Place::kActive);
  EXPECT_THAT(moves, ElementsAre("p active UnschedulablePodUpdatePodSchedulingGatesEliminated"));
}

TEST_F(SchedulingQueueTest, AnUpdateOfAnUnknownPodAddsIt) {
  const auto before = Share(MakePod("p")), after = Share(MakePod("p").Label("a", "b"));
  EXPECT_EQ(queue->Update(before, after), Place::kActive);
  EXPECT_EQ(moves.back(), "p active UnschedulablePodUpdate");
}

TEST_F(SchedulingQueueTest, AddingAQueuedPodAgainStartsItAfresh) {
  const auto pod = Rejected(MakePod("p"), kByFit);
  EXPECT_EQ(queue->Add(pod), Place::kActive);
  EXPECT_EQ(queue->Find("default/p")->attempts, 0);
  closed = true;
  EXPECT_EQ(queue->Add(pod), Place::kActive) << "a gated newcomer does not take an active pod's place";
}

TEST_F(SchedulingQueueTest, AddingAPodInFlightUpdatesIt) {
  const auto pod = Share(MakePod("p")), again = Share(MakePod("p").Label("a", "b"));
  queue->Add(pod);
  auto ticket = queue->Pop();
  EXPECT_EQ(queue->Add(again), Place::kInFlight);
  ticket->Return(kByFit);
  EXPECT_EQ(queue->Find("default/p")->pod, again);
}

TEST_F(SchedulingQueueTest, ActivateSkipsBackoff) {
  const auto rejected = Rejected(MakePod("rejected"), kByFit), failed = Rejected(MakePod("failed"), {});
  const int gates = gate_calls;
  EXPECT_TRUE(queue->Activate(rejected));
  EXPECT_EQ(gate_calls, gates + 1);
  EXPECT_TRUE(queue->Activate(failed));
  EXPECT_EQ(gate_calls, gates + 1) << "was asked on the way into backoff";
  EXPECT_FALSE(queue->Activate(failed)) << "is active already";
  EXPECT_FALSE(queue->Activate(Share(MakePod("unknown"))));
  EXPECT_EQ(moves.back(), "failed active ForceActivate");
}

TEST_F(SchedulingQueueTest, ActivateOfAPodInFlightCountsForThatPodOnly) {
  const auto a = Share(MakePod("a")), b = Share(MakePod("b"));
  queue->Add(a);
  queue->Add(b);
  auto first = queue->Pop(), second = queue->Pop();
  EXPECT_FALSE(queue->Activate(a));
  EXPECT_EQ(second->Return(kByFit), Place::kUnschedulable);
  EXPECT_EQ(first->Return(kByFit), Place::kBackoff);
}

TEST_F(SchedulingQueueTest, LongUnschedulablePodsAreWokenByTheClock) {
  const auto pod = Rejected(MakePod("p"), kByFit), gated = Share(MakePod("gated").Gate("g"));
  queue->Add(gated);
  const Time start = clock.Now();
  for (Time wake = queue->NextWake(); wake <= start + Duration::Seconds(300); wake = queue->NextWake())
    Advance(wake - clock.Now());
  EXPECT_EQ(clock.Now(), start + Duration::Seconds(300));
  EXPECT_EQ(Where(pod), Place::kUnschedulable) << "five minutes are not more than five minutes";
  const int gates = gate_calls;
  Advance(Duration::Seconds(30));
  EXPECT_EQ(Where(pod), Place::kActive);
  EXPECT_TRUE(queue->Find("default/p")->was_flushed);
  EXPECT_THAT(moves, Contains("p active UnschedulableTimeout"));
  EXPECT_EQ(Where(gated), Place::kGated);
  EXPECT_EQ(gate_calls, gates + 2);
  EXPECT_FALSE(queue->Find("default/gated")->was_flushed);
  for (int i = 0; i < 10; ++i) Advance(Duration::Seconds(30));
  EXPECT_EQ(gate_calls, gates + 2) << "asked again only after another five minutes";
  Advance(Duration::Seconds(30));
  EXPECT_EQ(gate_calls, gates + 3);
}

TEST_F(SchedulingQueueTest, TheFirstAttemptKeepsItsTime) {
  const auto pod = Share(MakePod("p"));
  const Time start = clock.Now();
  queue->Add(pod);
  clock.Advance(Duration::Seconds(5));
  queue->Pop()->ReturnFailed();
  EXPECT_EQ(queue->Find("default/p")->initial_attempt, start);
  EXPECT_EQ(queue->Find("default/p")->timestamp, start + Duration::Seconds(5));
}

TEST_F(SchedulingQueueTest, PodsThatShareAUidAreKeptApart) {
  const auto a = Share(MakePod("a").Uid("same")), b = Share(MakePod("b").Uid("same"));
  queue->Add(a);
  auto first = queue->Pop();
  EXPECT_EQ(queue->Add(b), Place::kActive);
  auto second = queue->Pop();
  first->Done();
  EXPECT_EQ(Where(b), Place::kInFlight);
  second->Done();
}

}  // namespace
}  // namespace berth::queue
