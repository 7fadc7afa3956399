// SPDX-License-Identifier: Apache-2.0
// Victims, one call after the other.
#include "cycle/evictions.h"

#include <utility>

namespace berth::cycle {

void Evictions::Start(const Ptr<Pod>& preemptor, const PreemptionCandidate& chosen, const std::string& plugin) {
  auto run = std::make_shared<Run>();
  run->preemptor = preemptor;
  run->node = chosen.node;
  run->plugin = plugin;
  for (const auto& victim : chosen.victims)
    if (!victim->terminating()) run->victims.push_back(victim);
  if (run->victims.empty()) return;
  run->all = chosen.victims.size();
  run->began = core_.clock.Now();
  running_[preemptor->uid()] = run;
  core_.Tell(&Observer::OnPreemptionBegun, Describe(*run));

  for (const Ptr<Pod>& pod : core_.state.NominatedTo(run->node)) {
    if (pod->priority >= preemptor->priority) continue;
    const Ptr<Pod> now = core_.FindPod(pod->namespace_(), pod->name());
    if (now && now->uid() == pod->uid()) statuses_.Write(*now, std::nullopt, "");
  }
  if (run->victims.size() == 1) return EvictLast(run);
  run->waiting_for = run->victims.size() - 1;
  for (size_t i = 0; i + 1 < run->victims.size(); ++i) Evict(run, run->victims[i]);
}

bool Evictions::preempting(std::string_view uid) const {
  if (running_.empty()) return false;  // asked about every pod that is queued
  const auto it = running_.find(uid);
  if (it == running_.end()) return false;
  const Run& run = *it->second;
  if (!run.last) return true;
  // The answer may come later than the news of the deletion; the news counts.
  const Pod& victim = *run.victims.back();
  const Ptr<Pod> now = core_.FindPod(victim.namespace_(), victim.name());
  return now && now->uid() == victim.uid() && !now->terminating();
}

void Evictions::EvictLast(const std::shared_ptr<Run>& run) {
  run->last = true;
  run->waiting_for = 1;
  Evict(run, run->victims.back());
}

void Evictions::Evict(const std::shared_ptr<Run>& run, const Ptr<Pod>& victim) {
  // A victim that is not bound yet goes back to the queue by itself.
  bool in_memory = false;
  if (const auto waiting = core_.engine->services().waiting.FindEntry(victim->uid())) {
    in_memory = waiting->Stop(Verdict::Fail("preempted"), run->plugin);
  } else {
    in_memory = cancel_binding_(victim->uid(), "preempted by " + run->plugin);
  }
  if (in_memory) {
    Evicted(*run, *victim, true);
    return OnVictim(run, *victim, {});
  }
  client::PodStatusPatch patch;
  patch.pod = client::NameOf(*victim);
  patch.condition = PodCondition{"DisruptionTarget", "True", "PreemptionByScheduler",
                                 run->preemptor->scheduler_name + ": preempting to accommodate a higher priority pod"};
  if (core_.halted) return OnVictim(run, *victim, {0, "the scheduler has stopped", ErrorKind::kUnsent});
  const PodCondition* had = victim->FindCondition("DisruptionTarget");
  if (had && *had == *patch.condition) return Delete(run, victim);
  patch.transition = had == nullptr || had->status != patch.condition->status;
  patch.generation = victim->meta.generation;
  core_.api.PatchPodStatus(patch, core_.Counted([this, run, victim](const client::ApiStatus& status) {
    if (status.ok()) return Delete(run, victim);
    OnVictim(run, *victim, status);
  }));
}

void Evictions::Delete(const std::shared_ptr<Run>& run, const Ptr<Pod>& victim) {
  if (core_.halted) return OnVictim(run, *victim, {0, "the scheduler has stopped", ErrorKind::kUnsent});
  core_.api.DeletePod(client::NameOf(*victim), core_.Counted([this, run, victim](const client::ApiStatus& status) {
    if (status.ok()) Evicted(*run, *victim, false);
    OnVictim(run, *victim, status);
  }));
}

Preemption Evictions::Describe(const Run& run) const {
  return {*run.preemptor, run.node, run.all, run.victims.size(), !run.failed, core_.clock.Now() - run.began};
}

void Evictions::Evicted(const Run& run, const Pod& victim, bool in_memory) {
  core_.Tell(&Observer::OnVictim, Describe(run), victim);
  recorder_.Preempted(victim, *run.preemptor, run.node, in_memory);
}

bool Evictions::Gone(const Pod& victim, const client::ApiStatus& status) const {
  if (status.not_found()) return true;
  if (!status.conflict()) return false;
  // Another pod has the name by now, or the server is in a bad mood: the watch knows.
  const Ptr<Pod> now = core_.FindPod(victim.namespace_(), victim.name());
  return !now || now->uid() != victim.uid();
}

void Evictions::OnVictim(const std::shared_ptr<Run>& run, const Pod& victim, const client::ApiStatus& status) {
  if (!status.ok() && !Gone(victim, status)) {
    run->failed = true;
    core_.Complain("preemption for " + FullName(*run->preemptor) + " on " + run->node +
                   " failed: " + std::to_string(status.code) + " " + status.message);
  }
  if (--run->waiting_for > 0) return;
  if (!run->last && !run->failed) return EvictLast(run);
  Finish(run);
}

void Evictions::Finish(const std::shared_ptr<Run>& run) {
  // A later run for the same pod may have begun: the news of the last deletion can be faster than its answer.
  const auto it = running_.find(run->preemptor->uid());
  if (it != running_.end() && it->second == run) running_.erase(it);
  // A victim whose binding has failed meanwhile was pending when it was deleted: no pod leaves a node any more, so
  // nobody else would wake a preemptor that was kept back until now.
  const bool unheard =
      core_.queue->PlaceOf(*run->preemptor) == queue::Place::kGated && !core_.state.FindPod(run->victims.back()->uid());
  if (run->failed || unheard) core_.queue->Activate(run->preemptor);
  core_.Tell(&Observer::OnPreemptionEnded, Describe(*run));
}

}  // namespace berth::cycle
