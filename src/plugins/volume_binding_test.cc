// SPDX-License-Identifier: Apache-2.0
// VolumeBinding up to the decision: which claims hold a pod back, and which nodes will do.
#include "plugins/volume_binding.h"

#include <gtest/gtest.h>

#include <memory>

#include "plugins/volume_binding_plan.h"
#include "plugins/volume_binding_test_util.h"

namespace berth::plugins {
namespace {

using volumes::Annotated;
using volumes::BoundClaim;
using volumes::Claim;
using volumes::Class;
using volumes::Gi;
using volumes::Host;
using volumes::PodWithClaims;
using volumes::Volume;

class VolumeBindingTest : public ::testing::Test {
 protected:
  VolumeBindingTest() {
    cluster.Add(Host("a")).Add(Host("b"));
    cluster.AddObject(Class("local"));
    cluster.AddObject(Class("made", "driver.example.com"));
  }
  Verdict On(const std::string& node, const Pod& pod) { return FilterAll(plugin, pod, cluster).at(node); }
  static Verdict No(std::vector<std::string_view> reasons) {
    return {Code::kUnschedulableAndUnresolvable, std::vector<std::string>(reasons.begin(), reasons.end())};
  }

  std::unique_ptr<berth::Handle> handle = MakeTestHandle();
  VolumeBinding plugin{{}, *handle};
  TestCluster cluster;
};

TEST_F(VolumeBindingTest, ClaimsThatNobodyCanBindHoldThePodBack) {
  PersistentVolumeClaim lost = BoundClaim("lost", "gone");
  lost.phase = "Lost";
  PersistentVolumeClaim deleted = BoundClaim("deleted", "v");
  deleted.meta.deletion_time = Time{1};
  PersistentVolumeClaim pre_bound = Claim("pre-bound", "local");
  pre_bound.volume_name = "v";
  for (const auto& claim : {lost, deleted, pre_bound, Claim("no-class", ""), Claim("unknown-class", "nope")})
    cluster.AddObject(claim);
  cluster.AddObject(Class("now", "x", "Immediate"));
  cluster.AddObject(Claim("immediate", "now"));
  StorageClass undecided = Class("undecided");
  undecided.volume_binding_mode.reset();
  cluster.AddObject(undecided);
  cluster.AddObject(Claim("of-undecided", "undecided"));
  const struct {
    const char* claim;
    Verdict want;
  } cases[] = {
      {"absent", No({"persistentvolumeclaim \"absent\" not found"})},
      {"lost", No({"persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"gone\""})},
      {"deleted", No({"persistentvolumeclaim \"deleted\" is being deleted"})},
      {"pre-bound", No({kUnboundImmediate})},
      {"no-class", No({kUnboundImmediate})},
      {"unknown-class", No({kUnboundImmediate})},
      {"immediate", No({kUnboundImmediate})},
  };
  for (const auto& c : cases) EXPECT_EQ(On("a", PodWithClaims({c.claim})), c.want) << c.claim;
  const Verdict failed = On("a", PodWithClaims({"of-undecided"}));
  EXPECT_EQ(failed.code(), Code::kError);
  EXPECT_NE(failed.message().find("VolumeBindingMode not set for StorageClass \"undecided\""), std::string::npos);
  EXPECT_TRUE(On("a", MakePod()).fits());
}

TEST_F(VolumeBindingTest, AnEphemeralVolumesClaimHasToBeThePodsOwn) {
  const Pod pod = MakePod("p").Uid("u").With([](Pod& p) {
    PodVolume volume;
    volume.name = "scratch";
    volume.kind = VolumeKind::kEphemeral;
    p.volumes.push_back(volume);
  });
  EXPECT_EQ(On("a", pod),
            No({"waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-scratch\""}));
  PersistentVolumeClaim claim = BoundClaim("p-scratch", "v");
  cluster.AddObject(Volume("v"));
  cluster.AddObject(claim);
  EXPECT_EQ(On("a", pod), No({"PVC default/p-scratch was not created for pod default/p (pod is not owner)"}));
  OwnerReference owner;
  owner.uid = "u";
  owner.controller = true;
  claim.meta.owners.push_back(owner);
  cluster.AddObject(claim);
  EXPECT_TRUE(On("a", pod).fits());
}

TEST_F(VolumeBindingTest, BoundVolumesHaveToBeThereAndReached) {
  cluster.AddObject(BoundClaim("on-a", "volume-a"));
  cluster.AddObject(BoundClaim("gone", "nowhere"));
  cluster.AddObject(Volume("volume-a", 1, {"a"}));
  EXPECT_TRUE(On("a", PodWithClaims({"on-a"})).fits());
  EXPECT_EQ(On("b", PodWithClaims({"on-a"})), No({kNodeConflict}));
  EXPECT_EQ(On("a", PodWithClaims({"gone"})), No({kVolumeGone}));
  EXPECT_EQ(On("b", PodWithClaims({"on-a", "gone"})), No({kNodeConflict})) << "the first failure ends it";
}

TEST_F(VolumeBindingTest, ATermOfFieldsAloneMatchesEveryNodeAndAnEmptyOneNone) {
  PersistentVolume volume = Volume("v");
  NodeSelectorTerm term;
  term.match_fields.push_back(Require("metadata.name", SelectorOp::kIn, {"elsewhere"}));
  volume.node_affinity.emplace().terms.Edit().push_back(term);
  cluster.AddObject(volume);
  cluster.AddObject(BoundClaim("c", "v"));
  EXPECT_TRUE(On("a", PodWithClaims({"c"})).fits());
  volume.node_affinity->terms.Edit() = {NodeSelectorTerm()};
  cluster.AddObject(volume);
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kNodeConflict}));
}

