// SPDX-License-Identifier: Apache-2.0
// A bounded view of the table of resource names.
#include "api/peer_resources.h"

#include <mutex>

namespace berth {
namespace {

constexpr ResourceId kAlways[] = {ResourceId::kCpu, ResourceId::kMemory, ResourceId::kEphemeralStorage,
                                  ResourceId::kPods};

}  // namespace

PeerResources::PeerResources(size_t most) : most_(most + std::size(kAlways)) {
  for (const ResourceId id : kAlways) ids_.emplace(ResourceName(id), id);
}

std::optional<ResourceId> PeerResources::Intern(std::string_view name) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
    if (ids_.size() >= most_) return std::nullopt;
  }
  const std::unique_lock lock(mutex_);
  if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
  if (ids_.size() >= most_) return std::nullopt;
  const ResourceId id = InternResource(name);
  ids_.emplace(ResourceName(id), id);
  return id;
}

std::optional<ResourceId> InternPeerResource(std::string_view name) {
  // Never destroyed, as the names.
  static PeerResources& names = *new PeerResources(kMaxPeerResourceNames);
  return names.Intern(name);
}

}  // namespace berth
