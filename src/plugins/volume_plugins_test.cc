// SPDX-License-Identifier: Apache-2.0
// The volume plugins: they pass over pods that do not concern them and refuse, in words, those that do.
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "plugins/node_volume_limits.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_restrictions.h"
#include "plugins/volume_zone.h"

namespace berth::plugins {
namespace {

Pod WithVolume(VolumeKind kind, const char* source = "x") {
  return MakePod().With([&](Pod& p) { p.volumes.push_back({.name = "v", .kind = kind, .source = source}); });
}

Verdict Ask(const Plugin& plugin, const Pod& pod, const TestCluster& cluster) {
  return FilterAll(plugin, pod, cluster).at("n");
}

class VolumePluginsTest : public ::testing::Test {
 protected:
  VolumePluginsTest() {
    cluster.Add(MakeNode("n"));
    PersistentVolumeClaim claim;
    claim.meta.name = "claim";
    claim.meta.namespace_ = "default";
    claim.access_modes = {"ReadWriteOnce"};
    cluster.AddObject(claim);
    claim.meta.name = "single";
    claim.access_modes = {"ReadWriteOncePod"};
    cluster.AddObject(claim);
  }
  TestCluster cluster;
};

TEST_F(VolumePluginsTest, PodsWithoutClaimsOrDisksFit) {
  for (const Pod& pod : {Pod(MakePod()), WithVolume(VolumeKind::kOther), WithVolume(VolumeKind::kImage)}) {
    EXPECT_TRUE(Ask(VolumeRestrictions(), pod, cluster).fits());
    EXPECT_TRUE(Ask(NodeVolumeLimits(), pod, cluster).fits());
    EXPECT_TRUE(Ask(VolumeBinding({}), pod, cluster).fits());
    EXPECT_TRUE(Ask(VolumeZone(), pod, cluster).fits());
  }
}

TEST_F(VolumePluginsTest, AMissingClaimIsNamed) {
  EXPECT_EQ(Ask(VolumeRestrictions(), WithVolume(VolumeKind::kClaim, "gone"), cluster),
            Verdict(Code::kUnschedulableAndUnresolvable, "persistentvolumeclaim \"gone\" not found"));
  EXPECT_TRUE(Ask(VolumeRestrictions(), WithVolume(VolumeKind::kClaim, "claim"), cluster).fits());
}

TEST_F(VolumePluginsTest, WhatIsNotSupportedSaysNotYet) {
  const Pod claim = WithVolume(VolumeKind::kClaim, "claim");
  const struct {
    const char* name;
    Verdict got;
  } cases[] = {
      {"claims", Ask(VolumeBinding({}), claim, cluster)},
      {"generic ephemeral volumes", Ask(VolumeBinding({}), WithVolume(VolumeKind::kEphemeral), cluster)},
      {"zones of claims", Ask(VolumeZone(), claim, cluster)},
      {"claims for a single pod", Ask(VolumeRestrictions(), WithVolume(VolumeKind::kClaim, "single"), cluster)},
      {"shared disks", Ask(VolumeRestrictions(), WithVolume(VolumeKind::kGcePd), cluster)},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.got.code(), Code::kUnschedulableAndUnresolvable) << c.name;
    EXPECT_NE(c.got.message().find("not yet"), std::string::npos) << c.name;
  }
  EXPECT_TRUE(Ask(NodeVolumeLimits(), claim, cluster).fits()) << "no node states a limit";
}

TEST(VolumeBindingArgsTest, OnlyTheTimeoutIsAccepted) {
  EXPECT_EQ(VolumeBinding::Args().Write().ToJson(),
            R"({"kind":"VolumeBindingArgs","apiVersion":"kubescheduler.config.k8s.io/v1","bindTimeoutSeconds":600})");
  const Value value = Value::Object({{"bindTimeoutSeconds", Value::Int(-1)}, {"shape", Value::Array()}});
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  VolumeBinding::Args args;
  args.Read(reader);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].ToString(),
            "args.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value");
  EXPECT_EQ(errors[1].path, "args.shape");
}

}  // namespace
}  // namespace berth::plugins
