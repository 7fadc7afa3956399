// SPDX-License-Identifier: Apache-2.0
// The volume controller of the simulated cluster, and what the door lets a scheduler write.
#include "sim/volume_controller.h"

#include <gtest/gtest.h>

#include "sim/simulated_cluster_test_util.h"

namespace berth::sim {
namespace {

class VolumeControllerTest : public ::testing::Test {
 protected:
  template <class T>
  int Put(T object) {
    return world.cluster.Create(std::make_shared<const T>(std::move(object))).code;
  }
  int AddClass(const std::string& name, const std::string& mode, const std::string& provisioner,
               const Labels& annotations = {}) {
    StorageClass out;
    out.meta.name = name;
    out.meta.annotations = annotations;
    out.volume_binding_mode = mode;
    out.provisioner = provisioner;
    return Put(out);
  }
  void AddClaim(const std::string& name, const std::string& storage_class, int64_t size, Labels annotations = {}) {
    PersistentVolumeClaim claim;
    claim.meta.name = name;
    claim.meta.namespace_ = "default";
    claim.meta.annotations = std::move(annotations);
    claim.storage_class = storage_class;
    claim.request = Quantity::FromValue(size);
    Put(claim);
  }
  void AddVolume(const std::string& name, const std::string& storage_class, int64_t size) {
    PersistentVolume volume;
    volume.meta.name = name;
    volume.storage_class = storage_class;
    volume.capacity = Quantity::FromValue(size);
    Put(volume);
  }
  static Pod EphemeralPod(const std::string& name, const std::string& storage_class) {
    Pod pod;
    pod.meta.name = name;
    pod.meta.namespace_ = "default";
    PersistentVolumeClaim like;
    like.meta.labels = Labels({{"tier", "scratch"}});
    like.storage_class = storage_class;
    like.request = Quantity::FromValue(3);
    PodVolume volume{"scratch", VolumeKind::kEphemeral, name + "-scratch"};
    volume.claim_template = {like};
    pod.volumes.push_back(volume);
    return pod;
  }
  Ptr<PersistentVolumeClaim> ClaimNow(const std::string& name) {
    return std::get<Ptr<PersistentVolumeClaim>>(*world.cluster.Find(Kind::kPersistentVolumeClaim, "default", name));
  }
  Ptr<PersistentVolume> VolumeNow(const std::string& name) {
    const ClusterObject* found = world.cluster.Find(Kind::kPersistentVolume, "", name);
    return found == nullptr ? nullptr : std::get<Ptr<PersistentVolume>>(*found);
  }
  // Code and version of the answer.
  std::pair<int, std::string> Give(const std::string& volume, const std::string& version, const std::string& claim) {
    std::pair<int, std::string> out{-1, ""};
    world.cluster.PatchVolume({volume, version, {"default", claim, ClaimNow(claim)->meta.uid}, "", true},
                              [&](const client::ApiStatus& status, const std::string& now) {
                                out = {status.code, now};
                              });
    world.Pass(Duration::Millis(10));
    return out;
  }
  std::pair<int, std::string> Select(const std::string& claim, const std::string& node) {
    std::pair<int, std::string> out{-1, ""};
    world.cluster.PatchClaim({"default", claim, ClaimNow(claim)->meta.resource_version, node},
                             [&](const client::ApiStatus& status, const std::string& now) {
                               out = {status.code, now};
                             });
    world.Pass(Duration::Millis(10));
    return out;
  }
  void Rest() { world.PassUntilQuiet(); }

