// SPDX-License-Identifier: Apache-2.0
#include "legacy/sets_test_util.h"

#include <sstream>

#include "framework/engine.h"
#include "framework/profile.h"
#include "util/system_clock.h"

namespace berth::legacy {

std::string ToString(const Sets& sets) {
  std::string text = "filter:";
  for (const std::string& name : sets.filter) text += " " + name;
  text += "; score:";
  for (const auto& [name, weight] : sets.score) text += " " + name + "=" + std::to_string(weight);
  return text;
}

ReleasePoints ParsePoints(const std::string& text) {
  ReleasePoints points;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const size_t colon = part.find(':');
    if (colon == std::string::npos) continue;
    std::string point = part.substr(0, colon);
    point.erase(0, point.find_first_not_of(' '));
    std::istringstream names(part.substr(colon + 1));
    for (std::string name; names >> name;) {
      if (name == "|") break;
      if (name.back() == ',') name.pop_back();
      points[point].push_back(name);
    }
  }
  return points;
}

std::string TodaysName(const std::string& plugin) {
  if (plugin == "EBSLimits" || plugin == "GCEPDLimits" || plugin == "AzureDiskLimits" || plugin == "CinderLimits")
    return "NodeVolumeLimits";
  return plugin == "SelectorSpread" || plugin == "DefaultPodTopologySpread" ? "PodTopologySpread" : plugin;
}

Expected ExpectedToday(const ReleasePoints& then, const std::set<std::string>& idle) {
  Expected out;
  const auto at = [&](const char* point) {
    const auto found = then.find(point);
    return found == then.end() ? std::vector<std::string>() : found->second;
  };
  for (const std::string& name : at("Filter")) {
    if (idle.contains("Filter " + name)) continue;
    out.refused |= name == "ServiceAffinity";
    out.sets.filter.insert(name == "NodeLabel" ? "NodeAffinity" : TodaysName(name));
  }
  int strategies = 0;
  int64_t labels = 0, spread = 0, selector = 0, service = 0;
  for (const std::string& entry : at("Score")) {
    const size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    const int64_t weight = std::stoll(entry.substr(equals + 1));
    if (idle.contains("Score " + name)) continue;
    if (name == "NodeResourcesLeastAllocated" || name == "NodeResourcesMostAllocated" ||
        name == "RequestedToCapacityRatio") {
      ++strategies;
      out.sets.score["NodeResourcesFit"] = weight;
    } else if (name == "NodeLabel") {
      labels = weight;
    } else if (name == "PodTopologySpread") {
      spread = weight;
    } else if (name == "DefaultPodTopologySpread" || name == "SelectorSpread") {
      selector = weight;
    } else if (name == "ServiceAffinity") {
      service = weight;
    } else if (name != "NodePreferAvoidPods" && name != "VolumeBinding") {
      out.sets.score[name] = weight;
    }
  }
  if (labels > 0) out.sets.score["NodeAffinity"] += labels;
  if (spread + selector + service > 0)
    out.sets.score["PodTopologySpread"] = spread > 0 ? spread : selector > 0 ? selector : service;
  out.refused |= strategies > 1;
  return out;
}

Sets TodaysSets(const config::SchedulerConfiguration& config, const Registry& registry, const std::string& profile) {
  Sets sets;
  const util::SystemClock clock;
  const auto engine = framework::Engine::Make(config, registry, clock);
  if (!engine.ok()) {
    sets.filter.insert("no engine: " + engine.error().text());
    return sets;
  }
  for (const auto& [name, made] : (*engine)->profiles()) {
    if (!profile.empty() && name != profile) continue;
    for (const config::PluginRef& ref : framework::PluginsAt(*made, Point::kFilter)) sets.filter.insert(ref.name);
    for (const config::PluginRef& ref : framework::PluginsAt(*made, Point::kScore)) sets.score[ref.name] = ref.weight;
  }
  // Younger than all of these, or scoring only where it is told to.
  for (const char* name : {"DynamicResources", "NodeDeclaredFeatures"}) sets.filter.erase(name);
  for (const char* name : {"DynamicResources", "VolumeBinding"}) sets.score.erase(name);
  return sets;
}

PointNames TodaysPointNames(const config::SchedulerConfiguration& config, const Registry& registry,
                            const std::string& profile) {
  PointNames points;
  const util::SystemClock clock;
  const auto engine = framework::Engine::Make(config, registry, clock);
  for (size_t i = 0; i < kPointCount; ++i) {
    const auto point = static_cast<Point>(i);
    std::set<std::string>& names = points[point];
    if (!engine.ok()) {
      names.insert("no engine: " + engine.error().text());
      continue;
    }
    for (const auto& [name, made] : (*engine)->profiles()) {
      if (name != profile) continue;
      for (const config::PluginRef& ref : framework::PluginsAt(*made, point)) names.insert(ref.name);
    }
  }
  return points;
}

bool IsAcceptedToday(const std::string& error) {
  for (const char* text : {
           "already registered as",                 // a default plugin listed again
           "want args to be of type",               // an argument under a registered name
           "at least one point must be specified",  // the same
           "nil pointer dereference",               // the same
           "can't find NodeResourcesFitArgs",       // an extender's resources without NodeResourcesFit
           "found unknown field: enableHttps",      // both spellings are read
           "found unknown field: predicates",       // a Policy without apiVersion
           "found unknown field: extenders",        // the same
           "of type time.Duration",                 // both forms of httpTimeout are read
           "cannot unmarshal number into Go value of type string",
           "ype not found for \"CheckNode",  // predicates until 1.16
           "unknown field: multiPoint",      // since 1.23
           "must be between 1 and 65535",    // addresses that are not served any more
           "must be a valid IP address",
           "must be empty or with an explicit 0 port",
       })
    if (error.find(text) != std::string::npos) return true;
  return false;
}

}  // namespace berth::legacy
