// SPDX-License-Identifier: Apache-2.0
// Old configurations, made up and read by old releases' own code: the same plugins, weights, arguments and extenders
// must come out of them here, after the changes that the table names (src/legacy/table_rows.cc).
#include <algorithm>
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
#include "util/system_clock.h"

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

legacy::ReleasePoints PointsIn(const Value& profile) {
  legacy::ReleasePoints points;
  const Value* lists = profile.Find("points");
  if (lists == nullptr) return points;
  for (const auto& [point, names] : lists->members())
    for (const Value& name : names.items()) points[point].push_back(name.text());
  return points;
}

const config::Profile* ProfileToday(const config::SchedulerConfiguration& config, const std::string& name) {
  const auto at = std::ranges::find(config.profiles, name, &config::Profile::scheduler_name);
  return at == config.profiles.end() ? nullptr : &*at;
}

const Value* ArgsToday(const config::Profile& profile, const std::string& plugin) {
  for (const config::PluginConfig& entry : profile.plugin_config)
    if (entry.name == plugin) return &entry.args;
  return nullptr;
}

std::string Json(const Value* object, std::initializer_list<const char*> path) {
  for (const char* key : path) object = object == nullptr ? nullptr : object->Find(key);
  return object == nullptr ? "" : object->ToJson();
}

