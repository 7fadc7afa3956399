// SPDX-License-Identifier: Apache-2.0
// Engine: the profiles of one configuration with everything their plugins need, ready to judge pods.
#pragma once

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

namespace berth::sim {

// Thread safety: one thread.
class Engine {
 public:
  // REQUIRES: registry and clock outlive the engine. The error lists what kube-scheduler would refuse at start.
  static Result<std::unique_ptr<Engine>> Make(const config::SchedulerConfiguration& config, const Registry& registry,
                                              const Clock& clock, uint64_t seed = 0);

  // Null when no profile has this scheduler name.
  const framework::Profile* FindProfile(std::string_view scheduler_name) const;
  // The first profile of the configuration.
  const framework::Profile& first_profile() const { return *first_; }
  const framework::Profiles& profiles() const { return profiles_; }
  framework::Judgement Judge(const framework::Profile& profile, const Pod& pod, const Snapshot& snapshot,
                             const framework::JudgeOptions& options);
  VerdictTable& table() { return table_; }
  // The records of the last decisions.
  const framework::TraceRing& traces() const { return traces_; }

 private:
  explicit Engine(const Clock& clock) : clock_(clock) {}

  const Clock& clock_;
  framework::NoWriter writer_;
  std::vector<std::unique_ptr<framework::Host>> hosts_;
  framework::Profiles profiles_;
  const framework::Profile* first_ = nullptr;
  VerdictTable table_;
  framework::TraceRing traces_{1024};
  uint64_t decisions_ = 0;
};

}  // namespace berth::sim
