// SPDX-License-Identifier: Apache-2.0
// PodRecord: a pod on a node, and the host ports that pods hold.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/pod.h"
#include "berth/row.h"

namespace berth {
inline namespace v1 {

// A pod on a node (bound or assumed), or a pending pod that is nominated to one. Its address is stable.
struct PodRecord {
  std::shared_ptr<const Pod> pod;
  Row row = kNoRow;
  bool assumed = false;  // the cluster has not confirmed it yet; no part of kPods: answers must not depend on it
};

// A host port in use; ip 0.0.0.0 stands for all.
struct HostPort {
  std::string ip, protocol;
  int32_t port = 0;
  bool operator==(const HostPort&) const = default;
};
// Empty ip and protocol become 0.0.0.0 and TCP.
HostPort NormalizeHostPort(const ContainerPort& port);
// True when both cannot be open on one node.
bool Conflicts(const HostPort& a, const HostPort& b);
// The host ports that a placed pod occupies: containers' and sidecars'.
std::vector<HostPort> HostPortsOf(const Pod& pod);

}  // namespace v1
}  // namespace berth
