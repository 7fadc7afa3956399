// SPDX-License-Identifier: Apache-2.0
// Storage objects and volume sources: all fields that plugins read, defaults, and what an API server would refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode_test_util.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string VolumeYaml(const std::string& spec) {
  return "{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv}, spec: {accessModes: [ReadWriteOnce], "
         "capacity: {storage: 1Gi}, " +
         spec + "}}";
}
std::string ClassYaml(const std::string& rest) {
  return "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: s}, provisioner: p, " + rest + "}";
}

TEST(DecodeStorageTest, AVolumeSaysWhereItIs) {
  const auto volume = Decode<PersistentVolume>(
      VolumeYaml("volumeAttributesClassName: gold, csi: {driver: D.io, volumeHandle: h}, nodeAffinity: {required: "
                 "{nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [b, a]}]}]}}"));
  EXPECT_EQ(volume.kind, VolumeKind::kCsi);
  EXPECT_EQ(volume.csi_driver, "D.io");
  EXPECT_EQ(volume.csi_handle, "h");
  EXPECT_EQ(volume.volume_attributes_class, "gold");
  EXPECT_EQ(volume.claim_ref, std::nullopt);
  ASSERT_TRUE(volume.node_affinity);
  EXPECT_TRUE(volume.node_affinity->Matches("n", Labels({{"zone", "a"}})));
  EXPECT_FALSE(volume.node_affinity->Matches("n", Labels({{"zone", "c"}})));
}

TEST(DecodeStorageTest, EveryDiskHasItsName) {
  const struct {
    const char* source;
    VolumeKind kind;
    const char *disk, *disk_kind;
  } cases[] = {
      {"awsElasticBlockStore: {volumeID: vol-1}", VolumeKind::kAwsEbs, "vol-1", ""},
      {"gcePersistentDisk: {pdName: disk}", VolumeKind::kGcePd, "disk", ""},
      {"azureDisk: {diskName: d, diskURI: 'https://x'}", VolumeKind::kAzureDisk, "https://x", "Shared"},
      {"azureDisk: {diskName: d, diskURI: /subscriptions/x, kind: Managed}", VolumeKind::kAzureDisk, "/subscriptions/x",
       "Managed"},
      {"cinder: {volumeID: c}", VolumeKind::kCinder, "c", ""},
      {"portworxVolume: {volumeID: p}", VolumeKind::kPortworx, "p", ""},
      {"azureFile: {secretName: s, shareName: f}", VolumeKind::kAzureFile, "", ""},
      {"vsphereVolume: {volumePath: v}", VolumeKind::kVsphere, "", ""},
      {"nfs: {server: s, path: /p}", VolumeKind::kOther, "", ""},
  };
  for (const auto& c : cases) {
    const auto volume = Decode<PersistentVolume>(VolumeYaml(c.source));
    EXPECT_EQ(volume.kind, c.kind) << c.source;
    EXPECT_EQ(volume.disk, c.disk) << c.source;
    EXPECT_EQ(volume.disk_kind, c.disk_kind) << c.source;
  }
  const auto from_server = Decode<PersistentVolume>(VolumeYaml("azureDisk: {diskURI: x}"), DecodeMode::kPeer);
  EXPECT_EQ(from_server.disk_kind, "") << "a server has applied the defaults, if any";
}

