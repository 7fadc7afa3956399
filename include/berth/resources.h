// SPDX-License-Identifier: Apache-2.0
// Resource names as small integers, amounts per resource, and the aggregation of a pod's requests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/quantity.h"

namespace berth {
inline namespace v1 {

struct Pod;

// A resource name, interned for the life of the process. Thread safety: all functions here.
enum class ResourceId : uint32_t { kCpu = 0, kMemory = 1, kEphemeralStorage = 2, kPods = 3 };
ResourceId InternResource(std::string_view name);
// The name; valid forever.
const std::string& ResourceName(ResourceId id);
constexpr size_t Index(ResourceId id) { return static_cast<size_t>(id); }

// Names with `/` outside kubernetes.io, not prefixed `requests.`, that form a qualified name (pkg/apis/core/v1/helper).
bool IsExtendedResource(std::string_view name);
// What NodeInfo keeps beyond cpu, memory, ephemeral-storage and pods: extended resources, hugepages-*, names that
// contain kubernetes.io/, attachable-volumes-*.
bool IsScalarResource(std::string_view name);

// Exact amounts by name as an object gives them, sorted by id, each id once.
using ResourceList = std::vector<std::pair<ResourceId, Quantity>>;

// Amounts as the scheduler compares them: cpu in milli, the rest in units, rounded up.
struct Resources {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  int64_t ephemeral_storage = 0;
  int64_t pods = 0;                                     // nodes only
  std::vector<std::pair<ResourceId, int64_t>> scalars;  // sorted by id; see IsScalarResource

  int64_t Get(ResourceId id) const;  // 0 when absent
  bool operator==(const Resources&) const = default;
};

// Names we keep, rounded once; others are dropped (upstream: NewResource).
Resources ToResources(const ResourceList& list);

// A pod's requests in the forms the plugins need, computed once when the pod is decoded.
struct PodResources {
  Resources request;           // pending pod: spec only, pod-level requests honoured, overhead added
  Resources held;              // placed pod: also the status of in-place resize
  int64_t nonzero_cpu = 0;     // placed pod, for scoring: containers without a request count 100m ...
  int64_t nonzero_memory = 0;  // ... and 200 MiB
  // Pending pod as NodeResourcesFit scores it: with the non-zero defaults and, as upstream's scorer does, without
  // pod-level requests.
  Resources score_request;
  bool operator==(const PodResources&) const = default;
};

// The default requests that scoring assumes (pkg/scheduler/util/pod_resources.go).
inline constexpr int64_t kDefaultMilliCpuRequest = 100;
inline constexpr int64_t kDefaultMemoryRequest = 200 * 1024 * 1024;

// Aggregates as component-helpers' PodRequests does. Decoders and MakePod call it last.
PodResources ComputePodResources(const Pod& pod);

}  // namespace v1
}  // namespace berth
