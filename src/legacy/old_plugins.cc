// SPDX-License-Identifier: Apache-2.0
// Reading. Upstream: K/config/v1alpha1 to v1beta3 types.go, types_pluginargs.go of the releases that had them; in 1.18
// framework/v1alpha1/registry.go: DecodeInto, which is lenient.
#include "legacy/old_plugins.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "berth/value.h"
#include "config/decode.h"
#include "legacy/default_lists.h"
#include "legacy/old_names.h"
#include "util/text.h"

namespace berth::legacy {
namespace {

void ReadList(ArgsReader& in, const char* field, std::vector<Listed>& out) {
  in.Objects(field, [&](ArgsReader& item) {
    Listed one;
    item.String("name", one.name);
    item.Int32("weight", one.weight);
    one.path = item.path();
    if (!item.Has("name") && std::string_view(field) == "enabled") item.Complain("name", "Required value");
    out.push_back(std::move(one));
  });
}

// Adds to what is there, so that two of the old points can meet in one of today's.
void ReadSet(ArgsReader& in, const char* key, OldSet& out) {
  in.Object(key, [&](ArgsReader& set) {
    OldSet read;
    ReadList(set, "enabled", read.enabled);
    ReadList(set, "disabled", read.disabled);
    const auto add = [](std::vector<Listed>& to, const std::vector<Listed>& from, bool first) {
      for (const Listed& one : from) {
        const auto same = [&](const Listed& other) { return other.name == one.name; };
        if (first || std::ranges::none_of(to, same)) to.push_back(one);
      }
    };
    const bool first = out.path.empty();
    add(out.enabled, read.enabled, first);
    add(out.disabled, read.disabled, first);
    if (first) out.path = set.path();
  });
}

// The fields of in-tree plugins' arguments that 1.18 read. Names not in it had none.
const std::map<std::string, std::vector<std::string>, std::less<>>& AlphaArgs() {
  static const std::map<std::string, std::vector<std::string>, std::less<>> kFields = {
      {"InterPodAffinity", {"hardPodAffinityWeight"}},
      {"NodeResourcesFit", {"ignoredResources"}},
      {"NodeLabel", {"presentLabels", "absentLabels", "presentLabelsPreference", "absentLabelsPreference"}},
      {"ServiceAffinity", {"affinityLabels", "antiAffinityLabelsPreference"}},
      {"RequestedToCapacityRatio", {"shape", "resources"}},
      {"PodTopologySpread", {"defaultConstraints"}},
  };
  return kFields;
}

bool HadArgsKind(Version version, std::string_view name) {
  static constexpr std::array<std::string_view, 7> kAlways = {
      "DefaultPreemption", "InterPodAffinity",  "NodeAffinity", "NodeResourcesBalancedAllocation",
      "NodeResourcesFit",  "PodTopologySpread", "VolumeBinding"};
  static constexpr std::array<std::string_view, 5> kBeta1 = {"NodeLabel", "NodeResourcesLeastAllocated",
                                                             "NodeResourcesMostAllocated", "RequestedToCapacityRatio",
                                                             "ServiceAffinity"};
  return std::ranges::find(kAlways, name) != kAlways.end() ||
         (version == Version::kV1beta1 && std::ranges::find(kBeta1, name) != kBeta1.end());
}

bool IsAlpha(Version version) { return IsAlpha1(version) || version == Version::kV1alpha2; }

// What 1.18 read of an in-tree plugin's arguments, spelled as they are today.
Value AlphaFields(const std::string& name, const Value& args, const std::string& path, Draft& draft) {
  static const std::vector<std::string> kNone;
  const auto at = AlphaArgs().find(name);
  const std::vector<std::string>& known = at == AlphaArgs().end() ? kNone : at->second;
  Value kept = Value::Object();
  for (const auto& member : args.members()) {
    const std::string& key = member.first;
    const Value& value = member.second;
    if (key == "kind" || key == "apiVersion") continue;
    const auto field =
        std::ranges::find_if(known, [&](const std::string& one) { return util::Lower(one) == util::Lower(key); });
    if (field == known.end()) {
      draft.Remark(
          Fate::kDropped, Join(path, key), "",
          "not an argument of " + name + ": " + TextOf(RowKind::kArgument, "arguments that the plugin did not read"));
    } else if (kept.Find(*field) == nullptr) {
      kept.Set(*field, value);
    }
  }
  return kept;
}

// False: these are arguments of another kind.
bool CheckKind(const std::string& name, const Value& args, const std::string& path, Draft& draft) {
  const auto text = [&](const char* field, std::string otherwise) {
    const Value* value = args.Find(field);
    if (value == nullptr || value->is_null()) return otherwise;
    if (value->kind() != Value::Kind::kString) {
      draft.Invalid(Join(path, field), value->ToJson(), "must be a string");
      return otherwise;
    }
    return value->text().empty() ? otherwise : value->text();
  };
  const std::string own_version(ToString(draft.version()));
  const std::string version = text("apiVersion", own_version), kind = text("kind", name + "Args");
  const bool known = kind.ends_with("Args") && HadArgsKind(draft.version(), kind.substr(0, kind.size() - 4));
  if (version != own_version || !known) {
    draft.Refuse(path, "no kind " + Quote(kind) + " is registered for version " + Quote(version));
    return false;
  }
  if (kind != name + "Args") {
    const std::string group = ".kubescheduler.config.k8s.io";
    draft.Refuse(path,
                 "args for plugin " + name + " were not of type " + name + "Args" + group + ", got " + kind + group);
    return false;
  }
  return true;
}

// The arguments of v1beta1's plugins that are gone since, which had types as all others.
void CheckGoneArgs(const std::string& name, const Value& args, const std::string& path, Draft& draft) {
  static const std::vector<std::string> kResources = {"resources"};
  const auto at = AlphaArgs().find(name);
  std::vector<FieldError> errors;
  ArgsReader in(&args, path, &errors);
  std::vector<std::string> labels;
  for (const std::string& field : at == AlphaArgs().end() ? kResources : at->second) {
    const bool shape = field == "shape";
    if (shape || field == "resources") {
      in.Objects(field, [&](ArgsReader& item) {
        item.Raw(shape ? "utilization" : "name");
        item.Raw(shape ? "score" : "weight");
      });
    } else {
      in.Strings(field, labels);
    }
  }
  in.Finish();
  draft.Take(std::move(errors));
}

bool WasInTree(Version version, const std::string& name) {
  if (version == Version::kV1beta3) return TodaysPoints(name) != 0;
  return PointsThen(version, name) != 0 || name == "NodeResourceLimits";
}

}  // namespace

bool OldSet::Disables(std::string_view name) const {
  return std::ranges::any_of(disabled, [&](const Listed& one) { return one.name == name || one.name == "*"; });
}

void CheckTwice(const OldSet& set, Draft& draft) {
  std::set<std::string> seen;
  for (const Listed& one : set.enabled) {
    if (!one.name.empty() && !seen.insert(one.name).second)
      draft.Refuse(Join(one.path, "name"), "Duplicate value: " + Quote(one.name));
  }
}

OldPlugins ReadOldPlugins(ArgsReader& in, Draft& draft) {
  OldPlugins out;
  const Version version = draft.version();
  const bool alpha1 = IsAlpha1(version);
  in.Object("plugins", [&](ArgsReader& plugins) {
    const std::string today = alpha1 ? "profiles[0].plugins" : plugins.path();
    for (size_t i = 0; i < kPointCount; ++i) {
      const auto point = static_cast<Point>(i);
      if (point == Point::kPreEnqueue && version != Version::kV1beta2 && version != Version::kV1beta3) continue;
      if (point == Point::kPostFilter && IsAlpha(version)) continue;
      const bool renamed = point == Point::kPreScore && alpha1;
      ReadSet(plugins, renamed ? "postFilter" : config::PluginsKey(point), out.at[i]);
    }
    if (alpha1 && plugins.Has("postFilter")) {
      draft.Remark(Fate::kChanged, Join(plugins.path(), "postFilter"), today + ".preScore",
                   TextOf(RowKind::kField, "plugins.postFilter"));
    }
    if (IsAlpha(version)) {
      ReadSet(plugins, "unreserve", out[Point::kReserve]);
      if (plugins.Has("unreserve")) {
        draft.Remark(Fate::kChanged, Join(plugins.path(), "unreserve"), today + ".reserve",
                     TextOf(RowKind::kField, "plugins.unreserve"));
      }
    }
    if (alpha1 && plugins.Raw("normalizeScore") != nullptr) {
      draft.Remark(Fate::kDropped, Join(plugins.path(), "normalizeScore"), today + ".score",
                   TextOf(RowKind::kField, "plugins.normalizeScore"));
    }
    if (version == Version::kV1beta2 || version == Version::kV1beta3) ReadSet(plugins, "multiPoint", out.multi_point);
  });
  return out;
}

ArgsList ReadOldArgs(ArgsReader& in, Draft& draft) {
  ArgsList out;
  std::set<std::string> seen;
  in.Objects("pluginConfig", [&](ArgsReader& item) {
    ArgsList::Entry entry;
    item.String("name", entry.name);
    entry.path = item.path();
    if (const Value* args = item.Raw("args")) entry.args = *args;
    const std::string path = Join(entry.path, "args");
    if (!seen.insert(entry.name).second) return draft.Refuse(entry.path, "Duplicate value: " + Quote(entry.name));
    if (entry.args.kind() == Value::Kind::kObject && WasInTree(draft.version(), entry.name)) {
      if (IsAlpha(draft.version())) {
        entry.args = AlphaFields(entry.name, entry.args, path, draft);
      } else if (HadArgsKind(draft.version(), entry.name)) {
        if (!CheckKind(entry.name, entry.args, path, draft)) return;
        entry.args = Without(Without(entry.args, "kind"), "apiVersion");
        if (WasRemoved(entry.name)) CheckGoneArgs(entry.name, entry.args, path, draft);
      }
    }
    out.Add(std::move(entry));
  });
  return out;
}

}  // namespace berth::legacy
