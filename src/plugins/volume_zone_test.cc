// SPDX-License-Identifier: Apache-2.0
// VolumeZone: labels of volumes against those of nodes, texts of claims that lead nowhere, hints.
#include "plugins/volume_zone.h"

#include <gtest/gtest.h>

#include "plugins/volume_test_util.h"

namespace berth::plugins {
namespace {

constexpr char kGaZone[] = "topology.kubernetes.io/zone", kGaRegion[] = "topology.kubernetes.io/region";
constexpr char kOldZone[] = "failure-domain.beta.kubernetes.io/zone";
constexpr char kOldRegion[] = "failure-domain.beta.kubernetes.io/region";

PersistentVolume Labelled(const std::string& name, std::vector<Labels::Entry> labels) {
  PersistentVolume volume = MakeVolume(name);
  volume.meta.labels = Labels(std::move(labels));
  return volume;
}

TEST(VolumeZoneTest, AVolumeKeepsItsPodsInItsZone) {
  const struct {
    const char* name;
    std::vector<Labels::Entry> volume, node;
    bool fits;
  } cases[] = {
      {"no labels anywhere", {}, {}, true},
      {"a volume without labels", {}, {{kGaZone, "a"}}, true},
      {"a node that says nothing of zones", {{kGaZone, "a"}}, {{"other", "x"}}, true},
      {"same zone", {{kGaZone, "a"}}, {{kGaZone, "a"}}, true},
      {"other zone", {{kGaZone, "a"}}, {{kGaZone, "b"}}, false},
      {"one of several zones", {{kGaZone, "a__b"}}, {{kGaZone, "b"}}, true},
      {"none of several zones", {{kGaZone, "a__b"}}, {{kGaZone, "c"}}, false},
      {"spaces are trimmed", {{kGaZone, "a__ b "}}, {{kGaZone, "b"}}, true},
      {"an empty part voids the label", {{kGaZone, "a__"}}, {{kGaZone, "c"}}, true},
      {"an empty label is void", {{kGaZone, ""}}, {{kGaZone, "c"}}, true},
      {"zone fits, region does not", {{kGaZone, "a"}, {kGaRegion, "r"}}, {{kGaZone, "a"}, {kGaRegion, "s"}}, false},
      {"zone fits, the node has no region", {{kGaZone, "a"}, {kGaRegion, "r"}}, {{kGaZone, "a"}}, false},
      {"the node has a region only", {{kGaZone, "a"}}, {{kGaRegion, "r"}}, false},
      {"a beta label meets the newer one", {{kOldZone, "a"}}, {{kGaZone, "a"}}, true},
      {"a beta region meets the newer one", {{kOldRegion, "r"}}, {{kGaRegion, "s"}}, false},
      {"a beta label goes first", {{kOldZone, "a"}}, {{kOldZone, "b"}, {kGaZone, "a"}}, false},
      {"a newer label does not meet the beta one", {{kGaZone, "a"}}, {{kOldZone, "a"}}, false},
      {"an empty value of a node is a value", {{kGaZone, "a"}}, {{kGaZone, ""}}, false},
  };
  for (const auto& c : cases) {
    TestCluster cluster;
    MakeNode node("n");
    for (const auto& [key, value] : c.node) node.Label(key, value);
    cluster.Add(node).Add(MakeNode("elsewhere").Label(kGaZone, "z"));
    cluster.AddObject(MakeClaim("c", "pv")).AddObject(Labelled("pv", c.volume));
    const Verdict want = c.fits ? Verdict(kFits) : Verdict(VolumeZone::kConflict);
    EXPECT_EQ(FilterAll(VolumeZone(), WithClaims("p", {"c"}), cluster).at("n"), want) << c.name;
  }
}

TEST(VolumeZoneTest, EveryClaimHasToAgree) {
  TestCluster cluster;
  cluster.Add(MakeNode("a").Label(kGaZone, "a")).Add(MakeNode("b").Label(kGaZone, "b"));
  cluster.AddObject(MakeClaim("both", "pv-both")).AddObject(Labelled("pv-both", {{kGaZone, "a__b"}}));
  cluster.AddObject(MakeClaim("b", "pv-b")).AddObject(Labelled("pv-b", {{kGaZone, "b"}}));
  const auto verdicts = FilterAll(VolumeZone(), WithClaims("p", {"both", "b"}), cluster);
  EXPECT_EQ(verdicts.at("a"), Verdict(VolumeZone::kConflict));
  EXPECT_TRUE(verdicts.at("b").fits());
}

TEST(VolumeZoneTest, ClaimsThatLeadNowhereAreNamed) {
  TestCluster cluster;
  cluster.Add(MakeNode("n").Label(kGaZone, "a"));
  cluster.AddObject(MakeClass("later", "x")).AddObject(MakeClass("now", "x", "Immediate"));
  cluster.AddObject(MakeClass("unset", "x", std::nullopt));
  cluster.AddObject(MakeClaim("unbound")).AddObject(MakeClaim("later", "", "later"));
  cluster.AddObject(MakeClaim("now", "", "now")).AddObject(MakeClaim("unset", "", "unset"));
  cluster.AddObject(MakeClaim("classless", "", "gone")).AddObject(MakeClaim("lost", "gone"));
  PersistentVolumeClaim annotated = MakeClaim("annotated", "", "now");
  annotated.meta.annotations = Labels({{"volume.beta.kubernetes.io/storage-class", "later"}});
  cluster.AddObject(annotated);
  const struct {
    const char* claim;
    Verdict want;
  } cases[] = {
      {"", Unresolvable("PersistentVolumeClaim had no name")},
      {"gone", Unresolvable("persistentvolumeclaim \"gone\" not found")},
      {"unbound", Unresolvable("PersistentVolumeClaim had no pv name and storageClass name")},
      {"classless", Unresolvable("storageclass.storage.k8s.io \"gone\" not found")},
      {"unset", Unresolvable("VolumeBindingMode not set for StorageClass \"unset\"")},
      {"now", Unresolvable("PersistentVolume had no name")},
      {"lost", Unresolvable("persistentvolume \"gone\" not found")},
      {"later", kFits},
      {"annotated", kFits},
  };
  for (const auto& c : cases)
    EXPECT_EQ(FilterAll(VolumeZone(), WithClaims("p", {c.claim}), cluster).at("n"), c.want) << c.claim;
  EXPECT_TRUE(FilterAll(VolumeZone(), WithVolumes("p", {EphemeralVolume("gone")}), cluster).at("n").fits())
      << "generic ephemeral volumes have no part in it";
}

TEST(VolumeZoneTest, PodsWakeByWhatConcernsThem) {
  const auto events = *VolumeZone().EventsToRegister();
  const Pod pod = WithVolumes("p", {ClaimVolume("c"), EphemeralVolume("p-v1")});
  const auto wakes = [&](size_t event, const EventObjects& objects) {
    return events[event].hint(pod, objects) == QueueingHint::kQueue;
  };
  const StorageClass later = MakeClass("s", "x"), now = MakeClass("s", "x", "Immediate");
  const StorageClass unset = MakeClass("s", "x", std::nullopt);
  const auto added = [](const auto& object) {
    EventObjects objects;
    objects.object = ObjectChange(static_cast<decltype(&object)>(nullptr), &object);
    return objects;
  };
  EXPECT_TRUE(wakes(0, added(later)));
  EXPECT_FALSE(wakes(0, added(now)));
  EXPECT_FALSE(wakes(0, added(unset)));
  EXPECT_EQ(events[1].hint, nullptr) << "nodes always may help";
  PersistentVolumeClaim elsewhere = MakeClaim("c");
  elsewhere.meta.namespace_ = "other";
  EXPECT_TRUE(wakes(2, added(MakeClaim("c"))));
  EXPECT_FALSE(wakes(2, added(MakeClaim("d"))));
  EXPECT_FALSE(wakes(2, added(MakeClaim("p-v1")))) << "an ephemeral volume's";
  EXPECT_FALSE(wakes(2, added(elsewhere)));
  const PersistentVolume a = Labelled("v", {{kGaZone, "a"}}), b = Labelled("v", {{kGaZone, "b"}});
  const PersistentVolume spaced = Labelled("v", {{kGaZone, " a"}, {"x", "y"}});
  const auto changed = [](const PersistentVolume& before, const PersistentVolume& after) {
    EventObjects objects;
    objects.object = ObjectChange(&before, &after);
    return objects;
  };
  EXPECT_TRUE(wakes(3, added(a)));
  EXPECT_TRUE(wakes(3, changed(a, b)));
  EXPECT_FALSE(wakes(3, changed(a, a)));
  EXPECT_FALSE(wakes(3, changed(a, spaced))) << "the zones are the same";
}

}  // namespace
}  // namespace berth::plugins
