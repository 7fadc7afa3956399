// SPDX-License-Identifier: Apache-2.0
// What a plugin that throws costs, function by function, and what observers see.
#include "framework/plugin_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "framework/call_timer.h"
#include "framework/cycle_run.h"
#include "testing/throwing_plugin.h"

namespace berth::framework {
namespace {

using berth::testing::ThrowingPlugin;
using ::testing::ElementsAre;

constexpr char kBoom[] = "plugin threw: boom";

// One plugin at every point, and everything that its functions need.
class PluginCallTest : public ::testing::Test {
 protected:
  void Use(const std::string& function) {
    profile_ = Profile();
    profile_.plugins.push_back({"Thrower", std::make_unique<ThrowingPlugin>(function)});
    const auto& plugin = dynamic_cast<const ThrowingPlugin&>(*profile_.plugins[0].plugin);
    const auto add = [&](auto& entries) { entries.push_back({&plugin, 0}); };
    add(profile_.pre_enqueue);
    add(profile_.queue_sort);
    add(profile_.pre_filter);
    add(profile_.filter);
    add(profile_.post_filter);
    add(profile_.pre_score);
    profile_.score.push_back({&plugin, 0, 1});
    add(profile_.reserve);
    add(profile_.permit);
    add(profile_.pre_bind);
    add(profile_.bind);
    add(profile_.post_bind);
  }

  // How each function answers, in words; "" when all is well.
  std::vector<std::pair<std::string, std::function<std::string()>>> Calls() {
    const auto text = [](const Error& error) { return error.ok() ? "" : error.text(); };
    const Profile& p = profile_;
    return {
        {"PreEnqueue", [&] { return CallPreEnqueue(p, p.pre_enqueue[0], pod_).message(); }},
        {"Less",
         [&] {
           EXPECT_FALSE(CallLess(p, p.queue_sort[0], {&pod_, {}}, {&pod_, {}}));
           return "";
         }},
        {"PreFilter", [&] { return CallPreFilter(p, p.pre_filter[0], run_).verdict.message(); }},
        {"AddPod", [=, this, &p] { return text(CallAddPod(p, p.pre_filter[0], run_, nullptr, record_, 0)); }},
        {"RemovePod", [=, this, &p] { return text(CallRemovePod(p, p.pre_filter[0], run_, nullptr, record_, 0)); }},
        {"Filter",
         [=, this, &p] {
           VerdictId slot = kFitsId;
           Rejections out(std::span<VerdictId>(&slot, 1), table_);
           return text(CallFilter(p, p.filter[0], run_, nullptr, batch_, out));
         }},
        {"PostFilter", [&] { return CallPostFilter(p, p.post_filter[0], run_, nullptr, report_).verdict.message(); }},
        {"PreScore", [&] { return CallPreScore(p, p.pre_score[0], run_, {}).verdict.message(); }},
        {"Score",
         [=, this, &p] {
           int64_t score = 0;
           return text(CallScore(p, p.score[0], run_, nullptr, batch_, std::span<int64_t>(&score, 1)));
         }},
        {"Normalize", [=, this, &p] { return text(CallNormalize(p, p.score[0], run_, nullptr, {}, {})); }},
        {"Reserve", [&] { return CallReserve(p, p.reserve[0], placement_, state_).message(); }},
        {"Unreserve", [=, this, &p] { return text(CallUnreserve(p, p.reserve[0], placement_, state_)); }},
        {"Permit", [&] { return CallPermit(p, p.permit[0], placement_, state_).verdict.message(); }},
        {"PreBindPreFlight",
         [&] { return CallPreBindPreFlight(p, p.pre_bind[0], placement_, state_).verdict.message(); }},
        {"PreBind", [=, this, &p] { return text(CallPreBind(p, p.pre_bind[0], placement_, state_, done_)); }},
        {"Bind", [=, this, &p] { return text(CallBind(p, p.bind[0], placement_, state_, done_)); }},
        {"PostBind", [=, this, &p] { return text(CallPostBind(p, p.post_bind[0], placement_, state_)); }},
        {"Sign",
         [&] {
           Signature out;
           return CallSign(p, 0, pod_, out) ? "" : kBoom;
         }},
        {"hint",
         [&] {
           const auto events = profile_.plugins[0].plugin->EventsToRegister();
           EXPECT_EQ(CallHint(p, 0, events->front().hint, pod_, {}), QueueingHint::kQueue);
           return "";
         }},
        {"MakeIndex",
         [&] {
           EXPECT_EQ(CallMakeIndex(p, 0), nullptr);
           return "";
         }},
    };
  }

