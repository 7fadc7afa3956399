// SPDX-License-Identifier: Apache-2.0
// The one way into a plugin: a function per shape of call. Each stands guard (a plugin that throws costs its pod an
// error, not the process), lets observers look on, and leaves word of who is running in case of a crash.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "berth/plugin.h"
#include "framework/guard.h"
#include "framework/profile.h"

namespace berth::framework {

// What each returns when the plugin throws: an Error or a verdict of code kError with the text. Thread safety: as the
// plugin's own function has it. REQUIRES: `entry` is the profile's.
Verdict CallPreEnqueue(const Profile& profile, const Entry<PreEnqueuePlugin>& entry, const Pod& pod);
// Who throws says "not less".
bool CallLess(const Profile& profile, const Entry<QueueSortPlugin>& entry, const QueuedPod& a, const QueuedPod& b);

PreFilterOutcome CallPreFilter(const Profile& profile, const PreFilterEntry& entry, const Cycle& cycle);
Error CallAddPod(const Profile& profile, const PreFilterEntry& entry, const Cycle& cycle, PluginState* state,
                 const PodRecord& pod, Row row);
Error CallRemovePod(const Profile& profile, const PreFilterEntry& entry, const Cycle& cycle, PluginState* state,
                    const PodRecord& pod, Row row);
// Filter and Score are counted by whoever calls, once for every node (CountCalls), because he knows how many they are.
Error CallFilter(const Profile& profile, const Entry<FilterPlugin>& entry, const Cycle& cycle, const PluginState* state,
                 const NodeBatch& nodes, Rejections& out);
PostFilterOutcome CallPostFilter(const Profile& profile, const Entry<PostFilterPlugin>& entry, const Cycle& cycle,
                                 const PluginState* state, const FilterReport& report);

// Extenders have looked at what this plugin planned. REQUIRES: Reviews(entry).
PostFilterOutcome CallReview(const Profile& profile, const Entry<PostFilterPlugin>& entry, const Cycle& cycle,
                             const Result<std::vector<PreemptionCandidate>>& left);
bool Reviews(const Entry<PostFilterPlugin>& entry);

PreScoreOutcome CallPreScore(const Profile& profile, const Entry<PreScorePlugin>& entry, const Cycle& cycle,
                             std::span<const Row> feasible);
Error CallScore(const Profile& profile, const ScoreEntry& entry, const Cycle& cycle, const PluginState* state,
                const NodeBatch& nodes, std::span<int64_t> scores);
Error CallNormalize(const Profile& profile, const ScoreEntry& entry, const Cycle& cycle, const PluginState* state,
                    std::span<const Row> rows, std::span<int64_t> scores);

// From here on calls may come when their cycle is over: `timed` says whether it is a timed one.
Verdict CallReserve(const Profile& profile, const Entry<ReservePlugin>& entry, const Placement& placement,
                    StateSlot& state, bool timed = false);
Error CallUnreserve(const Profile& profile, const Entry<ReservePlugin>& entry, const Placement& placement,
                    StateSlot& state, bool timed = false);
PermitOutcome CallPermit(const Profile& profile, const Entry<PermitPlugin>& entry, const Placement& placement,
                         StateSlot& state, bool timed = false);
PreFlight CallPreBindPreFlight(const Profile& profile, const Entry<PreBindPlugin>& entry, const Placement& placement,
                               StateSlot& state, bool timed = false);
// An Error: it threw. It may have called `done` before.
Error CallPreBind(const Profile& profile, const Entry<PreBindPlugin>& entry, const Placement& placement,
                  StateSlot& state, Done done, bool timed = false);
// Throwing there changes nothing: PreBind still owes its answer.
void CallCancelPreBind(const Profile& profile, const Entry<PreBindPlugin>& entry, const Placement& placement,
                       StateSlot& state, const std::string& cause);
Error CallBind(const Profile& profile, const Entry<BindPlugin>& entry, const Placement& placement, StateSlot& state,
               Done done, bool timed = false);
Error CallPostBind(const Profile& profile, const Entry<PostBindPlugin>& entry, const Placement& placement,
                   StateSlot& state, bool timed = false);

// False also when it throws: then the pod's answers are not shared with other pods.
bool CallSign(const Profile& profile, uint16_t plugin, const Pod& pod, Signature& out);
// A copy of what this plugin remembers of a pod; null of null.
Result<StateSlot> CallClone(const Profile& profile, uint16_t plugin, const StateSlot& state);
// A hint that throws says "queue", as upstream has it of one that fails. `hint` is one of the plugin's.
QueueingHint CallHint(const Profile& profile, uint16_t plugin, const QueueingHintFn& hint, const Pod& rejected,
                      const EventObjects& objects);
// Null when it has none or throws: a plugin has to do without in other hosts, too.
std::unique_ptr<PluginIndex> CallMakeIndex(const Profile& profile, uint16_t plugin);

// For what is called once, at start, and for an index: `call` is what PluginCall tells of. Observers do not see it.
template <class Call>
Error CallPlainly(const PluginCall&, Call&& call) {
  return GuardError([&] {
    std::forward<Call>(call)();
    return Error::Ok();
  });
}

}  // namespace berth::framework
