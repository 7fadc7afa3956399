// SPDX-License-Identifier: Apache-2.0
// Profiles of a configuration, made with what they need.
#include "framework/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "config/load.h"
#include "plugins/builtin.h"
#include "testing/throwing_plugin.h"

namespace berth::framework {
namespace {

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() { plugins::RegisterBuiltinPlugins(registry_); }
  Result<std::unique_ptr<Engine>> Make(const std::string& body) {
    const config::Loaded loaded = config::LoadConfiguration(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n" + body, registry_);
    EXPECT_TRUE(loaded.ok());
    return Engine::Make(loaded.config, registry_, clock_);
  }
  Registry registry_;
  ManualClock clock_;
};

TEST_F(EngineTest, TheDefaultConfigurationHasOneProfile) {
  const auto engine = Make("");
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ((*engine)->profiles().size(), 1u);
  EXPECT_EQ((*engine)->FindProfile("default-scheduler"), &(*engine)->first_profile());
  EXPECT_EQ((*engine)->FindProfile("other"), nullptr);
}

TEST_F(EngineTest, TheFirstProfileIsTheFirstOfTheFileNotOfTheAlphabet) {
  const auto engine = Make("profiles: [{schedulerName: zebra}, {schedulerName: ant}]\n");
  ASSERT_TRUE(engine.ok()) << engine.error().text();
  EXPECT_EQ((*engine)->first_profile().scheduler_name, "zebra");
  EXPECT_NE((*engine)->FindProfile("ant"), nullptr);
}

TEST_F(EngineTest, WhatKubeSchedulerRefusesAtStartIsRefused) {
  const auto engine = Make("profiles: [{plugins: {filter: {enabled: [{name: Nonsense}]}}}]\n");
  ASSERT_FALSE(engine.ok());
  EXPECT_THAT(engine.error().text(), ::testing::HasSubstr("Nonsense"));
}

TEST_F(EngineTest, APluginThatThrowsFromADeclarationIsAnErrorAtStartThatNamesBoth) {
  for (const char* function : {"DependsOn", "TracksPods", "normalization", "EventsToRegister", "Annotations"}) {
    SCOPED_TRACE(function);
    using enum Point;
    registry_ = Registry();
    plugins::RegisterBuiltinPlugins(registry_);
    registry_.Add(testing::ThrowingDescriptor("Thrower", {kPreFilter, kFilter, kPreScore, kScore}, function));
    const auto engine = Make("profiles: [{plugins: {multiPoint: {enabled: [{name: Thrower}]}}}]\n");
    ASSERT_FALSE(engine.ok());
    EXPECT_THAT(engine.error().text(),
                ::testing::HasSubstr("plugin \"Thrower\", " + std::string(function) + ": plugin threw: boom"));
  }
}

TEST_F(EngineTest, ResourcesThatAnExtenderManagesAreIgnoredByTheFit) {
  const auto plain = Make("");
  const auto extended = Make(
      "extenders:\n- urlPrefix: http://127.0.0.1/\n  filterVerb: filter\n"
      "  managedResources: [{name: example.com/licence, ignoredByScheduler: true}]\n");
  ASSERT_TRUE(extended.ok()) << extended.error().text();
  TestCluster cluster;
  cluster.Add(MakeNode("n"));
  const Pod pod = MakePod("p").Request({{"example.com/licence", "1"}});
  auto feasible = [&](Engine& engine) {
    return engine.Judge(engine.first_profile(), pod, cluster.snapshot(), {}).feasible.size();
  };
  EXPECT_EQ(feasible(**plain), 0u);
  EXPECT_EQ(feasible(**extended), 1u);
  // What the profile itself says is replaced, not added to.
  const std::string own =
      "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/licence]}}]}]\n";
  const auto said = Make(own);
  ASSERT_TRUE(said.ok()) << said.error().text();
  EXPECT_EQ(feasible(**said), 1u);
  const auto replaced = Make(own +
                             "extenders:\n- urlPrefix: http://127.0.0.1/\n  filterVerb: filter\n"
                             "  managedResources: [{name: example.com/other, ignoredByScheduler: true}]\n");
  ASSERT_TRUE(replaced.ok()) << replaced.error().text();
  EXPECT_EQ(feasible(**replaced), 0u);
}

// kube-scheduler does not start: it looks for arguments that nobody needs.
TEST_F(EngineTest, AProfileWithoutTheFitIsFineBesideAnExtenderThatManagesResources) {
  const auto engine = Make(
      "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}}]\n"
      "extenders:\n- urlPrefix: http://127.0.0.1/\n  filterVerb: filter\n"
      "  managedResources: [{name: example.com/licence, ignoredByScheduler: true}]\n");
  EXPECT_TRUE(engine.ok()) << engine.error().text();
}

}  // namespace
}  // namespace berth::framework
