// SPDX-License-Identifier: Apache-2.0
#include "client/volume_writes.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::client {
namespace {

constexpr std::string_view kByController = "pv.kubernetes.io/bound-by-controller";

ApiStatus CheckLock(std::string_view plural, const std::string& name, const std::string& lock, const ObjectMeta* meta) {
  const std::string object = std::string(plural) + " \"" + name + "\"";
  if (meta == nullptr) return {404, object + " not found"};
  if (lock.empty() || lock == meta->resource_version) return {};
  return {409, "Operation cannot be fulfilled on " + object +
                   ": the object has been modified; please apply your changes to the latest version and try again"};
}

// False when it said so already.
bool Annotate(Labels& annotations, std::string_view key, std::string_view value) {
  const std::string* had = annotations.Find(key);
  if (had != nullptr && *had == value) return false;
  std::vector<Labels::Entry> entries(annotations.begin(), annotations.end());
  entries.emplace_back(key, value);
  annotations = Labels(std::move(entries));
  return true;
}

}  // namespace

ApiStatus CheckVersion(const VolumeClaimPatch& patch, const PersistentVolume* volume) {
  return CheckLock("persistentvolumes", patch.volume, patch.resource_version,
                   volume != nullptr ? &volume->meta : nullptr);
}

ApiStatus CheckVersion(const ClaimNodePatch& patch, const PersistentVolumeClaim* claim) {
  return CheckLock("persistentvolumeclaims", patch.name, patch.resource_version,
                   claim != nullptr ? &claim->meta : nullptr);
}

bool Apply(const VolumeClaimPatch& patch, PersistentVolume& volume) {
  bool changed = patch.bound_by_controller && Annotate(volume.meta.annotations, kByController, "yes");
  if (volume.claim_ref && *volume.claim_ref == patch.claim) return changed;
  volume.claim_ref = patch.claim;
  return true;
}

bool Apply(const ClaimNodePatch& patch, PersistentVolumeClaim& claim) {
  return Annotate(claim.meta.annotations, "volume.kubernetes.io/selected-node", patch.node);
}

void BindTo(const PersistentVolumeClaim& claim, PersistentVolume& volume) {
  const bool asked = volume.claim_ref && volume.claim_ref->name == claim.meta.name &&
                     volume.claim_ref->namespace_ == claim.meta.namespace_;
  if (!asked) Annotate(volume.meta.annotations, kByController, "yes");
  volume.claim_ref = {claim.meta.namespace_, claim.meta.name, claim.meta.uid};
  volume.phase = "Bound";
}

void BindTo(const PersistentVolume& volume, PersistentVolumeClaim& claim) {
  if (claim.volume_name.empty()) Annotate(claim.meta.annotations, kByController, "yes");
  claim.volume_name = volume.meta.name;
  Annotate(claim.meta.annotations, "pv.kubernetes.io/bind-completed", "yes");
  claim.phase = "Bound";
}

}  // namespace berth::client
