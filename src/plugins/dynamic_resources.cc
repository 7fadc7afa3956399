// SPDX-License-Identifier: Apache-2.0
// DynamicResources; see dynamic_resources.h.
#include "plugins/dynamic_resources.h"

#include <algorithm>
#include <memory>
#include <string>

#include "berth/value.h"
#include "plugins/common/device_classes.h"

namespace berth::plugins {
namespace {

struct ClaimState : StateOf<ClaimState> {
  bool has_claims = false;               // of its own, or one that its extended resources make
  std::vector<ResourceId> from_devices;  // requested resources that a device class stands for
};

}  // namespace

void DynamicResources::Args::Read(ArgsReader& in) {
  in.Time("filterTimeout", filter_timeout);
  if (filter_timeout.ns < 0) {
    in.Invalid("filterTimeout", Quote(FormatDuration(filter_timeout)), "must be zero or positive");
  }
  in.Time("bindingTimeout", binding_timeout);
  if (binding_timeout < Duration::Seconds(1)) {
    in.Invalid("bindingTimeout", Quote(FormatDuration(binding_timeout)), "must be at least 1 second");
  }
}

Value DynamicResources::Args::Write() const {
  return Value::Object({{"kind", Value::String("DynamicResourcesArgs")},
                        {"apiVersion", Value::String("kubescheduler.config.k8s.io/v1")},
                        {"filterTimeout", Value::String(FormatDuration(filter_timeout))},
                        {"bindingTimeout", Value::String(FormatDuration(binding_timeout))}});
}

PreFilterOutcome DynamicResources::PreFilter(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  auto state = std::make_unique<ClaimState>();
  if (!pod.resource_claims.empty()) {
    state->has_claims = true;
    return {Verdict(kClaimsNotYet), std::move(state), {}, {}};
  }
  for (const auto& [id, amount] : pod.resources.request.scalars) {
    if (amount != 0 && IsBackedByDeviceClass(cycle.snapshot(), id)) state->from_devices.push_back(id);
  }
  state->has_claims = !state->from_devices.empty();
  return state->has_claims ? PreFilterOutcome::Ok(std::move(state)) : PreFilterOutcome::Skip(std::move(state));
}

Error DynamicResources::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  if (state == nullptr) return Error("not found");
  const VerdictId rejected = out.Intern(kDevicesNotYet);
  for (const ResourceId id : static_cast<const ClaimState*>(state)->from_devices) {
    const std::span<const int64_t> allocatable = nodes.allocatable(id);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (allocatable[i] <= 0) out.Reject(i, rejected);
    }
  }
  return Error::Ok();
}

PostFilterOutcome DynamicResources::PostFilter(const Cycle&, const PluginState* state, const FilterReport&) const {
  if (state == nullptr) return {Verdict::Fail("not found"), {}, nullptr};
  return {static_cast<const ClaimState*>(state)->has_claims ? kStillNot : kNoClaims, {}, nullptr};
}

Error DynamicResources::Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t> scores) const {
  std::fill(scores.begin(), scores.end(), 0);
  return Error::Ok();
}

Depends DynamicResources::DependsOn(Point point) const {
  switch (point) {
    case Point::kPreFilter:
      return {0, epoch::kDevices};
    case Point::kFilter:
      return {row_field::kAllocatable, epoch::kDevices};
    case Point::kScore:
      return Depends::OnRow(0);
    default:
      return {row_field::kAll, epoch::kUnrememberable | epoch::kDevices};
  }
}

bool DynamicResources::Sign(const Pod& pod, Signature& out) const {
  if (!pod.resource_claims.empty()) return false;
  for (const auto& [id, amount] : pod.resources.request.scalars) {
    if (amount != 0) out.Add(ResourceName(id));
  }
  out.Add(int64_t{0});  // the end of the list
  return true;
}

std::optional<std::vector<EventRegistration>> DynamicResources::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  constexpr ActionType kNodeActions = action::kAdd | action::kUpdateNodeLabel | action::kUpdateNodeAllocatable;
  return std::vector<EventRegistration>{{{EventResource::kNode, kNodeActions}, nullptr},
                                        {{EventResource::kResourceClaim, kAddOrUpdate}, nullptr},
                                        {{EventResource::kPod, action::kUpdatePodGeneratedResourceClaim}, nullptr},
                                        {{EventResource::kDeviceClass, kAddOrUpdate}, nullptr},
                                        {{EventResource::kResourceSlice, kAddOrUpdate}, nullptr}};
}

}  // namespace berth::plugins
