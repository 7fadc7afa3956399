// SPDX-License-Identifier: Apache-2.0
// How long plugins take and how often they are asked, as a scrape shows it.
#include "live/plugin_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_state.h"
#include "config/load.h"
#include "framework/binding_stages.h"
#include "framework/call_timer.h"
#include "framework/engine.h"
#include "framework/plugin_call.h"
#include "plugins/builtin.h"

namespace berth::live {
namespace {

using framework::PluginFunction;
using ::testing::HasSubstr;
using ::testing::Not;

// Says when it was looked at, and that a millisecond has passed each time.
class CountingClock final : public Clock {
 public:
  Time Now() const override { return Time{++looks * 1'000'000}; }
  mutable std::atomic<int64_t> looks = 0;
};

class PluginMetricsTest : public ::testing::Test {
 protected:
  PluginMetricsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n", registry_);
    auto engine = framework::Engine::Make(loaded.config, registry_, still_);
    EXPECT_TRUE(engine.ok());
    engine_ = std::move(engine).value();
    for (PluginIndex* index : engine_->Indexes()) state_.AddIndex(index);
    measures_ = std::make_unique<PluginMetrics>(profile(), metrics_, clock_, 1);
    for (const char* name : {"n1", "n2", "n3"})
      state_.PutNode(std::make_shared<const Node>(MakeNode(name).Capacity({{"cpu", "4"}, {"pods", "110"}}).Build()));
  }
  const framework::Profile& profile() const { return engine_->first_profile(); }
  void Decide(const std::string& name, const std::string& cpu, bool timed) {
    const Pod pod = MakePod(name).Request({{"cpu", cpu}});
    profile().observers->SetTimed(timed);
    (void)engine_->Decide(profile(), pod, state_.snapshot());
    profile().observers->SetTimed(false);
  }
  // The value of this series; -1 without it.
  double Value(const std::string& series) const {
    const std::string text = metrics_.Text();
    const size_t at = text.find(series + " ");
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size()));
  }
  double Evaluated(const std::string& plugin, const std::string& point) const {
    return Value("scheduler_plugin_evaluation_total{extension_point=\"" + point + "\",plugin=\"" + plugin +
                 "\",profile=\"default-scheduler\"}");
  }
  double Stages(const std::string& point, const std::string& status = "Success") const {
    return Value("scheduler_framework_extension_point_duration_seconds_count{extension_point=\"" + point +
                 "\",profile=\"default-scheduler\",status=\"" + status + "\"}");
  }
  double Ran(const std::string& plugin, const std::string& point, const std::string& status = "Success") const {
    return Value("scheduler_plugin_execution_duration_seconds_count{extension_point=\"" + point + "\",plugin=\"" +
                 plugin + "\",status=\"" + status + "\"}");
  }

  ManualClock still_;
  CountingClock clock_;
  Registry registry_;
  cluster::ClusterState state_;
  std::unique_ptr<framework::Engine> engine_;
  util::Metrics metrics_;
  std::unique_ptr<PluginMetrics> measures_;
};

TEST_F(PluginMetricsTest, OneCycleInTenIsTimed) {
  int timed = 0;
  for (int i = 0; i < 10000; ++i) {
    const framework::TimedCycle cycle(profile());
    timed += profile().observers->timed() ? 1 : 0;
  }
  EXPECT_FALSE(profile().observers->timed());
  EXPECT_GT(timed, 900);
  EXPECT_LT(timed, 1100);
}

TEST_F(PluginMetricsTest, NobodyLooksAtTheClockInACycleThatIsNotTimed) {
  Decide("p", "1", false);
  Decide("q", "100", false);
  EXPECT_EQ(clock_.looks.load(), 0);
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr("duration_seconds")));
  EXPECT_EQ(Evaluated("NodeResourcesFit", "Filter"), 6) << "but questions are counted";
}

TEST_F(PluginMetricsTest, ATimedCycleTellsOfItsPluginsAndOfEachPointAsAWhole) {
  Decide("p", "1", true);
  EXPECT_EQ(Ran("NodeResourcesFit", "PreFilter"), 1);
  EXPECT_EQ(Ran("NodeResourcesFit", "Filter"), 1) << "one batch of nodes";
  EXPECT_EQ(Ran("NodeResourcesFit", "Score"), 1);
  EXPECT_EQ(Ran("NodePorts", "PreFilter", "Skip"), 1);
  EXPECT_EQ(Stages("PreFilter"), 1);
  EXPECT_EQ(Stages("Filter"), 1);
  EXPECT_EQ(Stages("PreScore"), 1);
  EXPECT_EQ(Stages("Score"), 1);
  EXPECT_EQ(Stages("PostFilter"), -1);
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("scheduler_plugin_execution_duration_seconds_bucket{extension_point=\"Filter\",plugin="
                        "\"NodeName\",status=\"Success\",le=\"0.0012974633789062506\"} 1"));
  Decide("q", "100", true);
  EXPECT_EQ(Stages("PostFilter", "Unschedulable"), 1);
  EXPECT_EQ(measures_->preemption_attempts(), 1u);
}

