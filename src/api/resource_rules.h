// SPDX-License-Identifier: Apache-2.0
// The API server's rules for resource names and amounts, and the sums over containers that pod-level defaulting and
// validation compare with.
#pragma once

#include <string_view>

#include "api/json_reader.h"
#include "berth/pod.h"
#include "berth/resources.h"

namespace berth {

// Names without a domain, or of kubernetes.io.
bool IsNativeResource(std::string_view name);
bool IsHugePages(std::string_view name);
// False where request and limit must be equal: extended resources and huge pages.
bool IsOvercommitAllowed(std::string_view name);
// cpu, memory and hugepages-*: what spec.resources of a pod may name.
bool IsPodLevelResource(std::string_view name);

const Quantity* FindResource(const ResourceList& list, ResourceId id);
void SetResource(ResourceList& list, ResourceId id, Quantity quantity);

// Requests and limits of the containers together: their sum, or what starting some init container needs if that is
// more, per resource.
ResourceList SumRequests(const Pod& pod);
ResourceList SumLimits(const Pod& pod);

// A container's or pod's `resources`, or a container status'.
struct Requirements {
  std::optional<ResourceList> requests, limits;
};

enum class ResourceOwner { kContainer, kPod };
// Reads without validation.
template <class Value>
std::optional<Requirements> DecodeRequirements(Context& context, Value value);
// In strict mode, at the path of `resources`.
void CheckRequirements(Context& context, const Requirements& requirements, ResourceOwner owner);
// A node's capacity or allocatable.
void CheckAmounts(Context& context, const ResourceList& list);
// A pod's overhead: judged as a container's limits are.
void CheckOverhead(Context& context, const ResourceList& overhead);
// Pod-level resources against the containers', after defaulting; at the path of spec.resources.
void CheckPodLevel(Context& context, const Pod& pod, const ResourceList& limits);

}  // namespace berth
