// SPDX-License-Identifier: Apache-2.0
// VolumeRestrictions: which disks conflict, claims for one pod at a time, what preemption makes of them, hints.
#include "plugins/volume_restrictions.h"

#include <gtest/gtest.h>

#include "framework/judge.h"
#include "plugins/default_preemption.h"
#include "plugins/volume_test_util.h"

namespace berth::plugins {
namespace {

Verdict AskRestrictions(const Pod& pod, const TestCluster& cluster, const std::string& node = "n") {
  return FilterAll(VolumeRestrictions(), pod, cluster).at(node);
}

TEST(VolumeRestrictionsTest, DisksThatPodsCannotShareKeepThemApart) {
  const auto gce = [](bool read_only) { return Disk(VolumeKind::kGcePd, "disk", read_only); };
  const auto ebs = [](bool read_only) { return Disk(VolumeKind::kAwsEbs, "vol-1", read_only); };
  const auto iscsi = [](bool read_only) { return Disk(VolumeKind::kIscsi, "iqn", read_only); };
  const struct {
    const char* name;
    PodVolume there, wanted;
    bool fits;
  } cases[] = {
      {"the same GCE disk", gce(false), gce(false), false},
      {"the same GCE disk, one reads only", gce(true), gce(false), false},
      {"the same GCE disk, both read only", gce(true), gce(true), true},
      {"another GCE disk", gce(false), Disk(VolumeKind::kGcePd, "other"), true},
      {"the same EBS volume", ebs(false), ebs(false), false},
      {"the same EBS volume, both read only", ebs(true), ebs(true), false},
      {"the same EBS volume in other words", ebs(false), Disk(VolumeKind::kAwsEbs, "aws://z/vol-1"), true},
      {"the same iSCSI target", iscsi(false), iscsi(false), false},
      {"the same iSCSI target, both read only", iscsi(true), iscsi(true), true},
      {"the same RBD image", Rbd({"a", "b"}, "p", "i"), Rbd({"b", "c"}, "p", "i"), false},
      {"the same RBD image, both read only", Rbd({"a"}, "p", "i", true), Rbd({"a"}, "p", "i", true), true},
      {"no monitor in common", Rbd({"a"}, "p", "i"), Rbd({"c"}, "p", "i"), true},
      {"another pool", Rbd({"a"}, "p", "i"), Rbd({"a"}, "q", "i"), true},
      {"another image", Rbd({"a"}, "p", "i"), Rbd({"a"}, "p", "j"), true},
      {"another kind of the same name", Disk(VolumeKind::kGcePd, "x"), Disk(VolumeKind::kAwsEbs, "x"), true},
      {"a kind that may be shared", Disk(VolumeKind::kCinder, "x"), Disk(VolumeKind::kCinder, "x"), true},
  };
  for (const auto& c : cases) {
    TestCluster cluster;
    cluster.Add(MakeNode("n")).Add(MakeNode("free"));
    cluster.Add(WithVolumes("there", {c.there}).Namespace("other").OnNode("n"));
    const Verdict want = c.fits ? Verdict(kFits) : Verdict(VolumeRestrictions::kDiskConflict);
    EXPECT_EQ(AskRestrictions(WithVolumes("p", {c.wanted}), cluster), want) << c.name;
    EXPECT_TRUE(AskRestrictions(WithVolumes("p", {c.wanted}), cluster, "free").fits()) << c.name;
  }
}

TEST(VolumeRestrictionsTest, AMissingClaimIsNamed) {
  TestCluster cluster;
  cluster.Add(MakeNode("n")).AddObject(MakeClaim("claim"));
  EXPECT_EQ(AskRestrictions(WithClaims("p", {"claim", "gone"}), cluster),
            Unresolvable("persistentvolumeclaim \"gone\" not found"));
  EXPECT_EQ(AskRestrictions(WithClaims("p", {""}), cluster), Unresolvable("persistentvolumeclaim \"\" not found"));
  EXPECT_TRUE(AskRestrictions(WithClaims("p", {"claim"}), cluster).fits());
  EXPECT_TRUE(AskRestrictions(WithVolumes("p", {EphemeralVolume("gone")}), cluster).fits());
}

TEST(VolumeRestrictionsTest, OnePodAtATimeUsesAnExclusiveClaim) {
  TestCluster cluster;
  cluster.Add(MakeNode("n")).Add(MakeNode("m"));
  cluster.AddObject(ExclusiveClaim("one")).AddObject(ExclusiveClaim("two")).AddObject(MakeClaim("shared"));
  const Pod pod = WithClaims("p", {"one", "shared"});
  EXPECT_TRUE(AskRestrictions(pod, cluster).fits());
  cluster.Add(WithClaims("a", {"shared", "two"}).OnNode("n"))
      .Add(WithClaims("b", {"one"}).Namespace("else").OnNode("n"));
  cluster.Add(WithVolumes("c", {EphemeralVolume("one")}).OnNode("n"));
  EXPECT_TRUE(AskRestrictions(pod, cluster).fits()) << "another namespace's, and one of a generic ephemeral volume";
  cluster.Add(WithClaims("d", {"one"}).OnNode("n").Terminating());
  EXPECT_EQ(AskRestrictions(pod, cluster), Verdict(VolumeRestrictions::kClaimInUse));
  EXPECT_EQ(AskRestrictions(pod, cluster, "m"), Verdict(VolumeRestrictions::kClaimInUse)) << "on every node";
}

TEST(VolumeRestrictionsTest, TheDiskIsTheReasonWhereBothAre) {
  TestCluster cluster;
  cluster.Add(MakeNode("n")).Add(MakeNode("m")).AddObject(ExclusiveClaim("one"));
  const std::vector<PodVolume> volumes = {Disk(VolumeKind::kAwsEbs, "vol-1"), ClaimVolume("one")};
  cluster.Add(WithVolumes("there", volumes).OnNode("n"));
  EXPECT_EQ(AskRestrictions(WithVolumes("p", volumes), cluster), Verdict(VolumeRestrictions::kDiskConflict));
  EXPECT_EQ(AskRestrictions(WithVolumes("p", volumes), cluster, "m"), Verdict(VolumeRestrictions::kClaimInUse));
}

class VolumePreemptionTest : public ::testing::Test {
 protected:
  // Which pods of which nodes preemption would evict: `node: pods; `.
  std::string Preempt(const Pod& pod) {
    const DefaultPreemption preemption({}, *handle_);
    framework::Profile profile;
    profile.plugins.resize(2);
    profile.plugins[0].name = "VolumeRestrictions";
    profile.plugins[1].name = "DefaultPreemption";
    profile.pre_filter.push_back({&plugin_, 0});
    profile.filter.push_back({&plugin_, 0});
    profile.post_filter.push_back({&preemption, 1});
    EXPECT_TRUE(framework::TakeDeclarations(profile).ok());
    VerdictTable table;
    const ManualClock clock;
    const framework::Judgement found = framework::Judge(profile, table, clock).Run(pod, cluster_.snapshot());
    if (!found.post_filter_ran) return "not asked";
    if (!found.post_filter.plan) return "nothing helps";
    std::string text;
    for (const PreemptionCandidate& candidate : found.post_filter.plan->candidates) {
      text += candidate.node + ":";
      for (const auto& victim : candidate.victims) text += " " + victim->name();
      text += "; ";
    }
    return text;
  }

