// SPDX-License-Identifier: Apache-2.0
// From volumes of pods to those of CSI drivers. Upstream: nodevolumelimits/csi.go (v1.36.4).
#include "plugins/node_volume_limits_volumes.h"

#include <string>
#include <utility>

namespace berth::plugins {
namespace {

// Verdicts are kept for good: no more of a pod's own text than a line.
std::string Brief(std::string text) {
  constexpr size_t kMost = 200;
  if (text.size() <= kMost) return text;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not within a character
  return text.substr(0, end) + "...";
}

constexpr char kNoClaimName[] = "PersistentVolumeClaim had no name";

void AddTo(std::optional<AttachableVolume> volume, AttachableVolumes& volumes) {
  if (volume) volumes.insert_or_assign(std::move(volume->name), std::move(volume->driver));
}

std::optional<AttachableVolume> Attachable(std::string_view driver, std::string_view handle) {
  if (driver.empty() || handle.empty()) return std::nullopt;
  return AttachableVolume{std::string(driver), VolumeName(driver, handle)};
}

// Of a claim that has no volume yet.
std::optional<AttachableVolume> VolumeToMake(const Snapshot& snapshot, const PersistentVolumeClaim& claim) {
  const std::string_view name = ClassOf(claim);
  if (name.empty()) return std::nullopt;
  const StorageClass* storage_class = snapshot.objects<StorageClass>().Find(name);
  if (storage_class == nullptr) return std::nullopt;
  std::string_view driver = storage_class->provisioner;
  if (const InTreePlugin* plugin = FindInTreePlugin(driver)) {
    if (!plugin->migrated) return std::nullopt;
    driver = plugin->driver;
  }
  // No driver's handle begins like that: upstream has a random text there.
  return Attachable(driver, "\x01unbound-" + FullName(claim.meta));
}

}  // namespace

bool MayCount(const PodVolume& volume) { return HasClaim(volume) || FindInTreePlugin(volume.kind) != nullptr; }

std::string VolumeName(std::string_view driver, std::string_view handle) {
  std::string name;
  name.reserve(driver.size() + handle.size() + 1);
  return name.append(driver).append("/").append(handle);
}

std::optional<AttachableVolume> VolumeOfClaim(const Snapshot& snapshot, const PersistentVolumeClaim& claim) {
  const PersistentVolume* volume =
      claim.volume_name.empty() ? nullptr : snapshot.objects<PersistentVolume>().Find(claim.volume_name);
  if (volume == nullptr) return VolumeToMake(snapshot, claim);
  if (volume->kind == VolumeKind::kCsi) return Attachable(volume->csi_driver, volume->csi_handle);
  const InTreePlugin* plugin = FindInTreePlugin(volume->kind);
  if (plugin == nullptr || !plugin->migrated) return std::nullopt;
  const Result<std::string> handle = TranslateHandle(*volume);
  if (!handle.ok()) return std::nullopt;
  return Attachable(plugin->driver, *handle);
}

Result<std::optional<AttachableVolume>> VolumeOfDisk(const PodVolume& volume) {
  const InTreePlugin* plugin = FindInTreePlugin(volume.kind);
  if (plugin == nullptr || !plugin->migrated) return std::optional<AttachableVolume>();
  const Result<std::string> handle = TranslateHandle(volume);
  if (!handle.ok())
    return Error(Brief(handle.error().text())).Wrap("converting volume(" + volume.name + ") from inline to csi");
  return std::optional<AttachableVolume>({std::string(plugin->driver), VolumeName(plugin->driver, *handle)});
}

std::optional<AttachableVolume> VolumeOfAttachment(const Snapshot& snapshot, const std::string& attacher,
                                                   const std::string& volume_name) {
  if (attacher.empty() || volume_name.empty()) return std::nullopt;
  const PersistentVolume* volume = snapshot.objects<PersistentVolume>().Find(volume_name);
  if (volume == nullptr || volume->kind != VolumeKind::kCsi) return std::nullopt;
  return AttachableVolume{attacher, VolumeName(attacher, volume->csi_handle)};
}

Error AddVolumesOf(const Snapshot& snapshot, const Pod& pod, AttachableVolumes& volumes) {
  for (const PodVolume& one : pod.volumes) {
    if (!HasClaim(one)) {
      Result<std::optional<AttachableVolume>> volume = VolumeOfDisk(one);
      if (!volume.ok()) return volume.error();
      AddTo(std::move(volume).value(), volumes);
      continue;
    }
    if (one.source.empty()) return Error(kNoClaimName);
    const auto* claim = snapshot.objects<PersistentVolumeClaim>().Find(pod.namespace_(), one.source);
    if (claim == nullptr) continue;
    if (one.kind == VolumeKind::kEphemeral && !IsMadeFor(*claim, pod)) return Error(NotMadeForText(*claim, pod));
    AddTo(VolumeOfClaim(snapshot, *claim), volumes);
  }
  return Error::Ok();
}

NewVolumes NewVolumesOf(const Snapshot& snapshot, const Pod& pod) {
  NewVolumes out;
  const auto fail = [&](const Verdict& verdict) {
    if (out.with_csi_node.fits()) out.with_csi_node = verdict;
    out.without = verdict;
    return out;
  };
  for (const PodVolume& one : pod.volumes) {
    if (!HasClaim(one)) {
      Result<std::optional<AttachableVolume>> volume = VolumeOfDisk(one);
      if (!volume.ok()) {
        if (out.with_csi_node.fits()) out.with_csi_node = Verdict::Fail(volume.error().text());
      } else {
        AddTo(std::move(volume).value(), out.volumes);
      }
      continue;
    }
    if (one.source.empty()) return fail(Verdict::Fail(kNoClaimName));
    const auto* claim = snapshot.objects<PersistentVolumeClaim>().Find(pod.namespace_(), one.source);
    if (claim == nullptr) {
      return fail(Verdict(Code::kUnschedulableAndUnresolvable, "looking up PVC " + pod.namespace_() + "/" + one.source +
                                                                   ": " + ClaimNotFoundText(one.source)));
    }
    if (one.kind == VolumeKind::kEphemeral && !IsMadeFor(*claim, pod)) {
      return fail(Verdict::Fail(NotMadeForText(*claim, pod)));
    }
    AddTo(VolumeOfClaim(snapshot, *claim), out.volumes);
  }
  return out;
}

}  // namespace berth::plugins
