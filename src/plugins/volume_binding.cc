// SPDX-License-Identifier: Apache-2.0
// VolumeBinding; see volume_binding.h. Upstream: pkg/scheduler/framework/plugins/volumebinding/volume_binding.go
// (v1.36.4).
#include "plugins/volume_binding.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plugins/common/volumes.h"
#include "plugins/volume_binding_plan.h"
#include "plugins/volume_binding_run.h"

namespace berth::plugins {
namespace {

// Copies share it: one pod goes one way.
struct VolumeBindingState final : StateOf<VolumeBindingState> {
  std::shared_ptr<const VolumePlan> plan;  // until Reserve
  std::shared_ptr<VolumeReservation> reservation;
  std::weak_ptr<VolumeBindingRun> run;  // timers and answers that are to come hold it
  bool all_bound = false;
};

VolumeBindingState* StateIn(const StateSlot& slot) { return static_cast<VolumeBindingState*>(slot.get()); }

bool HasAnyClaim(const Pod& pod) { return std::any_of(pod.volumes.begin(), pod.volumes.end(), HasClaim); }

Verdict VerdictOf(uint8_t answer) {
  std::vector<std::string> reasons;
  if (answer & VolumePlan::kAffinity) reasons.emplace_back(kNodeConflict);
  if (answer & VolumePlan::kNoVolume) reasons.emplace_back(kBindConflict);
  if (answer & VolumePlan::kNoSpace) reasons.emplace_back(kNotEnoughSpace);
  if (answer & VolumePlan::kGone) reasons.emplace_back(kVolumeGone);
  return {Code::kUnschedulableAndUnresolvable, std::move(reasons)};
}

}  // namespace

void VolumeBinding::Args::Read(ArgsReader& in) {
  in.Int("bindTimeoutSeconds", bind_timeout_seconds,
         {.min = 0, .text = "invalid BindTimeoutSeconds, should not be a negative value"});
  if (const Value* shape = in.Raw("shape")) {
    in.Invalid("shape", shape->ToJson(),
               "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring");
  }
}

Value VolumeBinding::Args::Write() const {
  return Value::Object({{"kind", Value::String("VolumeBindingArgs")},
                        {"apiVersion", Value::String("kubescheduler.config.k8s.io/v1")},
                        {"bindTimeoutSeconds", Value::Int(bind_timeout_seconds)}});
}

PreFilterOutcome VolumeBinding::PreFilter(const Cycle& cycle) const {
  if (!HasAnyClaim(cycle.pod())) return PreFilterOutcome::Skip().While(0);
  const Snapshot& snapshot = cycle.snapshot();
  const bool indexed = index_ != nullptr && index_->Serves(snapshot);
  auto [verdict, plan] = VolumePlan::Make(cycle.pod(), snapshot, indexed ? index_ : nullptr);
  if (!plan) return PreFilterOutcome::Reject(std::move(verdict));
  auto state = std::make_unique<VolumeBindingState>();
  state->all_bound = plan->all_bound();
  const bool settled = plan->settled();
  state->plan = std::move(plan);
  // Upstream asks Filter even then. Nobody can tell, but preemption is spared a question about every node.
  return indexed && settled ? PreFilterOutcome::Skip(std::move(state)) : PreFilterOutcome::Ok(std::move(state));
}

Error VolumeBinding::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  if (state == nullptr) return Error("not found");  // a profile without our PreFilter: upstream's word
  const VolumePlan& plan = *static_cast<const VolumeBindingState*>(state)->plan;
  if (plan.settled()) return Error::Ok();
  if (const RowsWithVolume* const rows = plan.only_rows()) {
    if (rows->everywhere()) return Error::Ok();
    const VerdictId none = out.Intern(VerdictOf(VolumePlan::kNoVolume));
    const std::span<const uint32_t> counts = rows->counts();
    const std::span<VerdictId> slots = out.slots();
    const size_t begin = nodes.begin(),
                 known = counts.size() > begin ? std::min(counts.size() - begin, slots.size()) : 0;
    for (size_t i = 0; i < known; ++i) slots[i] = counts[begin + i] != 0 ? kFitsId : none;
    for (size_t i = known; i < slots.size(); ++i) slots[i] = none;
    return Error::Ok();
  }
  std::array<VerdictId, VolumePlan::kError> known{};
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes.active()[i]) continue;
    const Row row = nodes.row(i);
    const uint8_t answer = plan.Judge(row);
    if (answer == VolumePlan::kOk) continue;
    if (answer == VolumePlan::kError) {
      CountVolumeFailure(*handle_, "predicate");
      out.Reject(i, out.Intern(Verdict::Fail(plan.Failure(row))));
      continue;
    }
    if (known[answer] == kFitsId) known[answer] = out.Intern(VerdictOf(answer));
    out.Reject(i, known[answer]);
  }
  return Error::Ok();
}