TEST_F(VolumeBindingTest, MigratedVolumesAreReachedByTheDriversZone) {
  cluster.Add(MakeNode("m").Label("topology.ebs.csi.aws.com/zone", "z1"));
  cluster.Add(MakeNode("old").Label("topology.kubernetes.io/zone", "z1"));
  CsiNode csi;
  csi.meta.name = "m";
  csi.meta.annotations = Labels({{"storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs"}});
  cluster.AddObject(csi);
  PersistentVolume volume = Volume("v");
  volume.kind = VolumeKind::kAwsEbs;
  volume.disk = "vol-1";
  NodeSelectorTerm term;
  term.match_expressions.push_back(Require("topology.kubernetes.io/zone", SelectorOp::kIn, {"z1"}));
  volume.node_affinity.emplace().terms.Edit().push_back(term);
  cluster.AddObject(volume);
  cluster.AddObject(BoundClaim("c", "v"));
  EXPECT_TRUE(On("m", PodWithClaims({"c"})).fits());
  EXPECT_TRUE(On("old", PodWithClaims({"c"})).fits());
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kNodeConflict}));

  volume.disk = "aws://zone/not-a-volume";
  cluster.AddObject(volume);
  const Verdict failed = On("m", PodWithClaims({"c"}));
  EXPECT_EQ(failed.code(), Code::kError);
  EXPECT_NE(failed.message().find("could not translate pv: failed to translate Kubernetes ID to EBS Volume ID"),
            std::string::npos)
      << failed.message();
}

TEST_F(VolumeBindingTest, AClaimThatWaitsNeedsAFreeVolumeThere) {
  cluster.AddObject(Claim("c", "local", 2));
  const Pod pod = PodWithClaims({"c"});
  EXPECT_EQ(On("a", pod), No({kBindConflict}));
  const struct {
    const char* why;
    void (*spoil)(PersistentVolume&);
  } cases[] = {
      {"too small", [](PersistentVolume& v) { v.capacity = Gi(1); }},
      {"not available", [](PersistentVolume& v) { v.phase = "Released"; }},
      {"another class", [](PersistentVolume& v) { v.storage_class = "other"; }},
      {"another mode", [](PersistentVolume& v) { v.volume_mode = "Block"; }},
      {"other access", [](PersistentVolume& v) { v.access_modes = {"ReadOnlyMany"}; }},
      {"another attributes class", [](PersistentVolume& v) { v.volume_attributes_class = "gold"; }},
      {"being deleted", [](PersistentVolume& v) { v.meta.deletion_time = Time{1}; }},
      {"of another claim",
       [](PersistentVolume& v) {
         v.claim_ref = {"default", "another", ""};
       }},
      {"of an earlier claim of that name",
       [](PersistentVolume& v) {
         v.claim_ref = {"default", "c", "old"};
       }},
      {"out of reach", [](PersistentVolume& v) { v.node_affinity = volumes::OnHosts({"b"}); }},
  };
  for (const auto& c : cases) {
    PersistentVolume volume = Volume("v", 2, {"a"});
    c.spoil(volume);
    cluster.AddObject(volume);
    EXPECT_EQ(On("a", pod), No({kBindConflict})) << c.why;
  }
  cluster.AddObject(Volume("v", 2, {"a"}));
  EXPECT_TRUE(On("a", pod).fits());
  EXPECT_EQ(On("b", pod), No({kBindConflict}));
}

