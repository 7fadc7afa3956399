// SPDX-License-Identifier: Apache-2.0
// Reserve to PostBind: order, what stops what, and plugins that misbehave.
#include "framework/binding_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "berth/testing.h"
#include "testing/fake_stages.h"

namespace berth::framework {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BindingStagesTest : public ::testing::Test {
 protected:
  BindingStages& Stages() {
    stages_ = std::make_shared<BindingStages>(
        maker_.profile(), Placement{std::make_shared<const Pod>(MakePod("p").Build()), "n"}, std::vector<StateSlot>{});
    return *stages_;
  }
  std::optional<Ruling> PreBind() {
    BindingStages& stages = Stages();
    const PreBindPlan plan = stages.PreFlight();
    EXPECT_TRUE(plan.ruling.verdict.fits());
    stages.PreBind(plan, Keep());
    return result_;
  }
  std::optional<Ruling> Bind() {
    Stages().Bind(Keep());
    return result_;
  }
  // Stores the result; a second one is a failure of the test.
  BindingStages::DoneWith Keep() {
    result_.reset();
    return [this](Ruling ruling) {
      EXPECT_FALSE(result_) << "called back twice";
      result_ = std::move(ruling);
    };
  }
  // A PreBind plugin whose Done is kept under its name, to be called when the test likes.
  PreBindFake& Slow(const std::string& name, bool parallel) {
    PreBindFake& plugin = maker_.PreBind(name, [this, name](Done done) {
      calls_.push_back("start " + name);
      waiting_[name] = std::move(done);
    });
    plugin.flight = [parallel] { return PreFlight{{}, parallel}; };
    return plugin;
  }

