// SPDX-License-Identifier: Apache-2.0
// Devices: what pods without claims see of the plugin, and what pods with claims are told.
#include "plugins/dynamic_resources.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

class NoWhatIf final : public Cycle {
 public:
  using Cycle::Cycle;
  std::unique_ptr<WhatIf> Imagine(Row) const override { return nullptr; }
};
class NoReport final : public FilterReport {
 public:
  const Verdict& verdict(Row) const override { return verdict_; }
  std::vector<Row> Resolvable() const override { return {}; }

 private:
  Verdict verdict_;
};

TEST(DynamicResourcesTest, PostFilterTellsWhetherPreFilterWasReached) {
  TestCluster cluster;
  cluster.Add(MakeNode("n"));
  const Snapshot snapshot = cluster.snapshot();
  const DynamicResources plugin({});
  const Pod plain = MakePod(), claiming = MakePod().With([](Pod&p) { p.resource_claims = {"gpu"}; });

  const NoWhatIf cycle(plain, snapshot, {});
  const PreFilterOutcome skipped = plugin.PreFilter(cycle);
  EXPECT_EQ(skipped.verdict.code(), Code::kSkip);
  ASSERT_NE(skipped.state, nullptr);
  EXPECT_EQ(plugin.PostFilter(cycle, skipped.state.get(), NoReport()).verdict,
            Verdict(Code::kUnschedulable, "no new claims to deallocate"));
  EXPECT_EQ(plugin.PostFilter(cycle, nullptr, NoReport()).verdict, Verdict::Fail("not found"));

  const NoWhatIf other(claiming, snapshot, {});
  const PreFilterOutcome rejected = plugin.PreFilter(other);
  EXPECT_EQ(rejected.verdict, Verdict(DynamicResources::kClaimsNotYet));
  ASSERT_NE(rejected.state, nullptr);
  EXPECT_EQ(plugin.PostFilter(other, rejected.state.get(), NoReport()).verdict.message(), "still not schedulable");
}

TEST(DynamicResourcesTest, EveryNodeScoresZero) {
  TestCluster cluster;
  cluster.Add(MakeNode("a")).Add(MakeNode("b"));
  EXPECT_EQ(ScoreAll(DynamicResources({}), MakePod(), cluster).normalized,
            (std::map<std::string, int64_t>{{"a", 0}, {"b", 0}}));
}

TEST(DynamicResourcesTest, ResourcesThatOnlyDevicesCouldServeAreNotYetSupported) {
  DeviceClass device_class;
  device_class.meta.name = "gpus";
  device_class.extended_resource_name = "example.com/gpu";
  TestCluster cluster;
  cluster.Add(MakeNode("bare")).Add(MakeNode("plugin").Capacity({{"pods", "9"}, {"example.com/gpu", "1"}}));
  const Pod pod = MakePod().Request({{"example.com/gpu", "1"}});
  EXPECT_TRUE(FilterAll(DynamicResources({}), pod, cluster).at("bare").fits());
  cluster.AddObject(device_class);
  const auto verdicts = FilterAll(DynamicResources({}), pod, cluster);
  EXPECT_EQ(verdicts.at("bare"), Verdict(DynamicResources::kDevicesNotYet));
  EXPECT_TRUE(verdicts.at("plugin").fits());
}

TEST(DynamicResourcesArgsTest, TimeoutsAreCheckedAndShownInGoForm) {
  EXPECT_EQ(DynamicResources::Args().Write().ToJson(),
            R"({"kind":"DynamicResourcesArgs","apiVersion":"kubescheduler.config.k8s.io/v1","filterTimeout":"10s",)"
            R"("bindingTimeout":"10m0s"})");
  const Value value =
      Value::Object({{"filterTimeout", Value::String("-1s")}, {"bindingTimeout", Value::String("500ms")}});
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  DynamicResources::Args args;
  args.Read(reader);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].ToString(), "args.filterTimeout: Invalid value: \"-1s\": must be zero or positive");
  EXPECT_EQ(errors[1].ToString(), "args.bindingTimeout: Invalid value: \"500ms\": must be at least 1 second");
}

}  // namespace
}  // namespace berth::plugins
