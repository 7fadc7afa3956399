// SPDX-License-Identifier: Apache-2.0
// The lines of a small story, in order: two nodes, a pod that fits, one that never will, one that takes another's
// place.
#include "live/scheduler_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "cycle/cycle_test_util.h"

namespace berth::live {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class SchedulerLogTest : public ::testing::Test {
 protected:
  SchedulerLogTest() { plugins::RegisterBuiltinPlugins(registry_); }
  void Start(int verbosity, util::LogFormat format = util::LogFormat::kText) {
    log_.emplace(text_, util::LogOptions{.verbosity = verbosity, .format = format}, clock_);
    lines_.emplace(*log_);
    config::SchedulerConfiguration config;
    config.profiles.emplace_back().scheduler_name = "default-scheduler";
    config.profiles.front().plugins = config::MergePlugins({});
    cycle::SchedulerOptions options;
    options.observer = &*lines_;
    auto made = cycle::Scheduler::Make(config, registry_, api_, inbox_, clock_, options);
    ASSERT_TRUE(made.ok()) << made.error().text();
    scheduler_ = std::move(made).value();
    scheduler_->Start();
    Run();
  }
  void Run() {
    while (scheduler_->RunOnce()) {
    }
  }
  void Put(const Pod& pod) {
    api_.Put(pod);
    Run();
  }
  // The lines since the last call, without their heads.
  std::vector<std::string> Lines() {
    std::istringstream in(text_.str());
    text_.str("");
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line.substr(line.find("] ") + 2));
    return lines;
  }
  static MakePod Wants(const std::string& name, const std::string& cpu) {
    return MakePod(name).Request({{"cpu", cpu}});
  }

  ManualClock clock_;
  util::Inbox inbox_;
  cycle::FakeApi api_{inbox_};
  Registry registry_;
  std::ostringstream text_;
  std::optional<util::Log> log_;
  std::optional<SchedulerLog> lines_;
  std::unique_ptr<cycle::Scheduler> scheduler_;
};

// Says that it was made.
class Talker final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "Talker";
  explicit Talker(Handle& handle) { handle.log().Info("Made"); }
  Verdict FilterNode(const Pod&, NodeView) const override { return kFits; }
};

TEST_F(SchedulerLogTest, WhatPluginsSayBearsADate) {
  registry_.Add<Talker>();
  ManualClock dates;
  dates.Advance(Duration::Seconds(int64_t{20} * 24 * 3600));  // clock_ is no date: it stays at the epoch
  util::Log log(text_, {}, dates);
  config::SchedulerConfiguration config;
  config.profiles.emplace_back().scheduler_name = "default-scheduler";
  config::Plugins plugins;
  plugins[Point::kFilter].enabled.push_back({.name = "Talker"});
  config.profiles.front().plugins = config::MergePlugins(plugins);
  cycle::SchedulerOptions options;
  options.log = &log;
  options.dates = &dates;
  ASSERT_TRUE(cycle::Scheduler::Make(config, registry_, api_, inbox_, clock_, options).ok());
  EXPECT_THAT(text_.str(), AllOf(StartsWith("I0121 "), HasSubstr("\"Made\" logger=\"Talker\"")));
}

TEST_F(SchedulerLogTest, AnOperatorSeesDecisionsAndPreemptions) {
  api_.Put(MakeNode("n1").Capacity({{"cpu", "4"}, {"pods", "110"}}).Label("topology.kubernetes.io/zone", "z").Build());
  Start(2);
  EXPECT_THAT(Lines(), ElementsAre("\"Added node to NodeTree\" node=\"n1\" zone=\":\\x00:z\""));
  Put(Wants("batch", "3").Priority(0));
  api_.AcceptBind();
  Run();
  EXPECT_THAT(Lines(), ElementsAre("\"Successfully bound pod to node\" pod=\"default/batch\" node=\"n1\" "
                                   "evaluatedNodes=1 feasibleNodes=1"));
  Put(Wants("big", "100").Priority(0));
  EXPECT_THAT(Lines(),
              ElementsAre(HasSubstr("\"Unable to schedule pod; no fit; waiting\" pod=\"default/big\" err=\"0/1 "
                                    "nodes are available: 1 Insufficient cpu.")));
  api_.AnswerPatch();
  Put(Wants("urgent", "2500m").Priority(10));
  const std::vector<std::string> chosen = Lines();
  EXPECT_THAT(chosen, ElementsAre("\"Start the preemption asynchronously\" preemptor=\"default/urgent\" node=\"n1\" "
                                  "numVictims=1 numVictimsToDelete=1",
                                  "\"the target node for the preemption is determined\" pod=\"default/urgent\" "
                                  "node=\"n1\"",
                                  HasSubstr("\"Unable to schedule pod; no fit; waiting\" pod=\"default/urgent\"")));
  while (!api_.patches.empty()) api_.AnswerPatch();
  Run();
  api_.AnswerDelete();
  Run();
  EXPECT_THAT(Lines(), ElementsAre("\"Preemptor Pod preempted victim Pod\" preemptor=\"default/urgent\" "
                                   "victim=\"default/batch\" node=\"n1\"",
                                   "\"Async Preemption finished completely\" preemptor=\"default/urgent\" node=\"n1\" "
                                   "result=\"success\""));
}

