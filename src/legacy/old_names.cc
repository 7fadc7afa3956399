// SPDX-License-Identifier: Apache-2.0
#include "legacy/old_names.h"

#include <algorithm>
#include <array>

namespace berth::legacy {
namespace {

constexpr std::array<std::string_view, 4> kCloudLimits = {"EBSLimits", "GCEPDLimits", "AzureDiskLimits",
                                                          "CinderLimits"};
constexpr std::array<std::string_view, 6> kRemoved = {"NodeLabel",
                                                      "ServiceAffinity",
                                                      "NodePreferAvoidPods",
                                                      "NodeResourcesLeastAllocated",
                                                      "NodeResourcesMostAllocated",
                                                      "RequestedToCapacityRatio"};

}  // namespace

bool IsCloudLimit(std::string_view name) { return std::ranges::find(kCloudLimits, name) != kCloudLimits.end(); }

bool CloudLimitIsOn(const OldPlugins& old, const ProfileContext& context) {
  const OldSet& filter = old[Point::kFilter];
  return context.defaults && std::ranges::any_of(kCloudLimits, [&](std::string_view name) {
           return name != "CinderLimits" && !filter.Disables(name) && !old.multi_point.Disables(name);
         });
}

void KeepLimit(const Listed& one, const std::string& today, Draft& draft) {
  draft.Remark(Fate::kDropped, one.path, today,
               one.name + " cannot be turned off by itself: " + TextOf(RowKind::kPlugin, "EBSLimits"));
}

bool IsSelectorSpread(std::string_view name) { return name == "SelectorSpread" || name == "DefaultPodTopologySpread"; }

std::string StrategyOf(std::string_view name) {
  if (name == "NodeResourcesLeastAllocated") return "LeastAllocated";
  if (name == "NodeResourcesMostAllocated") return "MostAllocated";
  if (name == "RequestedToCapacityRatio") return "RequestedToCapacityRatio";
  return "";
}

bool WasRemoved(std::string_view name) { return std::ranges::find(kRemoved, name) != kRemoved.end(); }

bool IsRemoved(Version version, std::string_view name) {
  return (version == Version::kV1beta2 || version == Version::kV1beta3) && WasRemoved(name);
}

void RefuseRemoved(const std::string& path, std::string_view name, Draft& draft) {
  draft.Invalid(
      path, Value::String(std::string(name)).ToJson(),
      "was removed in version \"kubescheduler.config.k8s.io/v1beta2\" (KubeSchedulerConfiguration is version \"" +
          std::string(ToString(draft.version())) + "\")");
}

}  // namespace berth::legacy
