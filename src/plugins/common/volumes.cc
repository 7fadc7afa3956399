// SPDX-License-Identifier: Apache-2.0
// Upstream: csi-translation-lib and component-helpers/storage (v1.36.4).
#include "plugins/common/volumes.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "berth/value.h"

namespace berth::plugins {
namespace {

constexpr InTreePlugin kInTree[] = {
    {VolumeKind::kAwsEbs, "kubernetes.io/aws-ebs", "ebs.csi.aws.com", "topology.ebs.csi.aws.com/zone", true},
    {VolumeKind::kGcePd, "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "topology.gke.io/zone", true},
    {VolumeKind::kAzureDisk, "kubernetes.io/azure-disk", "disk.csi.azure.com", "", true},
    {VolumeKind::kCinder, "kubernetes.io/cinder", "cinder.csi.openstack.org", "topology.cinder.csi.openstack.org/zone",
     true},
    {VolumeKind::kPortworx, "kubernetes.io/portworx-volume", "pxd.portworx.com", "", true},
    {VolumeKind::kAzureFile, "kubernetes.io/azure-file", "file.csi.azure.com", "", false},
    {VolumeKind::kVsphere, "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "", false},
};

// The path of a URL aws://zone/path, percent signs decoded; what Go's url.Parse refuses is an Error.
Result<std::string> AwsPath(const std::string& url) {
  auto refuse = [&](const std::string& why) {
    return Error("Invalid disk name (" + url + "): parse " + Quote(url) + ": " + why);
  };
  if (std::any_of(url.begin(), url.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    return refuse("net/url: invalid control character in URL");
  }
  std::string_view rest = std::string_view(url).substr(std::string_view("aws://").size());
  rest = rest.substr(0, rest.find('#'));
  rest = rest.substr(0, rest.find('?'));
  const size_t slash = std::min(rest.find('/'), rest.size());
  const std::string_view host = rest.substr(0, slash);
  for (const char c : host) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view kAllowed = "-_.~!$&'()*+,;=:[]<>\"%@";
    if (byte < 0x80 && std::isalnum(byte) == 0 && kAllowed.find(c) == std::string_view::npos) {
      return refuse("invalid character " + Quote(std::string(1, c)) + " in host name");
    }
  }
  const std::string_view path = rest.substr(slash);
  std::string decoded;
  for (size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      decoded += path[i];
      continue;
    }
    auto hex = [&](size_t at) { return at < path.size() && std::isxdigit(static_cast<unsigned char>(path[at])) != 0; };
    if (!hex(i + 1) || !hex(i + 2)) return refuse("invalid URL escape " + Quote(path.substr(i, 3)));
    decoded += static_cast<char>(std::stoi(std::string(path.substr(i + 1, 2)), nullptr, 16));
    i += 2;
  }
  return decoded;
}

Result<std::string> EbsHandle(const std::string& id) {
  if (id.rfind("aws://", 0) != 0) return id;
  const Result<std::string> path = AwsPath(id);
  if (!path.ok()) return Error("failed to translate Kubernetes ID to EBS Volume ID " + path.error().text());
  std::string_view name = *path;
  while (!name.empty() && name.front() == '/') name.remove_prefix(1);
  while (!name.empty() && name.back() == '/') name.remove_suffix(1);
  if (name.rfind("vol-", 0) != 0 || name.find('/') != std::string_view::npos) {
    return Error("failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (" + id + ")");
  }
  return std::string(name);
}

std::vector<std::string_view> SplitText(std::string_view text, std::string_view by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + by.size());
  }
}

Result<std::string> GceRegion(const std::vector<std::string_view>& zones) {
  const std::string context = "failed to get region from zones: ";
  std::vector<std::string> regions;
  for (const std::string_view zone : zones) {
    const std::vector<std::string_view> parts = SplitText(zone, "-");
    if (parts.size() != 3) {
      return Error(context +
                   "zone in unexpected format, expected: {locale}-{region}-{zone}, got: " + std::string(zone));
    }
    regions.push_back(std::string(parts[0]) + "-" + std::string(parts[1]));
  }
  std::sort(regions.begin(), regions.end());
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  if (regions.size() == 1) return regions[0];
  std::string got;  // as Go prints a set
  for (const std::string& region : regions) got += (got.empty() ? "" : " ") + region + ":{}";
  return Error(context + "multiple or no regions gotten from zones, got: map[" + got + "]");
}

std::string GceZonal(std::string_view zone, const std::string& disk) {
  return "projects/UNSPECIFIED/zones/" + std::string(zone) + "/disks/" + disk;
}

Result<std::string> GceHandle(const std::string& disk, const Labels& labels) {
  const std::string* label = labels.Find(kBetaZone);
  if (label == nullptr || label->empty()) label = labels.Find(kZone);
  if (label == nullptr || label->empty()) return GceZonal("UNSPECIFIED", disk);
  const std::vector<std::string_view> zones = SplitText(*label, "__");
  if (zones.size() == 1) return GceZonal(zones[0], disk);
  const Result<std::string> region = GceRegion(zones);
  if (!region.ok()) return region.error();
  return "projects/UNSPECIFIED/regions/" + *region + "/disks/" + disk;
}

Result<std::string> AzureHandle(const std::string& uri, const std::string& kind) {
  constexpr std::string_view kManaged = "managed";
  const bool managed = std::equal(kind.begin(), kind.end(), kManaged.begin(), kManaged.end(),
                                  [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
  if (!kind.empty() && !managed) return Error("kind(" + kind + ") is not supported in csi migration");
  return uri;
}

Result<std::string> HandleOf(VolumeKind kind, const std::string& disk, const std::string& variant,
                             const Labels& labels) {
  switch (kind) {
    case VolumeKind::kAwsEbs:
      return EbsHandle(disk);
    case VolumeKind::kGcePd:
      return GceHandle(disk, labels);
    case VolumeKind::kAzureDisk:
      return AzureHandle(disk, variant);
    default:
      return disk;
  }
}

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

}  // namespace

const InTreePlugin* FindInTreePlugin(VolumeKind kind) {
  const auto* const it =
      std::find_if(std::begin(kInTree), std::end(kInTree), [&](const InTreePlugin& one) { return one.kind == kind; });
  return it == std::end(kInTree) ? nullptr : it;
}

const InTreePlugin* FindInTreePlugin(std::string_view name) {
  const auto* const it =
      std::find_if(std::begin(kInTree), std::end(kInTree), [&](const InTreePlugin& one) { return one.name == name; });
  return it == std::end(kInTree) ? nullptr : it;
}

Result<std::string> TranslateHandle(const PersistentVolume& volume) {
  return HandleOf(volume.kind, volume.disk, volume.disk_kind, volume.meta.labels);
}

Result<std::string> TranslateHandle(const PodVolume& volume) {
  return HandleOf(volume.kind, volume.source, volume.variant, Labels());
}

std::string_view ClassOf(const PersistentVolumeClaim& claim) {
  if (const std::string* text = claim.meta.annotations.Find(kClassAnnotation)) return *text;
  return claim.storage_class ? std::string_view(*claim.storage_class) : std::string_view();
}

std::string_view ClassOf(const PersistentVolume& volume) {
  const std::string* text = volume.meta.annotations.Find(kClassAnnotation);
  return text != nullptr ? *text : volume.storage_class;
}

bool UsesClaim(const Pod& pod, const PersistentVolumeClaim& claim, bool ephemeral) {
  if (pod.namespace_() != claim.meta.namespace_) return false;
  return std::any_of(pod.volumes.begin(), pod.volumes.end(), [&](const PodVolume& volume) {
    return (volume.kind == VolumeKind::kClaim || (ephemeral && volume.kind == VolumeKind::kEphemeral)) &&
           volume.source == claim.meta.name;
  });
}

bool IsMadeFor(const PersistentVolumeClaim& claim, std::string_view pod_uid) {
  const auto& owners = claim.meta.owners;
  const auto* const controller =
      std::find_if(owners.begin(), owners.end(), [](const OwnerReference& owner) { return owner.controller; });
  return controller != owners.end() && controller->uid == pod_uid;
}

std::string NotMadeForText(const PersistentVolumeClaim& claim, const Pod& pod) {
  return "PVC " + FullName(claim.meta) + " was not created for pod " + FullName(pod) + " (pod is not owner)";
}

std::string ClaimNotFoundText(std::string_view name) { return "persistentvolumeclaim " + Quote(name) + " not found"; }

std::string VolumeNotFoundText(std::string_view name) { return "persistentvolume " + Quote(name) + " not found"; }

std::string ClassNotFoundText(std::string_view name) {
  return "storageclass.storage.k8s.io " + Quote(name) + " not found";
}

std::string NoBindingModeText(std::string_view storage_class) {
  return "VolumeBindingMode not set for StorageClass " + Quote(storage_class);
}

}  // namespace berth::plugins
