// SPDX-License-Identifier: Apache-2.0
// TaintToleration; nodes share few different taint lists, so answers are found per list, not per node.
#include "plugins/taint_toleration.h"

#include <array>
#include <memory>

#include "plugins/common/set_memo.h"
#include "plugins/common/signing.h"

namespace berth::plugins {
namespace {

bool HasUntolerated(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
  for (const Taint& taint : taints) {
    if (taint.effect != TaintEffect::kNoSchedule && taint.effect != TaintEffect::kNoExecute) continue;
    if (!Tolerates(tolerations, taint)) return true;
  }
  return false;
}

// Tolerations of other effects never match a PreferNoSchedule taint, so the pod's whole list may be asked.
int64_t CountUntoleratedPreferences(const std::vector<Taint>& taints, const std::vector<Toleration>& tolerations) {
  int64_t count = 0;
  for (const Taint& taint : taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule && !Tolerates(tolerations, taint)) ++count;
  }
  return count;
}

struct TaintScoreState : StateOf<TaintScoreState> {
  std::shared_ptr<const std::vector<int64_t>> counts;  // by taint set
};

QueueingHint TaintsAfterNodeChange(const Pod& rejected, const EventObjects& objects) {
  if (objects.node_after == nullptr) return QueueingHint::kSkip;
  const bool before =
      objects.node_before == nullptr || HasUntolerated(objects.node_before->taints, rejected.tolerations);
  const bool after = HasUntolerated(objects.node_after->taints, rejected.tolerations);
  return before && !after ? QueueingHint::kQueue : QueueingHint::kSkip;
}

QueueingHint TaintsAfterTolerationChange(const Pod& rejected, const EventObjects& objects) {
  const Pod* pod = objects.pod_after;
  return pod != nullptr && pod->uid() == rejected.uid() ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace

Error TaintToleration::Filter(const Cycle& cycle, const PluginState*, const NodeBatch& nodes, Rejections& out) const {
  const auto sets = nodes.snapshot().taint_sets();
  const std::span<const uint32_t> set_of = nodes.taint_set();
  const std::vector<Toleration>& tolerations = cycle.pod().tolerations;
  VerdictId rejected = kFitsId;
  const auto judge = [&](uint32_t set) -> VerdictId {
    if (!HasUntolerated(sets[set], tolerations)) return kFitsId;
    if (rejected == kFitsId) rejected = out.Intern(kUntolerated);
    return rejected;
  };
  const std::span<VerdictId> slots = out.slots();
  constexpr size_t kFewSets = 64;
  if (sets.size() <= kFewSets && nodes.size() > sets.size()) {
    std::array<VerdictId, kFewSets> by_set;
    VerdictId any = kFitsId;
    for (uint32_t set = 0; set < sets.size(); ++set) any |= by_set[set] = judge(set);
    if (any == kFitsId) return Error::Ok();
    for (size_t i = 0; i < set_of.size(); ++i) slots[i] = by_set[set_of[i]];
    return Error::Ok();
  }
  SetMemo<VerdictId> verdicts(sets.size(), nodes.size());
  for (size_t i = 0; i < set_of.size(); ++i)
    if (set_of[i] != 0) slots[i] = verdicts.Get(set_of[i], judge);
  return Error::Ok();
}

PreScoreOutcome TaintToleration::PreScore(const Cycle& cycle, std::span<const Row>) const {
  const auto sets = cycle.snapshot().taint_sets();
  auto counts = std::make_shared<std::vector<int64_t>>(sets.size());
  for (size_t set = 0; set < sets.size(); ++set) {
    (*counts)[set] = CountUntoleratedPreferences(sets[set], cycle.pod().tolerations);
  }
  auto state = std::make_unique<TaintScoreState>();
  state->counts = std::move(counts);
  return PreScoreOutcome::Ok(std::move(state));
}

Error TaintToleration::Score(const Cycle&, const PluginState* state, const NodeBatch& nodes,
                             std::span<int64_t> scores) const {
  if (state == nullptr) return Error("failed to read \"PreScoreTaintToleration\" from cycleState: not found");
  const std::vector<int64_t>& counts = *static_cast<const TaintScoreState*>(state)->counts;
  const std::span<const uint32_t> set_of = nodes.taint_set();
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = counts[set_of[i]];
  return Error::Ok();
}

bool TaintToleration::Sign(const Pod& pod, Signature& out) const {
  SignTolerations(pod.tolerations, out);
  return true;
}

std::optional<std::vector<EventRegistration>> TaintToleration::EventsToRegister() const {
  return std::vector<EventRegistration>{
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint}, TaintsAfterNodeChange},
      {{EventResource::kPod, action::kUpdatePodToleration}, TaintsAfterTolerationChange}};
}

}  // namespace berth::plugins