  ProfileMaker maker_;
  std::vector<std::string> calls_;
  std::optional<Ruling> result_;
  std::shared_ptr<BindingStages> stages_;
  std::map<std::string, Done> waiting_;  // goes first: a Done that is dropped reports to the rest
};

TEST_F(BindingStagesTest, ReserveStopsAtTheFirstFailureAndUnreserveGoesBackThroughAll) {
  for (const char* name : {"a", "b", "c"}) {
    maker_
        .Reserve(name,
                 [this, name](StateSlot&) {
                   calls_.push_back(std::string("+") + name);
                   return *name == 'b' ? Verdict(Code::kUnschedulable, "taken") : Verdict();
                 })
        .undo = [this, name](StateSlot&) { calls_.push_back(std::string("-") + name); };
  }
  const Ruling ruling = Stages().Reserve();
  EXPECT_EQ(ruling.verdict, Verdict(Code::kUnschedulable, "taken"));
  EXPECT_EQ(ruling.plugin, 1);
  stages_->Unreserve();
  EXPECT_THAT(calls_, ElementsAre("+a", "+b", "-c", "-b", "-a"));
}

TEST_F(BindingStagesTest, AFailureOfReserveNamesThePlugin) {
  maker_.Reserve("a", [](StateSlot&) -> Verdict { throw std::runtime_error("boom"); });
  EXPECT_EQ(Stages().Reserve().verdict, Verdict::Fail("running Reserve plugin \"a\": plugin threw: boom"));
}

TEST_F(BindingStagesTest, OneUnreserveThatThrowsDoesNotKeepTheOthersFromTheirTurn) {
  maker_.Reserve("a", [](StateSlot&) { return Verdict(); }).undo = [this](StateSlot&) { calls_.push_back("-a"); };
  maker_.Reserve("b", [](StateSlot&) { return Verdict(); }).undo = [](StateSlot&) { throw 1; };
  Stages().Unreserve();
  EXPECT_THAT(calls_, ElementsAre("-a"));
}

TEST_F(BindingStagesTest, APluginKeepsItsOwnStateThroughTheStages) {
  struct Mine : StateOf<Mine> {
    int number = 0;
  };
  int seen = 0;
  maker_
      .Reserve("a",
               [](StateSlot& state) {
                 auto mine = std::make_unique<Mine>();
                 mine->number = 7;
                 state = std::move(mine);
                 return Verdict();
               })
      .undo = [&](StateSlot& state) { seen = static_cast<Mine&>(*state).number; };
  maker_
      .Reserve("b",
               [](StateSlot& state) {
                 EXPECT_EQ(state, nullptr);
                 return Verdict();
               })
      .undo = [](StateSlot&) {};
  EXPECT_TRUE(Stages().Reserve().verdict.fits());
  stages_->Unreserve();
  EXPECT_EQ(seen, 7);
}

TEST_F(BindingStagesTest, PermitApprovesWhenNobodyObjects) {
  maker_.Permit("a", [] { return PermitOutcome::Approve(); });
  const PermitRuling ruling = Stages().Permit({});
  EXPECT_TRUE(ruling.ruling.verdict.fits());
  EXPECT_THAT(ruling.deadlines, IsEmpty());
}

TEST_F(BindingStagesTest, PermitWaitsUpToFifteenMinutesForThoseWhoAsked) {
  maker_.Permit("a", [] { return PermitOutcome::Wait(Duration::Seconds(10)); });
  maker_.Permit("b", [] { return PermitOutcome::Wait(Duration::Seconds(3600)); });
  maker_.Permit("c", [] { return PermitOutcome::Approve(); });
  const PermitRuling ruling = Stages().Permit(Time{5});
  EXPECT_EQ(ruling.ruling.verdict,
            Verdict(Code::kWait, "one or more plugins asked to wait and no plugin rejected pod \"p\""));
  EXPECT_THAT(ruling.deadlines, ElementsAre(std::pair("a", Time{5} + Duration::Seconds(10)),
                                            std::pair("b", Time{5} + Duration::Seconds(900))));
}

TEST_F(BindingStagesTest, OneDenialEndsPermitEvenAfterAWait) {
  bool reached = false;
  maker_.Permit("a", [] { return PermitOutcome::Wait(Duration::Seconds(10)); });
  maker_.Permit("b", [] { return PermitOutcome::Deny(Verdict(Code::kUnschedulable, "not today")); });
  maker_.Permit("c", [&] { return reached = true, PermitOutcome::Approve(); });
  const Ruling ruling = Stages().Permit({}).ruling;
  EXPECT_EQ(ruling.verdict, Verdict(Code::kUnschedulable, "not today"));
  EXPECT_EQ(ruling.plugin, 1);
  EXPECT_FALSE(reached);
}

TEST_F(BindingStagesTest, AFailureOfPermitNamesThePlugin) {
  maker_.Permit("a", []() -> PermitOutcome { throw std::runtime_error("boom"); });
  EXPECT_EQ(Stages().Permit({}).ruling.verdict, Verdict::Fail("running Permit plugin \"a\": plugin threw: boom"));
}

TEST_F(BindingStagesTest, PreFlightKnowsWhetherThereIsWork) {
  EXPECT_FALSE(Stages().PreFlight().work);
  PreBindFake& plugin = maker_.PreBind("a", [](Done done) { done({}); });
  plugin.flight = [] { return PreFlight{Verdict::Skip(), false}; };
  EXPECT_FALSE(Stages().PreFlight().work);
  plugin.flight = [] { return PreFlight{}; };
  EXPECT_TRUE(Stages().PreFlight().work);
}

TEST_F(BindingStagesTest, PreFlightMaySayOnlySuccessSkipOrError) {
  PreBindFake& plugin = maker_.PreBind("a", [](Done) {});
  plugin.flight = [] { return PreFlight{Verdict::Fail("no claim"), false}; };
  EXPECT_EQ(Stages().PreFlight().ruling.verdict, Verdict::Fail("running PreBindPreFlight \"a\": no claim"));
  plugin.flight = [] { return PreFlight{Verdict(Code::kUnschedulable, "x"), false}; };
  EXPECT_EQ(Stages().PreFlight().ruling.verdict,
            Verdict::Fail("PreBindPreFlight a returned \"Unschedulable\", which is unsupported. It is supposed to "
                          "return Success, Skip, or Error status"));
  plugin.flight = []() -> PreFlight { throw std::runtime_error("boom"); };
  EXPECT_EQ(Stages().PreFlight().ruling.verdict.code(), Code::kError);
}

TEST_F(BindingStagesTest, NeighboursThatAllowItRunTogetherAndOthersAlone) {
  Slow("a", true);
  Slow("b", true);
  Slow("c", false);
  Slow("d", true);
  EXPECT_FALSE(PreBind());
  EXPECT_THAT(calls_, ElementsAre("start a", "start b"));
  waiting_["b"]({});
  EXPECT_EQ(calls_.size(), 2u) << "c waits for both";
  waiting_["a"]({});
  EXPECT_EQ(calls_.back(), "start c");
  waiting_["c"]({});
  EXPECT_EQ(calls_.back(), "start d");
  EXPECT_FALSE(result_);
  waiting_["d"]({});
  ASSERT_TRUE(result_);
  EXPECT_TRUE(result_->verdict.fits());
}

TEST_F(BindingStagesTest, ASkippedPluginIsNotCalledButStillSeparatesGroups) {
  Slow("a", true);
  Slow("b", false).flight = [] { return PreFlight{Verdict::Skip(), false}; };
  Slow("c", true);
  EXPECT_FALSE(PreBind());
  EXPECT_THAT(calls_, ElementsAre("start a"));
  waiting_["a"]({});
  EXPECT_THAT(calls_, ElementsAre("start a", "start c"));
}

TEST_F(BindingStagesTest, TheFirstFailureOfAGroupIsReportedOnceAllOfItHaveEnded) {
  Slow("a", true);
  Slow("b", true);
  Slow("c", false);
  EXPECT_FALSE(PreBind());
  waiting_["b"](Verdict(Code::kUnschedulable, "volume is gone"));
  EXPECT_FALSE(result_) << "a still uses the pod's state";
  waiting_["a"](Verdict::Fail("later"));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->verdict, Verdict(Code::kUnschedulable, "volume is gone"));
  EXPECT_EQ(result_->plugin, 1);
  EXPECT_FALSE(waiting_.contains("c"));
}

