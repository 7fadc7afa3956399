// SPDX-License-Identifier: Apache-2.0
// From profiles to queue options and hints.
#include "cycle/queue_setup.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/host/reach.h"
#include "framework/call_timer.h"
#include "framework/plugin_call.h"
#include "framework/reads.h"

namespace berth::cycle {
namespace {

// Extension points whose plugins can reject a pod; only these are asked for their events.
std::vector<uint16_t> RejectingPlugins(const framework::Profile& profile) {
  std::vector<uint16_t> plugins;
  const auto add = [&](const auto& entries) {
    for (const auto& entry : entries)
      if (std::find(plugins.begin(), plugins.end(), entry.index) == plugins.end()) plugins.push_back(entry.index);
  };
  add(profile.pre_enqueue);
  add(profile.pre_filter);
  add(profile.filter);
  add(profile.reserve);
  add(profile.permit);
  return plugins;
}

std::array<Point, kPointCount> AllPoints() {
  std::array<Point, kPointCount> points{};
  for (size_t i = 0; i < kPointCount; ++i) points[i] = static_cast<Point>(i);
  return points;
}

}  // namespace

queue::QueueOptions QueueOptionsOf(const framework::Engine& engine, const config::SchedulerConfiguration& config) {
  queue::QueueOptions options;
  const framework::Profile& first = engine.first_profile();
  options.less = [&first](const QueuedPod& a, const QueuedPod& b) {
    return framework::CallLess(first, first.queue_sort.front(), a, b);
  };
  options.pre_enqueue = [&engine](const Pod& pod) -> std::optional<queue::Gate> {
    const framework::Profile* profile = engine.FindProfile(pod.scheduler_name);
    if (!profile) return std::nullopt;
    const framework::TimedCycle timed(*profile);
    std::optional<framework::Ruling> gate = framework::FindGate(*profile, pod);
    if (!gate) return std::nullopt;
    return queue::Gate{profile->name(gate->plugin), std::move(gate->verdict)};
  };
  // Longer ones would not fit into 64 bits of nanoseconds, and nobody lives to see the difference.
  constexpr int64_t kLongest = int64_t{10} * 365 * 24 * 3600;
  options.backoff.initial = Duration::Seconds(std::min(config.pod_initial_backoff_seconds, kLongest));
  options.backoff.max = Duration::Seconds(std::min(config.pod_max_backoff_seconds, kLongest));
  return options;
}

queue::HintMap HintsOf(const framework::Engine& engine, bool with_extenders) {
  queue::HintMap hints;
  for (const auto& [name, profile] : engine.profiles()) {
    std::vector<queue::PluginEvents> events;
    for (const uint16_t index : RejectingPlugins(*profile)) {
      const framework::ProfilePlugin& plugin = profile->plugins[index];
      queue::PluginEvents said{plugin.name, plugin.events};
      if (said.events)
        for (EventRegistration& event : *said.events)
          if (event.hint)
            event.hint = [&profile = *profile, index, hint = event.hint](const Pod& pod, const EventObjects& objects) {
              return framework::CallHint(profile, index, hint, pod, objects);
            };
      events.push_back(std::move(said));
    }
    hints.AddProfile(name, std::move(events), with_extenders);
  }
  return hints;
}

std::vector<Kind> KindsToWatch(const framework::Engine& engine) {
  std::array<bool, kKindCount> wanted{};
  const auto want = [&](Kind kind) { wanted[static_cast<size_t>(kind)] = IsWatched(kind); };
  want(Kind::kPod);
  want(Kind::kNode);
  for (const auto& [name, profile] : engine.profiles()) {
    for (const Kind kind : KindsRead(framework::DependsAt(*profile, AllPoints()))) want(kind);
    for (const uint16_t index : RejectingPlugins(*profile)) {
      // One that does not say what wakes its pods is served by what it reads.
      const auto& events = profile->plugins[index].events;
      if (!events) continue;
      for (const EventRegistration& registered : *events) {
        for (const KindInfo& info : kKinds) {
          if (info.event &&
              (info.event == registered.event.resource || registered.event.resource == EventResource::kWildCard))
            want(info.kind);
        }
      }
    }
  }
  std::vector<Kind> kinds;
  for (const KindInfo& info : kKinds)
    if (wanted[static_cast<size_t>(info.kind)]) kinds.push_back(info.kind);
  return kinds;
}

}  // namespace berth::cycle
