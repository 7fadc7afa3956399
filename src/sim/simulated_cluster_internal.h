// SPDX-License-Identifier: Apache-2.0
// Small things that the parts of SimulatedCluster share.
#pragma once

#include <string>
#include <string_view>

#include "berth/host/cluster_object.h"
#include "berth/pod.h"

namespace berth::sim {

inline std::string KeyOf(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + name.size() + 1);
  if (!ns.empty()) key.append(ns).push_back('/');
  return key.append(name);
}
inline std::string KeyOf(const ObjectMeta& meta) { return KeyOf(meta.namespace_, meta.name); }

// Part of the cluster as seen through the door.
inline bool Visible(const ClusterObject& object) {
  const auto* pod = std::get_if<Ptr<Pod>>(&object);
  return pod == nullptr || !(*pod)->finished();
}

}  // namespace berth::sim
