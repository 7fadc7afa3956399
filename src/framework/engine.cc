// SPDX-License-Identifier: Apache-2.0
// Building hosts and profiles.
#include "framework/engine.h"

#include <utility>

namespace berth::framework {

Result<std::unique_ptr<Engine>> Engine::Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                             const Clock& clock, uint64_t seed) {
  static NoWriter no_writer;  // has no state
  return Make(config, registry, clock, no_writer, seed);
}

Result<std::unique_ptr<Engine>> Engine::Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                             const Clock& clock, Writer& writer, uint64_t seed) {
  std::unique_ptr<Engine> engine(new Engine(clock));
  std::vector<std::string> ignored;
  for (const config::Extender& extender : config.extenders)
    for (const config::ManagedResource& resource : extender.managed_resources)
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
  auto host_for = [&](const config::Profile& profile) -> Handle& {
    engine->hosts_.push_back(
        std::make_unique<Host>(HostOptions{profile.scheduler_name, seed, ignored}, clock, writer, engine->services_));
    return *engine->hosts_.back();
  };
  Result<Profiles> profiles = BuildProfiles(config, registry, host_for);
  if (!profiles.ok()) return profiles.error();
  engine->profiles_ = std::move(profiles).value();
  engine->first_ = engine->FindProfile(config.profiles.front().scheduler_name);
  return engine;
}

const Profile* Engine::FindProfile(std::string_view scheduler_name) const {
  auto it = profiles_.find(scheduler_name);
  return it == profiles_.end() ? nullptr : it->second.get();
}

Judgement Engine::Judge(const Profile& profile, const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options) {
  Judgement judgement = framework::Judge(profile, table_, clock_).Run(pod, snapshot, options);
  traces_.Add(MakeTrace(pod, snapshot, judgement, decisions_++));
  return judgement;
}

}  // namespace berth::framework
