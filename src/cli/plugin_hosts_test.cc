// SPDX-License-Identifier: Apache-2.0
// The table of plugin cases in the simulator, whose scheduler is the one production runs, and through the extender in
// both shapes: equal verdicts. (src/extender/served_plugins_test.cc compares the extender with plugins asked natively.)
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "extender/extender_service.h"
#include "extender/extender_test_util.h"
#include "extender/plugin_cases_test_util.h"
#include "plugins/builtin.h"
#include "sim/simulation.h"

namespace berth::extender {
namespace {

// Keeps what the first attempt to place the pod `p` found.
class FirstAttempt final : public cycle::Observer {
 public:
  std::optional<Answers> answers;
  sim::Simulation* simulation = nullptr;

  bool WantsJudgement(const Pod& pod) override { return pod.name() == "p"; }
  void OnAttempt(const cycle::Attempt& attempt) override {
    if (answers || attempt.pod->name() != "p" || attempt.judgement == nullptr) return;
    cycle::Scheduler& scheduler = simulation->scheduler();
    // The pod is assumed by now, which no verdict shows.
    answers = Native(*attempt.judgement, scheduler.state().snapshot(), scheduler.engine().table());
  }
};

class PluginHostsTest : public ::testing::Test {
 protected:
  PluginHostsTest() {
    plugins::RegisterBuiltinPlugins(registry_);
    for (const char* node : kCaseNodes) {
      items_ += (items_.empty() ? "" : ",") + std::string(node);
      names_ += (names_.empty() ? "\"" : ",\"") + Decoded<Node>(Typed("Node", node)).name() + "\"";
      nodes_.Add(Decoded<Node>(Typed("Node", node)));
    }
  }
  // The plugin alone, with what no scheduler can do without.
  config::SchedulerConfiguration ConfigurationOf(const std::string& plugin) const {
    config::SchedulerConfiguration config;
    config.profiles.push_back(ProfileOf({plugin}));
    config.profiles.front().scheduler_name = "default-scheduler";
    for (const Point point : {Point::kQueueSort, Point::kBind}) {
      for (const auto& [name, descriptor] : registry_.all()) {
        if (descriptor.points == Bit(point) && name != plugin) {
          config.profiles.front().plugins[point].enabled.push_back({name, 0});
          break;
        }
      }
    }
    return config;
  }
  std::optional<Answers> Simulated(const std::string& plugin, const std::string& pod) const {
    FirstAttempt observer;
    auto made = sim::Simulation::Make(ConfigurationOf(plugin), registry_, {}, &observer);
    if (!made.ok()) {
      ADD_FAILURE() << made.error().text();
      return std::nullopt;
    }
    sim::Simulation& simulation = **made;
    observer.simulation = &simulation;
    for (const char* node : kCaseNodes) {
      simulation.cluster().Create(std::make_shared<const Node>(Decoded<Node>(Typed("Node", node))));
    }
    for (const char* running : kRunningPods) {
      simulation.cluster().Create(std::make_shared<const Pod>(Decoded<Pod>(running)));
    }
    simulation.cluster().Create(std::make_shared<const Pod>(Decoded<Pod>(Typed("Pod", pod))));
    simulation.Start();
    simulation.RunUntilQuiet(sim::kSimulationStart + Duration::Seconds(60));
    return observer.answers;
  }
  Answers Extended(const std::string& plugin, std::string body) {
    auto made = ExtenderService::Make(ProfileOf({plugin}), registry_, clock_, &nodes_, nullptr);
    const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
    if (!made.ok() || !args.ok()) {
      ADD_FAILURE() << (made.ok() ? args.error().text() : made.error().text());
      return {};
    }
    return Served(*args, made.value()->Filter(*args));
  }

  Registry registry_;
  ManualClock clock_;
  TestNodes nodes_;
  std::string items_, names_;
};

TEST_F(PluginHostsTest, TheSimulatorAndTheExtenderGiveEqualVerdictsInBothShapes) {
  for (const char* pod : kRunningPods) nodes_.Add(Decoded<Pod>(pod));
  size_t compared = 0;
  std::set<Answers> distinct;
  for (const auto& [name, descriptor] : registry_.all()) {
    if ((descriptor.points & ~kCarried) != 0) continue;
    for (const PluginCase& c : kCases) {
      SCOPED_TRACE(name + ": " + c.name);
      const std::string pod = c.pod;
      const std::optional<Answers> want = Simulated(name, pod);
      if (!want) {
        // A pod that names its node is not scheduled by anybody.
        EXPECT_NE(pod.find("nodeName"), std::string::npos);
        continue;
      }
      ++compared;
      distinct.insert(*want);
      EXPECT_EQ(Extended(name, R"({"Pod":)" + pod + R"(,"Nodes":null,"NodeNames":[)" + names_ + "]}"), *want);
      EXPECT_EQ(Extended(name, R"({"Pod":)" + pod + R"(,"Nodes":{"items":[)" + items_ + R"(]},"NodeNames":null})"),
                *want);
    }
  }
  EXPECT_GE(compared, 90u);
  EXPECT_GE(distinct.size(), 8u);  // not all of them say the same
}

}  // namespace
}  // namespace berth::extender