  class Report final : public FilterReport {
   public:
    const Verdict& verdict(Row) const override { return verdict_; }
    std::vector<Row> Resolvable() const override { return {}; }

   private:
    Verdict verdict_;
  };

  static constexpr uint8_t kOne = 1;
  Profile profile_;
  const Pod pod_ = MakePod("p");
  TestCluster cluster_;
  const Snapshot snapshot_ = cluster_.Add(MakeNode("n")).snapshot();
  VerdictTable table_;
  const CycleRun run_{profile_, table_, pod_, snapshot_, {}};
  const NodeBatch batch_{snapshot_, 0, std::span<const uint8_t>(&kOne, 1)};
  const PodRecord record_{};
  const Report report_;
  const Placement placement_{std::make_shared<const Pod>(pod_), "n"};
  StateSlot state_;
  const Done done_ = [](const Verdict&) {};
};

TEST_F(PluginCallTest, WhoThrowsFromAnyFunctionCostsThatCallAnErrorAndNoOther) {
  Use("");
  for (const auto& [thrower, ignored] : Calls()) {
    SCOPED_TRACE(thrower);
    Use(thrower);
    for (const auto& [called, call] : Calls()) {
      SCOPED_TRACE(called);
      // These have nothing to say it with, and answer what is safe.
      const bool silent = called == "Less" || called == "hint" || called == "MakeIndex";
      EXPECT_EQ(call(), called == thrower && !silent ? kBoom : "");
    }
  }
}

// Writes down what it sees.
class Looker final : public CallObserver {
 public:
  Looker(std::string name, std::vector<std::string>& seen) : name_(std::move(name)), seen_(seen) {}
  CallEnd Around(const PluginCall& call, const CallView& view, const Next& next) override {
    const std::string what = name_ + " " + call.name() + " " + std::string(ToString(call.function));
    seen_.push_back(what + (view.cycle ? " cycle" : "") + (view.nodes ? " nodes" : ""));
    const CallEnd end = next(view);
    seen_.push_back(what + ": " + std::string(ToString(end.code)));
    return end;
  }
  Done Awaiting(const PluginCall& call, Done done) override {
    seen_.push_back(name_ + " awaits " + std::string(ToString(call.function)));
    return [this, done = std::move(done)](Verdict verdict) {
      seen_.push_back(name_ + " heard " + std::string(ToString(verdict.code())));
      done(std::move(verdict));
    };
  }

