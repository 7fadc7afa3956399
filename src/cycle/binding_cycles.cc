// SPDX-License-Identifier: Apache-2.0
// Upstream: schedule_one.go, assumeAndReserve to bindingCycle and handleBindingCycleError (v1.36.4).
#include "cycle/binding_cycles.h"

#include <utility>

#include "berth/host/fit_error.h"

namespace berth::cycle {
namespace {

using framework::PluginFunction;
using framework::Ruling;

constexpr char kHalted[] = "the scheduler has stopped";

Failure ErrorFailure(const framework::Profile& profile, const std::string& message) {
  return {&profile, Code::kError, message, {}, ""};
}

// After Permit nobody's word is waited for any more, but a rejection is still called one (condition Unschedulable).
Failure LateFailure(const framework::Profile& profile, const Verdict& verdict) {
  Failure failure = ErrorFailure(profile, verdict.message());
  if (verdict.rejected()) failure.code = verdict.code();
  return failure;
}

// What the plugin said, without what a stage puts before the text of an error.
std::string OwnWords(PluginFunction stage, const std::string& plugin, const std::string& message) {
  const char* noun = stage == PluginFunction::kPreBindPreFlight ? " \"" : " plugin \"";
  const std::string before = "running " + std::string(ToString(stage)) + noun + plugin + "\": ";
  return message.starts_with(before) ? message.substr(before.size()) : message;
}

}  // namespace

Failure OneNodeFailure(const framework::Profile& profile, const Verdict& verdict, const std::string& plugin) {
  if (!verdict.rejected()) return ErrorFailure(profile, verdict.message());
  FitErrorParts parts;
  parts.nodes = 1;
  for (const std::string& reason : verdict.reasons()) ++parts.reasons[reason];
  Failure failure{&profile, verdict.code(), FitErrorText(parts), {}, ""};
  (verdict.code() == Code::kPending ? failure.rejectors.pending : failure.rejectors.unschedulable).push_back(plugin);
  return failure;
}

std::optional<BindingCycles::Refusal> BindingCycles::Begin(queue::PodTicket ticket, const framework::Profile& profile,
                                                           const std::string& node, std::vector<StateSlot> states) {
  auto assumed = std::make_shared<Pod>(*ticket.pod());
  assumed->node_name = node;
  const auto name_of = [&](const Ruling& ruling) {
    return ruling.plugin == framework::kNoPlugin ? std::string() : profile.name(ruling.plugin);
  };
  if (const Error error = core_.state.AssumePod(assumed); !error.ok()) {
    on_failure_(std::move(ticket), ErrorFailure(profile, error.text()));
    return Refusal{error.text(), true};
  }
  auto run = std::make_shared<Run>(std::move(ticket), profile, assumed, node);
  run->attempt = core_.attempt;
  run->stages = std::make_shared<framework::BindingStages>(profile, Placement{assumed, node}, std::move(states));

  Ruling refused = run->stages->Reserve();
  PluginFunction stage = PluginFunction::kReserve;
  framework::PermitRuling permit;
  if (refused.verdict.fits()) {
    stage = PluginFunction::kPermit;
    permit = run->stages->Permit(core_.clock.Now());
    if (permit.ruling.verdict.code() != Code::kWait) refused = permit.ruling;
  }
  if (!refused.verdict.fits()) {
    TellStageFailed(*run, stage, refused);
    run->stages->Unreserve();
    core_.Complain(core_.state.ForgetPod(assumed->uid()));
    Failure failure = OneNodeFailure(profile, refused.verdict, name_of(refused));
    Refusal refusal{failure.message, !failure.rejected()};
    on_failure_(std::move(run->ticket), std::move(failure));
    return refusal;
  }

  // From here on it is the binding cycle; the next pod may be decided meanwhile.
  running_[assumed->uid()] = run;
  std::shared_ptr<framework::WaitingPodEntry> waiting;
  if (!permit.deadlines.empty()) {
    run->waits_since = core_.clock.Now();
    waiting = std::make_shared<framework::WaitingPodEntry>(assumed, std::move(permit.deadlines), *run->waits_since);
    core_.engine->services().waiting.Add(waiting);
  }
  run->plan = run->stages->PreFlight();
  if (!run->plan.ruling.verdict.fits()) {
    core_.engine->services().waiting.Remove(assumed->uid());
    TellStageFailed(*run, PluginFunction::kPreBindPreFlight, run->plan.ruling);
    Fail(run, ErrorFailure(profile, run->plan.ruling.verdict.message()));
    return std::nullopt;
  }
  // Others (an autoscaler) are told where the pod is going when that may take a while.
  if (run->plan.work || waiting) statuses_.Write(*run->ticket.pod(), std::nullopt, node);
  if (!waiting) {
    AfterPermit(run, {}, "");
    return std::nullopt;
  }
  waiting->OnDone([this, run, link = core_.owner.link()](Verdict verdict, std::string plugin) {
    Core::Post(link, [this, run, verdict = std::move(verdict), plugin = std::move(plugin)] {
      AfterPermit(run, verdict, plugin);
    });
  });
  return std::nullopt;
}

void BindingCycles::AfterPermit(const RunPtr& run, const Verdict& verdict, const std::string& plugin) {
  core_.engine->services().waiting.Remove(run->pod->uid());
  if (core_.options.observer && run->waits_since)
    core_.options.observer->OnPermitWaited(verdict.code(), core_.clock.Now() - *run->waits_since);
  if (verdict.rejected()) return Fail(run, OneNodeFailure(*run->profile, verdict, plugin));
  if (!verdict.fits()) return Fail(run, ErrorFailure(*run->profile, "waiting on permit for pod: " + verdict.message()));
  if (core_.halted) return Fail(run, ErrorFailure(*run->profile, kHalted));
  run->ticket.StopRecording();
  run->in_pre_bind = run->plan.work;
  if (!run->plan.work) return AfterPreBind(run, {});
  // Plugins beside one that has failed need not go on.
  const auto stop = [stages = std::weak_ptr(run->stages), link = core_.owner.link()] {
    Core::Post(link, [stages] {
      if (const auto still = stages.lock()) still->CancelPreBind("some other PreBind operation failed");
    });
  };
  Await(
      run, [&](framework::BindingStages::DoneWith done) { run->stages->PreBind(run->plan, std::move(done), stop); },
      &BindingCycles::AfterPreBind);
}

void BindingCycles::AfterPreBind(const RunPtr& run, const Ruling& ruling) {
  run->in_pre_bind = false;
  if (!ruling.verdict.fits()) {
    TellStageFailed(*run, PluginFunction::kPreBind, ruling);
    return Fail(run, LateFailure(*run->profile, ruling.verdict));
  }
  if (!run->cancelled.empty()) return Fail(run, ErrorFailure(*run->profile, run->cancelled));
  if (core_.halted) return Fail(run, ErrorFailure(*run->profile, kHalted));
  ++binding_;
  Bind(run);
}

// An extender's failure is the pod's unless it is ignorable; then the plugins bind. Whether it bound the pod all the
// same will show in the watch.
void BindingCycles::Bind(const RunPtr& run) {
  framework::Extender* binder = calls_.BinderOf(*run->pod);
  if (!binder) return BindByPlugins(run);
  calls_.Bind(*binder, run->pod, run->node, [this, run, ignorable = binder->traits().ignorable](const Error& error) {
    if (error.ok()) return AfterBind(run, {});
    if (ignorable) return BindByPlugins(run);
    AfterBind(run, {Verdict::Fail(error.text()), framework::kNoPlugin});
  });
}

void BindingCycles::BindByPlugins(const RunPtr& run) {
  Await(
      run, [&](framework::BindingStages::DoneWith done) { run->stages->Bind(std::move(done)); },
      &BindingCycles::AfterBind);
}

void BindingCycles::AfterBind(const RunPtr& run, const Ruling& ruling) {
  --binding_;
  if (!ruling.verdict.fits()) {
    TellStageFailed(*run, PluginFunction::kBind, ruling);
    const bool skipped = ruling.verdict.code() == Code::kSkip;
    return Fail(run, skipped ? ErrorFailure(*run->profile, "no Bind plugin took the pod")
                             : LateFailure(*run->profile, ruling.verdict));
  }
  running_.erase(run->pod->uid());
  if (Observer* observer = core_.options.observer)
    observer->OnScheduled({*run->pod, run->node, *run->profile, run->ticket.info(), run->attempt});
  run->ticket.Done();
  statuses_.Forget(run->pod->uid());
  recorder_.Scheduled(*run->pod, run->node);
  if (core_.options.observer) core_.options.observer->OnBound(*run->pod, run->node);
  run->stages->PostBind();
}

bool BindingCycles::Cancel(const std::string& uid, const std::string& cause) {
  const auto it = running_.find(uid);
  if (it == running_.end() || !it->second->in_pre_bind) return false;
  const RunPtr run = it->second;
  if (!run->cancelled.empty()) return true;
  run->cancelled = cause;
  run->stages->CancelPreBind(cause);
  return true;
}

void BindingCycles::TellStageFailed(const Run& run, PluginFunction stage, const Ruling& ruling) const {
  if (!core_.options.observer) return;
  const std::string plugin = ruling.plugin == framework::kNoPlugin ? std::string() : run.profile->name(ruling.plugin);
  const std::string message = OwnWords(stage, plugin, ruling.verdict.message());
  core_.options.observer->OnStageFailed({*run.pod, run.node, stage, plugin, ruling.verdict.code(), message});
}

void BindingCycles::Fail(const RunPtr& run, Failure failure) {
  running_.erase(run->pod->uid());
  run->stages->Unreserve();
  if (Observer* observer = core_.options.observer) {
    observer->OnBindFailed(*run->pod, run->node, failure.message);
    observer->OnNotBound({*run->profile, run->attempt, !failure.rejected()});
  }
  // What it held on the node is free again, as if an assigned pod had gone. A rejected pod must not be woken by that
  // itself, so for it the news comes after it went back.
  // One that is gone meanwhile counts as forgotten: waiting pods are told once more, as upstream does.
  const std::string& uid = run->pod->uid();
  const bool forgotten = !core_.state.FindPod(uid) || core_.state.ForgetPod(uid).ok();
  const queue::SharedObjects objects{run->pod, nullptr, nullptr, nullptr};
  const bool rejected = failure.rejected();
  if (forgotten && !rejected) core_.queue->MoveAll(kAssignedPodDelete, objects);
  on_failure_(std::move(run->ticket), std::move(failure));
  if (forgotten && rejected)
    core_.queue->MoveAll(kAssignedPodDelete, objects, [&](const Pod& pod) { return pod.uid() != run->pod->uid(); });
}

void BindingCycles::Await(const RunPtr& run, const std::function<void(framework::BindingStages::DoneWith)>& stage,
                          void (BindingCycles::*then)(const RunPtr&, const Ruling&)) {
  run->returned = false;
  run->early.reset();
  stage([this, run, then, link = core_.owner.link()](Ruling ruling) {
    {
      const std::lock_guard lock(run->mutex);
      if (!run->returned) {
        run->early = std::move(ruling);
        return;
      }
    }
    Core::Post(link, [this, run, then, ruling = std::move(ruling)] { (this->*then)(run, ruling); });
  });
  std::optional<Ruling> early;
  {
    const std::lock_guard lock(run->mutex);
    run->returned = true;
    early = std::move(run->early);
  }
  if (early) (this->*then)(run, *early);
}

}  // namespace berth::cycle
