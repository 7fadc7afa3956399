// SPDX-License-Identifier: Apache-2.0
// Registration of events and hints, and the matching rule.
#include "queue/hint_map.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "berth/host/kinds.h"

namespace berth::queue {
namespace {

// What a plugin that does not say listens to: upstream's list, which leaves out ResourceSlice and VolumeAttachment
// (framework/types.go: UnrollWildCardResource).
constexpr bool IsUnrolled(const KindInfo& info) {
  return info.event && info.kind != Kind::kResourceSlice && info.kind != Kind::kVolumeAttachment;
}

std::vector<EventRegistration> Everything() {
  std::vector<EventRegistration> events;
  for (const KindInfo& info : kKinds) {
    if (IsUnrolled(info)) events.push_back({{*info.event, action::kAll}, nullptr});
  }
  return events;
}

std::string ResourceLabel(EventResource resource) {
  if (resource == EventResource::kWildCard) return "*";
  if (resource == EventResource::kAssignedPod) return "AssignedPod";
  if (resource == EventResource::kUnschedulablePod) return "UnschedulablePod";
  for (const KindInfo& info : kKinds) {
    if (info.event != resource) continue;
    return std::string(info.group).append(info.group.empty() ? "" : "/").append(info.name);
  }
  return "";
}

// A set of several actions has no name upstream, unless it is Update or All.
std::string_view ActionLabel(ActionType actions) {
  switch (actions) {
    case action::kAdd:
      return "Add";
    case action::kDelete:
      return "Delete";
    case action::kUpdateNodeAllocatable:
      return "UpdateNodeAllocatable";
    case action::kUpdateNodeLabel:
      return "UpdateNodeLabel";
    case action::kUpdateNodeTaint:
      return "UpdateNodeTaint";
    case action::kUpdateNodeCondition:
      return "UpdateNodeCondition";
    case action::kUpdateNodeAnnotation:
      return "UpdateNodeAnnotation";
    case action::kUpdateNodeDeclaredFeature:
      return "UpdateNodeDeclaredFeature";
    case action::kUpdatePodLabel:
      return "UpdatePodLabel";
    case action::kUpdatePodScaleDown:
      return "UpdatePodScaleDown";
    case action::kUpdatePodToleration:
      return "UpdatePodToleration";
    case action::kUpdatePodSchedulingGatesEliminated:
      return "UpdatePodSchedulingGatesEliminated";
    case action::kUpdatePodGeneratedResourceClaim:
      return "UpdatePodGeneratedResourceClaim";
    case action::kUpdate:
      return "Update";
    case action::kAll:
      return "All";
    default:
      return "";
  }
}

bool ResourceMatches(EventResource registered, EventResource resource) {
  if (registered == EventResource::kWildCard || registered == resource) return true;
  return registered == EventResource::kPod &&
         (resource == EventResource::kAssignedPod || resource == EventResource::kUnschedulablePod);
}

}  // namespace

bool Matches(const ClusterEvent& registered, const ClusterEvent& event) {
  if (IsWildCard(registered)) return true;
  return ResourceMatches(registered.resource, event.resource) && (registered.actions & event.actions) != 0 &&
         event.actions <= registered.actions;
}

std::string EventLabel(const ClusterEvent& event) {
  return ResourceLabel(event.resource).append(ActionLabel(event.actions));
}

bool EventMatch::Has(PluginId plugin) const { return std::binary_search(plugins.begin(), plugins.end(), plugin); }

HintMap::HintMap() : names_{""} {}

void HintMap::AddProfile(std::string scheduler_name, std::vector<PluginEvents> plugins, bool with_extenders) {
  if (ProfileOf(scheduler_name) != kNoProfile) {
    std::fprintf(stderr, "HintMap: scheduler name \"%s\" added twice; BuildProfiles guarantees unique names\n",
                 scheduler_name.c_str());
    std::abort();
  }
  if (with_extenders) plugins.push_back({std::string(kExtenderName), std::nullopt});
  Profile profile{std::move(scheduler_name), {}};
  for (PluginEvents& plugin : plugins) {
    const PluginId id = Intern(plugin.plugin);
    bool node_added = false, node_taint = false;
    for (EventRegistration& event : plugin.events ? *plugin.events : plugin.events.emplace(Everything())) {
      if (event.event.resource == EventResource::kNode) {
        node_added |= (event.event.actions & action::kAdd) != 0;
        node_taint |= (event.event.actions & action::kUpdateNodeTaint) != 0;
      }
      profile.registrations.push_back({event.event, id, std::move(event.hint)});
    }
    if (node_added && !node_taint)
      profile.registrations.push_back({{EventResource::kNode, action::kUpdateNodeTaint}, id, nullptr});
  }
  std::stable_sort(profile.registrations.begin(), profile.registrations.end(),
                   [](const Registration& a, const Registration& b) { return a.plugin < b.plugin; });
  profiles_.push_back(std::move(profile));
  matches_.clear();
}

ProfileIndex HintMap::ProfileOf(std::string_view scheduler_name) const {
  for (size_t i = 0; i < profiles_.size(); ++i)
    if (profiles_[i].scheduler_name == scheduler_name) return static_cast<ProfileIndex>(i);
  return kNoProfile;
}

PluginId HintMap::Intern(std::string_view plugin) {
  if (auto it = ids_.find(plugin); it != ids_.end()) return it->second;
  const auto id = static_cast<PluginId>(names_.size());
  names_.emplace_back(plugin);
  ids_.emplace(names_.back(), id);
  return id;
}

const EventMatch& HintMap::Match(const ClusterEvent& event) const {
  std::unique_ptr<EventMatch>& match = matches_[uint64_t{static_cast<uint8_t>(event.resource)} << 32 | event.actions];
  if (match) return *match;
  match = std::make_unique<EventMatch>();
  for (const Profile& profile : profiles_) {
    std::vector<EventMatch::Hint>& hints = match->profiles.emplace_back();
    for (const Registration& registration : profile.registrations) {
      if (!Matches(registration.event, event)) continue;
      hints.push_back({registration.plugin, &registration.hint});
      match->plugins.push_back(registration.plugin);
    }
  }
  std::sort(match->plugins.begin(), match->plugins.end());
  match->plugins.erase(std::unique(match->plugins.begin(), match->plugins.end()), match->plugins.end());
  return *match;
}

ActionType HintMap::RegisteredActions(EventResource resource) const {
  ActionType actions = 0;
  for (const Profile& profile : profiles_)
    for (const Registration& registration : profile.registrations)
      if (ResourceMatches(registration.event.resource, resource)) actions |= registration.event.actions;
  return actions;
}

}  // namespace berth::queue
