// SPDX-License-Identifier: Apache-2.0
// Default plugins and their merge. Mirrors kube-scheduler v1.36.4 pkg/scheduler/apis/config/v1/default_plugins.go.
#include "config/default_plugins.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

namespace berth::config {

const std::vector<PluginRef>& DefaultMultiPoint() {
  static const std::vector<PluginRef> kList = {
      {"SchedulingGates"},
      {"PrioritySort"},
      {"NodeUnschedulable"},
      {"NodeName"},
      {"TaintToleration", 3},
      {"NodeAffinity", 2},
      {"NodePorts"},
      {"NodeResourcesFit", 1},
      {"VolumeRestrictions"},
      {"NodeVolumeLimits"},
      {"VolumeBinding"},
      {"VolumeZone"},
      {"PodTopologySpread", 2},
      {"InterPodAffinity", 2},
      {"DynamicResources", 2},
      {"DefaultPreemption"},
      {"NodeResourcesBalancedAllocation", 1},
      {"ImageLocality", 1},
      {"DefaultBinder"},
      {"NodeDeclaredFeatures"},
  };
  return kList;
}

PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom) {
  PluginSet merged;
  std::set<std::string> disabled;
  for (const auto* list : {&custom.disabled, &defaults.disabled}) {
    for (const PluginRef& ref : *list) {
      merged.disabled.push_back({ref.name, 0});
      disabled.insert(ref.name);
    }
  }
  // Of a plugin listed twice the last one replaces the default; the other is appended, and refused later.
  std::map<std::string, size_t> custom_index;
  for (size_t i = 0; i < custom.enabled.size(); ++i) custom_index[custom.enabled[i].name] = i;
  std::set<size_t> replacing;
  if (!disabled.contains("*")) {
    for (const PluginRef& ref : defaults.enabled) {
      if (disabled.contains(ref.name)) continue;
      const auto it = custom_index.find(ref.name);
      if (it == custom_index.end()) {
        merged.enabled.push_back(ref);
      } else {
        merged.enabled.push_back(custom.enabled[it->second]);
        replacing.insert(it->second);
      }
    }
  }
  for (size_t i = 0; i < custom.enabled.size(); ++i) {
    if (!replacing.contains(i)) merged.enabled.push_back(custom.enabled[i]);
  }
  return merged;
}

Plugins MergePlugins(const Plugins& custom) {
  Plugins merged;
  merged.multi_point = MergePluginSet({DefaultMultiPoint(), {}}, custom.multi_point);
  for (size_t i = 0; i < kPointCount; ++i) merged.at[i] = MergePluginSet({}, custom.at[i]);
  merged.placement_generate = MergePluginSet({}, custom.placement_generate);
  merged.placement_score = MergePluginSet({}, custom.placement_score);
  return merged;
}

bool HasArgsKind(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "DefaultPreemption", "DynamicResources",  "InterPodAffinity", "NodeAffinity", "NodeResourcesBalancedAllocation",
      "NodeResourcesFit",  "PodTopologySpread", "VolumeBinding"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace berth::config