TEST_F(VolumeBindingTest, AVolumeForTheClaimIsTheOnlyOneThatCounts) {
  cluster.AddObject(Claim("c", "local"));
  PersistentVolume mine = Volume("mine", 5, {"b"});
  mine.claim_ref = {"default", "c", ""};
  mine.phase = "Pending";
  mine.access_modes = {};
  cluster.AddObject(mine);
  cluster.AddObject(Volume("free", 1, {"a"}));
  EXPECT_TRUE(On("b", PodWithClaims({"c"})).fits());
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kBindConflict}));
}

TEST_F(VolumeBindingTest, TwoClaimsNeedTwoVolumes) {
  cluster.AddObject(Claim("c", "local"));
  cluster.AddObject(Claim("d", "local", 3));
  cluster.AddObject(Volume("one", 3, {"a"}));
  EXPECT_TRUE(On("a", PodWithClaims({"c"})).fits());
  EXPECT_EQ(On("a", PodWithClaims({"d", "c"})), No({kBindConflict}));
  EXPECT_EQ(On("a", PodWithClaims({"c", "c"})), No({kBindConflict})) << "named twice";
  cluster.AddObject(Volume("two", 1, {"a"}));
  EXPECT_TRUE(On("a", PodWithClaims({"d", "c"})).fits()) << "the small claim takes the small one";
}

TEST_F(VolumeBindingTest, TheSelectorOfAClaimChoosesAmongVolumes) {
  PersistentVolumeClaim claim = Claim("c", "local");
  claim.selector = SelectLabels({{"tier", "fast"}});
  cluster.AddObject(claim);
  cluster.AddObject(Volume("slow", 1, {"a"}));
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kBindConflict}));
  PersistentVolume fast = Volume("fast", 9, {"a"});
  fast.meta.labels = Labels({{"tier", "fast"}});
  cluster.AddObject(fast);
  EXPECT_TRUE(On("a", PodWithClaims({"c"})).fits());
  claim.selector->invalid = "not a selector";
  cluster.AddObject(claim);
  const Verdict failed = On("a", PodWithClaims({"c"}));
  EXPECT_EQ(failed.code(), Code::kError);
  EXPECT_NE(failed.message().find("error creating internal label selector for claim: default/c: not a selector"),
            std::string::npos);
}

TEST_F(VolumeBindingTest, WhatIsNotThereIsMadeWhereTheClassAllows) {
  cluster.AddObject(Claim("c", "made"));
  EXPECT_TRUE(On("a", PodWithClaims({"c"})).fits());
  StorageClass made = Class("made", "driver.example.com");
  NodeSelectorTerm term;
  term.match_expressions.push_back(Require("kubernetes.io/hostname", SelectorOp::kIn, {"b"}));
  made.allowed_topologies.push_back(term);
  cluster.AddObject(made);
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kBindConflict}));
  EXPECT_TRUE(On("b", PodWithClaims({"c"})).fits());
}

TEST_F(VolumeBindingTest, ASelectedNodeIsTheOnlyOne) {
  cluster.AddObject(Annotated(Claim("c", "made"), "volume.kubernetes.io/selected-node", "b"));
  cluster.AddObject(Annotated(Claim("empty", "made"), "volume.kubernetes.io/selected-node", ""));
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kBindConflict}));
  EXPECT_TRUE(On("b", PodWithClaims({"c"})).fits());
  EXPECT_EQ(On("b", PodWithClaims({"empty"})), No({kBindConflict}));
}