TEST_F(SchedulerLogTest, AtThreeEveryStepOfAPodIsThere) {
  Start(3);
  api_.Put(MakeNode("n1").Capacity({{"cpu", "1"}, {"pods", "110"}}).Build());
  Run();
  EXPECT_THAT(Lines(),
              ElementsAre("\"Add event for node\" node=\"n1\"", "\"Added node to NodeTree\" node=\"n1\" zone=\"\""));
  Put(Wants("web", "500m"));
  api_.AcceptBind();
  Run();
  EXPECT_THAT(Lines(), ElementsAre("\"Add event for unscheduled pod\" pod=\"default/web\"",
                                   "\"Attempting to schedule pod\" pod=\"default/web\"",
                                   "\"Attempting to bind pod to node\" pod=\"default/web\" node=\"n1\"",
                                   "\"Add event for scheduled pod\" pod=\"default/web\"",
                                   "\"Delete event for unscheduled pod\" pod=\"default/web\"",
                                   HasSubstr("\"Successfully bound pod to node\" pod=\"default/web\" node=\"n1\"")));
  Put(Wants("big", "100"));
  EXPECT_THAT(Lines(),
              ElementsAre("\"Add event for unscheduled pod\" pod=\"default/big\"",
                          "\"Attempting to schedule pod\" pod=\"default/big\"",
                          "\"Pod moved to an internal scheduling queue\" pod=\"default/big\" "
                          "event=\"ScheduleAttemptFailure\" queue=\"Unschedulable\" schedulingCycle=2 hint=0 "
                          "unschedulable plugins={\"NodeResourcesFit\":{}}",
                          "\"Updating pod condition and nominated node name\" pod=\"default/big\" "
                          "conditionType=\"PodScheduled\" conditionStatus=\"False\" conditionReason=\"Unschedulable\" "
                          "nominatedNodeName=\"\" nominatingMode=1",
                          HasSubstr("\"Unable to schedule pod; no fit; waiting\" pod=\"default/big\"")));
  api_.Remove(Kind::kPod, "default/web");
  api_.Remove(Kind::kPod, "default/big");
  api_.Remove(Kind::kNode, "n1");
  Run();
  const std::vector<std::string> last = Lines();
  for (const char* line :
       {"\"Delete event for scheduled pod\" pod=\"default/web\"",
        "\"Delete event for unscheduled pod\" pod=\"default/big\"", "\"Delete event for node\" node=\"n1\"",
        "\"Removed node from NodeTree\" node=\"n1\" zone=\"\""})
    EXPECT_THAT(last, Contains(line));
}

TEST_F(SchedulerLogTest, AtFiveItIsSaidWhatDoesNotHelp) {
  api_.Put(MakeNode("n1").Capacity({{"cpu", "1"}, {"pods", "110"}}).Build());
  Start(5);
  Put(Wants("big", "100"));
  EXPECT_THAT(Lines(),
              Contains("\"Status after running PostFilter plugins for pod\" pod=\"default/big\" "
                       "status=\"no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption "
                       "is not helpful for scheduling.\""));
  api_.Put(MakeNode("n2").Capacity({{"cpu", "1"}, {"pods", "110"}}).Build());
  Run();
  EXPECT_THAT(Lines(), Contains("\"Event is not making pod schedulable\" pod=\"default/big\" event=\"NodeAdd\""));
  // Of a pod that goes elsewhere both lines are there, as upstream.
  Put(Wants("web", "500m"));
  api_.AnswerBind({403, "no"});
  Run();
  const std::vector<std::string> moved = Lines();
  const std::string line =
      "\"Pod moved to an internal scheduling queue\" pod=\"default/web\" "
      "event=\"ScheduleAttemptFailure\" queue=\"Backoff\"";
  EXPECT_THAT(moved, Contains(line));
  EXPECT_THAT(moved, Contains(line + " schedulingCycle=2 hint=1 unschedulable plugins={}"));
}

TEST_F(SchedulerLogTest, ABindingThatFailsNamesThePlugin) {
  api_.Put(MakeNode("n1").Capacity({{"cpu", "1"}, {"pods", "110"}}).Build());
  Start(1);
  Put(Wants("web", "500m"));
  api_.AnswerBind({403, "pods \"web\" is forbidden"});
  Run();
  EXPECT_THAT(Lines(), ElementsAre("\"Plugin Failed\" err=\"pods \\\"web\\\" is forbidden\" "
                                   "plugin=\"DefaultBinder\" pod=\"default/web\" node=\"n1\"",
                                   "\"Failed to bind pod\" pod=\"default/web\"",
                                   HasSubstr("\"Error scheduling pod; retrying\" err=\"running Bind plugin")));
}

