// SPDX-License-Identifier: Apache-2.0
// What the volume plugins share: whose claim is whose, classes, and the CSI drivers that took over volumes of kinds
// that Kubernetes once had code for itself ("in-tree"; upstream: csi-translation-lib).
#pragma once

#include <string>
#include <string_view>

#include "berth/error.h"
#include "berth/pod.h"
#include "berth/storage.h"

namespace berth::plugins {

inline constexpr std::string_view kBetaZone = "failure-domain.beta.kubernetes.io/zone";
inline constexpr std::string_view kBetaRegion = "failure-domain.beta.kubernetes.io/region";
inline constexpr std::string_view kZone = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegion = "topology.kubernetes.io/region";
inline constexpr std::string_view kReadWriteOncePod = "ReadWriteOncePod";
inline constexpr std::string_view kWaitForFirstConsumer = "WaitForFirstConsumer";

struct InTreePlugin {
  VolumeKind kind;
  std::string_view name;      // also of provisioners: kubernetes.io/aws-ebs
  std::string_view driver;    // ebs.csi.aws.com
  std::string_view zone_key;  // what the driver calls the zone of a node; empty: it does not
  bool migrated;              // false: known, but its volumes are never translated
};
// Null for kinds and names that no driver took over.
const InTreePlugin* FindInTreePlugin(VolumeKind kind);
const InTreePlugin* FindInTreePlugin(std::string_view name);

// What the driver calls a disk. An Error says why there is no such name, in upstream's words.
Result<std::string> TranslateHandle(const PersistentVolume& volume);
Result<std::string> TranslateHandle(const PodVolume& volume);

// The storage class: that of the annotation, where there is one. Lives as long as the object.
std::string_view ClassOf(const PersistentVolumeClaim& claim);
std::string_view ClassOf(const PersistentVolume& volume);

// True for volumes with a claim, of any sort; `source` is then its name.
inline bool HasClaim(const PodVolume& volume) {
  return volume.kind == VolumeKind::kClaim || volume.kind == VolumeKind::kEphemeral;
}
// Whether the pod names the claim; generic ephemeral volumes count if `ephemeral`.
bool UsesClaim(const Pod& pod, const PersistentVolumeClaim& claim, bool ephemeral);
// Whether a generic ephemeral volume's claim was made for the pod; the text when it was not.
bool IsMadeFor(const PersistentVolumeClaim& claim, std::string_view pod_uid);
inline bool IsMadeFor(const PersistentVolumeClaim& claim, const Pod& pod) { return IsMadeFor(claim, pod.uid()); }
std::string NotMadeForText(const PersistentVolumeClaim& claim, const Pod& pod);

std::string ClaimNotFoundText(std::string_view name);   // persistentvolumeclaim "x" not found
std::string VolumeNotFoundText(std::string_view name);  // persistentvolume "x" not found
std::string ClassNotFoundText(std::string_view name);   // storageclass.storage.k8s.io "x" not found
std::string NoBindingModeText(std::string_view storage_class);

}  // namespace berth::plugins
