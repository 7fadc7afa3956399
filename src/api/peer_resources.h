// SPDX-License-Identifier: Apache-2.0
// Resource names that come from outside, and how many of them we are willing to remember.
#pragma once

#include <cstddef>
#include <optional>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

#include "berth/resources.h"
#include "util/secret_hash.h"

namespace berth {

// A name is interned for the life of the process, and each has a column in every cluster that has it; so peers must
// not have us keep any number of them. Names that the API server takes are no longer than a qualified name is.
inline constexpr size_t kMaxPeerResourceNames = 4'096;
inline constexpr size_t kMaxPeerResourceName = 253 + 1 + 63;
inline constexpr size_t kMaxPeerResources = 1'000;  // in one list

// The first `most` different names that it is asked for, besides cpu, memory, ephemeral-storage and pods.
// Thread safety: all of it.
class PeerResources {
 public:
  explicit PeerResources(size_t most);
  // No value: it would be one too many.
  std::optional<ResourceId> Intern(std::string_view name);

 private:
  const size_t most_;  // with those four
  std::shared_mutex mutex_;
  std::unordered_map<std::string_view, ResourceId, SecretStringHash> ids_;  // keys are ResourceName's
};

// The same of all peers of this process.
std::optional<ResourceId> InternPeerResource(std::string_view name);

}  // namespace berth