TEST_F(BindingStagesTest, WhoHasNotAnsweredYetIsToldThatThePodIsGivenUp) {
  for (const char* name : {"a", "b"}) {
    Slow(name, true).cancel = [this, name](const std::string& cause) {
      calls_.push_back(std::string("stop ") + name);
      waiting_[name](Verdict::Fail(cause));
    };
  }
  int stops = 0;
  BindingStages& stages = Stages();
  stages.PreBind(stages.PreFlight(), Keep(), [&] { ++stops; });
  waiting_["a"]({});
  stages.CancelPreBind("preempted by Somebody");
  EXPECT_THAT(calls_, ElementsAre("start a", "start b", "stop b"));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->verdict, Verdict::Fail("running PreBind plugin \"b\": preempted by Somebody"));
  EXPECT_EQ(stops, 0) << "nobody was left to stop";
  stages.CancelPreBind("again");
  EXPECT_EQ(calls_.size(), 3u);
}

TEST_F(BindingStagesTest, AFailureBesideOthersAsksToStopThem) {
  Slow("a", true);
  Slow("b", true);
  int stops = 0;
  BindingStages& stages = Stages();
  stages.PreBind(stages.PreFlight(), Keep(), [&] { ++stops; });
  waiting_["b"](Verdict::Fail("no"));
  EXPECT_EQ(stops, 1);
  waiting_["a"](Verdict::Fail("some other PreBind operation failed"));
  ASSERT_TRUE(result_);
  EXPECT_EQ(result_->plugin, 1);
}

TEST_F(BindingStagesTest, PreBindThatThrowsOrAnswersTwiceIsCountedOnce) {
  maker_.PreBind("a", [](Done done) {
    done({});
    done(Verdict::Fail("again"));
    throw std::runtime_error("after the fact");
  });
  EXPECT_TRUE(PreBind()->verdict.fits());
  maker_.PreBind("b", [](Done) { throw std::runtime_error("boom"); });
  EXPECT_EQ(PreBind()->verdict, Verdict::Fail("running PreBind plugin \"b\": plugin threw: boom"));
}

TEST_F(BindingStagesTest, ASecondAnswerDoesNotCountForANeighbour) {
  Slow("a", true);
  Slow("b", true);
  EXPECT_FALSE(PreBind());
  waiting_["a"]({});
  waiting_["a"]({});
  EXPECT_FALSE(result_) << "b has not answered";
  waiting_["b"]({});
  EXPECT_TRUE(result_);
}

TEST_F(BindingStagesTest, ABinderThatAnswersTwiceIsHeardOnce) {
  maker_.Bind("a", [](Done done) {
    done({});
    done(Verdict::Skip());
    throw std::runtime_error("after the fact");
  });
  EXPECT_TRUE(Bind()->verdict.fits());
}

TEST_F(BindingStagesTest, ABinderThatDropsItsAnswerHasFailed) {
  maker_.Bind("a", [](const Done&) {});
  EXPECT_EQ(Bind()->verdict, Verdict::Fail("running Bind plugin \"a\": the plugin gave no answer"));
}

TEST_F(BindingStagesTest, WithoutPreBindPluginsItIsDoneAtOnce) { EXPECT_TRUE(PreBind()->verdict.fits()); }