 private:
  const std::string name_;
  std::vector<std::string>& seen_;
};

TEST_F(PluginCallTest, ObserversSeeEveryCallOutermostFirstAndHowItEnded) {
  Use("Filter");
  std::vector<std::string> seen;
  Looker a("a", seen), b("b", seen);
  profile_.observers->Add(a);
  profile_.observers->Add(b);
  VerdictId slot = kFitsId;
  Rejections out(std::span<VerdictId>(&slot, 1), table_);
  EXPECT_EQ(CallFilter(profile_, profile_.filter[0], run_, nullptr, batch_, out).text(), kBoom);
  EXPECT_THAT(seen, ElementsAre("a Thrower Filter cycle nodes", "b Thrower Filter cycle nodes",
                                "b Thrower Filter: Error", "a Thrower Filter: Error"));
  seen.clear();
  EXPECT_TRUE(CallPreFilter(profile_, profile_.pre_filter[0], run_).verdict.fits());
  EXPECT_THAT(seen, ElementsAre("a Thrower PreFilter cycle", "b Thrower PreFilter cycle",
                                "b Thrower PreFilter: Success", "a Thrower PreFilter: Success"));
  // With observers the answers are what they are without.
  for (const auto& [called, call] : Calls()) {
    seen.clear();
    EXPECT_EQ(call(), called == "Filter" ? kBoom : "") << called;
    EXPECT_FALSE(seen.empty()) << called;
  }
}

TEST_F(PluginCallTest, OfACallThatAnswersLaterObserversHearTheAnswer) {
  Use("");
  std::vector<std::string> seen;
  Looker a("a", seen), b("b", seen);
  profile_.observers->Add(a);
  profile_.observers->Add(b);
  EXPECT_TRUE(
      CallBind(profile_, profile_.bind[0], placement_, state_, [&](const Verdict&) { seen.push_back("done"); }).ok());
  EXPECT_THAT(seen, ElementsAre("a awaits Bind", "b awaits Bind", "b heard Success", "a heard Success", "done"));
}

// Times when the test says so.
class TestTimer final : public CallTimer {
 public:
  explicit TestTimer(std::vector<std::string>& seen) : seen_(seen) {}
  bool Draw() override { return draws; }
  StageEnd StageBegins(PluginFunction point) override {
    return [this, point](Code code) {
      seen_.push_back("stage " + std::string(ToString(point)) + ": " + std::string(ToString(code)));
    };
  }
  CallEnd Around(const PluginCall& call, const CallView& view, const Next& next) override {
    seen_.push_back("timer " + std::string(ToString(call.function)));
    return next(view);
  }
  Done Awaiting(const PluginCall& call, Done done) override {
    seen_.push_back("timer " + std::string(ToString(call.function)));
    return done;
  }
  bool draws = false;

 private:
  std::vector<std::string>& seen_;
};

TEST_F(PluginCallTest, ATimerSeesTheCyclesThatItDrawsAndIsTheInnermost) {
  Use("");
  std::vector<std::string> seen;
  TestTimer timer(seen);
  profile_.observers->AddTimer(timer);
  Looker a("a", seen);
  profile_.observers->Add(a);
  const auto cycle = [&] {
    seen.clear();
    const TimedCycle timed(profile_);
    Stage stage(profile_, PluginFunction::kPreFilter);
    (void)CallPreFilter(profile_, profile_.pre_filter[0], run_);
    stage.End(Code::kSuccess);
    stage.End(Code::kError);  // it has ended
    return profile_.observers->timed();
  };
  EXPECT_FALSE(cycle());
  EXPECT_THAT(seen, ElementsAre("a Thrower PreFilter cycle", "a Thrower PreFilter: Success"));
  timer.draws = true;
  EXPECT_TRUE(cycle());
  EXPECT_THAT(seen, ElementsAre("a Thrower PreFilter cycle", "timer PreFilter", "a Thrower PreFilter: Success",
                                "stage PreFilter: Success"));
  EXPECT_FALSE(profile_.observers->timed()) << "the cycle is over";
  // What comes later says which cycle it belongs to.
  seen.clear();
  (void)CallReserve(profile_, profile_.reserve[0], placement_, state_, /*timed=*/true);
  (void)CallBind(profile_, profile_.bind[0], placement_, state_, done_, /*timed=*/true);
  (void)CallPermit(profile_, profile_.permit[0], placement_, state_, /*timed=*/false);
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"timer Reserve", "timer Bind", "a Thrower Permit"}));
  EXPECT_THAT(seen, ::testing::Not(::testing::Contains("timer Permit")));
}

