// SPDX-License-Identifier: Apache-2.0
// The production scheduler on the simulated cluster: everything is bound, time ends where it should, and a seed decides
// everything.
#include "sim/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "berth/testing.h"
#include "config/load.h"
#include "plugins/builtin.h"

namespace berth::sim {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

// Writes down what happens.
class Log final : public cycle::Observer {
 public:
  std::string text;
  const util::VirtualClock* clock = nullptr;
  size_t attempts = 0, bound = 0;

  void OnAttempt(const cycle::Attempt& attempt) override {
    ++attempts;
    Line("attempt " + attempt.pod->name() + " #" + std::to_string(attempt.attempts) + " -> " + attempt.node + " " +
         attempt.message);
  }
  void OnBound(const Pod& pod, const std::string& node) override {
    ++bound;
    Line("bound " + pod.name() + " " + node);
  }
  void OnBindFailed(const Pod& pod, const std::string& node, const std::string& why) override {
    Line("failed " + pod.name() + " " + node + " " + why);
  }
  void OnComplaint(const std::string& what) override { Line("complaint " + what); }
  void Line(const std::string& line) {
    text += (clock == nullptr ? "" : std::to_string(clock->Now().ns - kSimulationStart.ns) + " ") + line + "\n";
  }
};

class SimulationTest : public ::testing::Test {
 protected:
  SimulationTest() { plugins::RegisterBuiltinPlugins(registry_); }
  std::unique_ptr<Simulation> Make(const SimulationOptions& options, Log* log) {
    auto made = Simulation::Make(config::DefaultConfiguration(registry_), registry_, options, log);
    EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text());
    if (!made.ok()) return nullptr;
    std::unique_ptr<Simulation> simulation = std::move(made).value();
    if (log != nullptr) log->clock = &simulation->clock();
    return simulation;
  }
  static void AddNodes(Simulation& simulation, int count) {
    for (int i = 0; i < count; ++i) {
      simulation.cluster().Create(std::make_shared<const Node>(MakeNode("n" + std::to_string(i)).Build()));
    }
  }
  static void AddPod(Simulation& simulation, const std::string& name, const char* cpu, const char* run_for = nullptr) {
    Pod pod = MakePod(name).Request({{"cpu", cpu}});
    pod.meta.uid.clear();
    if (run_for != nullptr) pod.meta.annotations = Labels{{"sim.berth.dev/run-for", run_for}};
    simulation.cluster().Create(std::make_shared<const Pod>(std::move(pod)));
  }
  static size_t Unbound(Simulation& simulation) {
    size_t unbound = 0;
    simulation.cluster().ForEach(Kind::kPod, [&](const ClusterObject& object) {
      unbound += std::get<Ptr<Pod>>(object)->node_name.empty() ? 1 : 0;
    });
    return unbound;
  }
  // Pods come, end, are deleted and changed while faults fall: the log and the outcome.
  std::string Story(uint64_t seed, const Faults& faults) {
    SimulationOptions options;
    options.seed = options.cluster.seed = seed;
    options.cluster.faults = faults;
    Log log;
    const auto simulation = Make(options, &log);
    if (simulation == nullptr) return "";
    simulation->cluster().on_fault = [&](std::string_view what) { log.Line("fault " + std::string(what)); };
    simulation->cluster().on_bind = [&](const Pod& pod, const std::string& node) {
      log.Line("accepted " + pod.name() + " " + node);
    };
    AddNodes(*simulation, 13);  // room for all
    for (int i = 0; i < 200; ++i) {
      simulation->At(kSimulationStart + Duration::Millis(25 * i), [s = simulation.get(), i] {
        AddPod(*s, "p" + std::to_string(i), i % 3 == 0 ? "1" : "200m", i % 2 == 0 ? "3s" : nullptr);
        if (i % 10 == 9) s->cluster().Delete(Kind::kPod, "default", "p" + std::to_string(i - 4));
      });
    }
    simulation->Start();
    EXPECT_TRUE(simulation->RunUntilQuiet(kSimulationStart + Duration::Seconds(3600)));
    EXPECT_EQ(simulation->scheduler().CheckInvariants(), "");
    EXPECT_EQ(Unbound(*simulation), 0u) << "seed " << seed;
    simulation->cluster().ForEach(Kind::kPod, [&](const ClusterObject& object) {
      const Pod& pod = *std::get<Ptr<Pod>>(object);
      log.Line("end " + pod.name() + " " + pod.node_name + " " + pod.phase);
    });
    return log.text;
  }

  Registry registry_;
};

// With the limits of a real cluster: every binding has its event, unless the server refused it.
TEST_F(SimulationTest, EventsThatSomebodyWaitsForArriveThoughAnswersAreLost) {
  for (const bool refusals : {false, true}) {
    SimulationOptions options;
    options.seed = options.cluster.seed = 5;
    options.cluster.faults = refusals ? Faults::Default() : Faults{.lost_answer = 100, .slow = 100};
    options.max_bindings = 8;
    options.events.emplace();
    options.events->max_waiting = 20;
    options.events->max_under_way = 4;
    Log log;
    const auto simulation = Make(options, &log);
    ASSERT_NE(simulation, nullptr);
    AddNodes(*simulation, 20);
    for (int i = 0; i < 300; ++i) AddPod(*simulation, "p" + std::to_string(i), "100m");
    simulation->Start();
    EXPECT_TRUE(simulation->RunUntilQuiet(kSimulationStart + Duration::Seconds(3600)));
    EXPECT_EQ(simulation->scheduler().CheckInvariants(), "");
    EXPECT_EQ(Unbound(*simulation), 0u);
    EXPECT_EQ(log.bound, 300u);
    const client::EventWriter::Counts& counts = simulation->scheduler().event_writer()->counts();
    const int64_t arrived = simulation->cluster().EventCount("Scheduled");
    EXPECT_EQ(counts.given_up + counts.dropped, 0u);
    EXPECT_EQ(simulation->scheduler().unwritten_events(), 0u);
    if (refusals) {
      EXPECT_GT(counts.rejected, 0u);
      EXPECT_LE(300 - arrived, static_cast<int64_t>(counts.rejected));
    } else {
      EXPECT_EQ(counts.rejected, 0u);
      EXPECT_EQ(arrived, 300);
    }
  }
}

