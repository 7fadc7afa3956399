// SPDX-License-Identifier: Apache-2.0
// How a placed pod counts on its node: shared by ClusterState's columns and RowOverlay, so that a what-if and the real
// thing cannot disagree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "berth/snapshot.h"

namespace berth {
inline namespace v1 {

// total += sign * amount with Go's wrap-around: absurd requests must not be undefined behaviour.
inline void WrapAdd(int64_t& total, int64_t amount, int64_t sign) {
  const uint64_t delta = sign < 0 ? uint64_t{0} - static_cast<uint64_t>(amount) : static_cast<uint64_t>(amount);
  total = static_cast<int64_t>(static_cast<uint64_t>(total) + delta);
}

// Calls fn(id, amount) for every resource the placed pod holds.
template <class Fn>
void ForEachHeld(const PodResources& resources, Fn&& fn) {
  const Resources& held = resources.held;
  fn(ResourceId::kCpu, held.milli_cpu);
  fn(ResourceId::kMemory, held.memory);
  fn(ResourceId::kEphemeralStorage, held.ephemeral_storage);
  for (const auto& [id, amount] : held.scalars) fn(id, amount);
}

// A node's ports are a set: two pods with one port count once, and the first to go frees it (as upstream).
inline void AddHostPorts(const Pod& pod, std::vector<HostPort>& ports) {
  for (HostPort& port : HostPortsOf(pod))
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(std::move(port));
}
inline void RemoveHostPorts(const Pod& pod, std::vector<HostPort>& ports) {
  for (const HostPort& port : HostPortsOf(pod)) std::erase(ports, port);
}

}  // namespace v1
}  // namespace berth