TEST_F(BindingStagesTest, PreBindMayFinishOnOtherThreads) {
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b", "c"}) {
    maker_.PreBind(name, [&threads](Done done) { threads.emplace_back([done] { done({}); }); }).flight = [] {
      return PreFlight{{}, true};
    };
  }
  std::promise<Ruling> promise;
  BindingStages& stages = Stages();
  stages.PreBind(stages.PreFlight(), [&](Ruling ruling) { promise.set_value(std::move(ruling)); });
  EXPECT_TRUE(promise.get_future().get().verdict.fits());
  for (std::thread& thread : threads) thread.join();
}

TEST_F(BindingStagesTest, TheFirstBinderThatDoesNotSkipBinds) {
  for (const char* name : {"a", "b", "c"}) {
    maker_.Bind(name, [this, name](Done done) {
      calls_.push_back(name);
      done(*name == 'a' ? Verdict::Skip() : Verdict());
    });
  }
  const std::optional<Ruling> ruling = Bind();
  EXPECT_TRUE(ruling->verdict.fits());
  EXPECT_EQ(ruling->plugin, 1);
  EXPECT_THAT(calls_, ElementsAre("a", "b"));
}

TEST_F(BindingStagesTest, ABinderThatSkipsLaterLeavesThePodToTheNext) {
  Done late;
  maker_.Bind("a", [&](Done done) { late = std::move(done); });
  maker_.Bind("b", [](Done done) { done({}); });
  EXPECT_FALSE(Bind());
  late(Verdict::Skip());
  ASSERT_TRUE(result_);
  EXPECT_TRUE(result_->verdict.fits());
  EXPECT_EQ(result_->plugin, 1);
}

TEST_F(BindingStagesTest, BindersAreCalledUnderTheLockThatTheirHostGaveAndAnsweredWithoutIt) {
  std::mutex calling;
  const auto note = [&](const char* who) {
    const bool open = calling.try_lock();
    if (open) calling.unlock();
    calls_.push_back(std::string(who) + (open ? " free" : " held"));
  };
  for (const char* name : {"a", "b"})
    maker_.Bind(name, [&, name](Done done) {
      std::thread([&] { note(name); }).join();
      done(*name == 'a' ? Verdict::Skip() : Verdict());
    });
  std::make_shared<BindingStages>(maker_.profile(), Placement{std::make_shared<const Pod>(MakePod("p").Build()), "n"},
                                  std::vector<StateSlot>{}, &calling)
      ->Bind([&](const Ruling&) { note("done"); });
  EXPECT_THAT(calls_, ElementsAre("a held", "b held", "done free"));
}

TEST_F(BindingStagesTest, WhenAllBindersSkipThePodIsNotBound) {
  for (const char* name : {"a", "b"}) maker_.Bind(name, [](Done done) { done(Verdict::Skip()); });
  EXPECT_EQ(Bind()->verdict.code(), Code::kSkip);
}

TEST_F(BindingStagesTest, AFailedBindNamesThePluginAndARejectionStaysOne) {
  maker_.Bind("a", [](Done done) { done(Verdict::Fail("conflict")); });
  EXPECT_EQ(Bind()->verdict, Verdict::Fail("running Bind plugin \"a\": conflict"));
  maker_.parts.bind.clear();
  maker_.Bind("a", [](Done done) { done(Verdict(Code::kUnschedulable, "gone")); });
  EXPECT_EQ(Bind()->verdict, Verdict(Code::kUnschedulable, "gone"));
  maker_.parts.bind.clear();
  maker_.Bind("a", [](Done) { throw std::runtime_error("boom"); });
  EXPECT_EQ(Bind()->verdict, Verdict::Fail("running Bind plugin \"a\": plugin threw: boom"));
}

TEST_F(BindingStagesTest, TheStagesLiveUntilTheLastAnswerEvenIfTheirOwnerIsGone) {
  Done late;
  maker_.Bind("a", [&](Done done) { late = std::move(done); });
  Stages().Bind(Keep());
  stages_.reset();
  late({});
  EXPECT_TRUE(result_->verdict.fits());
}

TEST_F(BindingStagesTest, PostBindTellsEverybodyEvenIfOneThrows) {
  maker_.PostBind("a", [] { throw 1; });
  maker_.PostBind("b", [this] { calls_.push_back("b"); });
  Stages().PostBind();
  EXPECT_THAT(calls_, ElementsAre("b"));
}

}  // namespace
}  // namespace berth::framework
