// SPDX-License-Identifier: Apache-2.0
// Storage objects: claims, volumes, classes, CSI nodes, drivers and capacities, attachments; the fields that a
// scheduler reads of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "berth/list.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/quantity.h"

namespace berth {
inline namespace v1 {

// Where the data of a pod's volume, or of a PersistentVolume, is.
enum class VolumeKind : uint8_t {
  kOther,
  kClaim,
  kEphemeral,  // generic: with a claim of its own
  kImage,
  kGcePd,
  kAwsEbs,
  kRbd,
  kIscsi,
  kAzureDisk,
  kCsi,
  kCinder,
  kPortworx,
  kAzureFile,
  kVsphere
};

// `volume_name` alone does not make a claim bound: see the annotation pv.kubernetes.io/bind-completed.
struct PersistentVolumeClaim {
  ObjectMeta meta;  // with annotations
  std::string volume_name;
  std::optional<std::string> storage_class;  // an annotation goes before it
  std::vector<std::string> access_modes;
  std::string volume_mode, phase;
  std::string volume_attributes_class;
  std::optional<LabelSelector> selector;  // no value: any volume
  std::optional<Quantity> request;        // of storage
  bool operator==(const PersistentVolumeClaim&) const = default;
};

// Which claim a volume is for. Without a uid it waits for a claim of that name.
struct ClaimReference {
  std::string namespace_, name, uid;
  bool operator==(const ClaimReference&) const = default;
};

struct PersistentVolume {
  ObjectMeta meta;            // with annotations
  std::string storage_class;  // an annotation goes before it
  std::string volume_mode, phase;
  std::string volume_attributes_class;
  std::vector<std::string> access_modes;
  Quantity capacity;                          // of storage
  std::optional<NodeSelector> node_affinity;  // spec.nodeAffinity.required
  std::optional<ClaimReference> claim_ref;

  VolumeKind kind = VolumeKind::kOther;
  std::string csi_driver, csi_handle;  // of kCsi
  std::string disk;                    // pdName, volumeID or diskURI of the disks a cloud has (kGcePd, kAwsEbs …)
  std::string disk_kind;               // of kAzureDisk
  bool operator==(const PersistentVolume&) const = default;
};

struct StorageClass {
  ObjectMeta meta;  // with annotations
  std::string provisioner;
  std::optional<std::string> volume_binding_mode;
  // Terms of expressions with operator In, which are ORed; without any every node will do.
  List<NodeSelectorTerm> allowed_topologies;
  bool operator==(const StorageClass&) const = default;
};

struct CsiNode {
  ObjectMeta meta;                                              // with annotations
  std::map<std::string, std::optional<int32_t>> driver_limits;  // no value: any number of volumes
  bool operator==(const CsiNode&) const = default;
};

struct CsiDriver {
  ObjectMeta meta;
  bool storage_capacity = false;
  bool operator==(const CsiDriver&) const = default;
};

struct CsiStorageCapacity {
  ObjectMeta meta;
  std::string storage_class;
  std::optional<LabelSelector> node_topology;  // no value: no node
  std::optional<Quantity> capacity, maximum_volume_size;
  bool operator==(const CsiStorageCapacity&) const = default;
};

struct VolumeAttachment {
  ObjectMeta meta;
  std::string attacher, node_name, volume_name;
  bool operator==(const VolumeAttachment&) const = default;
};

}  // namespace v1
}  // namespace berth
