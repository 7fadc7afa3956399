// SPDX-License-Identifier: Apache-2.0
// Claims, volumes and classes for tests of VolumeBinding.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"

namespace berth::plugins::volumes {

inline Quantity Gi(int64_t n) { return Quantity::FromValue(n << 30); }

inline NodeSelector OnHosts(std::vector<std::string> hosts) {
  NodeSelectorTerm term;
  term.match_expressions.push_back(Require("kubernetes.io/hostname", SelectorOp::kIn, std::move(hosts)));
  NodeSelector selector;
  selector.terms.Edit().push_back(std::move(term));
  return selector;
}

inline PersistentVolumeClaim Claim(const std::string& name, const std::string& storage_class, int64_t gi = 1) {
  PersistentVolumeClaim claim;
  claim.meta.name = name;
  claim.meta.namespace_ = "default";
  claim.meta.uid = "uid-" + name;
  claim.meta.resource_version = "5";
  claim.storage_class = storage_class;
  claim.access_modes = {"ReadWriteOnce"};
  claim.request = Gi(gi);
  claim.phase = "Pending";
  return claim;
}

inline PersistentVolumeClaim Annotated(PersistentVolumeClaim claim, const std::string& key, const std::string& value) {
  std::vector<Labels::Entry> entries(claim.meta.annotations.begin(), claim.meta.annotations.end());
  entries.emplace_back(key, value);
  claim.meta.annotations = Labels(std::move(entries));
  return claim;
}

inline PersistentVolumeClaim BoundClaim(const std::string& name, const std::string& volume) {
  PersistentVolumeClaim claim = Claim(name, "local");
  claim.volume_name = volume;
  claim.phase = "Bound";
  return Annotated(std::move(claim), "pv.kubernetes.io/bind-completed", "yes");
}

inline PersistentVolume Volume(const std::string& name, int64_t gi = 1, std::vector<std::string> hosts = {}) {
  PersistentVolume volume;
  volume.meta.name = name;
  volume.meta.uid = "uid-" + name;
  volume.meta.resource_version = "7";
  volume.storage_class = "local";
  volume.access_modes = {"ReadWriteOnce"};
  volume.capacity = Gi(gi);
  volume.phase = "Available";
  if (!hosts.empty()) volume.node_affinity = OnHosts(std::move(hosts));
  return volume;
}

inline StorageClass Class(const std::string& name, const std::string& provisioner = "kubernetes.io/no-provisioner",
                          const std::string& mode = "WaitForFirstConsumer") {
  StorageClass out;
  out.meta.name = name;
  out.provisioner = provisioner;
  out.volume_binding_mode = mode;
  return out;
}

inline Pod PodWithClaims(const std::vector<std::string>& claims, const std::string& name = "pod") {
  return MakePod(name).Uid("uid-" + name).With([&](Pod& pod) {
    for (const std::string& claim : claims) {
      PodVolume volume;
      volume.name = "v" + std::to_string(pod.volumes.size());
      volume.kind = VolumeKind::kClaim;
      volume.source = claim;
      pod.volumes.push_back(std::move(volume));
    }
  });
}

inline Node Host(const std::string& name) { return MakeNode(name).Label("kubernetes.io/hostname", name); }

}  // namespace berth::plugins::volumes
