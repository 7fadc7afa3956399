// SPDX-License-Identifier: Apache-2.0
// Old configurations, made up and read by old releases' own code: the same plugins, weights, arguments and extenders
// must come out of them here, after the changes that the table names (src/legacy/table_rows.cc).
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/json_value.h"
#include "config/default_plugins.h"
#include "framework/engine.h"
#include "legacy/load.h"
#include "legacy/sets_test_util.h"
#include "plugins/builtin.h"
#include "recorded/recordings.h"

namespace berth {
namespace {

const Registry& TheRegistry() {
  static const Registry registry = [] {
    Registry made;
    plugins::RegisterBuiltinPlugins(made);
    return made;
  }();
  return registry;
}

std::string StringIn(const Value& object, const char* field) {
  const Value* value = object.Find(field);
  return value != nullptr && value->kind() == Value::Kind::kString ? value->text() : "";
}

legacy::ReleasePoints PointsIn(const Value& profile, const char* field) {
  legacy::ReleasePoints points;
  const Value* lists = profile.Find(field);
  if (lists == nullptr) return points;
  for (const auto& [point, names] : lists->members())
    for (const Value& name : names.items()) points[point].push_back(name.text());
  return points;
}

// v1beta3 was recorded before its multiPoint was expanded; v1 expands the same lists in the same way.
legacy::ReleasePoints Expanded(const Value& profile) {
  legacy::ReleasePoints points = PointsIn(profile, "points"), disabled = PointsIn(profile, "disabled");
  for (std::string& entry : points["Score"])
    if (entry.ends_with("=0")) entry = entry.substr(0, entry.size() - 1) + "1";
  const auto multi = points.find("MultiPoint");
  if (multi == points.end() || multi->second.empty()) return points;
  static const std::map<std::string, std::set<std::string>> kThen = {
      {"Filter",
       {"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
        "VolumeRestrictions", "EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits", "VolumeBinding",
        "VolumeZone", "PodTopologySpread", "InterPodAffinity", "CinderLimits"}},
      {"Score",
       {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
        "NodeResourcesBalancedAllocation", "ImageLocality", "SelectorSpread"}}};
  for (const auto& [point, serving] : kThen) {
    std::set<std::string> off(disabled[point].begin(), disabled[point].end()), there;
    for (const std::string& entry : points[point]) there.insert(entry.substr(0, entry.find('=')));
    if (off.contains("*")) continue;
    for (const std::string& entry : multi->second) {
      const std::string name = entry.substr(0, entry.find('='));
      if (!serving.contains(name) || off.contains(name) || there.contains(name)) continue;
      const bool none = entry.ends_with("=0");
      points[point].push_back(point == "Score" ? (none ? name + "=1" : entry) : name);
    }
  }
  return points;
}

const Value* ArgsToday(const config::SchedulerConfiguration& config, const std::string& plugin) {
  for (const config::PluginConfig& entry : config.profiles[0].plugin_config)
    if (entry.name == plugin) return &entry.args;
  return nullptr;
}

std::string Json(const Value* object, std::initializer_list<const char*> path) {
  for (const char* key : path) object = object == nullptr ? nullptr : object->Find(key);
  return object == nullptr ? "" : object->ToJson();
}

// Arguments that have the same place today.
void CompareArgs(const Value& profile, const config::SchedulerConfiguration& config, std::vector<std::string>& wrong) {
  const Value* then = profile.Find("args");
  if (then == nullptr) return;
  const auto same = [&](const char* plugin, const char* old_field, const char* field, const std::string& otherwise) {
    const Value* old_args = then->Find(plugin);
    if (old_args == nullptr || old_args->is_null()) return;
    const std::string old_value = Json(old_args, {old_field});
    std::string value = Json(ArgsToday(config, plugin), {field});
    if (value.empty()) value = otherwise;
    if (!old_value.empty() && old_value != "null" && old_value != value)
      wrong.push_back(std::string(plugin) + "." + field + ": " + value + ", then " + old_value);
  };
  same("InterPodAffinity", "HardPodAffinityWeight", "hardPodAffinityWeight", "1");
  same("VolumeBinding", "BindTimeoutSeconds", "bindTimeoutSeconds", "600");
  same("NodeResourcesFit", "IgnoredResources", "ignoredResources", "");
  same("PodTopologySpread", "DefaultConstraints", "defaultConstraints", "");
  // The type matters where the plugin scores and nothing else has been made of it.
  const legacy::Sets today = legacy::TodaysSets(config, TheRegistry());
  if (today.score.contains("PodTopologySpread") && then->Find("ServiceAffinity") == nullptr)
    same("PodTopologySpread", "DefaultingType", "defaultingType", "\"System\"");
  const Value* ratio = then->Find("RequestedToCapacityRatio");
  if (ratio != nullptr && today.score.contains("NodeResourcesFit") && Json(ratio, {"Shape"}) != "") {
    const Value* fit = ArgsToday(config, "NodeResourcesFit");
    const Value* shape = fit == nullptr ? nullptr : fit->Find("scoringStrategy");
    if (Json(shape, {"type"}) == "\"RequestedToCapacityRatio\"") {
      shape = shape->Find("requestedToCapacityRatio")->Find("shape");
      for (size_t i = 0; i < ratio->Find("Shape")->items().size(); ++i) {
        const Value& point = ratio->Find("Shape")->items()[i];
        if (i >= shape->items().size() || Json(&point, {"Score"}) != Json(&shape->items()[i], {"score"}) ||
            Json(&point, {"Utilization"}) != Json(&shape->items()[i], {"utilization"}))
          wrong.push_back("the shape differs at " + std::to_string(i));
      }
    }
  }
}

void CompareExtenders(const Value& answer, const config::SchedulerConfiguration& config,
                      std::vector<std::string>& wrong) {
  const Value* then = answer.Find("extenders");
  if (then == nullptr) return;
  if (then->items().size() != config.extenders.size()) {
    wrong.push_back(std::to_string(config.extenders.size()) + " extenders, then " +
                    std::to_string(then->items().size()));
    return;
  }
  for (size_t i = 0; i < config.extenders.size(); ++i) {
    const Value& old = then->items()[i];
    const config::Extender& one = config.extenders[i];
    const auto expect = [&](const char* field, const std::string& value) {
      const std::string old_value = Json(&old, {field});
      if (old_value != value)
        wrong.push_back("extenders[" + std::to_string(i) + "]." + field + ": " + value + ", then " + old_value);
    };
    expect("URLPrefix", Value::String(one.url_prefix).ToJson());
    expect("FilterVerb", Value::String(one.filter_verb).ToJson());
    expect("PrioritizeVerb", Value::String(one.prioritize_verb).ToJson());
    expect("PreemptVerb", Value::String(one.preempt_verb).ToJson());
    expect("BindVerb", Value::String(one.bind_verb).ToJson());
    expect("Weight", std::to_string(one.weight));
    expect("EnableHTTPS", one.enable_https ? "true" : "false");
    expect("NodeCacheCapable", one.node_cache_capable ? "true" : "false");
    expect("Ignorable", one.ignorable ? "true" : "false");
    // None is five seconds, then and now: the releases have filled it in, we do where extenders are made. 1.18 and 1.22
    // print nanoseconds where later ones print a duration.
    const Duration used = one.http_timeout.ns == 0 ? Duration::Seconds(5) : one.http_timeout;
    const Value* timeout = old.Find("HTTPTimeout");
    const bool number = timeout != nullptr && timeout->kind() == Value::Kind::kNumber;
    if (timeout != nullptr && timeout->text() == "0s" && one.http_timeout.ns == 0)
      continue;  // not filled in there either
    const std::string written = number ? std::to_string(used.ns) : Value::String(FormatDuration(used)).ToJson();
    expect("HTTPTimeout", written);
  }
}

std::vector<std::string> CheckOne(const Value& recording) {
  std::vector<std::string> wrong;
  const std::string text = StringIn(recording, "text");
  const Value& answer = *recording.Find("answer");
  const std::string error = StringIn(answer, "error");
  const legacy::Loaded loaded = legacy::Load(text, "text", TheRegistry());
  std::string problems;
  for (const legacy::Problem& problem : loaded.problems) problems += "  " + problem.ToString() + "\n";
  if (!error.empty()) {
    if (loaded.ok() && !legacy::IsAcceptedToday(error)) wrong.push_back("read, then refused: " + error);
    return wrong;
  }
  const Value* profiles = answer.Find("profiles");
  if (profiles == nullptr || profiles->items().size() != 1) return {"the recording has no profile"};
  const Value& profile = profiles->items()[0];
  legacy::Expected expected = legacy::ExpectedToday(Expanded(profile));
  // The default priorities are 1.22's.
  const bool default_priorities =
      StringIn(recording, "kind") == "policy" && text.find("\"priorities\"") == std::string::npos;
  if (default_priorities) expected.sets.score["PodTopologySpread"] = 2;
  if (expected.refused) {
    if (loaded.ok()) wrong.emplace_back("read, but nothing today does the same");
    return wrong;
  }
  if (!loaded.ok()) return {"refused, then read:\n" + problems};
  if (loaded.config.profiles[0].scheduler_name != StringIn(profile, "name"))
    wrong.push_back("schedulerName: " + loaded.config.profiles[0].scheduler_name);
  const legacy::Sets today = legacy::TodaysSets(loaded.config, TheRegistry());
  if (!(today == expected.sets)) wrong.push_back(ToString(today) + "\n  then " + ToString(expected.sets));
  CompareArgs(profile, loaded.config, wrong);
  if (StringIn(recording, "kind") == "config") CompareExtenders(answer, loaded.config, wrong);
  const std::string file = legacy::CommentedFile(loaded, "text");
  const legacy::Loaded again = legacy::Load(file, "again", TheRegistry());
  if (!again.ok() || again.version != legacy::Version::kV1 ||
      config::ToValue(again.config, TheRegistry()) != config::ToValue(loaded.config, TheRegistry()))
    wrong.push_back("what is written does not load as the same:\n" + file);
  return wrong;
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  return berth::recorded::Run(argc, argv, {"case", "id", {"release", "kind", "text", "answer"}}, berth::CheckOne);
}
