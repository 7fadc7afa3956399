// SPDX-License-Identifier: Apache-2.0
// NodeVolumeLimits: what counts as which volume, limits, what cannot be counted, hints.
#include "plugins/node_volume_limits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plugins/volume_test_util.h"

namespace berth::plugins {
namespace {

constexpr char kEbs[] = "ebs.csi.aws.com", kPd[] = "pd.csi.storage.gke.io", kAzure[] = "disk.csi.azure.com";
const Verdict kExceeded = NodeVolumeLimits::kTooMany;

// A node with a limit for each driver, and a pod there with a claim for the volume `there`.
struct LimitedTo : TestCluster {
  explicit LimitedTo(int32_t limit);
};

LimitedTo::LimitedTo(int32_t limit) {
  TestCluster& cluster = *this;
  cluster.Add(MakeNode("n")).Add(MakeNode("free"));
  cluster.AddObject(MakeCsiNode("n", {{"d", limit}, {kEbs, limit}, {kPd, limit}, {kAzure, limit}}));
  cluster.AddObject(MakeClass("later", "d")).AddObject(MakeClass("migrated", "kubernetes.io/aws-ebs"));
  cluster.AddObject(MakeClass("unknown", "kubernetes.io/vsphere-volume"));
  const auto add = [&](const std::string& claim, PersistentVolume volume) {
    cluster.AddObject(MakeClaim(claim, volume.meta.name)).AddObject(std::move(volume));
  };
  add("there", CsiVolume("pv-there", "d", "there"));
  add("new", CsiVolume("pv-new", "d", "new"));
  add("twin", CsiVolume("pv-twin", "d", "there"));
  add("other", CsiVolume("pv-other", "other", "x"));
  add("ebs", DiskVolume("pv-ebs", VolumeKind::kAwsEbs, "aws://zone/vol-1"));
  add("bad-ebs", DiskVolume("pv-bad-ebs", VolumeKind::kAwsEbs, "aws://zone/disk-1"));
  add("vsphere", DiskVolume("pv-vsphere", VolumeKind::kVsphere, "x"));
  add("nfs", MakeVolume("pv-nfs"));
  cluster.AddObject(MakeClaim("unbound", "", "later")).AddObject(MakeClaim("lost", "gone", "later"));
  cluster.AddObject(MakeClaim("migrated", "", "migrated")).AddObject(MakeClaim("unknown", "", "unknown"));
  cluster.AddObject(MakeClaim("classless")).AddObject(MakeClaim("no-class", "", "gone"));
  cluster.AddObject(OwnedClaim("p-v0", "p", "pv-new")).AddObject(OwnedClaim("q-v0", "other", "pv-new"));
}

Verdict AskLimits(const Pod& pod, const TestCluster& cluster, const std::string& node = "n") {
  return FilterAll(NodeVolumeLimits(), pod, cluster).at(node);
}

TEST(NodeVolumeLimitsTest, WhatCountsAndWhatDoesNot) {
  const struct {
    const char* name;
    PodVolume volume;
    bool counts;
  } cases[] = {
      {"a CSI volume", ClaimVolume("new"), true},
      {"of a driver without a limit", ClaimVolume("other"), false},
      {"one to be made", ClaimVolume("unbound"), true},
      {"one whose volume is gone", ClaimVolume("lost"), true},
      {"one to be made by a migrated plugin", ClaimVolume("migrated"), true},
      {"one to be made by a plugin that is not migrated", ClaimVolume("unknown"), false},
      {"without a class", ClaimVolume("classless"), false},
      {"of a class that is gone", ClaimVolume("no-class"), false},
      {"a migrated disk", ClaimVolume("ebs"), true},
      {"a migrated disk without a name", ClaimVolume("bad-ebs"), false},
      {"a disk that is not migrated", ClaimVolume("vsphere"), false},
      {"no disk at all", ClaimVolume("nfs"), false},
      {"a generic ephemeral volume", EphemeralVolume("p-v0"), true},
      {"a disk of the pod's", Disk(VolumeKind::kAwsEbs, "vol-9"), true},
      {"a disk of the pod's that is not migrated", Disk(VolumeKind::kVsphere, "x"), false},
      {"a CSI volume of the pod's", Disk(VolumeKind::kCsi, "d"), false},
      {"a managed Azure disk", {"", VolumeKind::kAzureDisk, "/subscriptions/x", false, "Managed"}, true},
  };
  for (const auto& c : cases) {
    const Pod pod = WithVolumes("p", {c.volume});
    EXPECT_TRUE(AskLimits(pod, LimitedTo(1)).fits()) << c.name;
    EXPECT_EQ(AskLimits(pod, LimitedTo(0)), c.counts ? kExceeded : Verdict(kFits)) << c.name;
    EXPECT_TRUE(AskLimits(pod, LimitedTo(0), "free").fits()) << c.name << ": no CSINode, no limit";
  }
}

TEST(NodeVolumeLimitsTest, EqualVolumesCountOnce) {
  const struct {
    const char* name;
    std::vector<std::string> there, wanted;
    int32_t needs;  // 0: nothing is new, so that it fits whatever is there
  } cases[] = {
      {"two", {"there"}, {"new"}, 2},
      {"the same claim", {"there"}, {"there"}, 0},
      {"the same volume by another claim", {"there"}, {"twin"}, 0},
      {"twice in the pod", {}, {"there", "twin", "there"}, 1},
      {"one there and one new", {"there"}, {"there", "new"}, 2},
      {"of two drivers", {"there", "ebs"}, {"new"}, 2},
      {"an unbound claim of two pods", {"unbound"}, {"unbound"}, 0},
      {"two unbound claims", {"unbound"}, {"lost"}, 2},
  };
  for (const auto& c : cases) {
    for (const int32_t limit : {std::max(c.needs - 1, 0), c.needs}) {
      LimitedTo cluster(limit);
      if (!c.there.empty()) cluster.Add(WithClaims("a", c.there).OnNode("n")).Add(WithClaims("b", c.there).OnNode("n"));
      EXPECT_EQ(AskLimits(WithClaims("p", c.wanted), cluster).fits(), limit >= c.needs)
          << c.name << ", limit " << limit;
    }
  }
}

TEST(NodeVolumeLimitsTest, AttachmentsCount) {
  LimitedTo cluster(2);
  cluster.AddObject(Attach("a", "n", "d", "pv-there"));
  EXPECT_TRUE(AskLimits(WithClaims("p", {"new"}), cluster).fits());
  EXPECT_TRUE(AskLimits(WithClaims("p", {"there"}), cluster).fits());
  cluster.AddObject(Attach("b", "n", "d", "pv-new"));
  EXPECT_EQ(AskLimits(WithClaims("p", {"unbound"}), cluster), kExceeded);
  EXPECT_EQ(AskLimits(WithClaims("p", {"new"}), cluster), kExceeded) << "attached, but no pod's: counted twice";
  cluster.Add(WithClaims("q", {"new"}).OnNode("n"));
  EXPECT_TRUE(AskLimits(WithClaims("p", {"new"}), cluster).fits());
  // Those do not count.
  LimitedTo others(1);
  others.AddObject(Attach("a", "free", "d", "pv-there")).AddObject(Attach("b", "n", "", "pv-there"));
  others.AddObject(Attach("c", "n", "d", "gone")).AddObject(Attach("d", "n", "d", "pv-ebs"));
  others.AddObject(Attach("e", "n", "other", "pv-there")).AddObject(Attach("f", "n", "d", ""));
  EXPECT_TRUE(AskLimits(WithClaims("p", {"new"}), others).fits());
}

TEST(NodeVolumeLimitsTest, OnlyCsiNodesStateLimits) {
  TestCluster cluster;
  cluster.Add(MakeNode("n").Capacity({{"cpu", "4"}, {"pods", "10"}, {"attachable-volumes-csi-d", "0"}}));
  cluster.AddObject(MakeClaim("c", "pv")).AddObject(CsiVolume("pv", "d", "h"));
  EXPECT_TRUE(AskLimits(WithClaims("p", {"c"}), cluster).fits());
  cluster.AddObject(MakeCsiNode("n", {{"d", std::nullopt}}));
  EXPECT_TRUE(AskLimits(WithClaims("p", {"c"}), cluster).fits());
  cluster.AddObject(MakeCsiNode("n", {{"d", 0}}));
  EXPECT_EQ(AskLimits(WithClaims("p", {"c"}), cluster), kExceeded);
}

TEST(NodeVolumeLimitsTest, WhatCannotBeCountedIsNamed) {
  const PodVolume bad = Disk(VolumeKind::kAwsEbs, "aws://zone/disk-1");
  const std::string bad_text =
      "converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID Invalid format for "
      "AWS volume (aws://zone/disk-1)";
  const std::string missing = "looking up PVC default/gone: persistentvolumeclaim \"gone\" not found";
  const struct {
    const char* name;
    std::vector<PodVolume> volumes;
    Verdict there, free;  // on a node with a CSINode, and on one without
  } cases[] = {
      {"a missing claim", {ClaimVolume("gone")}, Unresolvable(missing), Unresolvable(missing)},
      {"a claim without a name",
       {ClaimVolume("")},
       Verdict::Fail("PersistentVolumeClaim had no name"),
       Verdict::Fail("PersistentVolumeClaim had no name")},
      {"a claim that is another pod's",
       {EphemeralVolume("q-v0")},
       Verdict::Fail("PVC default/q-v0 was not created for pod default/p (pod is not owner)"),
       Verdict::Fail("PVC default/q-v0 was not created for pod default/p (pod is not owner)")},
      {"a disk without a name", {bad}, Verdict::Fail(bad_text), kFits},
      {"the first failure counts", {bad, ClaimVolume("gone")}, Verdict::Fail(bad_text), Unresolvable(missing)},
      {"a disk of a kind that was never migrated",
       {{"", VolumeKind::kAzureDisk, "https://x", false, "Shared"}},
       Verdict::Fail("converting volume(v0) from inline to csi: kind(Shared) is not supported in csi migration"),
       kFits},
  };
  for (const auto& c : cases) {
    const LimitedTo cluster(5);
    EXPECT_EQ(AskLimits(WithVolumes("p", c.volumes), cluster), c.there) << c.name;
    EXPECT_EQ(AskLimits(WithVolumes("p", c.volumes), cluster, "free"), c.free) << c.name;
  }
}

TEST(NodeVolumeLimitsTest, APodThatCannotBeCountedFailsItsNode) {
  const struct {
    const char* name;
    PodVolume volume;
    Verdict want;
  } cases[] = {
      {"a missing claim is ignored", ClaimVolume("gone"), kFits},
      {"a claim without a name", ClaimVolume(""), Verdict::Fail("PersistentVolumeClaim had no name")},
      {"a claim that is another pod's", EphemeralVolume("q-v0"),
       Verdict::Fail("PVC default/q-v0 was not created for pod default/there (pod is not owner)")},
      {"a disk without a name",
       {"", VolumeKind::kAzureDisk, "https://x", false, "Shared"},
       Verdict::Fail("converting volume(v0) from inline to csi: kind(Shared) is not supported in csi migration")},
  };
  for (const auto& c : cases) {
    LimitedTo cluster(5);
    cluster.Add(WithVolumes("there", {c.volume}).OnNode("n"));
    EXPECT_EQ(AskLimits(WithClaims("p", {"new"}), cluster), c.want) << c.name;
    EXPECT_TRUE(AskLimits(WithClaims("p", {"nfs"}), cluster).fits()) << c.name << ": nobody looks";
  }
}

TEST(NodeVolumeLimitsHintTest, PodsWakeByWhatConcernsThem) {
  const auto events = *NodeVolumeLimits().EventsToRegister();
  const auto wakes = [&](size_t event, const Pod& pod, const EventObjects& objects) {
    return events[event].hint(pod, objects) == QueueingHint::kQueue;
  };
  const auto changed = []<class T>(const T* before, const T* after) {
    EventObjects objects;
    objects.object = ObjectChange(before, after);
    return objects;
  };
  const Pod claims = WithVolumes("p", {ClaimVolume("c"), EphemeralVolume("p-v1")});
  EXPECT_EQ(events[0].hint, nullptr) << "a new CSINode always may help";

  const auto limits = [](std::map<std::string, std::optional<int32_t>> limits) {
    return MakeCsiNode("n", std::move(limits));
  };
  const CsiNode two = limits({{"d", 2}}), three = limits({{"d", 3}}), none = limits({}), open = limits({{"d", {}}});
  EXPECT_TRUE(wakes(1, claims, changed(&two, &three)));
  EXPECT_TRUE(wakes(1, claims, changed(&none, &two)));
  EXPECT_TRUE(wakes(1, claims, changed(&open, &two)));
  EXPECT_FALSE(wakes(1, claims, changed(&three, &two)));
  EXPECT_FALSE(wakes(1, claims, changed(&two, &two)));
  EXPECT_FALSE(wakes(1, claims, changed(&two, &open))) << "as upstream has it";
  EXPECT_FALSE(wakes(1, claims, changed(&two, &none)));

  const auto gone = [&](const Pod& pod) { return wakes(2, claims, {.pod_before = &pod}); };
  EXPECT_TRUE(gone(WithClaims("x", {"any"}).OnNode("n")));
  EXPECT_TRUE(gone(WithVolumes("x", {EphemeralVolume("any")}).Nominated("n")));
  EXPECT_TRUE(gone(WithVolumes("x", {Disk(VolumeKind::kVsphere, "any")}).OnNode("n")));
  EXPECT_FALSE(gone(WithClaims("x", {"any"})));
  EXPECT_FALSE(gone(MakePod("x").OnNode("n")));
  EXPECT_FALSE(gone(WithVolumes("x", {Disk(VolumeKind::kCsi, "any")}).OnNode("n")));

  const PersistentVolumeClaim* const nothing = nullptr;
  for (const auto& [name, want] : std::map<std::string, bool>{{"c", true}, {"p-v1", true}, {"d", false}}) {
    const PersistentVolumeClaim claim = MakeClaim(name);
    EXPECT_EQ(wakes(3, claims, changed(nothing, &claim)), want) << name;
  }

  const VolumeAttachment attachment = Attach("a", "n", kEbs, "pv");
  const auto detached = [&](const Pod& pod) {
    return wakes(4, pod, changed(&attachment, static_cast<const VolumeAttachment*>(nullptr)));
  };
  EXPECT_TRUE(detached(claims));
  EXPECT_TRUE(detached(WithVolumes("p", {Disk(VolumeKind::kAwsEbs, "vol-1")})));
  EXPECT_TRUE(detached(WithVolumes("p", {Disk(VolumeKind::kAwsEbs, "aws://z/bad")})));
  EXPECT_FALSE(detached(WithVolumes("p", {Disk(VolumeKind::kGcePd, "disk")})));
  EXPECT_FALSE(detached(WithVolumes("p", {Disk(VolumeKind::kVsphere, "disk")}))) << "upstream may crash here";
  EXPECT_FALSE(detached(WithVolumes("p", {EphemeralVolume("p-v0")}))) << "as upstream has it";
}

}  // namespace
}  // namespace berth::plugins