TEST_F(SchedulerLogTest, EveryStageHasItsWords) {
  using enum framework::PluginFunction;
  Start(4);
  const Pod pod = MakePod("web");
  const std::string node = "n1", plugin = "Acme", none, message = "bad luck";
  const auto said = [&](framework::PluginFunction stage, Code code) {
    lines_->OnStageFailed({pod, node, stage, code == Code::kSkip ? none : plugin, code, message});
    return Lines();
  };
  const std::string failed = "err=\"bad luck\" plugin=\"Acme\" pod=\"default/web\"";
  const std::string rejected = "plugin=\"Acme\" status=\"bad luck\"";
  for (const auto stage : {kReserve, kPermit}) {
    EXPECT_THAT(said(stage, Code::kError), ElementsAre("\"Plugin failed\" " + failed));
    EXPECT_THAT(said(stage, Code::kUnschedulable),
                ElementsAre("\"Pod rejected by plugin\" pod=\"default/web\" " + rejected));
  }
  for (const auto stage : {kPreBindPreFlight, kPreBind})
    EXPECT_THAT(said(stage, Code::kError), ElementsAre("\"Plugin failed\" " + failed + " node=\"n1\""));
  EXPECT_THAT(said(kPreBind, Code::kUnschedulable),
              ElementsAre("\"Pod rejected by PreBind plugin\" pod=\"default/web\" node=\"n1\" " + rejected));
  const std::string unbound = "\"Failed to bind pod\" pod=\"default/web\"";
  EXPECT_THAT(said(kBind, Code::kError), ElementsAre("\"Plugin Failed\" " + failed + " node=\"n1\"", unbound));
  EXPECT_THAT(said(kBind, Code::kUnschedulable),
              ElementsAre("\"Pod rejected by Bind plugin\" pod=\"default/web\" node=\"n1\" " + rejected, unbound));
  EXPECT_THAT(said(kBind, Code::kSkip), ElementsAre(unbound));
  lines_->OnPostFiltered(pod, Verdict::Fail("bad luck"));
  EXPECT_THAT(Lines(), ElementsAre("\"Status after running PostFilter plugins for pod\" pod=\"default/web\" "
                                   "status=\"bad luck\""));
}

TEST_F(SchedulerLogTest, ABindingThatHappenedAfterAllIsNotTriedAgain) {
  api_.Put(MakeNode("n1").Capacity({{"cpu", "1"}, {"pods", "110"}}).Build());
  Start(0);
  Put(Wants("web", "500m"));
  ASSERT_EQ(api_.binds.size(), 1u);
  api_.ChangePod("web", [](Pod& pod) { pod.node_name = "elsewhere"; });
  Run();
  api_.AnswerBind({409, "already assigned"});
  Run();
  EXPECT_THAT(Lines(), Contains("\"Pod has been assigned to node. Abort adding it back to queue.\" "
                                "pod=\"default/web\" node=\"elsewhere\""));
}

TEST_F(SchedulerLogTest, PodsThatCannotBePlacedYetAreNamed) {
  Start(2);
  Put(MakePod("plain"));
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("no nodes are registered to the cluster")));
  Put(MakePod("claims").With([](Pod& pod) { pod.resource_claims.push_back("gpu"); }));
  EXPECT_THAT(Lines().front(),
              "\"Pod needs resource claims, which are not supported yet\" "
              "pod=\"default/claims\"");
}

TEST_F(SchedulerLogTest, InJsonObjectsHaveNameAndNamespace) {
  Start(3, util::LogFormat::kJson);
  Put(Wants("web", "500m"));
  EXPECT_THAT(text_.str(), HasSubstr("\"msg\":\"Attempting to schedule pod\",\"v\":3,\"pod\":{\"name\":\"web\","
                                     "\"namespace\":\"default\"}"));
}

TEST_F(SchedulerLogTest, NobodyAskedMeansNoLines) {
  api_.Put(MakeNode("n1").Capacity({{"cpu", "1"}, {"pods", "110"}}).Build());
  Start(0);
  Put(Wants("web", "500m"));
  api_.AcceptBind();
  Put(Wants("big", "100"));
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(SchedulerLogTest, ADecisionThatTakesLongHasALine) {
  Start(2);
  Lines();
  const Pod pod = MakePod("slow");
  cycle::Attempt attempt;
  attempt.pod = &pod;
  attempt.node = "n1";
  attempt.began = Time{1'000'000'000};
  attempt.decided = attempt.began + Duration::Millis(99);
  lines_->OnAttempt(attempt);
  EXPECT_THAT(Lines(), IsEmpty());
  attempt.decided = attempt.began + Duration::Millis(120);
  lines_->OnAttempt(attempt);
  EXPECT_THAT(Lines(), ElementsAre("Trace[1]: \"Scheduling\" namespace:default,name:slow (total time: 120ms)"));
}

}  // namespace
}  // namespace berth::live
