// SPDX-License-Identifier: Apache-2.0
// Aggregation of a pod's requests over its containers, in the forms that plugins compare; mirrors component-helpers'
// resource/helpers.go, pkg/scheduler/framework/types.go (CalculateResource) and noderesources' two uses of them
// (v1.36).
#include <algorithm>

#include "berth/host/pod_amounts.h"
#include "berth/pod.h"
#include "berth/resources.h"

namespace berth {
inline namespace v1 {
namespace {

auto LowerBound(ResourceList& list, ResourceId id) {
  return std::lower_bound(list.begin(), list.end(), id,
                          [](const auto& entry, ResourceId i) { return entry.first < i; });
}

const Quantity* Find(const ResourceList& list, ResourceId id) {
  const auto it = LowerBound(const_cast<ResourceList&>(list), id);
  return it != list.end() && it->first == id ? &it->second : nullptr;
}

void Set(ResourceList& list, ResourceId id, Quantity quantity) {
  const auto it = LowerBound(list, id);
  if (it != list.end() && it->first == id) {
    it->second = quantity;
  } else {
    list.insert(it, {id, quantity});
  }
}

void Add(ResourceList& list, const ResourceList& more) {
  for (const auto& [id, quantity] : more) {
    const auto it = LowerBound(list, id);
    if (it != list.end() && it->first == id) {
      it->second += quantity;
    } else {
      list.insert(it, {id, quantity});
    }
  }
}

void Max(ResourceList& list, const ResourceList& other) {
  for (const auto& [id, quantity] : other) {
    const auto it = LowerBound(list, id);
    if (it == list.end() || it->first != id) {
      list.insert(it, {id, quantity});
    } else if (it->second < quantity) {
      it->second = quantity;
    }
  }
}

// Only these count in spec.resources of a pod.
bool IsPodLevelResource(ResourceId id) {
  return id == ResourceId::kCpu || id == ResourceId::kMemory || ResourceName(id).starts_with("hugepages-");
}

struct Options {
  bool use_status = false;   // in-place resize: what the kubelet allocated or runs with counts too
  bool pod_level = true;     // honour spec.resources
  bool limits = false;       // of limits, not of requests; without use_status
  ResourceList non_missing;  // requests assumed for a container that does not name the resource; an explicit 0 stays
};

// What the statuses of a pod say, for a pod of any number of containers: anybody may send one.
// REQUIRES: the pod outlives it.
class Statuses {
 public:
  explicit Statuses(const Pod& pod) : pod_(pod) {
    const PodCondition* condition = pod.FindCondition("PodResizePending");
    infeasible_ = condition != nullptr && condition->reason == "Infeasible";
    if (pod.container_statuses.size() + pod.init_container_statuses.size() <= kFew) return;
    for (const auto* statuses : {&pod.container_statuses, &pod.init_container_statuses}) {
      for (const ContainerStatus& status : *statuses) by_name_.push_back(&status);
    }
    std::stable_sort(by_name_.begin(), by_name_.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
  }

  // The kubelet said it can never carry out the resize: what the spec wants does not count.
  bool infeasible() const { return infeasible_; }

  // Names are looked up among both kinds of status; of equal names the last one counts, init containers' after the
  // others.
  const ContainerStatus* Find(const std::string& name) const {
    if (!by_name_.empty()) {
      const auto after = std::upper_bound(by_name_.begin(), by_name_.end(), name,
                                          [](const std::string& wanted, const auto* s) { return wanted < s->name; });
      return after != by_name_.begin() && (*std::prev(after))->name == name ? *std::prev(after) : nullptr;
    }
    for (const auto* statuses : {&pod_.init_container_statuses, &pod_.container_statuses}) {
      const auto it = std::find_if(statuses->rbegin(), statuses->rend(), [&](const auto& s) { return s.name == name; });
      if (it != statuses->rend()) return &*it;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kFew = 16;  // looking at all is quicker than sorting

  const Pod& pod_;
  bool infeasible_ = false;
  std::vector<const ContainerStatus*> by_name_;  // empty: few
};

ResourceList Effective(const Statuses& statuses, const ResourceList& spec, const ResourceList& actuated,
                       const ResourceList& allocated) {
  ResourceList result;
  if (!statuses.infeasible()) result = spec;
  Max(result, actuated);
  Max(result, allocated);
  return result;
}

ResourceList ContainerRequests(const Statuses& statuses, const Container& container, bool resizable,
                               const Options& options) {
  if (options.limits) return container.limits;
  const ContainerStatus* status = options.use_status && resizable ? statuses.Find(container.name) : nullptr;
  ResourceList requests =
      status != nullptr && status->resources_requests.has_value()
          ? Effective(statuses, container.requests, *status->resources_requests, status->allocated_resources)
          : container.requests;
  for (const auto& [id, quantity] : options.non_missing) {
    if (Find(requests, id) == nullptr) Set(requests, id, quantity);
  }
  return requests;
}

ResourceList OfContainers(const Pod& pod, const Statuses& statuses, const Options& options) {
  ResourceList total;
  for (const Container& container : pod.containers) Add(total, ContainerRequests(statuses, container, true, options));

  ResourceList sidecars;   // the ones started so far
  ResourceList init_peak;  // the most that is needed while any init container starts; nowhere less than `sidecars`
  for (const Container& container : pod.init_containers) {
    ResourceList requests = ContainerRequests(statuses, container, container.sidecar, options);
    if (container.sidecar) {
      Add(total, requests);
      Add(sidecars, requests);
    }
    // Resources that this container does not name are as they were when the last sidecar that does was started.
    for (auto& [id, quantity] : requests) {
      const Quantity* beside = Find(sidecars, id);
      if (container.sidecar) {
        quantity = *beside;
      } else if (beside != nullptr) {
        quantity += *beside;
      }
    }
    Max(init_peak, requests);
  }
  Max(total, init_peak);
  return total;
}

ResourceList PodRequests(const Pod& pod, const Statuses& statuses, const Options& options) {
  ResourceList total = OfContainers(pod, statuses, options);
  if (options.pod_level && pod.pod_requests.has_value()) {
    const bool from_status = options.use_status && pod.status_requests.has_value();
    const ResourceList effective =
        from_status ? Effective(statuses, *pod.pod_requests, *pod.status_requests, pod.status_allocated)
                    : *pod.pod_requests;
    for (const auto& [id, unused] : *pod.pod_requests) {
      if (!IsPodLevelResource(id)) continue;
      const Quantity* quantity = Find(effective, id);  // an infeasible resize may leave the name without a value
      Set(total, id, quantity != nullptr ? *quantity : Quantity());
    }
  }
  Add(total, pod.overhead);
  return total;
}

Resources PodForm(const ResourceList& list) {
  Resources result = ToResources(list);
  result.pods = 0;  // a node's number; a pod that "requests" it is not counted by it
  return result;
}

// NodeResourcesFit starts its filter state from zero and takes maxima, so a negative request counts as none.
Resources AtLeastZero(Resources r) {
  r.milli_cpu = std::max<int64_t>(r.milli_cpu, 0);
  r.memory = std::max<int64_t>(r.memory, 0);
  r.ephemeral_storage = std::max<int64_t>(r.ephemeral_storage, 0);
  for (auto& [id, amount] : r.scalars) amount = std::max<int64_t>(amount, 0);
  return r;
}

}  // namespace

ResourceList PodRequestAmounts(const Pod& pod) { return PodRequests(pod, Statuses(pod), {}); }

ResourceList PodLimitAmounts(const Pod& pod) {
  ResourceList total = OfContainers(pod, Statuses(pod), {.limits = true, .non_missing = {}});
  for (const auto& [id, quantity] : pod.pod_limits) {
    if (IsPodLevelResource(id)) Set(total, id, quantity);
  }
  for (const auto& [id, quantity] : pod.overhead) {
    const Quantity* limit = Find(total, id);
    if (limit != nullptr && !limit->IsZero()) Set(total, id, *limit + quantity);
  }
  return total;
}

PodResources ComputePodResources(const Pod& pod) {
  const ResourceList defaults = {{ResourceId::kCpu, Quantity::FromMilli(kDefaultMilliCpuRequest)},
                                 {ResourceId::kMemory, Quantity::FromValue(kDefaultMemoryRequest)}};
  const Statuses statuses(pod);
  PodResources result;
  const ResourceList request = PodRequests(pod, statuses, {});
  result.request = AtLeastZero(PodForm(request));

  const bool has_status =
      !pod.container_statuses.empty() || !pod.init_container_statuses.empty() || pod.status_requests.has_value();
  const ResourceList held = has_status ? PodRequests(pod, statuses, {.use_status = true, .non_missing = {}}) : request;
  result.held = PodForm(held);

  // With pod-level requests the defaults stand in only for what the whole pod, overhead included, does not name.
  const bool pod_level =
      pod.pod_requests.has_value() && std::any_of(pod.pod_requests->begin(), pod.pod_requests->end(),
                                                  [](const auto& entry) { return IsPodLevelResource(entry.first); });
  Options nonzero{.use_status = true, .non_missing = {}};
  for (const auto& entry : defaults) {
    if (!pod_level || Find(held, entry.first) == nullptr) nonzero.non_missing.push_back(entry);
  }
  const Resources counted = ToResources(nonzero.non_missing.empty() ? held : PodRequests(pod, statuses, nonzero));
  result.nonzero_cpu = counted.milli_cpu;
  result.nonzero_memory = counted.memory;

  result.score_request = PodForm(PodRequests(pod, statuses, {.pod_level = false, .non_missing = defaults}));
  return result;
}

}  // namespace v1
}  // namespace berth