TEST(DecodeStorageTest, PodsVolumesHaveTheirSources) {
  const Pod pod = Decode<DecodedPod>(PodYaml(R"(
  volumes:
  - {name: r, rbd: {monitors: [a, b], image: i, readOnly: true}}
  - {name: q, rbd: {monitors: [a], image: i, pool: p}}
  - {name: i, iscsi: {targetPortal: x, iqn: 'iqn.2001-04.com.example:storage', lun: 0}}
  - {name: a, azureDisk: {diskName: d, diskURI: 'https://x'}}
  - {name: g, gcePersistentDisk: {pdName: pd, readOnly: true}}
  - {name: e, awsElasticBlockStore: {volumeID: vol-1}}
  - {name: s, azureFile: {secretName: s, shareName: f}}
  - {name: v, vsphereVolume: {volumePath: x}}
  - {name: c, csi: {driver: d.io}}
)"))
                      .pod;
  EXPECT_THAT(pod.volumes,
              ElementsAre(PodVolume{"r", VolumeKind::kRbd, "i", true, "rbd", {"a", "b"}},
                          PodVolume{"q", VolumeKind::kRbd, "i", false, "p", {"a"}},
                          PodVolume{"i", VolumeKind::kIscsi, "iqn.2001-04.com.example:storage", false},
                          PodVolume{"a", VolumeKind::kAzureDisk, "https://x", false, "Shared"},
                          PodVolume{"g", VolumeKind::kGcePd, "pd", true}, PodVolume{"e", VolumeKind::kAwsEbs, "vol-1"},
                          PodVolume{"s", VolumeKind::kAzureFile, ""}, PodVolume{"v", VolumeKind::kVsphere, ""},
                          PodVolume{"c", VolumeKind::kCsi, "d.io"}));
}

TEST(DecodeStorageTest, AClaimWithoutAClassIsStoredAsItIs) {
  const auto claim = Decode<PersistentVolumeClaim>(
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, uid: u, ownerReferences: [{apiVersion: v1, "
      "kind: Pod, name: p, uid: o, controller: true}]}, spec: {accessModes: [ReadWriteOncePod], "
      "volumeAttributesClassName: gold, selector: {matchLabels: {a: b}}, resources: {requests: {storage: 1Gi}}}, "
      "status: {phase: Lost}}");
  EXPECT_EQ(claim.storage_class, std::nullopt);
  EXPECT_EQ(claim.volume_attributes_class, "gold");
  EXPECT_EQ(claim.phase, "Lost");
  EXPECT_THAT(claim.access_modes, ElementsAre("ReadWriteOncePod"));
  EXPECT_THAT(claim.meta.owners, ElementsAre(OwnerReference{"v1", "Pod", "p", "o", true}));
  EXPECT_TRUE(Matches(claim.selector, Labels({{"a", "b"}})));
  const auto bare = Decode<PersistentVolumeClaim>(
      "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {}}", DecodeMode::kPeer);
  EXPECT_EQ(bare.request, std::nullopt);
  EXPECT_EQ(bare.selector, std::nullopt);
}

TEST(DecodeStorageTest, AClassNamesItsTopologies) {
  const auto made = Decode<StorageClass>(
      ClassYaml("volumeBindingMode: WaitForFirstConsumer, allowedTopologies: [{matchLabelExpressions: [{key: zone, "
                "values: [a, b]}, {key: rack, values: [r]}]}, {matchLabelExpressions: []}]"));
  ASSERT_EQ(made.allowed_topologies.size(), 2u);
  EXPECT_TRUE(made.allowed_topologies[0].Matches("", Labels({{"zone", "b"}, {"rack", "r"}})));
  EXPECT_FALSE(made.allowed_topologies[0].Matches("", Labels({{"zone", "b"}})));
  EXPECT_FALSE(made.allowed_topologies[1].Matches("", Labels({{"zone", "b"}}))) << "an empty term";
  const auto odd = Decode<StorageClass>(
      ClassYaml("allowedTopologies: [{matchLabelExpressions: [{key: zone, values: []}]}]"), DecodeMode::kPeer);
  EXPECT_NE(odd.allowed_topologies[0].invalid, "");
  EXPECT_FALSE(odd.allowed_topologies[0].Matches("", Labels({{"zone", "b"}})));
}

TEST(DecodeStorageTest, WhatAServerWouldRefuseIsNamed) {
  const std::string long_name(64, 'd');
  const struct {
    std::string yaml;
    std::vector<std::string> errors;
  } cases[] = {
      {VolumeYaml("storageClassName: s"), {"spec: Required value: must specify a volume type"}},
      {VolumeYaml("nfs: {server: s}, hostPath: {path: /x}"),
       {"spec.hostPath: Forbidden: may not specify more than 1 volume type"}},
      {VolumeYaml("local: {path: /x}"), {"spec.nodeAffinity: Required value: Local volume requires node affinity"}},
      {VolumeYaml("nfs: {server: s}, nodeAffinity: {}"),
       {"spec.nodeAffinity.required: Required value: must specify required node constraints"}},
      {VolumeYaml("nfs: {server: s}, nodeAffinity: {required: {nodeSelectorTerms: []}}"),
       {"spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"}},
      {VolumeYaml("nfs: {server: s}, volumeAttributesClassName: gold"),
       {"spec.csi: Required value: has to be specified when using volumeAttributesClassName"}},
      {VolumeYaml("csi: {driver: d}"), {"spec.csi.volumeHandle: Required value"}},
      {VolumeYaml("csi: {volumeHandle: h}"), {"spec.csi.driver: Required value"}},
      {VolumeYaml("csi: {volumeHandle: h, driver: " + long_name + "}"),
       {"spec.csi.driver: Too long: may not be more than 63 bytes"}},
      {VolumeYaml("awsElasticBlockStore: {}"), {"spec.awsElasticBlockStore.volumeID: Required value"}},
      {VolumeYaml("azureDisk: {diskURI: 'https://x', kind: Own}"),
       {"spec.azureDisk.kind: Unsupported value: \"Own\": supported values: \"Dedicated\", \"Managed\", \"Shared\""}},
      {VolumeYaml("azureDisk: {diskURI: 'https://x', kind: Managed}"),
       {"spec.azureDisk.diskURI: Unsupported value: \"https://x\": supported values: "
        "\"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}\""}},
      {VolumeYaml("rbd: {image: i}"), {"spec.rbd.monitors: Required value"}},
      {VolumeYaml("iscsi: {iqn: target}"),
       {"spec.iscsi.iqn: Invalid value: \"target\": must be valid format starting with iqn, eui, or naa"}},
      {VolumeYaml("iscsi: {iqn: 'iqn.2001-4.com:x'}"),
       {"spec.iscsi.iqn: Invalid value: \"iqn.2001-4.com:x\": must be valid format"}},
      {VolumeYaml("iscsi: {iqn: eui.0123456789abcdef}"), {}},
      {VolumeYaml("iscsi: {iqn: eui.0123}"), {"spec.iscsi.iqn: Invalid value: \"eui.0123\": must be valid format"}},
      {ClassYaml("allowedTopologies: [{matchLabelExpressions: [{key: zone, values: []}]}]"),
       {"allowedTopologies[0].matchLabelExpressions[0].values: Required value"}},
      {ClassYaml("allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, a]}, {key: zone, values: "
                 "[b]}]}]"),
       {"allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: \"a\"",
        "allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: \"zone\""}},
      {ClassYaml("allowedTopologies: [{matchLabelExpressions: [{key: z, values: [a, b]}]}, {matchLabelExpressions: "
                 "[{key: z, values: [b, a]}]}]"),
       {"allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\""}},
      {"{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: node}, spec: {drivers: [{name: a, nodeID: x}, "
       "{name: a, nodeID: x}]}}",
       {"spec.drivers[1].name: Duplicate value: \"a\""}},
      {"{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: v}, spec: {nodeName: node, source: "
       "{persistentVolumeName: pv}}}",
       {"spec.attacher: Required value"}},
  };
  for (const auto& c : cases) EXPECT_EQ(ErrorsOf(c.yaml), c.errors) << c.yaml;
  for (const auto& c : cases) EXPECT_THAT(ErrorsOf(c.yaml, DecodeMode::kPeer), IsEmpty()) << c.yaml;
}

}  // namespace
}  // namespace berth
