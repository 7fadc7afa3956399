// SPDX-License-Identifier: Apache-2.0
// Engine: the profiles of one configuration with everything their plugins need, ready to judge pods.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "config/types.h"
#include "framework/decision.h"
#include "framework/host.h"
#include "framework/judge.h"
#include "framework/memory.h"
#include "framework/plugin_indexes.h"
#include "framework/profile.h"
#include "framework/read_check.h"
#include "framework/trace.h"

namespace berth::framework {

// Thread safety: one thread.
class Engine {
 public:
  // For commands that decide but write nothing. `log` is the plugins'; null: they have none. REQUIRES: registry, clock
  // and log outlive the engine. The error lists what kube-scheduler would refuse at start.
  static Result<std::unique_ptr<Engine>> Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                              const Clock& clock, uint64_t seed = 0, LogSink* log = nullptr);
  // Plugins write through `writer`, which outlives the engine. Their log lines bear the time of `dates`, null: of the
  // clock.
  static Result<std::unique_ptr<Engine>> Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                              const Clock& clock, Writer& writer, uint64_t seed, LogSink* log = nullptr,
                                              const Clock* dates = nullptr);

  // Null when no profile has this scheduler name.
  const Profile* FindProfile(std::string_view scheduler_name) const;
  // The first profile of the configuration.
  const Profile& first_profile() const { return *first_; }
  const Profiles& profiles() const { return profiles_; }
  // What the plugins of all profiles read.
  const AnnotationKeys& annotations() const { return annotations_; }
  // Everything about one pod and all nodes.
  Judgement Judge(const Profile& profile, const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options);
  // What the cycle needs of that with default options, from memory as far as possible.
  Decision Decide(const Profile& profile, const Pod& pod, const Snapshot& snapshot);

  // From now on decisions are remembered. REQUIRES: all snapshots are of one cluster, and it feeds the indexes.
  void Remember(const MemoryOptions& options = {});
  // The plugins' indexes, made when first asked for. They live as long as the engine. When one throws, every pod of its
  // profile fails: what it counted is not to be trusted.
  std::vector<PluginIndex*> Indexes();
  // Every decision, remembered or not, is checked against `reference`, made from the same configuration and seed, which
  // judges in full. Plugins of both are watched: do they read what they declare? `on_difference` is told what differs,
  // and who read more; the decision stands. REQUIRES: called once; the reference outlives the engine.
  void Verify(Engine& reference, std::function<void(const std::string&)> on_difference);
  // Only the watching. `on_undeclared` is told once per plugin, extension point and group. REQUIRES: called once.
  void WatchReads(std::function<void(const std::string&)> on_undeclared);
  // How many decisions were checked so.
  uint64_t compared() const { return compared_; }
  Memory::Stats memory_stats() const;
  VerdictTable& table() { return table_; }
  const VerdictTable& table() const { return table_; }
  // The records of the last decisions.
  const TraceRing& traces() const { return traces_; }

  // What plugins of all profiles share.
  HostServices& services() { return services_; }

 private:
  explicit Engine(const Clock& clock) : clock_(clock) {}
  void Compare(const Profile& profile, const Pod& pod, const Snapshot& snapshot, const Decision& decision,
               const CycleTrace& trace, const Profile& twin, Judgement& judged);
  void WatchReads(std::shared_ptr<ReadCheck> check);
  // Why no pod of this profile can be judged; null: it can.
  const Error* Obstacle(const Profile& profile) const;

  const Clock& clock_;
  HostServices services_;
  std::vector<std::unique_ptr<Host>> hosts_;
  Profiles profiles_;
  AnnotationKeys annotations_;
  const Profile* first_ = nullptr;
  VerdictTable table_;
  TraceRing traces_{1024};
  uint64_t decisions_ = 0, compared_ = 0;
  std::map<const Profile*, std::unique_ptr<PluginIndexes>> indexes_;  // empty until they are asked for
  std::map<const Profile*, std::unique_ptr<Memory>> memories_;
  Engine* reference_ = nullptr;
  std::shared_ptr<ReadCheck> reads_;  // with the reference, so that each finding is told once
  std::function<void(const std::string&)> on_difference_;
};

}  // namespace berth::framework
