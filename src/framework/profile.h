// SPDX-License-Identifier: Apache-2.0
// Profile: the ordered, weighted, validated plugins of one scheduler name, resolved once from configuration and
// registry.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "berth/registry.h"
#include "config/types.h"
#include "framework/call_observer.h"

namespace berth::framework {

// A plugin made for this profile. One object per name, however many extension points it serves.
struct ProfilePlugin {
  std::string name;
  std::unique_ptr<Plugin> plugin;
  // What EventsToRegister said. Its hints may point into the plugin, so they go first.
  std::optional<std::vector<EventRegistration>> events = {};
  AnnotationKeys annotations = {};  // that it declares to read
};

// A plugin at one extension point: the interface, ready to call, where its per-pod state lives, and what it declares.
template <class Interface>
struct Entry {
  const Interface* plugin;
  uint16_t index;        // into Profile::plugins
  Depends depends = {};  // at this point
};

struct PreFilterEntry {
  const PreFilterPlugin* plugin;
  uint16_t index;
  Depends depends = {};
  bool tracks_pods = false;
};

struct ScoreEntry {
  const ScorePlugin* plugin;
  uint16_t index;
  int64_t weight;
  Depends depends = {};
  Normalization normalization = Normalization::kNone;
};

// Immutable once it is made: hosts hold it as const. Lists are in the order in which plugins are called: plugins named
// at the point and in multiPoint first, then the rest of multiPoint, then the rest of the point, as upstream's
// NewFramework has it. Plugins are called through plugin_call.h.
struct Profile {
  std::string scheduler_name;
  int32_t percentage_of_nodes_to_score = 0;      // 0: judge all nodes
  std::vector<std::unique_ptr<Handle>> handles;  // that the plugins were made with
  std::vector<ProfilePlugin> plugins;

  std::vector<Entry<PreEnqueuePlugin>> pre_enqueue;
  std::vector<Entry<QueueSortPlugin>> queue_sort;  // exactly one
  std::vector<PreFilterEntry> pre_filter;
  std::vector<Entry<FilterPlugin>> filter;
  std::vector<Entry<PostFilterPlugin>> post_filter;
  std::vector<Entry<PreScorePlugin>> pre_score;
  std::vector<ScoreEntry> score;
  std::vector<Entry<ReservePlugin>> reserve;
  std::vector<Entry<PermitPlugin>> permit;
  std::vector<Entry<PreBindPlugin>> pre_bind;
  std::vector<Entry<BindPlugin>> bind;
  std::vector<Entry<PostBindPlugin>> post_bind;

  // Watch the calls of these plugins; never null.
  std::unique_ptr<CallObservers> observers = std::make_unique<CallObservers>();
  AnnotationKeys annotations;  // that all of them read

  const std::string& name(uint16_t index) const { return plugins[index].name; }
};

// A scheduler's profile has exactly one queue sort plugin and a bind plugin at least; a part of one need not.
enum class ProfileUse : uint8_t { kScheduler, kPart };

// Makes the plugins of one profile of a completed, validated configuration. Errors are what kube-scheduler refuses at
// start: unknown plugin, missing extension point, plugin twice at one point, not exactly one queue sort, no bind
// plugin, weights that could overflow, a factory that fails; and a plugin that throws when it is asked for its
// declarations. All are reported, joined by "; ", not only the first.
// `percentage_of_nodes_to_score` is the configuration's, for a profile that does not set its own.
// REQUIRES: `handle` outlives the profile.
Result<std::unique_ptr<const Profile>> BuildProfile(const config::Profile& config, const Registry& registry,
                                                    Handle& handle, int32_t percentage_of_nodes_to_score = 0,
                                                    ProfileUse use = ProfileUse::kScheduler);

// Asks every plugin, once, for what is constant about it (DependsOn, TracksPods, normalization, EventsToRegister,
// Annotations), and keeps the answers in the profile: nobody asks again. The Error names each plugin that threw, and
// where. BuildProfile does it; a profile that is put together by hand needs it when it is complete.
Error TakeDeclarations(Profile& profile);

// All profiles by scheduler name.
using Profiles = std::map<std::string, std::unique_ptr<const Profile>, std::less<>>;
// The handle that the plugins of this profile are made with. REQUIRES: it outlives the profiles.
using HandleFor = std::function<Handle&(const config::Profile&)>;

// Builds every profile and checks what holds across them: unique names, one queue sort plugin with the same arguments.
// The errors of all profiles are reported, joined by "; ".
Result<Profiles> BuildProfiles(const config::SchedulerConfiguration& config, const Registry& registry,
                               const HandleFor& handle_for);

// The names at one extension point in calling order; at Score with their weights. For display.
std::vector<config::PluginRef> PluginsAt(const Profile& profile, Point point);

// Whether a node's weighted scores could add up to more than 64 bits hold.
bool TotalScoreCouldOverflow(const std::vector<int64_t>& weights);

}  // namespace berth::framework
