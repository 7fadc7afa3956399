// SPDX-License-Identifier: Apache-2.0
// The table of resource names and the conversion from exact amounts to what the scheduler compares.
#include "berth/resources.h"

#include <algorithm>

#include "util/intern.h"
#include "util/text.h"

namespace berth {
inline namespace v1 {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsAlphanumeric(char c) { return IsLower(c) || util::IsDigit(c) || (c >= 'A' && c <= 'Z'); }

// RFC 1123: labels of lower case letters, digits and inner dashes, joined by dots; 253 characters at most.
bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const size_t dot = text.find('.');
    const std::string_view label = text.substr(0, dot);
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    if (!std::all_of(label.begin(), label.end(), [](char c) { return IsLower(c) || util::IsDigit(c) || c == '-'; })) {
      return false;
    }
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// The part of a qualified name after the slash.
bool IsLabelName(std::string_view text) {
  if (text.empty() || text.size() > 63) return false;
  if (!IsAlphanumeric(text.front()) || !IsAlphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

struct ResourceKind {
  ResourceKind() = default;
  explicit ResourceKind(std::string_view name) : scalar(IsScalarResource(name)) {}
  bool scalar = false;
};

class ResourceTable {
 public:
  ResourceTable() {
    // In the order of the fixed ids.
    for (const char* name : {"cpu", "memory", "ephemeral-storage", "pods"}) names_.Intern(name);
  }
  Interner<ResourceKind>& names() { return names_; }

 private:
  Interner<ResourceKind> names_;
};

// Never destroyed: names are valid until the process ends, also for threads that outlive main().
Interner<ResourceKind>& Names() {
  static ResourceTable& table = *new ResourceTable();
  return table.names();
}

}  // namespace

ResourceId InternResource(std::string_view name) { return static_cast<ResourceId>(Names().Intern(name)); }

const std::string& ResourceName(ResourceId id) { return Names().Name(static_cast<uint32_t>(id)); }

bool IsExtendedResource(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos) return false;
  if (name.starts_with("requests.")) return false;
  // Quotas speak of `requests.<name>`; that must be a qualified name.
  const std::string prefix = "requests." + std::string(name.substr(0, slash));
  return IsDnsSubdomain(prefix) && IsLabelName(name.substr(slash + 1));
}

bool IsScalarResource(std::string_view name) {
  return name.starts_with("hugepages-") || name.starts_with("attachable-volumes-") ||
         name.find("kubernetes.io/") != std::string_view::npos || IsExtendedResource(name);
}

int64_t Resources::Get(ResourceId id) const {
  switch (id) {
    case ResourceId::kCpu:
      return milli_cpu;
    case ResourceId::kMemory:
      return memory;
    case ResourceId::kEphemeralStorage:
      return ephemeral_storage;
    case ResourceId::kPods:
      return pods;
  }
  const auto it = std::lower_bound(scalars.begin(), scalars.end(), id,
                                   [](const auto& entry, ResourceId wanted) { return entry.first < wanted; });
  return it != scalars.end() && it->first == id ? it->second : 0;
}

Resources ToResources(const ResourceList& list) {
  Resources result;
  for (const auto& [id, quantity] : list) {
    switch (id) {
      case ResourceId::kCpu:
        result.milli_cpu = quantity.MilliValue();
        continue;
      case ResourceId::kMemory:
        result.memory = quantity.Value();
        continue;
      case ResourceId::kEphemeralStorage:
        result.ephemeral_storage = quantity.Value();
        continue;
      case ResourceId::kPods:
        result.pods = quantity.Value();
        continue;
    }
    if (Names().ExtraOf(static_cast<uint32_t>(id)).scalar) result.scalars.emplace_back(id, quantity.Value());
  }
  return result;
}

}  // namespace v1
}  // namespace berth
