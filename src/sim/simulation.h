// SPDX-License-Identifier: Apache-2.0
// Simulation: the production scheduler on a simulated cluster, in virtual time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "config/types.h"
#include "cycle/scheduler.h"
#include "sim/simulated_cluster.h"
#include "util/inbox.h"
#include "util/timer_queue.h"
#include "util/virtual_clock.h"

namespace berth::sim {

// Virtual time starts here: 2026-01-01T00:00:00Z.
inline constexpr Time kSimulationStart{1'767'225'600'000'000'000};

struct SimulationOptions {
  ClusterOptions cluster;
  uint64_t seed = 0;
  // What one scheduling attempt costs in virtual time. Not zero, so that no chain of attempts can stop the clock.
  Duration attempt_time{100'000};
  Time start = kSimulationStart;
  bool remember = true, verify = false;  // as in cycle::SchedulerOptions
  // As in cycle::SchedulerOptions, whose defaults are a simulation's: nothing waits for the server, and an event takes
  // no time.
  size_t max_bindings = 0;
  std::optional<client::EventWriterOptions> events = std::nullopt;
  LogSink* log = nullptr;  // of the plugins, in virtual time; may be null, else it outlives the simulation
  // Asked for real, one decision at a time, while virtual time stands still.
  std::vector<std::shared_ptr<framework::Extender>> extenders = {};
};

// While the scheduling thread is at an attempt (attempt_time), the world goes on and letters wait, as in production.
//
// Thread safety: one thread.
class Simulation {
 public:
  // REQUIRES: registry and observer outlive it; observer may be null. The error lists what kube-scheduler would refuse
  // at start.
  static Result<std::unique_ptr<Simulation>> Make(const config::SchedulerConfiguration& config,
                                                  const Registry& registry, const SimulationOptions& options,
                                                  cycle::Observer* observer = nullptr);

  SimulatedCluster& cluster() { return cluster_; }
  cycle::Scheduler& scheduler() { return *scheduler_; }
  const util::VirtualClock& clock() const { return clock_; }
  // Something of the world happens then; entries of one time run in the order added.
  void At(Time time, std::function<void()> fn) { agenda_.At(time, std::move(fn)); }
  // The scheduler begins to list and watch. Call once, when the cluster is filled.
  void Start() { scheduler_->Start(); }
  // Time passes until `end`, and stands there.
  void RunUntil(Time end);
  // Time passes until nothing is left to happen except retries of pods that stay unschedulable (their timeout), but not
  // beyond `limit`, nor once it is hopeless. True: it became quiet.
  bool RunUntilQuiet(Time limit);
  // There are no nodes and nothing is under way or planned but further tries of pods that failed for want of one. Only
  // who calls At can change that.
  bool hopeless() const;
  // One thing happens, at the present time or at the next time at which there is one (not beyond `limit`). False: none.
  bool Step(Time limit);
  // Nothing is under way or planned, in the world or in the scheduler.
  bool quiet() const;

 private:
  explicit Simulation(const SimulationOptions& options);
  bool NowHappens();

  SimulationOptions options_;
  util::VirtualClock clock_;
  util::TimerQueue agenda_;
  util::Inbox inbox_;
  SimulatedCluster cluster_;
  Time busy_until_;                              // the end of the present attempt
  std::unique_ptr<cycle::Scheduler> scheduler_;  // last: it uses all of the above
};

}  // namespace berth::sim