  std::unique_ptr<Handle> handle_ = MakeTestHandle();
  VolumeRestrictions plugin_;
  TestCluster cluster_;
};

TEST_F(VolumePreemptionTest, TheHolderOfAnExclusiveClaimIsEvicted) {
  cluster_.Add(MakeNode("n")).Add(MakeNode("m")).AddObject(ExclusiveClaim("one")).AddObject(ExclusiveClaim("two"));
  cluster_.Add(WithClaims("holder", {"one"}).Priority(1).OnNode("n")).Add(MakePod("idle").Priority(1).OnNode("n"));
  const Pod pod = WithClaims("p", {"one"}).Priority(10);
  EXPECT_EQ(Preempt(pod), "n: holder; ");
  EXPECT_EQ(Preempt(WithClaims("p", {"one"}).Priority(1)), "nothing helps") << "nobody is less important";
  cluster_.Add(WithClaims("second", {"two"}).Priority(1).OnNode("m"));
  EXPECT_EQ(Preempt(WithClaims("p", {"one", "two"}).Priority(10)), "nothing helps") << "two nodes have one each";
}

// Upstream compares claims by their names alone and would evict the pod.
TEST_F(VolumePreemptionTest, AClaimOfAnotherNamespaceIsNotTheClaim) {
  cluster_.Add(MakeNode("n")).Add(MakeNode("m")).AddObject(ExclusiveClaim("one"));
  cluster_.Add(WithClaims("holder", {"one"}).Priority(20).OnNode("n"));
  cluster_.Add(WithClaims("stranger", {"one"}).Namespace("other").Priority(1).OnNode("m"));
  EXPECT_EQ(Preempt(WithClaims("p", {"one"}).Priority(10)), "nothing helps");
}

TEST_F(VolumePreemptionTest, TheHolderOfADiskIsEvicted) {
  cluster_.Add(MakeNode("n"));
  const std::vector<PodVolume> volumes = {Disk(VolumeKind::kGcePd, "disk")};
  cluster_.Add(WithVolumes("holder", volumes).Priority(1).OnNode("n")).Add(MakePod("idle").Priority(1).OnNode("n"));
  EXPECT_EQ(Preempt(WithVolumes("p", volumes).Priority(10)), "n: holder; ");
}

TEST(VolumeRestrictionsHintTest, PodsWakeByWhatConcernsThem) {
  const auto events = *VolumeRestrictions().EventsToRegister();
  const Pod pod = WithVolumes("p", {ClaimVolume("c"), Disk(VolumeKind::kAwsEbs, "vol-1")});
  const auto gone = [&](const Pod& other) {
    return events[0].hint(pod, {.pod_before = &other}) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(gone(WithClaims("x", {"c"}).OnNode("n")));
  EXPECT_TRUE(gone(WithVolumes("x", {Disk(VolumeKind::kAwsEbs, "vol-1")}).OnNode("n")));
  EXPECT_FALSE(gone(WithClaims("x", {"d"}).OnNode("n")));
  EXPECT_FALSE(gone(WithVolumes("x", {EphemeralVolume("c")}).OnNode("n")));
  EXPECT_FALSE(gone(WithVolumes("x", {Disk(VolumeKind::kAwsEbs, "vol-1")}).Namespace("other").OnNode("n")))
      << "as upstream has it";
  EXPECT_FALSE(gone(MakePod("x").OnNode("n")));
  const auto added = [&](const PersistentVolumeClaim& claim) {
    EventObjects objects;
    objects.object = ObjectChange(static_cast<const PersistentVolumeClaim*>(nullptr), &claim);
    return events[2].hint(pod, objects) == QueueingHint::kQueue;
  };
  EXPECT_TRUE(added(MakeClaim("c")));
  EXPECT_FALSE(added(MakeClaim("d")));
}

}  // namespace
}  // namespace berth::plugins
