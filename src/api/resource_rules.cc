// SPDX-License-Identifier: Apache-2.0
// The API server's rules for resource names and amounts.
#include "api/resource_rules.h"

#include <algorithm>

#include "api/decode_internal.h"

namespace berth {
namespace {

auto LowerBound(ResourceList& list, ResourceId id) {
  return std::lower_bound(list.begin(), list.end(), id,
                          [](const auto& entry, ResourceId wanted) { return entry.first < wanted; });
}

void Add(ResourceList& list, const ResourceList& more) {
  for (const auto& [id, quantity] : more) {
    const Quantity* there = FindResource(list, id);
    SetResource(list, id, there ? *there + quantity : quantity);
  }
}

void Max(ResourceList& list, const ResourceList& other) {
  for (const auto& [id, quantity] : other) {
    const Quantity* there = FindResource(list, id);
    if (!there || *there < quantity) SetResource(list, id, quantity);
  }
}

ResourceList Sum(const Pod& pod, ResourceList Container::*field) {
  ResourceList total, sidecars, peak;
  for (const Container& container : pod.containers) Add(total, container.*field);
  for (const Container& container : pod.init_containers) {
    ResourceList needed = container.*field;
    if (container.sidecar) {
      Add(total, needed);
      Add(sidecars, needed);
      needed = sidecars;
    } else {
      Add(needed, sidecars);
    }
    Max(peak, needed);
  }
  Max(total, peak);
  return total;
}

bool Contains(std::initializer_list<std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsStandardResource(std::string_view name) {
  return Contains({"cpu",
                   "memory",
                   "ephemeral-storage",
                   "requests.cpu",
                   "requests.memory",
                   "requests.ephemeral-storage",
                   "limits.cpu",
                   "limits.memory",
                   "limits.ephemeral-storage",
                   "pods",
                   "resourcequotas",
                   "services",
                   "replicationcontrollers",
                   "secrets",
                   "configmaps",
                   "persistentvolumeclaims",
                   "storage",
                   "requests.storage",
                   "services.nodeports",
                   "services.loadbalancers"},
                  name) ||
         IsHugePages(name) || name.substr(0, 19) == "requests.hugepages-";
}

bool IsIntegerResource(std::string_view name) {
  return Contains({"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
                   "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"},
                  name) ||
         IsExtendedResource(name);
}

// At the path of the entry. False when the name is wrong.
void CheckName(Context& context, std::string_view name, ResourceOwner owner) {
  const size_t before = context.error_count();
  CheckForm(context, name, CheckQualifiedName);
  const bool qualified = name.find('/') != std::string_view::npos;
  if (context.error_count() == before && !qualified && !IsStandardResource(name)) {
    context.Invalid(name, "must be a standard resource type or fully qualified");
  }
  if (owner == ResourceOwner::kPod) {
    if (context.error_count() == before && !IsPodLevelResource(name)) {
      context.Unsupported(name, {"cpu", "hugepages-", "memory"});
    }
  } else if (!qualified) {
    if (!Contains({"cpu", "memory", "ephemeral-storage"}, name) && !IsHugePages(name)) {
      context.Invalid(name, "must be a standard resource for containers");
    }
  } else if (!IsNativeResource(name) && !IsExtendedResource(name)) {
    context.Invalid(name, "doesn't follow extended resource name standard");
  }
}

// Whole after rounding to thousandths, away from zero: that is how upstream asks.
bool IsWhole(Quantity quantity) {
  const Quantity::Int128 nano = quantity.nano();
  Quantity::Int128 milli = nano / 1'000'000;
  if (nano % 1'000'000 != 0) milli += nano > 0 ? 1 : -1;
  return milli % 1000 == 0;
}

void CheckAmount(Context& context, std::string_view name, Quantity quantity) {
  if (quantity.IsNegative()) context.Invalid(quantity.ToString(), "must be greater than or equal to 0");
  if (IsIntegerResource(name) && !IsWhole(quantity)) {
    context.Invalid(quantity.ToString(), "must be an integer");
  }
}

void CheckHugePages(Context& context, std::string_view name, Quantity quantity) {
  const Result<Quantity> page = Quantity::Parse(name.substr(std::string_view("hugepages-").size()));
  const bool whole =
      page.ok() && !page->IsNegative() && !page->IsZero() && IsWhole(*page) && quantity.Value() % page->Value() == 0;
  if (!whole) {
    context.Invalid(quantity.ToString(),
                    quantity.ToString() + " is not positive integer multiple of " + std::string(name));
  }
}

}  // namespace

bool IsNativeResource(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}
bool IsHugePages(std::string_view name) { return name.substr(0, 10) == "hugepages-"; }
bool IsOvercommitAllowed(std::string_view name) { return IsNativeResource(name) && !IsHugePages(name); }
bool IsPodLevelResource(std::string_view name) { return name == "cpu" || name == "memory" || IsHugePages(name); }

const Quantity* FindResource(const ResourceList& list, ResourceId id) {
  const auto it = LowerBound(const_cast<ResourceList&>(list), id);
  return it != list.end() && it->first == id ? &it->second : nullptr;
}

void SetResource(ResourceList& list, ResourceId id, Quantity quantity) {
  const auto it = LowerBound(list, id);
  if (it != list.end() && it->first == id) {
    it->second = quantity;
  } else {
    list.insert(it, {id, quantity});
  }
}

ResourceList SumRequests(const Pod& pod) { return Sum(pod, &Container::requests); }
ResourceList SumLimits(const Pod& pod) { return Sum(pod, &Container::limits); }

void CheckRequirements(Context& context, const Requirements& requirements, ResourceOwner owner) {
  if (!context.strict()) return;
  const ResourceList none;
  const ResourceList& requests = requirements.requests ? *requirements.requests : none;
  const ResourceList& limits = requirements.limits ? *requirements.limits : none;
  bool compute = false, huge = false;
  auto check_entry = [&](std::string_view list, ResourceId id, Quantity quantity) {
    const std::string& name = ResourceName(id);
    At at(context, list);
    At entry(context, name, /*bracketed=*/true);
    CheckName(context, name, owner);
    CheckAmount(context, name, quantity);
    if (IsHugePages(name)) {
      huge = true;
      CheckHugePages(context, name, quantity);
    }
    compute = compute || id == ResourceId::kCpu || id == ResourceId::kMemory;
  };
  for (const auto& [id, quantity] : limits) check_entry("limits", id, quantity);
  for (const auto& [id, quantity] : requests) {
    check_entry("requests", id, quantity);
    const std::string& name = ResourceName(id);
    const Quantity* limit = FindResource(limits, id);
    if (!limit) {
      if (IsOvercommitAllowed(name)) continue;
      At at(context, "limits");
      At entry(context, name, /*bracketed=*/true);
      context.Required("Limit must be set for non overcommitable resources");
      continue;
    }
    At at(context, "requests");
    At entry(context, name, /*bracketed=*/true);
    if (quantity != *limit && !IsOvercommitAllowed(name)) {
      context.Invalid(quantity.ToString(), "must be equal to " + name + " limit of " + limit->ToString());
    } else if (quantity > *limit) {
      context.Invalid(quantity.ToString(), "must be less than or equal to " + name + " limit of " + limit->ToString());
    }
  }
  if (huge && !compute) context.Forbidden("HugePages require cpu or memory");
}

void CheckAmounts(Context& context, const ResourceList& list) {
  if (!context.strict()) return;
  for (const auto& [id, quantity] : list) {
    At at(context, ResourceName(id), /*bracketed=*/true);
    CheckAmount(context, ResourceName(id), quantity);
  }
}

void CheckOverhead(Context& context, const ResourceList& overhead) {
  if (!context.strict()) return;
  bool compute = false, huge = false;
  for (const auto& [id, quantity] : overhead) {
    const std::string& name = ResourceName(id);
    At at(context, name, /*bracketed=*/true);
    CheckName(context, name, ResourceOwner::kContainer);
    CheckAmount(context, name, quantity);
    if (IsHugePages(name)) {
      huge = true;
      CheckHugePages(context, name, quantity);
    }
    compute = compute || id == ResourceId::kCpu || id == ResourceId::kMemory;
  }
  if (huge && !compute) context.Forbidden("HugePages require cpu or memory");
}

void CheckPodLevel(Context& context, const Pod& pod, const ResourceList& limits) {
  if (!context.strict()) return;
  const ResourceList none;
  const ResourceList& requests = pod.pod_requests ? *pod.pod_requests : none;
  for (const auto& [id, sum] : SumRequests(pod)) {
    const Quantity* request = FindResource(requests, id);
    if (!request || sum <= *request) continue;
    At at(context, "requests");
    At entry(context, ResourceName(id), /*bracketed=*/true);
    context.Invalid(request->ToString(),
                    "must be greater than or equal to aggregate container requests of " + sum.ToString());
  }
  for (const auto& [id, sum] : SumLimits(pod)) {
    const Quantity* limit = IsHugePages(ResourceName(id)) ? FindResource(limits, id) : nullptr;
    if (!limit || sum <= *limit) continue;
    At at(context, "limits");
    At entry(context, ResourceName(id), /*bracketed=*/true);
    context.Invalid(limit->ToString(),
                    "must be greater than or equal to aggregate container limits of " + sum.ToString());
  }
  for (size_t i = 0; i < pod.containers.size(); ++i) {
    for (const auto& [id, quantity] : pod.containers[i].limits) {
      const Quantity* limit = FindResource(limits, id);
      if (!limit || quantity <= *limit) continue;
      At at(context, "containers");
      At index(context, i);
      At entry(context, ResourceName(id), /*bracketed=*/true);
      At list(context, "limits");
      context.Invalid(quantity.ToString(), "must be less than or equal to pod limits of " + limit->ToString());
    }
  }
}

}  // namespace berth