TEST_F(PluginMetricsTest, QuestionsAreCountedByNodeAndThoseThatMemoryAnswersAreNotAsked) {
  engine_->Remember();
  Decide("a", "1", false);
  EXPECT_EQ(Evaluated("NodeResourcesFit", "PreFilter"), 1);
  EXPECT_EQ(Evaluated("NodeResourcesFit", "Filter"), 3);
  EXPECT_EQ(Evaluated("NodeResourcesFit", "Score"), 3);
  EXPECT_EQ(Evaluated("NodePorts", "PreFilter"), 0) << "it skips";
  EXPECT_EQ(Evaluated("NodePorts", "Filter"), 0);
  Decide("b", "1", false);  // its class is kept from here on
  const double asked = Evaluated("NodeResourcesFit", "Filter");
  Decide("c", "1", true);
  EXPECT_EQ(Evaluated("NodeResourcesFit", "Filter"), asked);
  EXPECT_EQ(Ran("NodeResourcesFit", "Filter"), -1);
  EXPECT_EQ(Stages("Filter"), 1) << "what it takes to remember is the time of the point";
  state_.PutNode(std::make_shared<const Node>(MakeNode("n2").Capacity({{"cpu", "5"}, {"pods", "110"}}).Build()));
  Decide("d", "1", true);
  EXPECT_EQ(Evaluated("NodeResourcesFit", "Filter"), asked + 1) << "about the node that has changed";
  EXPECT_EQ(Ran("NodeResourcesFit", "Filter"), 1);
}

TEST_F(PluginMetricsTest, WhatComesAfterTheCycleIsTimedIfTheCycleWas) {
  const auto pod = std::make_shared<const Pod>(MakePod("p").OnNode("n1").Build());
  for (const bool timed : {false, true}) {
    profile().observers->SetTimed(timed);
    const auto stages =
        std::make_shared<framework::BindingStages>(profile(), Placement{pod, "n1"}, std::vector<StateSlot>());
    profile().observers->SetTimed(false);
    EXPECT_TRUE(stages->Reserve().verdict.fits());
    EXPECT_TRUE(stages->Permit(Time{}).ruling.verdict.fits());
    (void)stages->PreFlight();
    bool done = false;
    stages->Bind([&](const framework::Ruling& ruling) { done = !ruling.verdict.fits(); });
    EXPECT_TRUE(done) << "this engine has nobody who writes";
    stages->Unreserve();
    stages->PostBind();
    for (const char* point : {"Reserve", "Permit", "Unreserve", "PostBind"})
      EXPECT_EQ(Stages(point), timed ? 1 : -1) << point;
    EXPECT_EQ(Stages("Bind", "Error"), timed ? 1 : -1);
    EXPECT_EQ(Ran("DefaultBinder", "Bind", "Error"), timed ? 1 : -1);
  }
}

TEST_F(PluginMetricsTest, WhatSeveralThreadsTellAtOnceIsAllThereAndUnderItsOwnName) {
  constexpr int kThreads = 4, kTimes = 100;
  std::vector<std::pair<PluginFunction, Code>> ends;
  for (const PluginFunction point : {PluginFunction::kFilter, PluginFunction::kScore})
    for (const Code code : {Code::kSuccess, Code::kPending}) ends.emplace_back(point, code);
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (++ready; ready < kThreads;) std::this_thread::yield();
      for (int n = 0; n < kTimes; ++n)
        for (const auto& [point, code] : ends) measures_->StageBegins(point)(code);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char* point : {"Filter", "Score"})
    for (const char* status : {"Success", "Pending"}) EXPECT_EQ(Stages(point, status), kThreads * kTimes);
  EXPECT_EQ(Stages("Filter", "Error"), -1);
  // Every plugin, whatever its place in the profile.
  for (uint16_t i = 0; i < profile().plugins.size(); ++i) {
    const framework::PluginCall call(profile(), i, PluginFunction::kBind);
    measures_->Awaiting(call, [](const Verdict&) {})(Verdict{});
  }
  for (uint16_t i = 0; i < profile().plugins.size(); ++i) EXPECT_EQ(Ran(profile().name(i), "Bind"), 1);
}

TEST_F(PluginMetricsTest, APodThatIsAskedAboutByTheQueueIsACycleOfItsOwn) {
  profile().observers->SetTimed(true);
  (void)framework::FindGate(profile(), MakePod("p").Build());
  profile().observers->SetTimed(false);
  EXPECT_EQ(Stages("PreEnqueue"), 1);
  EXPECT_EQ(Ran("SchedulingGates", "PreEnqueue"), 1);
}

}  // namespace
}  // namespace berth::live
