// SPDX-License-Identifier: Apache-2.0
// Engine: the profiles of one configuration with everything their plugins need, ready to judge pods.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "config/types.h"
#include "framework/host.h"
#include "framework/judge.h"
#include "framework/profile.h"
#include "framework/trace.h"

namespace berth::framework {

// Thread safety: one thread.
class Engine {
 public:
  // For commands that decide but write nothing. REQUIRES: registry and clock outlive the engine. The error lists what
  // kube-scheduler would refuse at start.
  static Result<std::unique_ptr<Engine>> Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                              const Clock& clock, uint64_t seed = 0);
  // Plugins write through `writer`, which outlives the engine.
  static Result<std::unique_ptr<Engine>> Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                              const Clock& clock, Writer& writer, uint64_t seed);

  // Null when no profile has this scheduler name.
  const Profile* FindProfile(std::string_view scheduler_name) const;
  // The first profile of the configuration.
  const Profile& first_profile() const { return *first_; }
  const Profiles& profiles() const { return profiles_; }
  Judgement Judge(const Profile& profile, const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options);
  VerdictTable& table() { return table_; }
  const VerdictTable& table() const { return table_; }
  // The records of the last decisions.
  const TraceRing& traces() const { return traces_; }

  // What plugins of all profiles share.
  HostServices& services() { return services_; }

 private:
  explicit Engine(const Clock& clock) : clock_(clock) {}

  const Clock& clock_;
  HostServices services_;
  std::vector<std::unique_ptr<Host>> hosts_;
  Profiles profiles_;
  const Profile* first_ = nullptr;
  VerdictTable table_;
  TraceRing traces_{1024};
  uint64_t decisions_ = 0;
};

}  // namespace berth::framework
