// SPDX-License-Identifier: Apache-2.0
// From configuration and registry to called plugins: MultiPoint expansion, order, weights, and what is refused. Mirrors
// kube-scheduler v1.36.4 pkg/scheduler/framework/runtime/framework.go (NewFramework) and pkg/scheduler/profile.
#include "framework/profile.h"

#include <algorithm>
#include <array>
#include <exception>
#include <set>
#include <utility>

#include "berth/host/annotations.h"
#include "berth/value.h"
#include "framework/plugin_call.h"
#include "framework/plugin_handle.h"

namespace berth::framework {
namespace {

using config::PluginRef;
using config::PluginSet;

// In the order in which kube-scheduler fills the points; error texts name the first that fails.
constexpr std::array<Point, kPointCount> kBuildOrder = {
    Point::kPreFilter, Point::kFilter, Point::kPostFilter, Point::kReserve, Point::kPreScore,   Point::kScore,
    Point::kPreBind,   Point::kBind,   Point::kPostBind,   Point::kPermit,  Point::kPreEnqueue, Point::kQueueSort};

// The interface's name in kube-scheduler, as its messages have it.
std::string InterfaceName(Point point) { return std::string(ToString(point)) + "Plugin"; }

bool Contains(const std::vector<PluginRef>& list, const std::string& name) {
  return std::any_of(list.begin(), list.end(), [&](const PluginRef& ref) { return ref.name == name; });
}

std::string JoinErrors(const std::vector<std::string>& errors) {
  std::string text;
  for (const std::string& error : errors) {
    if (!text.empty()) text += "; ";
    text += error;
  }
  return text;
}

// Collects complaints, each once.
class Complaints {
 public:
  void Add(std::string text) {
    if (std::find(texts_.begin(), texts_.end(), text) == texts_.end()) texts_.push_back(std::move(text));
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

class Builder {
 public:
  Builder(const config::Profile& config, const Registry& registry, Handle& handle, ProfileUse use)
      : config_(config), registry_(registry), handle_(handle), use_(use) {}

  Result<std::unique_ptr<const Profile>> Build(int32_t percentage) {
    profile_ = std::make_unique<Profile>();
    profile_->scheduler_name = config_.scheduler_name;
    profile_->percentage_of_nodes_to_score = config_.percentage_of_nodes_to_score.value_or(percentage);
    for (const std::string& name : registry_.duplicates()) errors_.Add("a plugin named " + name + " already exists");
    MakePlugins();
    CheckPlacement(config_.plugins.placement_generate, "PlacementGeneratePlugin", {"TopologyPlacementGenerator"});
    CheckPlacement(config_.plugins.placement_score, "PlacementScorePlugin", {"NodeResourcesFit", "PodGroupPodsCount"});
    for (const Point point : kBuildOrder) lists_[static_cast<size_t>(point)] = Expand(point);
    if (use_ == ProfileUse::kScheduler) CheckCounts();
    Fill();
    if (const Error error = TakeDeclarations(*profile_); !error.ok()) errors_.Add(error.text());
    if (!errors_.texts().empty()) return Error(JoinErrors(errors_.texts()));
    return std::unique_ptr<const Profile>(std::move(profile_));
  }

 private:
  const PluginSet& Set(Point point) const { return config_.plugins[point]; }
  const std::vector<std::string>& List(Point point) const { return lists_[static_cast<size_t>(point)]; }

  // Every plugin that is named somewhere, once, MultiPoint's first. Names nobody registered are left to Expand, which
  // knows what they were wanted for.
  void MakePlugins() {
    std::set<std::string> configured;
    for (const config::PluginConfig& entry : config_.plugin_config) {
      if (!configured.insert(entry.name).second) errors_.Add("repeated config for plugin " + entry.name);
    }
    MakeAll(config_.plugins.multi_point);
    for (const PluginSet& set : config_.plugins.at) MakeAll(set);
    MakeAll(config_.plugins.placement_generate);
    MakeAll(config_.plugins.placement_score);
  }

  void MakeAll(const PluginSet& set) {
    for (const PluginRef& ref : set.enabled) {
      const PluginDescriptor* descriptor = registry_.Find(ref.name);
      if (descriptor == nullptr || index_.contains(ref.name)) continue;
      index_[ref.name] = static_cast<uint16_t>(profile_->plugins.size());
      profile_->plugins.push_back({ref.name, nullptr});
      profile_->plugins.back().plugin = Make(*descriptor, index_[ref.name]);
    }
  }

  std::unique_ptr<Plugin> Make(const PluginDescriptor& descriptor, uint16_t index) {
    const Value* args = nullptr;
    for (const config::PluginConfig& entry : config_.plugin_config) {
      if (entry.name == descriptor.name && !entry.args.is_null()) args = &entry.args;
    }
    std::unique_ptr<Plugin> plugin;
    std::string why = "its factory returned nothing";
    const Error thrown = CallPlainly(PluginCall(*profile_, index, PluginFunction::kFactory), [&] {
      profile_->handles.push_back(std::make_unique<PluginHandle>(handle_, descriptor.name));
      Result<std::unique_ptr<Plugin>> made = descriptor.make(args, *profile_->handles.back());
      if (made.ok()) {
        plugin = std::move(made).value();
      } else {
        why = made.error().text();
      }
    });
    if (plugin != nullptr) return plugin;
    if (!thrown.ok()) why = thrown.text();
    errors_.Add("initializing plugin " + Quote(descriptor.name) + ": " + why);
    return nullptr;
  }

  bool Extends(const std::string& name, Point point) const { return registry_.Find(name)->points & Bit(point); }

  // Nothing of Berth runs at the placement points (they belong to a feature that is off by default); what
  // kube-scheduler would refuse is refused all the same.
  void CheckPlacement(const PluginSet& set, const std::string& interface, std::initializer_list<const char*> known) {
    std::set<std::string> seen;
    for (const PluginRef& ref : set.enabled) {
      if (registry_.Find(ref.name) == nullptr) {
        errors_.Add(interface + " " + Quote(ref.name) + " does not exist");
      } else if (std::find(known.begin(), known.end(), ref.name) == known.end()) {
        errors_.Add("plugin " + Quote(ref.name) + " does not extend " + interface + " plugin");
      } else if (!seen.insert(ref.name).second) {
        errors_.Add("plugin " + Quote(ref.name) + " already registered as " + Quote(interface));
      }
    }
  }

  // The names at one point in calling order: those named both here and in MultiPoint, in this point's order; then the
  // rest of MultiPoint; then the rest of this point.
  std::vector<std::string> Expand(Point point) {
    const PluginSet& set = Set(point);
    std::vector<std::string> specific;
    for (const PluginRef& ref : set.enabled) {
      if (registry_.Find(ref.name) == nullptr) {
        errors_.Add(InterfaceName(point) + " " + Quote(ref.name) + " does not exist");
      } else if (!Extends(ref.name, point)) {
        errors_.Add("plugin " + Quote(ref.name) + " does not extend " + InterfaceName(point) + " plugin");
      } else if (std::find(specific.begin(), specific.end(), ref.name) != specific.end()) {
        errors_.Add("plugin " + Quote(ref.name) + " already registered as " + Quote(InterfaceName(point)));
      } else {
        specific.push_back(ref.name);
      }
    }
    if (Contains(set.disabled, "*")) return specific;

    std::vector<std::string> multi_point;
    std::set<std::string> overridden;
    for (const PluginRef& ref : config_.plugins.multi_point.enabled) {
      if (registry_.Find(ref.name) == nullptr) {
        // kube-scheduler stops at the first point it tries; naming the plugin once is enough.
        if (missing_.insert(ref.name).second) {
          errors_.Add(InterfaceName(point) + " " + Quote(ref.name) + " does not exist");
        }
        continue;
      }
      if (!Extends(ref.name, point) || Contains(set.disabled, ref.name)) continue;
      if (Contains(set.enabled, ref.name)) {
        overridden.insert(ref.name);
      } else if (std::find(multi_point.begin(), multi_point.end(), ref.name) != multi_point.end()) {
        errors_.Add("plugin " + Quote(ref.name) + " already registered as " + Quote(InterfaceName(point)));
      } else {
        multi_point.push_back(ref.name);
      }
    }
    std::vector<std::string> names;
    for (const std::string& name : specific) {
      if (overridden.contains(name)) names.push_back(name);
    }
    names.insert(names.end(), multi_point.begin(), multi_point.end());
    for (const std::string& name : specific) {
      if (!overridden.contains(name)) names.push_back(name);
    }
    return names;
  }

  void CheckCounts() {
    const std::string whose = " for profile with scheduler name " + Quote(config_.scheduler_name);
    const size_t sorts = List(Point::kQueueSort).size();
    if (sorts != 1) {
      errors_.Add("only one queue sort plugin required" + whose + ", but got " + std::to_string(sorts));
    }
    if (List(Point::kBind).empty()) errors_.Add("at least one bind plugin is needed" + whose);
    if (config_.plugins.placement_generate.enabled.size() > 1) {
      errors_.Add("at most one placement generate plugin is allowed" + whose);
    }
  }

  // An entry of the Score list beats MultiPoint's, even when it sets no weight; no weight is 1.
  int64_t WeightOf(const std::string& name) const {
    for (const auto* list : {&Set(Point::kScore).enabled, &config_.plugins.multi_point.enabled}) {
      for (const PluginRef& ref : *list) {
        if (ref.name == name) return ref.weight == 0 ? 1 : ref.weight;
      }
    }
    return 1;
  }

  template <class Interface, class Made = Entry<Interface>>
  std::vector<Made> Entries(Point point) {
    std::vector<Made> entries;
    for (const std::string& name : List(point)) {
      const uint16_t index = index_.at(name);
      const Plugin* plugin = profile_->plugins[index].plugin.get();
      if (plugin == nullptr) continue;  // its factory failed, which has been said
      if (const auto* interface = dynamic_cast<const Interface*>(plugin)) {
        entries.push_back({interface, index});
      } else {
        errors_.Add("plugin " + Quote(name) + " does not extend " + InterfaceName(point) + " plugin");
      }
    }
    return entries;
  }

  void Fill() {
    Profile& p = *profile_;
    p.pre_enqueue = Entries<PreEnqueuePlugin>(Point::kPreEnqueue);
    p.queue_sort = Entries<QueueSortPlugin>(Point::kQueueSort);
    p.pre_filter = Entries<PreFilterPlugin, PreFilterEntry>(Point::kPreFilter);
    p.filter = Entries<FilterPlugin>(Point::kFilter);
    p.post_filter = Entries<PostFilterPlugin>(Point::kPostFilter);
    p.pre_score = Entries<PreScorePlugin>(Point::kPreScore);
    p.reserve = Entries<ReservePlugin>(Point::kReserve);
    p.permit = Entries<PermitPlugin>(Point::kPermit);
    p.pre_bind = Entries<PreBindPlugin>(Point::kPreBind);
    p.bind = Entries<BindPlugin>(Point::kBind);
    p.post_bind = Entries<PostBindPlugin>(Point::kPostBind);
    std::vector<int64_t> weights;
    for (const Entry<ScorePlugin>& entry : Entries<ScorePlugin>(Point::kScore)) {
      weights.push_back(WeightOf(p.name(entry.index)));
      p.score.push_back({entry.plugin, entry.index, weights.back()});
    }
    if (TotalScoreCouldOverflow(weights)) errors_.Add("score plugins: total score of Score plugins could overflow");
  }

  const config::Profile& config_;
  const Registry& registry_;
  Handle& handle_;
  const ProfileUse use_;
  std::unique_ptr<Profile> profile_;
  std::map<std::string, uint16_t> index_;
  std::array<std::vector<std::string>, kPointCount> lists_;
  std::set<std::string> missing_;
  Complaints errors_;
};

// Equal where kube-scheduler's decoded arguments would be: member order does not matter, no arguments and null are one.
bool SameArgs(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == Value::Kind::kArray) {
    return std::equal(a.items().begin(), a.items().end(), b.items().begin(), b.items().end(), SameArgs);
  }
  if (a.kind() != Value::Kind::kObject) return a == b;
  if (a.members().size() != b.members().size()) return false;
  return std::all_of(a.members().begin(), a.members().end(), [&](const Value::Member& member) {
    const Value* other = b.Find(member.first);
    return other != nullptr && SameArgs(member.second, *other);
  });
}

Value ArgsOf(const config::Profile& config, const std::string& plugin, const Registry& registry) {
  const Value* args = nullptr;
  for (const config::PluginConfig& entry : config.plugin_config) {
    if (entry.name == plugin) args = &entry.args;
  }
  const PluginDescriptor* descriptor = registry.Find(plugin);
  if (descriptor == nullptr || !descriptor->complete_args) return args == nullptr ? Value() : *args;
  std::vector<FieldError> ignored;  // reported when the configuration was read
  return descriptor->complete_args(args, "", ignored);
}

template <class List>
std::vector<PluginRef> Names(const Profile& profile, const List& list) {
  std::vector<PluginRef> names;
  for (const auto& entry : list) names.push_back({profile.name(entry.index), 0});
  return names;
}

}  // namespace

bool TotalScoreCouldOverflow(const std::vector<int64_t>& weights) {
  int64_t total = 0;
  for (const int64_t weight : weights) {
    int64_t most = 0;
    if (__builtin_mul_overflow(weight, kMaxScore, &most) || __builtin_add_overflow(total, most, &total)) return true;
  }
  return false;
}

Result<std::unique_ptr<const Profile>> BuildProfile(const config::Profile& config, const Registry& registry,
                                                    Handle& handle, int32_t percentage_of_nodes_to_score,
                                                    ProfileUse use) {
  return Builder(config, registry, handle, use).Build(percentage_of_nodes_to_score);
}

Error TakeDeclarations(Profile& profile) {
  std::vector<std::string> errors;
  const auto ask = [&](uint16_t plugin, PluginFunction function, auto&& call) {
    const Error error = CallPlainly(PluginCall(profile, plugin, function), call);
    if (!error.ok())
      errors.push_back("plugin " + Quote(profile.name(plugin)) + ", " + std::string(ToString(function)) + ": " +
                       error.text());
  };
  const auto depends = [&](auto& entries, Point point) {
    for (auto& entry : entries)
      ask(entry.index, PluginFunction::kDependsOn, [&] { entry.depends = entry.plugin->DependsOn(point); });
  };
  depends(profile.pre_enqueue, Point::kPreEnqueue);
  depends(profile.queue_sort, Point::kQueueSort);
  depends(profile.pre_filter, Point::kPreFilter);
  depends(profile.filter, Point::kFilter);
  depends(profile.post_filter, Point::kPostFilter);
  depends(profile.pre_score, Point::kPreScore);
  depends(profile.score, Point::kScore);
  depends(profile.reserve, Point::kReserve);
  depends(profile.permit, Point::kPermit);
  depends(profile.pre_bind, Point::kPreBind);
  depends(profile.bind, Point::kBind);
  depends(profile.post_bind, Point::kPostBind);
  for (PreFilterEntry& entry : profile.pre_filter)
    ask(entry.index, PluginFunction::kTracksPods, [&] { entry.tracks_pods = entry.plugin->TracksPods(); });
  for (ScoreEntry& entry : profile.score)
    ask(entry.index, PluginFunction::kNormalization, [&] { entry.normalization = entry.plugin->normalization(); });
  for (size_t i = 0; i < profile.plugins.size(); ++i) {
    ProfilePlugin& plugin = profile.plugins[i];
    if (!plugin.plugin) continue;
    ask(static_cast<uint16_t>(i), PluginFunction::kEventsToRegister,
        [&] { plugin.events = plugin.plugin->EventsToRegister(); });
    ask(static_cast<uint16_t>(i), PluginFunction::kAnnotations,
        [&] { plugin.annotations = plugin.plugin->Annotations(); });
    AddKeys(profile.annotations, plugin.annotations);
  }
  return errors.empty() ? Error::Ok() : Error(JoinErrors(errors));
}

Result<Profiles> BuildProfiles(const config::SchedulerConfiguration& config, const Registry& registry,
                               const HandleFor& handle_for) {
  Profiles profiles;
  std::vector<std::string> errors;
  std::string first_sort;
  Value first_args;
  for (const config::Profile& profile_config : config.profiles) {
    const std::string& name = profile_config.scheduler_name;
    Result<std::unique_ptr<const Profile>> built = BuildProfile(profile_config, registry, handle_for(profile_config),
                                                                config.percentage_of_nodes_to_score.value_or(0));
    if (!built.ok()) {
      errors.push_back("creating profile for scheduler name " + name + ": " + built.error().text());
      continue;
    }
    std::unique_ptr<const Profile> profile = std::move(built).value();
    if (name.empty()) {
      errors.push_back("scheduler name is needed");
      continue;
    }
    if (profiles.contains(name)) {
      errors.push_back("duplicate profile with scheduler name " + Quote(name));
      continue;
    }
    const std::string& sort = profile->name(profile->queue_sort.front().index);
    Value args = ArgsOf(profile_config, sort, registry);
    if (first_sort.empty()) {
      first_sort = sort;
      first_args = std::move(args);
    } else if (sort != first_sort) {
      errors.push_back("different queue sort plugins for profile " + Quote(name) + ": " + Quote(sort) +
                       ", first: " + Quote(first_sort));
    } else if (!SameArgs(args, first_args)) {
      errors.push_back("different queue sort plugin args for profile " + Quote(name));
    }
    profiles.emplace(name, std::move(profile));
  }
  if (config.profiles.empty()) errors.push_back("at least one profile is required");
  if (!errors.empty()) return Error(JoinErrors(errors));
  return profiles;
}

std::vector<PluginRef> PluginsAt(const Profile& profile, Point point) {
  switch (point) {
    case Point::kPreEnqueue:
      return Names(profile, profile.pre_enqueue);
    case Point::kQueueSort:
      return Names(profile, profile.queue_sort);
    case Point::kPreFilter:
      return Names(profile, profile.pre_filter);
    case Point::kFilter:
      return Names(profile, profile.filter);
    case Point::kPostFilter:
      return Names(profile, profile.post_filter);
    case Point::kPreScore:
      return Names(profile, profile.pre_score);
    case Point::kScore: {
      std::vector<PluginRef> names = Names(profile, profile.score);
      for (size_t i = 0; i < names.size(); ++i) names[i].weight = static_cast<int32_t>(profile.score[i].weight);
      return names;
    }
    case Point::kReserve:
      return Names(profile, profile.reserve);
    case Point::kPermit:
      return Names(profile, profile.permit);
    case Point::kPreBind:
      return Names(profile, profile.pre_bind);
    case Point::kBind:
      return Names(profile, profile.bind);
    case Point::kPostBind:
      return Names(profile, profile.post_bind);
  }
  return {};
}

}  // namespace berth::framework
