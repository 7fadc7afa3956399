// SPDX-License-Identifier: Apache-2.0
// All shapes of call come down to one function, Made. Without observers it is a look at a pointer, a few stores and the
// plugin's own function.
#include "framework/plugin_call.h"

#include <cassert>
#include <optional>
#include <string>
#include <utility>

#include "berth/host/preemption_review.h"
#include "framework/call_timer.h"

namespace berth::framework {
namespace {

using enum PluginFunction;

// What a call that threw returns.
template <class Outcome>
Outcome Thrown(std::string text) {
  if constexpr (std::is_same_v<Outcome, Error>) {
    return Error(std::move(text));
  } else if constexpr (std::is_same_v<Outcome, Verdict>) {
    return Verdict::Fail(std::move(text));
  } else if constexpr (requires { Outcome::Fail(std::string()); }) {
    return Outcome::Fail(std::move(text));
  } else if constexpr (std::is_same_v<Outcome, PermitOutcome>) {
    return PermitOutcome::Deny(Verdict::Fail(std::move(text)));
  } else {
    Outcome outcome;
    outcome.verdict = Verdict::Fail(std::move(text));
    return outcome;
  }
}

template <class Outcome>
CallEnd EndOf(const Outcome& outcome) {
  if constexpr (std::is_same_v<Outcome, Error>) {
    return {outcome.ok() ? Code::kSuccess : Code::kError};
  } else if constexpr (std::is_same_v<Outcome, Verdict>) {
    return {outcome.code()};
  } else if constexpr (requires { outcome.holds_while; }) {
    return {outcome.verdict.code(), outcome.holds_while};
  } else {
    return {outcome.verdict.code()};
  }
}

// Makes the call: ask(view). Its result says how it ended. `timed`: whether the cycle is that it belongs to.
template <class Ask, class Outcome = std::invoke_result_t<Ask, const CallView&>>
Outcome Made(const PluginCall& call, const CallView& view, bool timed, Ask&& ask) {
  const std::span<CallObserver* const> observers = call.profile.observers->seeing(timed);
  if (observers.empty()) [[likely]]
    return Guard([&] { return ask(view); }, Thrown<Outcome>);
  std::optional<Outcome> outcome;
  auto make = [&](const CallView& seen) {
    assert(!outcome);
    return EndOf(outcome.emplace(Guard([&] { return ask(seen); }, Thrown<Outcome>)));
  };
  CallObserver::Next(call, observers, make)(view);
  return std::move(*outcome);
}

// The same within the scheduling cycle.
template <class Ask>
auto Made(const PluginCall& call, const CallView& view, Ask&& ask) {
  return Made(call, view, call.profile.observers->timed(), std::forward<Ask>(ask));
}

// The same for functions that answer later.
template <class Ask>
Error Begun(const PluginCall& call, Done done, bool timed, Ask&& ask) {
  // The outermost hears of the answer last.
  for (CallObserver* observer : call.profile.observers->seeing(timed)) done = observer->Awaiting(call, std::move(done));
  return GuardError([&] {
    ask(std::move(done));
    return Error::Ok();
  });
}

CallTopic Of(const Placement& placement) { return {.pod = placement.pod.get(), .node = &placement.node}; }

// The same for functions whose result is not one that can say so: it goes into `result`.
template <class Said, class Ask>
Error Asked(const PluginCall& call, Said& result, Ask&& ask) {
  return Made(call, {}, [&](const CallView&) {
    result = ask();
    return Error::Ok();
  });
}

}  // namespace

Verdict CallPreEnqueue(const Profile& profile, const Entry<PreEnqueuePlugin>& entry, const Pod& pod) {
  return Made({profile, entry.index, kPreEnqueue, {&pod}}, {},
              [&](const CallView&) { return entry.plugin->PreEnqueue(pod); });
}

bool CallLess(const Profile& profile, const Entry<QueueSortPlugin>& entry, const QueuedPod& a, const QueuedPod& b) {
  bool less = false;
  (void)Asked({profile, entry.index, kLess, {a.pod}}, less, [&] { return entry.plugin->Less(a, b); });
  return less;
}

PreFilterOutcome CallPreFilter(const Profile& profile, const PreFilterEntry& entry, const Cycle& cycle) {
  PreFilterOutcome outcome = Made({profile, entry.index, kPreFilter, {.pod = &cycle.pod(), .depends = &entry.depends}},
                                  {&cycle}, [&](const CallView& view) { return entry.plugin->PreFilter(*view.cycle); });
  if (outcome.verdict.code() != Code::kSkip) CountCalls(profile, entry.index, kPreFilter);
  return outcome;
}

Error CallAddPod(const Profile& profile, const PreFilterEntry& entry, const Cycle& cycle, PluginState* state,
                 const PodRecord& pod, Row row) {
  return Made({profile, entry.index, kAddPod, {.pod = &cycle.pod(), .node = &cycle.snapshot().node(row).name()}},
              {&cycle}, [&](const CallView& view) { return entry.plugin->AddPod(*view.cycle, state, pod, row); });
}

Error CallRemovePod(const Profile& profile, const PreFilterEntry& entry, const Cycle& cycle, PluginState* state,
                    const PodRecord& pod, Row row) {
  return Made({profile, entry.index, kRemovePod, {.pod = &cycle.pod(), .node = &cycle.snapshot().node(row).name()}},
              {&cycle}, [&](const CallView& view) { return entry.plugin->RemovePod(*view.cycle, state, pod, row); });
}

Error CallFilter(const Profile& profile, const Entry<FilterPlugin>& entry, const Cycle& cycle, const PluginState* state,
                 const NodeBatch& nodes, Rejections& out) {
  return Made({profile, entry.index, kFilter, {.pod = &cycle.pod(), .nodes = &nodes, .depends = &entry.depends}},
              {&cycle, &nodes},
              [&](const CallView& view) { return entry.plugin->Filter(*view.cycle, state, *view.nodes, out); });
}

PostFilterOutcome CallPostFilter(const Profile& profile, const Entry<PostFilterPlugin>& entry, const Cycle& cycle,
                                 const PluginState* state, const FilterReport& report) {
  CountCalls(profile, entry.index, kPostFilter);
  return Made({profile, entry.index, kPostFilter, {&cycle.pod()}}, {&cycle},
              [&](const CallView& view) { return entry.plugin->PostFilter(*view.cycle, state, report); });
}

PostFilterOutcome CallReview(const Profile& profile, const Entry<PostFilterPlugin>& entry, const Cycle& cycle,
                             const Result<std::vector<PreemptionCandidate>>& left) {
  return Made({profile, entry.index, kPostFilter, {&cycle.pod()}}, {&cycle}, [&](const CallView& view) {
    return dynamic_cast<const PreemptionReviewer&>(*entry.plugin).Review(*view.cycle, left);
  });
}

bool Reviews(const Entry<PostFilterPlugin>& entry) {
  return dynamic_cast<const PreemptionReviewer*>(entry.plugin) != nullptr;
}

PreScoreOutcome CallPreScore(const Profile& profile, const Entry<PreScorePlugin>& entry, const Cycle& cycle,
                             std::span<const Row> feasible) {
  PreScoreOutcome outcome =
      Made({profile, entry.index, kPreScore, {.pod = &cycle.pod(), .depends = &entry.depends}}, {&cycle},
           [&](const CallView& view) { return entry.plugin->PreScore(*view.cycle, feasible); });
  if (outcome.verdict.code() != Code::kSkip) CountCalls(profile, entry.index, kPreScore);
  return outcome;
}

Error CallScore(const Profile& profile, const ScoreEntry& entry, const Cycle& cycle, const PluginState* state,
                const NodeBatch& nodes, std::span<int64_t> scores) {
  return Made({profile, entry.index, kScore, {.pod = &cycle.pod(), .nodes = &nodes, .depends = &entry.depends}},
              {&cycle, &nodes},
              [&](const CallView& view) { return entry.plugin->Score(*view.cycle, state, *view.nodes, scores); });
}

Error CallNormalize(const Profile& profile, const ScoreEntry& entry, const Cycle& cycle, const PluginState* state,
                    std::span<const Row> rows, std::span<int64_t> scores) {
  return Made({profile, entry.index, kNormalize, {.pod = &cycle.pod(), .depends = &entry.depends}}, {&cycle},
              [&](const CallView& view) { return entry.plugin->Normalize(*view.cycle, state, rows, scores); });
}

Verdict CallReserve(const Profile& profile, const Entry<ReservePlugin>& entry, const Placement& placement,
                    StateSlot& state, bool timed) {
  return Made({profile, entry.index, kReserve, Of(placement)}, {}, timed,
              [&](const CallView&) { return entry.plugin->Reserve(placement, state); });
}

Error CallUnreserve(const Profile& profile, const Entry<ReservePlugin>& entry, const Placement& placement,
                    StateSlot& state, bool timed) {
  return Made({profile, entry.index, kUnreserve, Of(placement)}, {}, timed, [&](const CallView&) {
    entry.plugin->Unreserve(placement, state);
    return Error::Ok();
  });
}

PermitOutcome CallPermit(const Profile& profile, const Entry<PermitPlugin>& entry, const Placement& placement,
                         StateSlot& state, bool timed) {
  return Made({profile, entry.index, kPermit, Of(placement)}, {}, timed,
              [&](const CallView&) { return entry.plugin->Permit(placement, state); });
}

PreFlight CallPreBindPreFlight(const Profile& profile, const Entry<PreBindPlugin>& entry, const Placement& placement,
                               StateSlot& state, bool timed) {
  return Made({profile, entry.index, kPreBindPreFlight, Of(placement)}, {}, timed,
              [&](const CallView&) { return entry.plugin->PreBindPreFlight(placement, state); });
}

Error CallPreBind(const Profile& profile, const Entry<PreBindPlugin>& entry, const Placement& placement,
                  StateSlot& state, Done done, bool timed) {
  return Begun({profile, entry.index, kPreBind, Of(placement)}, std::move(done), timed,
               [&](Done last) { entry.plugin->PreBind(placement, state, std::move(last)); });
}

void CallCancelPreBind(const Profile& profile, const Entry<PreBindPlugin>& entry, const Placement& placement,
                       StateSlot& state, const std::string& cause) {
  (void)CallPlainly(PluginCall{profile, entry.index, kPreBind, Of(placement)},
                    [&] { entry.plugin->CancelPreBind(placement, state, cause); });
}

Error CallBind(const Profile& profile, const Entry<BindPlugin>& entry, const Placement& placement, StateSlot& state,
               Done done, bool timed) {
  return Begun({profile, entry.index, kBind, Of(placement)}, std::move(done), timed,
               [&](Done last) { entry.plugin->Bind(placement, state, std::move(last)); });
}

Error CallPostBind(const Profile& profile, const Entry<PostBindPlugin>& entry, const Placement& placement,
                   StateSlot& state, bool timed) {
  return Made({profile, entry.index, kPostBind, Of(placement)}, {}, timed, [&](const CallView&) {
    entry.plugin->PostBind(placement, state);
    return Error::Ok();
  });
}

bool CallSign(const Profile& profile, uint16_t plugin, const Pod& pod, Signature& out) {
  bool shared = false;
  (void)Asked({profile, plugin, kSign, {&pod}}, shared, [&] { return profile.plugins[plugin].plugin->Sign(pod, out); });
  return shared;
}

Result<StateSlot> CallClone(const Profile& profile, uint16_t plugin, const StateSlot& state) {
  StateSlot copy;
  if (!state) return copy;
  const Error error = Asked({profile, plugin, kClone}, copy, [&] { return state->Clone(); });
  if (!error.ok()) return error.Wrap("copying the state of plugin \"" + profile.name(plugin) + "\"");
  return copy;
}

QueueingHint CallHint(const Profile& profile, uint16_t plugin, const QueueingHintFn& hint, const Pod& rejected,
                      const EventObjects& objects) {
  QueueingHint said = QueueingHint::kQueue;
  (void)Asked({profile, plugin, kHint, {&rejected}}, said, [&] { return hint(rejected, objects); });
  return said;
}

std::unique_ptr<PluginIndex> CallMakeIndex(const Profile& profile, uint16_t plugin) {
  std::unique_ptr<PluginIndex> index;
  Plugin& maker = *profile.plugins[plugin].plugin;
  (void)Asked({profile, plugin, kMakeIndex}, index, [&] { return maker.MakeIndex(); });
  return index;
}

}  // namespace berth::framework
