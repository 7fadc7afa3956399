// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/framework/runtime/framework.go, RunReserve… to RunPostBind… (v1.36.4).
#include "framework/binding_stages.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "framework/call_timer.h"
#include "framework/plugin_call.h"
#include "util/answer_once.h"

namespace berth::framework {
namespace {

// Rejections keep their code; everything else that is not success becomes an Error with context.
Ruling Failure(const char* stage, const std::string& name, uint16_t index, const Verdict& verdict) {
  if (verdict.rejected()) return {verdict, index};
  return {Verdict::Fail("running " + std::string(stage) + " plugin \"" + name + "\": " + verdict.message()), index};
}

// A Done that may be called from any thread, even by a plugin that breaks the rule: who calls twice is heard once, and
// who drops it without a call has failed, so that no pod waits forever.
Done Once(std::function<void(Verdict)> fn) {
  return util::AnswerOnce<Verdict>(std::move(fn),
                                   [](const Done& answer) { answer(Verdict::Fail("the plugin gave no answer")); });
}

}  // namespace

BindingStages::BindingStages(const Profile& profile, Placement placement, std::vector<StateSlot> states,
                             std::mutex* calling)
    : profile_(profile),
      timed_(profile.observers->timed()),
      placement_(std::move(placement)),
      states_(std::move(states)),
      calling_(calling) {
  states_.resize(profile.plugins.size());
}

Ruling BindingStages::Reserve() {
  Stage stage(profile_, PluginFunction::kReserve, timed_);
  for (const auto& entry : profile_.reserve) {
    const Verdict verdict = CallReserve(profile_, entry, placement_, states_[entry.index], timed_);
    if (verdict.fits()) continue;
    Ruling failure = Failure("Reserve", profile_.name(entry.index), entry.index, verdict);
    stage.End(failure.verdict.code());
    return failure;
  }
  stage.End(Code::kSuccess);
  return {};
}

void BindingStages::Unreserve() {
  Stage stage(profile_, PluginFunction::kUnreserve, timed_);
  for (auto entry = profile_.reserve.rbegin(); entry != profile_.reserve.rend(); ++entry) {
    (void)CallUnreserve(profile_, *entry, placement_, states_[entry->index], timed_);
  }
  stage.End(Code::kSuccess);
}

PermitRuling BindingStages::Permit(Time now) {
  Stage stage(profile_, PluginFunction::kPermit, timed_);
  PermitRuling result = AskPermit(now);
  stage.End(result.ruling.verdict.code());
  return result;
}

PermitRuling BindingStages::AskPermit(Time now) {
  PermitRuling result;
  for (const auto& entry : profile_.permit) {
    const std::string& name = profile_.name(entry.index);
    const PermitOutcome outcome = CallPermit(profile_, entry, placement_, states_[entry.index], timed_);
    if (outcome.verdict.fits()) continue;
    if (outcome.verdict.code() == Code::kWait) {
      result.deadlines[name] = now + std::min(outcome.timeout, kMaxPermitWait);
      continue;
    }
    result.ruling = Failure("Permit", name, entry.index, outcome.verdict);
    return result;
  }
  if (!result.deadlines.empty())
    result.ruling.verdict = Verdict(
        Code::kWait, "one or more plugins asked to wait and no plugin rejected pod \"" + placement_.pod->name() + "\"");
  return result;
}

PreBindPlan BindingStages::PreFlight() {
  Stage stage(profile_, PluginFunction::kPreBindPreFlight, timed_);
  PreBindPlan plan = AskPreFlight();
  const Code code = plan.ruling.verdict.code();
  stage.End(code == Code::kSuccess && !plan.work ? Code::kSkip : code);
  return plan;
}

PreBindPlan BindingStages::AskPreFlight() {
  PreBindPlan plan;
  plan.skip.reserve(profile_.pre_bind.size());
  plan.parallel.reserve(profile_.pre_bind.size());
  for (const auto& entry : profile_.pre_bind) {
    const berth::PreFlight flight = CallPreBindPreFlight(profile_, entry, placement_, states_[entry.index], timed_);
    const Code code = flight.verdict.code();
    if (code != Code::kSuccess && code != Code::kSkip) {
      const std::string& name = profile_.name(entry.index);
      plan.ruling = {Verdict::Fail(code == Code::kError
                                       ? "running PreBindPreFlight \"" + name + "\": " + flight.verdict.message()
                                       : "PreBindPreFlight " + name + " returned \"" + std::string(ToString(code)) +
                                             "\", which is unsupported. It is supposed to return Success, Skip, or "
                                             "Error status"),
                     entry.index};
      return plan;
    }
    plan.skip.push_back(code == Code::kSkip);
    plan.parallel.push_back(flight.allow_parallel);
    plan.work |= code == Code::kSuccess;
  }
  return plan;
}

void BindingStages::PreBind(const PreBindPlan& plan, DoneWith done, std::function<void()> stop) {
  in_pre_bind_.assign(profile_.pre_bind.size(), 0);
  stop_ = std::move(stop);
  PreBindFrom(plan, 0, Timed(PluginFunction::kPreBind, std::move(done)));
}

BindingStages::DoneWith BindingStages::Timed(PluginFunction point, DoneWith done) const {
  Stage stage(profile_, point, timed_);
  CallTimer::StageEnd end = stage.TakeEnd();
  if (!end) return done;
  return [end = std::move(end), done = std::move(done)](Ruling ruling) {
    end(ruling.verdict.code());
    done(std::move(ruling));
  };
}

void BindingStages::PreBindFrom(PreBindPlan plan, size_t from, DoneWith done) {
  const auto& all = profile_.pre_bind;
  if (from >= all.size()) return done({});
  // A group: neighbours that allow company, or one plugin alone. A skipped plugin that does not allow it ends a group.
  size_t end = from + 1;
  if (plan.parallel[from])
    while (end < all.size() && plan.parallel[end]) ++end;

  struct Group {
    std::mutex mutex;
    size_t left;
    Ruling first_failure;
  };
  auto group = std::make_shared<Group>();
  group->left = end - from;
  auto self = shared_from_this();
  auto finished = [self, group, plan, end, done = std::move(done)](Ruling ruling) {
    bool others_wait = false, first = false;
    {
      std::lock_guard lock(group->mutex);
      first = !ruling.verdict.fits() && group->first_failure.verdict.fits();
      if (first) group->first_failure = std::move(ruling);
      others_wait = --group->left > 0;
    }
    if (others_wait) {
      if (first && self->stop_) self->stop_();
      return;
    }
    if (!group->first_failure.verdict.fits()) return done(group->first_failure);
    self->PreBindFrom(plan, end, done);
  };
  for (size_t i = from; i < end; ++i) {
    const uint16_t index = all[i].index;
    if (plan.skip[i]) {
      finished({});
      continue;
    }
    // The name by value: an answer may come when the profile is gone.
    {
      const std::lock_guard lock(pre_bind_mutex_);
      in_pre_bind_[i] = 1;
    }
    const Done once = Once([self, i, index, finished, name = profile_.name(index)](const Verdict& verdict) {
      {
        const std::lock_guard lock(self->pre_bind_mutex_);
        self->in_pre_bind_[i] = 0;
      }
      finished(verdict.fits() ? Ruling{} : Failure("PreBind", name, index, verdict));
    });
    const Error thrown = CallPreBind(profile_, all[i], placement_, states_[index], once, timed_);
    if (!thrown.ok()) once(Verdict::Fail(thrown.text()));
  }
}

void BindingStages::CancelPreBind(const std::string& cause) {
  const auto self = shared_from_this();
  for (size_t i = 0; i < profile_.pre_bind.size(); ++i) {
    {
      const std::lock_guard lock(pre_bind_mutex_);
      if (i >= in_pre_bind_.size() || !in_pre_bind_[i]) continue;
    }
    const auto& entry = profile_.pre_bind[i];
    CallCancelPreBind(profile_, entry, placement_, states_[entry.index], cause);
  }
}

void BindingStages::Bind(DoneWith done) {
  turn_.done = Timed(PluginFunction::kBind, std::move(done));
  BindFrom(0);
}

void BindingStages::BindFrom(size_t from) {
  for (; from < profile_.bind.size(); ++from) {
    const std::optional<Ruling> ruling = AskBind(from);
    if (!ruling) return;  // the answer will come
    if (ruling->verdict.code() != Code::kSkip) return EndBind(*ruling);
  }
  EndBind({Verdict::Skip(), kNoPlugin});
}

// What `done` holds, this object perhaps, is let go with it.
void BindingStages::EndBind(Ruling ruling) { std::exchange(turn_.done, nullptr)(std::move(ruling)); }

// One plugin's answer; none when it has not been given yet. One that comes while the plugin is being called waits for
// the end of the call, when `calling_` is free again; a later one goes on from where it comes.
std::optional<Ruling> BindingStages::AskBind(size_t position) {
  const auto& entry = profile_.bind[position];
  const uint16_t index = entry.index;
  turn_.returned = false;
  turn_.early.reset();
  // The name by value: an answer may come when the profile is gone.
  const Done once =
      Once([self = shared_from_this(), position, index, name = profile_.name(index)](const Verdict& verdict) {
        const Code code = verdict.code();
        Ruling ruling = code == Code::kSuccess || code == Code::kSkip ? Ruling{verdict, index}
                                                                      : Failure("Bind", name, index, verdict);
        {
          BindTurn& turn = self->turn_;
          const std::lock_guard lock(turn.mutex);
          if (!turn.returned) {
            turn.early = std::move(ruling);
            return;
          }
        }
        if (code == Code::kSkip) return self->BindFrom(position + 1);
        self->EndBind(std::move(ruling));
      });
  Error thrown = Error::Ok();
  {
    std::unique_lock<std::mutex> held;
    if (calling_ != nullptr) held = std::unique_lock(*calling_);
    thrown = CallBind(profile_, entry, placement_, states_[index], once, timed_);
  }
  if (!thrown.ok()) once(Verdict::Fail(thrown.text()));
  const std::lock_guard lock(turn_.mutex);
  turn_.returned = true;
  return std::move(turn_.early);
}

void BindingStages::PostBind() {
  Stage stage(profile_, PluginFunction::kPostBind, timed_);
  for (const auto& entry : profile_.post_bind) {
    (void)CallPostBind(profile_, entry, placement_, states_[entry.index], timed_);
  }
  stage.End(Code::kSuccess);
}

}  // namespace berth::framework
