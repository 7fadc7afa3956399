// SPDX-License-Identifier: Apache-2.0
// The queue's order, gates and hints are the plugins', as are the kinds that are watched; one that throws there is
// heard as the safe answer.
#include "cycle/queue_setup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "berth/testing.h"
#include "config/load.h"
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

class Silent final : public PostBindPlugin {
 public:
  static constexpr std::string_view kName = "Silent";
  void PostBind(const Placement&, StateSlot&) const override {}
};

// By name, so that a difference can be read.
std::set<std::string_view> Watched(const std::string& profile) {
  ManualClock clock;
  Registry registry;
  plugins::RegisterBuiltinPlugins(registry);
  registry.Add<Silent>();
  const config::Loaded loaded = config::LoadConfiguration(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [" + profile + "]\n",
      registry);
  EXPECT_TRUE(loaded.ok()) << profile;
  const auto engine = framework::Engine::Make(loaded.config, registry, clock);
  EXPECT_TRUE(engine.ok());
  std::set<std::string_view> names;
  for (const Kind kind : KindsToWatch(**engine)) names.insert(ToString(kind));
  return names;
}

TEST(KindsToWatchTest, TheDefaultPluginsNeedEveryKindThatPluginsAreShown) {
  const std::set<std::string_view> watched = Watched("{}");
  for (const KindInfo& info : kKinds) EXPECT_EQ(watched.contains(info.name), IsWatched(info.kind)) << info.name;
}

TEST(KindsToWatchTest, WhatNoPluginReadsIsNotWatched) {
  const std::string no_volumes =
      "{plugins: {multiPoint: {disabled: [{name: VolumeBinding}, {name: VolumeZone}, {name: VolumeRestrictions}, "
      "{name: NodeVolumeLimits}";
  const std::set<std::string_view> others = {
      "Pod",        "Node",        "Namespace",          "Service", "ReplicationController",
      "ReplicaSet", "StatefulSet", "PodDisruptionBudget"};
  std::set<std::string_view> with_devices = others;
  with_devices.insert({"ResourceClaim", "ResourceSlice", "DeviceClass"});
  EXPECT_EQ(Watched(no_volumes + "]}}}"), with_devices);
  EXPECT_EQ(Watched(no_volumes + ", {name: DynamicResources}, {name: NodeResourcesFit}]}}}"), others);
  EXPECT_EQ(Watched("{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, "
                    "{name: TaintToleration}, {name: DefaultBinder}]}}}"),
            (std::set<std::string_view>{"Pod", "Node"}));
}

TEST(KindsToWatchTest, APluginThatDoesNotSayMayReadAnything) {
  const std::string profile =
      "{plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}, "
      "{name: Silent}]}}}";
  EXPECT_EQ(Watched(profile), Watched("{}"));
}

}  // namespace
}  // namespace berth::cycle