// Arguments that have the same place today.
void CompareArgs(const Value& profile, const config::Profile& today, const legacy::Sets& sets,
                 std::vector<std::string>& wrong) {
  const Value* then = profile.Find("args");
  if (then == nullptr) return;
  const auto same = [&](const char* plugin, const char* old_field, const char* field, const std::string& otherwise) {
    const Value* old_args = then->Find(plugin);
    if (old_args == nullptr || old_args->is_null()) return;
    const std::string old_value = Json(old_args, {old_field});
    std::string value = Json(ArgsToday(today, plugin), {field});
    if (value.empty()) value = otherwise;
    if (!old_value.empty() && old_value != "null" && old_value != value)
      wrong.push_back(std::string(plugin) + "." + field + ": " + value + ", then " + old_value);
  };
  same("InterPodAffinity", "HardPodAffinityWeight", "hardPodAffinityWeight", "1");
  same("VolumeBinding", "BindTimeoutSeconds", "bindTimeoutSeconds", "600");
  same("NodeResourcesFit", "IgnoredResources", "ignoredResources", "");
  same("PodTopologySpread", "DefaultConstraints", "defaultConstraints", "");
  // The type matters where the plugin scores and nothing else has been made of it.
  if (sets.score.contains("PodTopologySpread") && then->Find("ServiceAffinity") == nullptr)
    same("PodTopologySpread", "DefaultingType", "defaultingType", "\"System\"");
  const Value* ratio = then->Find("RequestedToCapacityRatio");
  if (ratio != nullptr && sets.score.contains("NodeResourcesFit") && Json(ratio, {"Shape"}) != "") {
    const Value* fit = ArgsToday(today, "NodeResourcesFit");
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

Value ParsedText(const std::string& text) {
  std::vector<FieldError> errors;
  return ParseJson(text, errors);
}

// Which plugins the text calls without giving them anything to do: "Filter NodeLabel".
std::set<std::string> IdleIn(const Value& document, const std::string& profile_name) {
  std::map<std::string, size_t> labels;
  const auto count = [&](const Value* object, const char* field, const std::string& what) {
    const Value* list = object == nullptr ? nullptr : object->Find(field);
    if (list != nullptr) labels[what] += list->items().size();
  };
  const auto argument = [](const Value& entry, const char* field) {
    const Value* found = entry.Find("argument");
    return found == nullptr ? nullptr : found->Find(field);
  };
  // A Policy.
  if (const Value* list = document.Find("predicates")) {
    for (const Value& entry : list->items()) {
      count(argument(entry, "labelsPresence"), "labels", "Filter NodeLabel");
      count(argument(entry, "serviceAffinity"), "labels", "Filter ServiceAffinity");
    }
  }
  if (const Value* list = document.Find("priorities")) {
    for (const Value& entry : list->items()) {
      if (argument(entry, "labelPreference") != nullptr) ++labels["Score NodeLabel"];
      if (argument(entry, "serviceAntiAffinity") != nullptr) ++labels["Score ServiceAffinity"];
    }
  }
  // A configuration: in the profile, or at its top in v1alpha1.
  const Value* from = &document;
  if (const Value* profiles = document.Find("profiles")) {
    for (const Value& profile : profiles->items()) {
      const std::string name = StringIn(profile, "schedulerName");
      if ((name.empty() ? "default-scheduler" : name) == profile_name) from = &profile;
    }
  }
  if (const Value* list = from->Find("pluginConfig")) {
    for (const Value& entry : list->items()) {
      const Value* args = entry.Find("args");
      const std::string name = StringIn(entry, "name");
      for (const char* field : {"presentLabels", "absentLabels"})
        if (name == "NodeLabel") count(args, field, "Filter NodeLabel");
      for (const char* field : {"presentLabelsPreference", "absentLabelsPreference"})
        if (name == "NodeLabel") count(args, field, "Score NodeLabel");
      if (name == "ServiceAffinity") count(args, "affinityLabels", "Filter ServiceAffinity");
      if (name == "ServiceAffinity") count(args, "antiAffinityLabelsPreference", "Score ServiceAffinity");
    }
  }
  std::set<std::string> idle;
  for (const char* what : {"Filter NodeLabel", "Filter ServiceAffinity", "Score NodeLabel", "Score ServiceAffinity"})
    if (labels[what] == 0) idle.insert(what);
  return idle;
}

// Whether a Policy has a name that needs an argument and has none, or one without label or shape: some releases took
// that.
bool LacksArguments(const Value& policy) {
  static const std::set<std::string> kNames = {"CheckNodeLabelPresence", "CheckServiceAffinity", "NodeLabel",
                                               "ServiceAffinity"};
  for (const char* list : {"predicates", "priorities"}) {
    const Value* entries = policy.Find(list);
    if (entries == nullptr) continue;
    for (const Value& entry : entries->items()) {
      const Value* argument = entry.Find("argument");
      if ((argument == nullptr || argument->is_null()) && kNames.contains(StringIn(entry, "name"))) return true;
      for (const char* field : {"labelPreference", "serviceAntiAffinity"}) {
        const Value* inside = argument == nullptr ? nullptr : argument->Find(field);
        if (inside != nullptr && !inside->is_null() && StringIn(*inside, "label").empty()) return true;
      }
      // Some lost it together with the name that it was given under.
      const Value* ratio = argument == nullptr ? nullptr : argument->Find("requestedToCapacityRatioArguments");
      const Value* shape = ratio == nullptr ? nullptr : ratio->Find("shape");
      if (ratio != nullptr && !ratio->is_null() && (shape == nullptr || shape->items().empty())) return true;
    }
  }
  return false;
}

// The points at which nothing is filtered or scored. `then` are the release's lists.
void CompareOtherPoints(const std::string& release, const legacy::ReleasePoints& then, const legacy::PointNames& today,
                        std::vector<std::string>& wrong) {
  const bool expanded = release == "v1.27.16" || release == "v1.28.15";
  for (const Point point : {Point::kPreEnqueue, Point::kQueueSort, Point::kPreFilter, Point::kPostFilter,
                            Point::kPreScore, Point::kReserve, Point::kPermit, Point::kPreBind, Point::kBind}) {
    // In 1.18 preemption was no plugin, and halves of plugins that have come since follow the others.
    const bool halves = point == Point::kPreFilter || point == Point::kPreScore || point == Point::kPreEnqueue;
    if (release == "v1.18.20" ? point != Point::kQueueSort && point != Point::kBind : halves && !expanded) continue;
    std::set<std::string> names, has = today.at(point);
    if (const auto at = then.find(std::string(ToString(point))); at != then.end()) {
      for (const std::string& name : at->second) names.insert(legacy::TodaysName(name));
    }
    for (const char* younger : {"DynamicResources", "NodeDeclaredFeatures"}) has.erase(younger);
    if (point == Point::kPreEnqueue) has.erase("DefaultPreemption");
    if (point == Point::kPreScore) has.erase("VolumeBinding");
    // v1beta2's lists do not have it.
    if (point == Point::kPreFilter && release == "v1.27.16") has.erase("NodeVolumeLimits");
    if (names == has) continue;
    std::string text = std::string(ToString(point)) + ":";
    for (const std::string& name : has) text += " " + name;
    text += "; then";
    for (const std::string& name : names) text += " " + name;
    wrong.push_back(text);
  }
}

void CompareProfile(const Value& recording, const Value& profile, legacy::Expected expected,
                    const config::SchedulerConfiguration& config, std::vector<std::string>& wrong) {
  const bool policy = StringIn(recording, "kind") == "policy";
  // The default priorities are 1.22's.
  if (policy && StringIn(recording, "text").find("\"priorities\"") == std::string::npos)
    expected.sets.score["PodTopologySpread"] = 2;
  const std::string name = StringIn(profile, "name");
  const config::Profile* today = ProfileToday(config, name);
  if (today == nullptr) return wrong.push_back("no profile " + name);
  const legacy::Sets sets = legacy::TodaysSets(config, TheRegistry(), name);
  if (!(sets == expected.sets)) wrong.push_back(ToString(sets) + "\n  then " + ToString(expected.sets));
  CompareOtherPoints(StringIn(recording, "release"), PointsIn(profile),
                     legacy::TodaysPointNames(config, TheRegistry(), name), wrong);
  CompareArgs(profile, *today, sets, wrong);
}

// Some things are found wrong only when profiles are made, then and now.
bool Runs(const config::SchedulerConfiguration& config) {
  const util::SystemClock clock;
  return framework::Engine::Make(config, TheRegistry(), clock).ok();
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
    if (loaded.ok() && Runs(loaded.config) && !legacy::IsAcceptedToday(error))
      wrong.push_back("read, then refused: " + error);
    return wrong;
  }
  const Value* profiles = answer.Find("profiles");
  if (profiles == nullptr || profiles->items().empty()) return {"the recording has no profile"};
  std::vector<legacy::Expected> expected;
  bool refused = LacksArguments(ParsedText(text));
  for (const Value& profile : profiles->items()) {
    expected.push_back(legacy::ExpectedToday(PointsIn(profile), IdleIn(ParsedText(text), StringIn(profile, "name"))));
    refused |= expected.back().refused;
  }
  if (refused) {
    if (loaded.ok()) wrong.emplace_back("read, but nothing today does the same");
    return wrong;
  }
  if (!loaded.ok()) return {"refused, then read:\n" + problems};
  if (loaded.config.profiles.size() != profiles->items().size())
    return {std::to_string(loaded.config.profiles.size()) + " profiles"};
  for (size_t i = 0; i < expected.size(); ++i)
    CompareProfile(recording, profiles->items()[i], expected[i], loaded.config, wrong);
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
