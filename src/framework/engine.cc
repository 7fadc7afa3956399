// SPDX-License-Identifier: Apache-2.0
// Building hosts and profiles.
#include "framework/engine.h"

#include <cassert>
#include <utility>

#include "berth/host/annotations.h"
#include "framework/difference.h"

namespace berth::framework {

Result<std::unique_ptr<Engine>> Engine::Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                             const Clock& clock, uint64_t seed, LogSink* log) {
  static NoWriter no_writer;  // has no state
  return Make(config, registry, clock, no_writer, seed, log);
}

Result<std::unique_ptr<Engine>> Engine::Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                             const Clock& clock, Writer& writer, uint64_t seed, LogSink* log,
                                             const Clock* dates) {
  std::unique_ptr<Engine> engine(new Engine(clock));
  std::vector<std::string> ignored;
  for (const config::Extender& extender : config.extenders)
    for (const config::ManagedResource& resource : extender.managed_resources)
      if (resource.ignored_by_scheduler) ignored.push_back(resource.name);
  auto host_for = [&](const config::Profile& profile) -> Handle& {
    engine->hosts_.push_back(std::make_unique<Host>(HostOptions{profile.scheduler_name, seed, ignored, log, dates},
                                                    clock, writer, engine->services_));
    return *engine->hosts_.back();
  };
  Result<Profiles> profiles = BuildProfiles(config, registry, host_for);
  if (!profiles.ok()) return profiles.error();
  engine->profiles_ = std::move(profiles).value();
  for (const auto& [name, profile] : engine->profiles_) AddKeys(engine->annotations_, profile->annotations);
  engine->first_ = engine->FindProfile(config.profiles.front().scheduler_name);
  return engine;
}

const Profile* Engine::FindProfile(std::string_view scheduler_name) const {
  if (first_ != nullptr && first_->scheduler_name == scheduler_name) return first_;  // nearly every pod's
  auto it = profiles_.find(scheduler_name);
  return it == profiles_.end() ? nullptr : it->second.get();
}

Judgement Engine::Judge(const Profile& profile, const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options) {
  Judgement judgement;
  if (const Error* obstacle = Obstacle(profile)) {
    judgement.message = obstacle->text();
  } else {
    judgement = framework::Judge(profile, table_, clock_).Run(pod, snapshot, options);
  }
  if (options.unrecorded == judgement.kind) return judgement;
  CycleTrace trace = MakeTrace(pod, snapshot, judgement, table_, decisions_++);
  trace.profile = &profile;
  trace.time = clock_.Now();
  traces_.Add(std::move(trace));
  if (const Profile* twin = reference_ ? reference_->FindProfile(profile.scheduler_name) : nullptr) {
    // Indexes are asked here too, and the reference draws its random numbers with us.
    Judgement judged = reference_->Judge(*twin, pod, snapshot, options);
    Decision decision = DecisionOf(judgement, snapshot, table_, 0);
    Compare(profile, pod, snapshot, decision, traces_.last(), *twin, judged);
    judgement.states = std::move(decision.states);
  }
  return judgement;
}

void Engine::Compare(const Profile& profile, const Pod& pod, const Snapshot& snapshot, const Decision& decision,
                     const CycleTrace& trace, const Profile& twin, Judgement& judged) {
  ++compared_;
  const std::string difference =
      Difference(decision, trace, judged, twin, reference_->table(), snapshot, profile, table_);
  if (!difference.empty()) on_difference_(FullName(pod) + ": " + difference);
}

Decision Engine::Decide(const Profile& profile, const Pod& pod, const Snapshot& snapshot) {
  if (const auto memory = memories_.find(&profile); memory != memories_.end() && !Obstacle(profile)) {
    CycleTrace& trace = traces_.Next();
    std::optional<Decision> decision = memory->second->Decide(pod, snapshot, trace);
    if (decision && !Obstacle(profile)) {  // an index may have failed just now
      trace.profile = &profile;
      trace.position = decisions_++;
      if (const Profile* twin = reference_ ? reference_->FindProfile(profile.scheduler_name) : nullptr) {
        Judgement judged = reference_->Judge(*twin, pod, snapshot, {});
        Compare(profile, pod, snapshot, *decision, trace, *twin, judged);
      }
      return std::move(*decision);
    }
    traces_.Drop();
  }
  Judgement judgement = Judge(profile, pod, snapshot, {});
  return DecisionOf(judgement, snapshot, table_, 0);
}

std::vector<PluginIndex*> Engine::Indexes() {
  std::vector<PluginIndex*> all;
  for (const auto& [name, profile] : profiles_) {
    std::unique_ptr<PluginIndexes>& made = indexes_[profile.get()];
    if (!made) made = std::make_unique<PluginIndexes>(*profile);
    for (PluginIndex* index : made->all()) all.push_back(index);
  }
  return all;
}

const Error* Engine::Obstacle(const Profile& profile) const {
  const auto indexes = indexes_.find(&profile);
  return indexes == indexes_.end() || indexes->second->failure().ok() ? nullptr : &indexes->second->failure();
}

void Engine::Remember(const MemoryOptions& options) {
  for (const auto& [name, profile] : profiles_) {
    const auto made = indexes_.find(profile.get());
    std::vector<const PluginIndex*> indexes(profile->plugins.size());
    if (made != indexes_.end()) indexes = made->second->by_plugin();
    memories_[profile.get()] = std::make_unique<Memory>(*profile, table_, clock_, std::move(indexes), options);
  }
}

void Engine::Verify(Engine& reference, std::function<void(const std::string&)> on_difference) {
  reference_ = &reference;
  on_difference_ = std::move(on_difference);
  auto check = std::make_shared<ReadCheck>(on_difference_);
  WatchReads(check);
  reference.WatchReads(std::move(check));
}

void Engine::WatchReads(std::function<void(const std::string&)> on_undeclared) {
  WatchReads(std::make_shared<ReadCheck>(std::move(on_undeclared)));
}

void Engine::WatchReads(std::shared_ptr<ReadCheck> check) {
  assert(!reads_);
  reads_ = std::move(check);
  for (const auto& [name, profile] : profiles_) profile->observers->Add(*reads_);
}

Memory::Stats Engine::memory_stats() const {
  Memory::Stats sum;
  for (const auto& [profile, memory] : memories_) {
    const Memory::Stats stats = memory->stats();
    sum.decisions += stats.decisions;
    sum.left += stats.left;
    sum.hits += stats.hits;
    sum.full_passes += stats.full_passes;
    sum.by_blocks += stats.by_blocks;
    sum.repaired_rows += stats.repaired_rows;
    sum.cleared_rows += stats.cleared_rows;
    sum.classes += stats.classes;
    sum.bytes += stats.bytes;
  }
  return sum;
}

}  // namespace berth::framework