  TestWorld world;
};

TEST_F(VolumeControllerTest, AnImmediateClaimTakesTheSmallestVolume) {
  AddVolume("big", "now", 9);
  AddVolume("small", "now", 5);
  AddVolume("tiny", "now", 1);
  AddClass("now", "Immediate", "");
  Rest();
  EXPECT_EQ(VolumeNow("small")->phase, "Available");
  AddClaim("c", "now", 4);
  Rest();
  EXPECT_EQ(ClaimNow("c")->volume_name, "small");
  EXPECT_EQ(ClaimNow("c")->phase, "Bound");
  EXPECT_TRUE(ClaimNow("c")->meta.annotations.Has("pv.kubernetes.io/bind-completed"));
  EXPECT_EQ(VolumeNow("small")->phase, "Bound");
  EXPECT_EQ(VolumeNow("small")->claim_ref->uid, ClaimNow("c")->meta.uid);
}

TEST_F(VolumeControllerTest, AClaimThatWaitsIsBoundToTheVolumeThatIsGivenToIt) {
  AddClass("later", "WaitForFirstConsumer", "kubernetes.io/no-provisioner");
  AddVolume("disk", "later", 5);
  AddClaim("c", "later", 4);
  Rest();
  EXPECT_EQ(ClaimNow("c")->volume_name, "") << "it waits";
  const std::string version = VolumeNow("disk")->meta.resource_version;
  EXPECT_EQ(Give("disk", "1", "c").first, 409);
  const auto [code, now] = Give("disk", version, "c");
  EXPECT_EQ(code, 200);
  EXPECT_EQ(now, VolumeNow("disk")->meta.resource_version);
  EXPECT_NE(now, version);
  EXPECT_EQ(Give("none", "1", "c").first, 404);
  Rest();
  EXPECT_EQ(ClaimNow("c")->volume_name, "disk");
  EXPECT_TRUE(world.cluster.quiet());
}

TEST_F(VolumeControllerTest, VolumesAreMadeForTheSelectedNodeAndGoWithTheirClaim) {
  world.cluster.Create(std::make_shared<const Node>(MakeNode("n").Label("kubernetes.io/hostname", "n").Build()));
  AddClass(
      "made", "WaitForFirstConsumer", "driver.example.com",
      Labels({{"sim.berth.dev/provision-failures", "1"}, {"sim.berth.dev/topology-key", "kubernetes.io/hostname"}}));
  AddClaim("c", "made", 4);
  Rest();
  EXPECT_EQ(Select("c", "n").first, 200);
  Rest();
  EXPECT_EQ(ClaimNow("c")->volume_name, "");
  EXPECT_FALSE(ClaimNow("c")->meta.annotations.Has("volume.kubernetes.io/selected-node")) << "the first attempt fails";
  EXPECT_EQ(Select("c", "n").first, 200);
  Rest();
  const std::string name = ClaimNow("c")->volume_name;
  ASSERT_NE(name, "");
  ASSERT_TRUE(VolumeNow(name)->node_affinity);
  EXPECT_TRUE(VolumeNow(name)->node_affinity->Matches("n", Labels({{"kubernetes.io/hostname", "n"}})));
  world.cluster.Delete(Kind::kPersistentVolumeClaim, "default", "c");
  Rest();
  EXPECT_EQ(VolumeNow(name), nullptr);
}

TEST_F(VolumeControllerTest, WithoutRoomNothingIsMade) {
  AddClass("made", "Immediate", "driver.example.com");
  CsiStorageCapacity room;
  room.meta.name = "pool";
  room.meta.namespace_ = "default";
  room.storage_class = "made";
  room.node_topology = LabelSelector();
  room.capacity = Quantity::FromValue(5);
  Put(room);
  AddClaim("a", "made", 4);
  Rest();
  EXPECT_NE(ClaimNow("a")->volume_name, "");
  AddClaim("b", "made", 4);
  Rest();
  EXPECT_EQ(ClaimNow("b")->volume_name, "");
  EXPECT_TRUE(world.cluster.quiet());
}

TEST_F(VolumeControllerTest, AClaimWhoseVolumeGoesIsLostAndAVolumeWhoseClaimGoesIsReleased) {
  AddClass("now", "Immediate", "");
  AddVolume("v", "now", 5);
  AddVolume("w", "now", 5);
  AddClaim("c", "now", 4);
  Rest();
  AddClaim("d", "now", 4);
  Rest();
  const std::string of_c = ClaimNow("c")->volume_name, of_d = ClaimNow("d")->volume_name;
  world.cluster.Delete(Kind::kPersistentVolume, "", of_c);
  world.cluster.Delete(Kind::kPersistentVolumeClaim, "default", "d");
  Rest();
  EXPECT_EQ(ClaimNow("c")->phase, "Lost");
  EXPECT_EQ(VolumeNow(of_d)->phase, "Released");
}

TEST_F(VolumeControllerTest, AnEphemeralVolumesClaimComesAndGoesWithItsPod) {
  AddClass("now", "Immediate", "driver.example.com");
  Pod pod = EphemeralPod("p", "now");
  ASSERT_EQ(Put(pod), 201);
  Rest();
  const Ptr<PersistentVolumeClaim> claim = ClaimNow("p-scratch");
  EXPECT_EQ(claim->storage_class, "now");
  EXPECT_EQ(claim->meta.labels, Labels({{"tier", "scratch"}}));
  ASSERT_EQ(claim->meta.owners.size(), 1u);
  const auto stored = std::get<Ptr<Pod>>(*world.cluster.Find(Kind::kPod, "default", "p"));
  EXPECT_EQ(claim->meta.owners[0], (OwnerReference{"v1", "Pod", "p", stored->uid(), true}));
  EXPECT_EQ(claim->phase, "Bound");
  const std::string volume = claim->volume_name;
  EXPECT_NE(VolumeNow(volume), nullptr);

  // Somebody deletes it: the pod is there still.
  EXPECT_TRUE(world.cluster.Delete(Kind::kPersistentVolumeClaim, "default", "p-scratch").ok());
  Rest();
  EXPECT_NE(ClaimNow("p-scratch")->meta.uid, claim->meta.uid);

  EXPECT_TRUE(world.cluster.Delete(Kind::kPod, "default", "p").ok());
  Rest();
  EXPECT_EQ(world.cluster.count(Kind::kPersistentVolumeClaim), 0u);
  EXPECT_EQ(world.cluster.count(Kind::kPersistentVolume), 0u);
}

TEST_F(VolumeControllerTest, AnotherPodsClaimOfThatNameHasToGoFirst) {
  AddClass("now", "Immediate", "driver.example.com");
  AddClaim("p-scratch", "now", 5);
  Rest();
  const std::string others = ClaimNow("p-scratch")->meta.uid;
  Put(EphemeralPod("p", "now"));
  Rest();
  EXPECT_EQ(ClaimNow("p-scratch")->meta.uid, others);
  EXPECT_TRUE(world.cluster.Delete(Kind::kPersistentVolumeClaim, "default", "p-scratch").ok());
  Rest();
  ASSERT_EQ(ClaimNow("p-scratch")->meta.owners.size(), 1u);
  EXPECT_EQ(ClaimNow("p-scratch")->meta.owners[0].name, "p");

  // A pod of the same name that comes right after the first has gone gets a claim of its own.
  const std::string first = ClaimNow("p-scratch")->meta.uid;
  EXPECT_TRUE(world.cluster.Delete(Kind::kPod, "default", "p").ok());
  Put(EphemeralPod("p", "now"));
  Rest();
  EXPECT_NE(ClaimNow("p-scratch")->meta.uid, first);
  const auto stored = std::get<Ptr<Pod>>(*world.cluster.Find(Kind::kPod, "default", "p"));
  EXPECT_EQ(ClaimNow("p-scratch")->meta.owners[0].uid, stored->uid());
}

TEST_F(VolumeControllerTest, AnnotationsThatCannotBeReadAreRefused) {
  EXPECT_EQ(AddClass("x", "Immediate", "p", Labels({{"sim.berth.dev/provision-time", "soon"}})), 422);
  EXPECT_EQ(AddClass("y", "Immediate", "p", Labels({{"sim.berth.dev/provision-failures", "-1"}})), 422);
  EXPECT_EQ(AddClass("z", "Immediate", "p", Labels({{"sim.berth.dev/bind-time", "1s"}})), 201);
}

}  // namespace
}  // namespace berth::sim