Error VolumeBinding::Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t> scores) const {
  std::fill(scores.begin(), scores.end(), 0);
  return Error::Ok();
}

Verdict VolumeBinding::Reserve(const Placement& placement, StateSlot& slot) const {
  VolumeBindingState* const state = StateIn(slot);
  ClusterAccess* const cluster = handle_->cluster();
  if (state == nullptr || state->all_bound || cluster == nullptr) return kFits;
  const std::shared_ptr<const VolumePlan> plan = std::exchange(state->plan, nullptr);
  const Row row = cluster->Now().FindRow(placement.node);
  if (!plan || row == kNoRow) {
    state->all_bound = true;  // as upstream has it of a node that Filter has not seen
    return kFits;
  }
  Result<std::shared_ptr<VolumeReservation>> taken =
      VolumeReservation::Make(plan->Choose(row), placement.node, *cluster);
  if (!taken.ok()) {
    CountVolumeFailure(*handle_, "assume");
    return Verdict::Fail(taken.error().text());
  }
  state->reservation = std::move(taken).value();
  return kFits;
}

void VolumeBinding::Unreserve(const Placement&, StateSlot& slot) const {
  VolumeBindingState* const state = StateIn(slot);
  if (state == nullptr || !state->reservation) return;
  state->reservation->GiveBack(*handle_->cluster());
  state->reservation.reset();
}

PreFlight VolumeBinding::PreBindPreFlight(const Placement& placement, StateSlot& slot) const {
  const VolumeBindingState* const state = StateIn(slot);
  if (state == nullptr || state->all_bound) return {Verdict::Skip(), true};
  if (!state->reservation) return {Verdict::Fail("no pod volume found for node \"" + placement.node + "\""), true};
  return {{}, true};
}

void VolumeBinding::PreBind(const Placement& placement, StateSlot& slot, Done done) const {
  VolumeBindingState* const state = StateIn(slot);
  if (state == nullptr || state->all_bound) return done({});
  if (!state->reservation) return done(Verdict::Fail("no pod volume found for node \"" + placement.node + "\""));
  const auto run = std::make_shared<VolumeBindingRun>(*handle_, placement, state->reservation,
                                                      Duration::Seconds(args_.bind_timeout_seconds), std::move(done));
  state->run = run;
  run->Start();
}

void VolumeBinding::CancelPreBind(const Placement&, StateSlot& slot, const std::string& cause) const {
  const VolumeBindingState* const state = StateIn(slot);
  if (state == nullptr) return;
  if (const auto run = state->run.lock()) run->Cancel(cause);
}

Depends VolumeBinding::DependsOn(Point point) const {
  if (point != Point::kPreFilter && point != Point::kFilter) return Depends::OnRow(0);
  return {0, epoch::kVolumes | epoch::kOwnIndex | epoch::kNodeSet | epoch::kNodeLabels | epoch::kUnrememberable};
}

bool VolumeBinding::Sign(const Pod& pod, Signature& out) const {
  out.Add(int64_t{HasAnyClaim(pod)});
  return true;
}

std::unique_ptr<PluginIndex> VolumeBinding::MakeIndex() {
  auto index = std::make_unique<VolumeBindingIndex>();
  index_ = index.get();
  return index;
}

}  // namespace berth::plugins