TEST_F(PluginCallTest, ACycleWithinACycleLeavesItAsItWas) {
  Use("");
  std::vector<std::string> seen;
  TestTimer timer(seen);
  profile_.observers->AddTimer(timer);
  timer.draws = true;
  const TimedCycle outer(profile_);
  timer.draws = false;
  {
    const TimedCycle inner(profile_);
    EXPECT_FALSE(profile_.observers->timed());
  }
  EXPECT_TRUE(profile_.observers->timed());
}

TEST_F(PluginCallTest, QuestionsAreCountedUnlessTheAnswerIsSkip) {
  Use("");
  (void)CallPreFilter(profile_, profile_.pre_filter[0], run_);  // nobody counts yet
  CallCounts counts(profile_.plugins.size());
  profile_.observers->Count(counts);
  (void)CallPreFilter(profile_, profile_.pre_filter[0], run_);
  (void)CallPreScore(profile_, profile_.pre_score[0], run_, {});
  (void)CallPostFilter(profile_, profile_.post_filter[0], run_, nullptr, report_);
  CountCalls(profile_, 0, PluginFunction::kFilter, 7);
  EXPECT_EQ(counts.Get(0, PluginFunction::kPreFilter), 1u);
  EXPECT_EQ(counts.Get(0, PluginFunction::kPreScore), 1u);
  EXPECT_EQ(counts.Get(0, PluginFunction::kPostFilter), 1u);
  EXPECT_EQ(counts.Get(0, PluginFunction::kFilter), 7u);
  EXPECT_EQ(counts.Get(0, PluginFunction::kScore), 0u);
}

// Shows the plugin another snapshot.
class Swapper final : public CallObserver {
 public:
  explicit Swapper(const Snapshot& other) : other_(other) {}
  CallEnd Around(const PluginCall&, const CallView& view, const Next& next) override {
    if (view.nodes == nullptr) return next(view);
    const NodeBatch nodes(other_, view.nodes->begin(), view.nodes->active());
    return next({view.cycle, &nodes});
  }

 private:
  const Snapshot& other_;
};

struct NamesNode final : FilterPlugin {
  mutable std::string seen;
  Error Filter(const Cycle&, const PluginState*, const NodeBatch& nodes, Rejections&) const override {
    seen = nodes.view(0).name();
    return Error::Ok();
  }
};

TEST_F(PluginCallTest, AnObserverMayShowThePluginAnotherView) {
  const NamesNode plugin;
  profile_.plugins.push_back({"NamesNode", nullptr});
  profile_.filter.push_back({&plugin, 0});
  TestCluster other;
  other.Add(MakeNode("other"));
  const Snapshot snapshot = other.snapshot();
  Swapper swapper(snapshot);
  VerdictId slot = kFitsId;
  Rejections out(std::span<VerdictId>(&slot, 1), table_);
  EXPECT_TRUE(CallFilter(profile_, profile_.filter[0], run_, nullptr, batch_, out).ok());
  EXPECT_EQ(plugin.seen, "n");
  profile_.observers->Add(swapper);
  EXPECT_TRUE(CallFilter(profile_, profile_.filter[0], run_, nullptr, batch_, out).ok());
  EXPECT_EQ(plugin.seen, "other");
}

struct Unclonable final : PluginState {
  std::unique_ptr<PluginState> Clone() const override { throw std::runtime_error("boom"); }
};

TEST_F(PluginCallTest, AStateThatCannotBeCopiedNamesItsPlugin) {
  Use("");
  EXPECT_EQ(*CallClone(profile_, 0, nullptr), nullptr);
  const Result<StateSlot> copy = CallClone(profile_, 0, std::make_unique<Unclonable>());
  ASSERT_FALSE(copy.ok());
  EXPECT_EQ(copy.error().text(), "copying the state of plugin \"Thrower\": plugin threw: boom");
}

}  // namespace
}  // namespace berth::framework
