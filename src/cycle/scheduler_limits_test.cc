// SPDX-License-Identifier: Apache-2.0
// A scheduler that does not outrun the API server, counts repeated events, and can be stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SchedulerLimitsTest : public CycleTest {
 protected:
  size_t active() const { return scheduler_->queue().counts().active; }
  bool waits_for_news(Duration soon = Duration::Millis(100)) const {
    return scheduler_->waits_for_news(clock_.Now() + soon);
  }
  void AnswerEvents() {
    while (!api_.event_calls.empty()) {
      api_.AnswerEvent();
      Run();
    }
  }
};

TEST_F(SchedulerLimitsTest, NoPodIsDecidedWhileSoManyBindingsAreUnanswered) {
  options_.max_bindings = 2;
  Start({"n1", "n2"});
  for (const char* name : {"a", "b", "c", "d"}) Put(Wants(name, "100m"));
  EXPECT_THAT(api_.binds, SizeIs(2));
  EXPECT_EQ(active(), 2u);
  EXPECT_EQ(scheduler_->bindings_under_way(), 2u);
  EXPECT_FALSE(scheduler_->attempted());
  EXPECT_FALSE(scheduler_->idle());
  EXPECT_TRUE(waits_for_news()) << "an answer lets the next one go";
  AcceptBind();
  EXPECT_THAT(api_.binds, SizeIs(2));
  EXPECT_EQ(active(), 1u);
  // One of which nobody knows whether it happened has not been answered.
  AnswerBind({0, "connection lost"});
  EXPECT_THAT(api_.gets, SizeIs(1));
  EXPECT_EQ(scheduler_->bindings_under_way(), 2u);
  EXPECT_EQ(active(), 1u);
  for (const int seconds : {1, 0}) {  // two looks: the binding may arrive after the first
    EXPECT_EQ(active(), 1u);
    api_.AnswerGet({}, api_.FindPod("b"));
    Run();
    Wait(Duration::Seconds(seconds));
  }
  EXPECT_EQ(active(), 0u);
  EXPECT_THAT(journal_.failed, ElementsAre(HasSubstr("b: ")));
  AcceptAll();
  Wait(Duration::Seconds(60));
  AcceptAll();
  EXPECT_THAT(journal_.bound, SizeIs(4));
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(SchedulerLimitsTest, PodsThatWaitForEachOtherAtPermitAreNoBindings) {
  options_.max_bindings = 1;
  Hooks& gang = Plug("Gang");
  gang.permit = [](const Placement&) { return PermitOutcome::Wait(Duration::Seconds(600)); };
  Start({"n1"});
  for (const char* name : {"a", "b", "c"}) Put(Wants(name, "100m"));
  EXPECT_EQ(scheduler_->bindings_under_way(), 0u);
  EXPECT_EQ(active(), 0u);
  EXPECT_TRUE(waits_for_news()) << "another may be all that they wait for";
}

TEST_F(SchedulerLimitsTest, OnlyAnswersToBindingsAndEventsMayBeHeardLater) {
  options_.max_bindings = 2;
  options_.events.emplace();
  Start({"n1"});
  EXPECT_FALSE(waits_for_news());
  Put(Wants("a", "100m"));
  EXPECT_EQ(scheduler_->bindings_under_way(), 1u);
  EXPECT_FALSE(waits_for_news()) << "its place is taken already";
  AcceptAll();
  EXPECT_THAT(journal_.bound, SizeIs(1));
  EXPECT_EQ(scheduler_->unwritten_events(), 1u);
  EXPECT_FALSE(waits_for_news());
  Put(Wants("unschedulable", "1000"));
  EXPECT_TRUE(waits_for_news()) << "its status is being written";
  AcceptAll();
  EXPECT_FALSE(waits_for_news());
  Put(MakePod("urgent").Priority(10).Request({{"cpu", "1"}}));
  AcceptAll();
  ASSERT_THAT(api_.deletes, SizeIs(1));
  EXPECT_TRUE(waits_for_news()) << "it evicts another";
  api_.AnswerDelete();
  Run();
  AcceptAll();
  EXPECT_THAT(api_.deletes, IsEmpty());
  EXPECT_TRUE(waits_for_news()) << "its victim has not ended yet";
}

TEST_F(SchedulerLimitsTest, NewsOfPodsInBackoffAndOfListsIsNotHeardLater) {
  Start({"n1"});
  Put(Wants("large", "2"));
  AcceptAll();
  EXPECT_FALSE(waits_for_news()) << "only news can help it";
  Put(Wants("a", "100m"));
  AnswerBind({403, "forbidden"});
  api_.AcceptPatch();
  Run();
  EXPECT_EQ(scheduler_->queue().counts().error_backoff, 1u);
  EXPECT_FALSE(waits_for_news());
  EXPECT_TRUE(waits_for_news(Duration::Seconds(20))) << "by then it is tried again whether anything is heard or not";
  Wait(Duration::Seconds(60));
  AcceptAll();
  EXPECT_THAT(journal_.bound, SizeIs(1));
  EXPECT_FALSE(waits_for_news());
  api_.held = Kind::kNode;
  api_.EndWatch(Kind::kNode, {410, "too old"});
  Run();
  EXPECT_TRUE(scheduler_->synced());
  EXPECT_TRUE(waits_for_news()) << "nodes are listed anew";
  ASSERT_TRUE(api_.held_list);
  inbox_.Post(std::move(api_.held_list));
  Run();
  EXPECT_FALSE(waits_for_news());
  api_.EndWatch(Kind::kNode, {403, "forbidden"});
  Run();
  EXPECT_FALSE(scheduler_->reflector(Kind::kNode).watching());
  EXPECT_FALSE(waits_for_news()) << "there is nothing to hear before it is tried again";
}

TEST_F(SchedulerLimitsTest, APodIsTriedForTheFirstTimeOnce) {
  Start({"n1"});
  int tries = 0, first_tries = 0;
  const auto run = [&] {
    while (Step()) {
      tries += scheduler_->attempted() ? 1 : 0;
      first_tries += scheduler_->attempted_first() ? 1 : 0;
    }
  };
  api_.Put(Wants("a", "100m").Build());
  api_.Put(Wants("large", "5000m").Build());
  run();
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(first_tries, 2);
  clock_.Advance(Duration::Seconds(60));
  api_.Put(MakeNode("n2").Capacity({{"cpu", "8"}, {"pods", "110"}}).Build());
  run();
  EXPECT_EQ(tries, 3);
  EXPECT_EQ(first_tries, 2);
}

TEST_F(SchedulerLimitsTest, WithoutALimitEveryPodIsDecided) {
  Start({"n1"});
  for (int i = 0; i < 100; ++i) api_.Put(Wants("p" + std::to_string(i), "1m").Build());
  Run();
  EXPECT_THAT(api_.binds, SizeIs(100));
  EXPECT_THAT(api_.event_calls, IsEmpty());
  AcceptAll();
  EXPECT_THAT(api_.events, SizeIs(100));
  EXPECT_THAT(api_.event_calls, IsEmpty());  // nobody asks what became of them
  EXPECT_EQ(scheduler_->event_writer(), nullptr);
}

TEST_F(SchedulerLimitsTest, AnEventGoesWithTheNextBinding) {
  options_.events.emplace().gather = Duration::Seconds(10);
  Start({"n1"});
  Put(Wants("a", "100m"));
  AcceptAll();
  EXPECT_THAT(journal_.bound, SizeIs(1));
  EXPECT_THAT(api_.event_calls, IsEmpty());
  Put(Wants("unschedulable", "1000"));
  EXPECT_THAT(api_.event_calls, IsEmpty()) << "nothing is bound";
  Put(Wants("b", "100m"));
  EXPECT_THAT(api_.event_calls, SizeIs(2));
}

TEST_F(SchedulerLimitsTest, NoPodIsDecidedWhileTheServerTakesNoEvents) {
  options_.events.emplace();
  options_.events->max_waiting = 2;
  Start({"n1"});
  for (const char* name : {"a", "b", "c"}) Put(Wants(name, "100m"));
  EXPECT_THAT(api_.binds, SizeIs(3));
  AcceptAll();
  EXPECT_EQ(scheduler_->unwritten_events(), 3u);  // what was decided before
  EXPECT_FALSE(scheduler_->idle());
  Put(Wants("d", "100m"));
  EXPECT_EQ(active(), 1u);
  EXPECT_FALSE(scheduler_->RunOnce());
  api_.AnswerEvent();
  api_.AnswerEvent();
  Run();
  EXPECT_EQ(active(), 0u);
  AcceptAll();
  EXPECT_EQ(scheduler_->unwritten_events(), 2u);
  // It takes none for half a minute: then decisions are worth more.
  Put(Wants("e", "100m"));
  EXPECT_EQ(active(), 1u);
  const Time room = scheduler_->NextWake();
  EXPECT_EQ(room, clock_.Now() + Duration::Seconds(30));
  Wait(Duration{Duration::Seconds(30).ns - 1});
  EXPECT_EQ(active(), 1u);
  Wait(Duration{1});
  EXPECT_EQ(active(), 0u);
  AcceptAll();
  EXPECT_EQ(scheduler_->event_writer()->counts().dropped, 0u);  // both are with the server; nobody waits
  AnswerEvents();
  EXPECT_TRUE(scheduler_->idle());
  EXPECT_EQ(scheduler_->event_writer()->counts().written, 5u);
}

TEST_F(SchedulerLimitsTest, WhatMakesRoomForAPodInBackoffIsHeardAtOnce) {
  options_.events.emplace().max_waiting = 2;
  Start({"n1"});
  for (const char* cpu : {"5", "100m"}) Put(Wants("wants-" + std::string(cpu), cpu));
  AcceptAll();
  EXPECT_EQ(scheduler_->unwritten_events(), 2u);
  EXPECT_FALSE(waits_for_news());
  api_.Put(MakeNode("n2").Capacity({{"cpu", "8"}, {"pods", "110"}}).Build());
  Run();
  EXPECT_EQ(scheduler_->queue().counts().backoff, 1u);
  EXPECT_TRUE(waits_for_news()) << "backoff does not keep a pod that nothing else is decided before";
  AnswerEvents();
  EXPECT_THAT(api_.binds, SizeIs(1));
}

TEST_F(SchedulerLimitsTest, RepeatedFailuresAreASeries) {
  options_.events.emplace();
  Hooks& picky = Plug("Picky");
  picky.filter = [](const Pod&, const NodeView&) { return Verdict(Code::kUnschedulable, "not good enough"); };
  picky.events = {{{EventResource::kNode, action::kAdd}, nullptr}};
  Start({"n1"});
  Put(Wants("p", "100m"));
  ASSERT_THAT(api_.events, SizeIs(1));
  const std::string version = api_.FindPod("p")->meta.resource_version;
  EXPECT_EQ(api_.events[0].resource_version, version);
  AnswerEvents();
  AcceptAll();  // the status patch: the next event is about another version
  Put(SmallNode("n2"));
  Wait(Duration::Seconds(10));
  ASSERT_THAT(api_.events, SizeIs(2));
  EXPECT_NE(api_.events[1].resource_version, version);
  AnswerEvents();
  // The message changes with the nodes; the patch is not answered, so the version stays.
  Put(SmallNode("n3"));
  Wait(Duration::Seconds(10));
  EXPECT_THAT(api_.events, SizeIs(2));
  ASSERT_THAT(api_.series, SizeIs(1));
  EXPECT_EQ(api_.series[0].series->count, 2);
  EXPECT_EQ(api_.series[0].name, api_.events[1].name);
  AnswerEvents();
  Put(SmallNode("n4"));
  Wait(Duration::Seconds(20));
  EXPECT_THAT(api_.series, SizeIs(1));
}

TEST_F(SchedulerLimitsTest, EventsHaveTheDateThatPeopleRead) {
  ManualClock dates;
  dates.Advance(Duration::Seconds(1'000'000));
  options_.dates = &dates;
  Start({"n1"});
  Put(Wants("p", "2"));
  ASSERT_THAT(api_.events, SizeIs(1));
  EXPECT_EQ(api_.events[0].time, dates.Now());
  EXPECT_NE(dates.Now(), clock_.Now());
}

TEST_F(SchedulerLimitsTest, OnceHaltedNothingMoreIsWrittenToPodsButAnswersAreTold) {
  options_.events.emplace();
  Start({"n1"});
  for (const char* name : {"a", "b"}) Put(Wants(name, "100m"));
  ASSERT_THAT(api_.binds, SizeIs(2));
  scheduler_->Halt();
  Put(Wants("late", "100m"));
  Put(Wants("large", "2"));
  EXPECT_EQ(active(), 2u);
  AcceptBind();                                      // it was sent: its event is written
  AnswerBind({0, "withdrawn", ErrorKind::kUnsent});  // it was not
  EXPECT_EQ(scheduler_->bindings_under_way(), 0u);
  EXPECT_THAT(Events(), ElementsAre("a: Normal Scheduled Binding: Successfully assigned default/a to n1"));
  EXPECT_EQ(scheduler_->unwritten_events(), 1u);
  AnswerEvents();
  EXPECT_EQ(scheduler_->unwritten_events(), 0u);
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(api_.patches, IsEmpty());
  Wait(Duration::Seconds(600));
  EXPECT_THAT(api_.binds, IsEmpty());
  EXPECT_THAT(api_.patches, IsEmpty());
}

TEST_F(SchedulerLimitsTest, OnceHaltedNoVictimIsDeleted) {
  Start({"n1"});
  Put(Wants("low", "1").Priority(1));
  AcceptAll();
  Put(Wants("high", "1").Priority(10));
  ASSERT_THAT(Patches(), ElementsAre(HasSubstr("low: DisruptionTarget"), HasSubstr("high: PodScheduled")));
  scheduler_->Halt();
  while (!api_.patches.empty()) api_.AcceptPatch();
  Run();
  EXPECT_THAT(api_.deletes, IsEmpty());
  EXPECT_THAT(std::exchange(journal_.complaints, {}), ElementsAre(HasSubstr("the scheduler has stopped")));
}

TEST_F(SchedulerLimitsTest, ALiveSchedulerHasLimits) {
  const SchedulerOptions live = SchedulerOptions::Live();
  EXPECT_EQ(live.max_bindings, 64u);
  ASSERT_TRUE(live.events.has_value());
  EXPECT_EQ(live.events->max_waiting, 1000u);
  EXPECT_EQ(live.events->gather, Duration::Millis(100));
  EXPECT_EQ(SchedulerOptions().max_bindings, 0u);
  EXPECT_FALSE(SchedulerOptions().events.has_value());
}

}  // namespace
}  // namespace berth::cycle
