// SPDX-License-Identifier: Apache-2.0
// Which CSI volumes a pod's volumes are, as NodeVolumeLimits counts them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "berth/plugin.h"
#include "plugins/common/volumes.h"

namespace berth::plugins {

// A volume of a CSI driver; `name`, of driver and handle, tells them apart.
struct AttachableVolume {
  std::string driver, name;
  bool operator==(const AttachableVolume&) const = default;
};
// Drivers by names of volumes.
using AttachableVolumes = std::map<std::string, std::string>;

// Claims, generic ephemeral volumes, and disks of kinds that a CSI driver took over: what could count.
bool MayCount(const PodVolume& volume);

std::string VolumeName(std::string_view driver, std::string_view handle);

// What a claim stands for; none when it does not count. A claim without a volume is one that its class will make.
// In-tree volumes count where a CSINode is, and only there limits are known: so they are given, too.
std::optional<AttachableVolume> VolumeOfClaim(const Snapshot& snapshot, const PersistentVolumeClaim& claim);
// The same of a pod's own disk. None: not counted; an Error, in upstream's words: it cannot be said which volume it is.
Result<std::optional<AttachableVolume>> VolumeOfDisk(const PodVolume& volume);
// The same of an attachment by this driver.
std::optional<AttachableVolume> VolumeOfAttachment(const Snapshot& snapshot, const std::string& attacher,
                                                   const std::string& volume_name);

// Adds the volumes of a pod that is on a node. An Error is the first volume's that makes counting fail.
Error AddVolumesOf(const Snapshot& snapshot, const Pod& pod, AttachableVolumes& volumes);

// The volumes of a pod that is to be placed. Disks are counted where there is a CSINode only, and fail only there.
struct NewVolumes {
  Verdict with_csi_node, without;  // fits, or why such a node is out of the question
  AttachableVolumes volumes;       // on nodes with a CSINode
};
NewVolumes NewVolumesOf(const Snapshot& snapshot, const Pod& pod);

}  // namespace berth::plugins
