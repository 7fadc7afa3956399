// SPDX-License-Identifier: Apache-2.0
// VolumeBinding; see volume_binding.h.
#include "plugins/volume_binding.h"

#include <algorithm>

namespace berth::plugins {
namespace {

bool IsClaim(const PodVolume& volume) {
  return volume.kind == VolumeKind::kClaim || volume.kind == VolumeKind::kEphemeral;
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
  const auto& volumes = cycle.pod().volumes;
  return std::any_of(volumes.begin(), volumes.end(), IsClaim) ? PreFilterOutcome::Reject(kNotYet)
                                                              : PreFilterOutcome::Skip();
}

Error VolumeBinding::Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t> scores) const {
  std::fill(scores.begin(), scores.end(), 0);
  return Error::Ok();
}

bool VolumeBinding::Sign(const Pod& pod, Signature&) const {
  return std::none_of(pod.volumes.begin(), pod.volumes.end(), IsClaim);
}

std::optional<std::vector<EventRegistration>> VolumeBinding::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  return std::vector<EventRegistration>{{{EventResource::kStorageClass, kAddOrUpdate}, nullptr},
                                        {{EventResource::kPersistentVolumeClaim, kAddOrUpdate}, nullptr},
                                        {{EventResource::kPersistentVolume, kAddOrUpdate}, nullptr},
                                        {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}, nullptr},
                                        {{EventResource::kCsiNode, kAddOrUpdate}, nullptr},
                                        {{EventResource::kCsiDriver, action::kUpdate}, nullptr},
                                        {{EventResource::kCsiStorageCapacity, kAddOrUpdate}, nullptr}};
}

}  // namespace berth::plugins
