// SPDX-License-Identifier: Apache-2.0
// The queue's order, gates and hints are the plugins'; one that throws there is heard as the safe answer.
#include "cycle/queue_setup.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "berth/testing.h"
#include "plugins/builtin.h"
#include "testing/throwing_plugin.h"

namespace berth::cycle {
namespace {

class QueueSetupTest : public ::testing::Test {
 protected:
  // An engine with a plugin in every part of the queue's setup, which throws from this function.
  std::unique_ptr<framework::Engine> EngineWith(const std::string& function) {
    using enum Point;
    Registry registry;
    registry.Add(testing::ThrowingDescriptor("Thrower", {kPreEnqueue, kQueueSort, kFilter, kBind}, function));
    config_.profiles.clear();
    config_.profiles.emplace_back().scheduler_name = "default-scheduler";
    config_.profiles.front().plugins.multi_point.enabled.push_back({"Thrower", 0});
    auto engine = framework::Engine::Make(config_, registry, clock_);
    EXPECT_TRUE(engine.ok()) << engine.error().text();
    return std::move(engine).value();
  }

  ManualClock clock_;
  config::SchedulerConfiguration config_;
  const Pod pod_ = MakePod("p");
};

TEST_F(QueueSetupTest, AHintThatThrowsPutsThePodBackIntoTheQueue) {
  for (const char* function : {"hint", ""}) {
    const auto engine = EngineWith(function);
    const queue::HintMap hints = HintsOf(*engine, false);
    const queue::EventMatch& match = hints.Match({EventResource::kNode, action::kAdd});
    ASSERT_EQ(match.profiles.size(), 1u);
    ASSERT_EQ(match.profiles[0].size(), 1u);
    EXPECT_EQ((*match.profiles[0][0].fn)(pod_, {}), QueueingHint::kQueue) << function;
  }
}

TEST_F(QueueSetupTest, AnOrderThatThrowsPutsNobodyFirst) {
  const auto engine = EngineWith("Less");
  EXPECT_FALSE(QueueOptionsOf(*engine, config_).less({&pod_, {}}, {&pod_, {}}));
}

TEST_F(QueueSetupTest, AGateThatThrowsStaysShutAndSaysWhy) {
  const auto engine = EngineWith("PreEnqueue");
  const std::optional<queue::Gate> gate = QueueOptionsOf(*engine, config_).pre_enqueue(pod_);
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->plugin, "Thrower");
  EXPECT_EQ(gate->verdict.message(), "plugin threw: boom");
}

}  // namespace
}  // namespace berth::cycle
