// SPDX-License-Identifier: Apache-2.0
// HintMap: which plugin of which profile asked for which cluster events, and what it has to say about them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/events.h"
#include "util/secret_hash.h"

namespace berth::queue {

inline constexpr ClusterEvent kWildCardEvent{EventResource::kWildCard, action::kAll};
inline bool IsWildCard(const ClusterEvent& event) { return event == kWildCardEvent; }

// Whether `event` is the same as or more specific than what was registered: same resource (Pod stands for assigned and
// unscheduled pods alike), action bits in common, and no larger value. The last one is upstream's way of not letting a
// generic Update wake whoever asked for one specific update (framework/types.go: MatchClusterEvents).
bool Matches(const ClusterEvent& registered, const ClusterEvent& event);

// Resource and action as upstream names them in logs and metrics: `NodeUpdateNodeTaint`, `AssignedPodDelete`.
std::string EventLabel(const ClusterEvent& event);

// The pseudo plugin that rejects in the name of all extenders.
inline constexpr std::string_view kExtenderName = "Extender";

// A plugin and what its EventsToRegister returned. No value: it does not say, so everything may help.
struct PluginEvents {
  std::string plugin;
  std::optional<std::vector<EventRegistration>> events;
};

// A plugin's name as a small number, the same in all profiles of one HintMap. 0 is no plugin.
using PluginId = uint16_t;
inline constexpr PluginId kNoPlugin = 0;
// A scheduler name's position in the HintMap.
using ProfileIndex = uint16_t;
inline constexpr ProfileIndex kNoProfile = 0xffff;

// Everybody who asked for one event.
struct EventMatch {
  struct Hint {
    PluginId plugin;
    const QueueingHintFn* fn;  // empty function: always Queue
  };
  std::vector<PluginId> plugins;            // of any profile, ascending
  std::vector<std::vector<Hint>> profiles;  // by ProfileIndex; ascending by plugin
  bool Has(PluginId plugin) const;          // in any profile
  bool empty() const { return plugins.empty(); }
};

// Filled once at start, then asked for every event. References stay valid until the next AddProfile.
// Thread safety: none; Match remembers its answers.
class HintMap {
 public:
  HintMap();

  // `plugins`: those of the profile that can reject a pod (PreEnqueue, PreFilter, Filter, Reserve, Permit), in any
  // order; others are not asked for their events upstream. `with_extenders` adds kExtenderName, which listens to
  // everything. A plugin that registered Node/Add but no taint update is registered for taint updates too, without
  // its hint, as kube-scheduler 1.36 does (scheduler.go: buildQueueingHintMap).
  // REQUIRES: the scheduler name is new.
  void AddProfile(std::string scheduler_name, std::vector<PluginEvents> plugins, bool with_extenders = false);

  // kNoProfile when the name is unknown.
  ProfileIndex ProfileOf(std::string_view scheduler_name) const;
  // REQUIRES: not kNoProfile.
  const std::string& ProfileName(ProfileIndex profile) const { return profiles_[profile].scheduler_name; }
  // Names that registered nothing get an id as well.
  PluginId Intern(std::string_view plugin);
  const std::string& PluginName(PluginId id) const { return names_[id]; }
  size_t plugin_count() const { return names_.size(); }  // ids are below this

  const EventMatch& Match(const ClusterEvent& event) const;
  // The actions that somebody asked for of this resource; 0: nobody needs to watch it.
  ActionType RegisteredActions(EventResource resource) const;

 private:
  struct Registration {
    ClusterEvent event;
    PluginId plugin;
    QueueingHintFn hint;
  };
  struct Profile {
    std::string scheduler_name;
    std::vector<Registration> registrations;  // ascending by plugin
  };

  std::vector<Profile> profiles_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, PluginId, SecretStringHash, std::equal_to<>> ids_;
  mutable std::unordered_map<uint64_t, std::unique_ptr<EventMatch>> matches_;
};

}  // namespace berth::queue
