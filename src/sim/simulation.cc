// SPDX-License-Identifier: Apache-2.0
// The loop that lets virtual time pass: the world's agenda, the scheduler's inbox, its attempts, its timers.
#include "sim/simulation.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace berth::sim {

Simulation::Simulation(const SimulationOptions& options)
    : options_(options),
      clock_(options.start),
      cluster_(agenda_, clock_, inbox_, options.cluster),
      busy_until_(options.start) {}

Result<std::unique_ptr<Simulation>> Simulation::Make(const config::SchedulerConfiguration& config,
                                                     const Registry& registry, const SimulationOptions& options,
                                                     cycle::Observer* observer) {
  std::unique_ptr<Simulation> simulation(new Simulation(options));
  cycle::SchedulerOptions scheduler_options;
  scheduler_options.seed = options.seed;
  scheduler_options.observer = observer;
  scheduler_options.remember = options.remember;
  scheduler_options.verify = options.verify;
  scheduler_options.log = options.log;
  scheduler_options.max_bindings = options.max_bindings;
  scheduler_options.events = options.events;
  scheduler_options.extenders = options.extenders;
  scheduler_options.max_consultations = 1;
  Result<std::unique_ptr<cycle::Scheduler>> scheduler = cycle::Scheduler::Make(
      config, registry, simulation->cluster_, simulation->inbox_, simulation->clock_, scheduler_options);
  if (!scheduler.ok()) return scheduler.error();
  simulation->scheduler_ = std::move(scheduler).value();
  return simulation;
}

bool Simulation::Step(Time limit) {
  if (NowHappens()) return true;
  const Time now = clock_.Now();
  Time wake = now < busy_until_ ? busy_until_ : scheduler_->NextWake();
  // A scheduler that wants to be woken by now had nothing to do, though; later it may.
  if (wake <= now) wake = now + std::max(options_.attempt_time, Duration{1});
  const Time next = std::min(agenda_.Next(), wake);
  if (next == util::TimerQueue::kNever || next > limit) return false;
  clock_.MoveTo(next);
  NowHappens();
  return true;
}

// The world comes first, so that a long queue of pods does not keep it waiting.
bool Simulation::NowHappens() {
  const Time now = clock_.Now();
  if (agenda_.RunOne(now)) return true;
  if (now < busy_until_) return false;  // the scheduling thread is at an attempt still
  const bool letters = !inbox_.empty();
  const bool more = scheduler_->RunOnce();
  const bool attempted = scheduler_->attempted();
  // Whoever is asked outside knows nothing of virtual time: until he answers, nothing happens.
  while (scheduler_->consultations() > 0) {
    inbox_.WaitFor(std::chrono::seconds(1));
    scheduler_->Apply();
  }
  if (attempted) busy_until_ = now + options_.attempt_time;
  return letters || more || attempted;
}

void Simulation::RunUntil(Time end) {
  while (Step(end)) {
  }
  clock_.MoveTo(end);
}

bool Simulation::RunUntilQuiet(Time limit) {
  while (!quiet() && !hopeless()) {
    if (Step(limit)) continue;
    clock_.MoveTo(limit);
    break;
  }
  return quiet();
}

bool Simulation::hopeless() const {
  if (!agenda_.empty() || !cluster_.quiet() || !inbox_.empty() || !scheduler_->synced()) return false;
  if (cluster_.count(Kind::kNode) > 0 || options_.cluster.faults.any()) return false;
  const auto counts = scheduler_->queue().counts();
  return counts.error_backoff > 0 && counts.active == 0 && counts.backoff == 0 && counts.in_flight == 0;
}

bool Simulation::quiet() const { return agenda_.empty() && cluster_.quiet() && inbox_.empty() && scheduler_->idle(); }

}  // namespace berth::sim
