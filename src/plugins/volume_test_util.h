// SPDX-License-Identifier: Apache-2.0
// Storage objects in few words, for the tests of the volume plugins.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"

namespace berth::plugins {

inline PersistentVolumeClaim MakeClaim(const std::string& name, const std::string& volume = "",
                                       const std::string& storage_class = "") {
  PersistentVolumeClaim claim;
  claim.meta.name = name;
  claim.meta.namespace_ = "default";
  claim.volume_name = volume;
  claim.access_modes = {"ReadWriteOnce"};
  if (!storage_class.empty()) claim.storage_class = storage_class;
  return claim;
}

inline PersistentVolumeClaim ExclusiveClaim(const std::string& name) {
  PersistentVolumeClaim claim = MakeClaim(name, "pv-" + name);
  claim.access_modes = {"ReadWriteOncePod"};
  return claim;
}

// A claim that was made for a generic ephemeral volume of the pod with this uid.
inline PersistentVolumeClaim OwnedClaim(const std::string& name, const std::string& uid, const std::string& volume) {
  PersistentVolumeClaim claim = MakeClaim(name, volume);
  claim.meta.owners = {{"v1", "Pod", "any", uid, true}};
  return claim;
}

inline PersistentVolume MakeVolume(const std::string& name) {
  PersistentVolume volume;
  volume.meta.name = name;
  return volume;
}

inline PersistentVolume CsiVolume(const std::string& name, const std::string& driver, const std::string& handle) {
  PersistentVolume volume = MakeVolume(name);
  volume.kind = VolumeKind::kCsi;
  volume.csi_driver = driver;
  volume.csi_handle = handle;
  return volume;
}

inline PersistentVolume DiskVolume(const std::string& name, VolumeKind kind, const std::string& disk) {
  PersistentVolume volume = MakeVolume(name);
  volume.kind = kind;
  volume.disk = disk;
  return volume;
}

inline StorageClass MakeClass(const std::string& name, const std::string& provisioner,
                              std::optional<std::string> mode = "WaitForFirstConsumer") {
  StorageClass storage_class;
  storage_class.meta.name = name;
  storage_class.provisioner = provisioner;
  storage_class.volume_binding_mode = std::move(mode);
  return storage_class;
}

inline CsiNode MakeCsiNode(const std::string& node, std::map<std::string, std::optional<int32_t>> limits) {
  CsiNode csi_node;
  csi_node.meta.name = node;
  csi_node.driver_limits = std::move(limits);
  return csi_node;
}

inline VolumeAttachment Attach(const std::string& name, const std::string& node, const std::string& driver,
                               const std::string& volume) {
  VolumeAttachment attachment;
  attachment.meta.name = name;
  attachment.node_name = node;
  attachment.attacher = driver;
  attachment.volume_name = volume;
  return attachment;
}

// A pod with these volumes, which are named v0, v1 …
inline MakePod WithVolumes(const std::string& name, std::vector<PodVolume> volumes) {
  for (size_t i = 0; i < volumes.size(); ++i) volumes[i].name = "v" + std::to_string(i);
  return MakePod(name).Uid(name).With([&](Pod& pod) { pod.volumes = std::move(volumes); });
}
inline PodVolume ClaimVolume(const std::string& claim) { return {"", VolumeKind::kClaim, claim}; }
inline PodVolume EphemeralVolume(const std::string& claim) { return {"", VolumeKind::kEphemeral, claim}; }
inline PodVolume Disk(VolumeKind kind, const std::string& source, bool read_only = false) {
  return {"", kind, source, read_only};
}
inline PodVolume Rbd(std::vector<std::string> monitors, const std::string& pool, const std::string& image,
                     bool read_only = false) {
  return {"", VolumeKind::kRbd, image, read_only, pool, std::move(monitors)};
}

inline MakePod WithClaims(const std::string& name, const std::vector<std::string>& claims) {
  std::vector<PodVolume> volumes;
  for (const std::string& claim : claims) volumes.push_back(ClaimVolume(claim));
  return WithVolumes(name, std::move(volumes));
}

inline Verdict Unresolvable(const std::string& text) { return Verdict(Code::kUnschedulableAndUnresolvable, text); }

}  // namespace berth::plugins