TEST_F(VolumeBindingTest, ADriverThatTracksCapacityNeedsRoom) {
  cluster.AddObject(Claim("c", "made", 4));
  CsiDriver driver;
  driver.meta.name = "driver.example.com";
  driver.storage_capacity = true;
  cluster.AddObject(driver);
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kNotEnoughSpace}));
  CsiStorageCapacity capacity;
  capacity.meta.name = "pool";
  capacity.meta.namespace_ = "anywhere";
  capacity.storage_class = "made";
  capacity.node_topology = SelectLabels({{"kubernetes.io/hostname", "a"}});
  capacity.capacity = Gi(4);
  cluster.AddObject(capacity);
  EXPECT_TRUE(On("a", PodWithClaims({"c"})).fits());
  EXPECT_EQ(On("b", PodWithClaims({"c"})), No({kNotEnoughSpace}));
  capacity.maximum_volume_size = Gi(3);
  cluster.AddObject(capacity);
  EXPECT_EQ(On("a", PodWithClaims({"c"})), No({kNotEnoughSpace})) << "the largest volume counts, not the sum";
  capacity.maximum_volume_size.reset();
  capacity.node_topology = LabelSelector();
  cluster.AddObject(capacity);
  EXPECT_TRUE(On("b", PodWithClaims({"c"})).fits());
  capacity.node_topology.reset();
  cluster.AddObject(capacity);
  EXPECT_EQ(On("b", PodWithClaims({"c"})), No({kNotEnoughSpace}));
}

TEST_F(VolumeBindingTest, ReasonsOfBoundAndWaitingClaimsComeTogether) {
  cluster.AddObject(BoundClaim("on-b", "volume-b"));
  cluster.AddObject(Volume("volume-b", 1, {"b"}));
  cluster.AddObject(Claim("c", "local", 50));
  EXPECT_EQ(On("a", PodWithClaims({"c", "on-b"})), No({kNodeConflict, kBindConflict}));
}

QueueingHint Hint(const VolumeBinding& plugin, EventResource resource, const Pod& pod, const EventObjects& objects) {
  const auto events = *plugin.EventsToRegister();
  for (const EventRegistration& one : events)
    if (one.event.resource == resource) return one.hint ? one.hint(pod, objects) : QueueingHint::kQueue;
  ADD_FAILURE() << "not registered";
  return QueueingHint::kSkip;
}

template <class T>
EventObjects Of(const T* before, const T* after) {
  EventObjects objects;
  objects.object = ObjectChange(before, after);
  return objects;
}

TEST_F(VolumeBindingTest, HintsTellWhatCanHelp) {
  const Pod pod = PodWithClaims({"c"});
  const auto queue = QueueingHint::kQueue, skip = QueueingHint::kSkip;
  const PersistentVolumeClaim own = Claim("c", "local"), other = Claim("d", "local");
  EXPECT_EQ(Hint(plugin, EventResource::kPersistentVolumeClaim, pod, Of<PersistentVolumeClaim>(nullptr, &own)), queue);
  EXPECT_EQ(Hint(plugin, EventResource::kPersistentVolumeClaim, pod, Of(&other, &other)), skip);
  const StorageClass local = Class("local");
  StorageClass topology = local;
  topology.allowed_topologies.push_back(NodeSelectorTerm());
  EXPECT_EQ(Hint(plugin, EventResource::kStorageClass, pod, Of<StorageClass>(nullptr, &local)), queue);
  EXPECT_EQ(Hint(plugin, EventResource::kStorageClass, pod, Of(&local, &local)), skip);
  EXPECT_EQ(Hint(plugin, EventResource::kStorageClass, pod, Of(&local, &topology)), queue);
  CsiStorageCapacity less, more;
  less.capacity = Gi(1);
  more.capacity = Gi(2);
  EXPECT_EQ(Hint(plugin, EventResource::kCsiStorageCapacity, pod, Of(&less, &more)), queue);
  EXPECT_EQ(Hint(plugin, EventResource::kCsiStorageCapacity, pod, Of(&more, &less)), skip);
  CsiNode plain, migrated;
  migrated.meta.annotations = Labels({{"storage.alpha.kubernetes.io/migrated-plugins", "kubernetes.io/aws-ebs"}});
  EXPECT_EQ(Hint(plugin, EventResource::kCsiNode, pod, Of(&plain, &migrated)), queue);
  EXPECT_EQ(Hint(plugin, EventResource::kCsiNode, pod, Of(&plain, &plain)), skip);
  CsiDriver tracks, does_not;
  tracks.meta.name = does_not.meta.name = "driver.example.com";
  tracks.storage_capacity = true;
  EXPECT_EQ(Hint(plugin, EventResource::kCsiDriver, pod, Of(&tracks, &does_not)), skip);
  EXPECT_EQ(Hint(plugin, EventResource::kPersistentVolume, pod, {}), queue);
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