TEST_F(SimulationTest, WithoutFaultsEveryPodIsBoundAndItBecomesQuiet) {
  Log log;
  const auto simulation = Make({}, &log);
  AddNodes(*simulation, 20);
  for (int i = 0; i < 300; ++i) AddPod(*simulation, "p" + std::to_string(i), "100m");
  simulation->Start();
  EXPECT_FALSE(simulation->quiet());
  EXPECT_TRUE(simulation->RunUntilQuiet(kSimulationStart + Duration::Seconds(60)));
  EXPECT_TRUE(simulation->quiet());
  EXPECT_EQ(log.attempts, 300u);
  EXPECT_EQ(log.bound, 300u);
  EXPECT_EQ(Unbound(*simulation), 0u);
  EXPECT_THAT(log.text, Not(HasSubstr("complaint")));
  EXPECT_EQ(simulation->scheduler().CheckInvariants(), "");
  // 300 attempts, a binding's way and the kubelets' start.
  EXPECT_GE(simulation->clock().Now(), kSimulationStart + Duration::Millis(1030));
  EXPECT_LE(simulation->clock().Now(), kSimulationStart + Duration::Seconds(2));
  simulation->cluster().ForEach(
      Kind::kPod, [](const ClusterObject& object) { EXPECT_EQ(std::get<Ptr<Pod>>(object)->phase, "Running"); });
}

TEST_F(SimulationTest, APodThatCannotBeBoundDoesNotKeepItFromBecomingQuiet) {
  Log log;
  const auto simulation = Make({}, &log);
  AddNodes(*simulation, 1);
  AddPod(*simulation, "big", "100");
  AddPod(*simulation, "small", "1");
  simulation->Start();
  EXPECT_TRUE(simulation->RunUntilQuiet(kSimulationStart + Duration::Seconds(600)));
  EXPECT_LT(simulation->clock().Now(), kSimulationStart + Duration::Seconds(60));
  EXPECT_EQ(Unbound(*simulation), 1u);
  EXPECT_THAT(log.text, HasSubstr("Insufficient cpu"));
}

TEST_F(SimulationTest, TimeStandsAtTheEndAndNothingHappensBeyondIt) {
  Log log;
  SimulationOptions options;
  options.attempt_time = Duration::Millis(10);
  const auto simulation = Make(options, &log);
  AddNodes(*simulation, 1);
  for (int i = 0; i < 50; ++i) AddPod(*simulation, "p" + std::to_string(i), "10m");
  std::vector<int> happened;
  for (const int ms : {100, 101, 99}) {
    simulation->At(kSimulationStart + Duration::Millis(ms), [&happened, ms] { happened.push_back(ms); });
  }
  simulation->Start();
  simulation->RunUntil(kSimulationStart + Duration::Millis(100));
  EXPECT_EQ(simulation->clock().Now(), kSimulationStart + Duration::Millis(100));
  EXPECT_THAT(happened, ::testing::ElementsAre(99, 100));
  EXPECT_GE(log.attempts, 8u);  // listed after 4 ms, and then one every 10 ms
  EXPECT_LE(log.attempts, 10u);
  EXPECT_FALSE(simulation->Step(kSimulationStart + Duration::Millis(100)));
  EXPECT_FALSE(simulation->RunUntilQuiet(kSimulationStart + Duration::Millis(200)));
  EXPECT_EQ(simulation->clock().Now(), kSimulationStart + Duration::Millis(200));
  EXPECT_TRUE(simulation->RunUntilQuiet(kSimulationStart + Duration::Seconds(60)));
  EXPECT_EQ(log.bound, 50u);
}

TEST_F(SimulationTest, APlanOfTheWorldKeepsItFromBeingQuiet) {
  Log log;
  const auto simulation = Make({}, &log);
  AddNodes(*simulation, 1);
  simulation->At(kSimulationStart + Duration::Seconds(50), [s = simulation.get()] { AddPod(*s, "late", "1"); });
  simulation->Start();
  EXPECT_TRUE(simulation->RunUntilQuiet(kSimulationStart + Duration::Seconds(600)));
  EXPECT_EQ(log.bound, 1u);
}

TEST_F(SimulationTest, ASeedDecidesEverythingEvenWhatGoesWrong) {
  Faults faults = Faults::Default();
  faults.watch_cut = faults.lost_answer = faults.conflict = 40;
  std::set<std::string> stories;
  for (const uint64_t seed : {1, 2, 3}) {
    const std::string first = Story(seed, faults);
    EXPECT_EQ(first, Story(seed, faults)) << "seed " << seed;
    EXPECT_THAT(first, HasSubstr("fault "));
    EXPECT_THAT(first, HasSubstr("bound "));
    stories.insert(first);
  }
  EXPECT_EQ(stories.size(), 3u);
}

TEST_F(SimulationTest, AConfigurationThatUpstreamRefusesIsRefused) {
  config::SchedulerConfiguration refused = config::DefaultConfiguration(registry_);
  refused.profiles.push_back(refused.profiles.front());
  const auto made = Simulation::Make(refused, registry_, {});
  EXPECT_FALSE(made.ok());
}

}  // namespace
}  // namespace berth::sim
