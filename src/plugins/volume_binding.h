// SPDX-License-Identifier: Apache-2.0
// VolumeBinding: claims are to be bound to volumes that the node reaches. Pods without claims pass; pods with claims
// are rejected saying that this is not there yet.
//
// Arguments (VolumeBindingArgs):
//   bindTimeoutSeconds   how long to wait for volumes to be bound, default 600
//   shape                refused: it belongs to a feature that is off in v1.36
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/args.h"
#include "berth/plugin.h"

namespace berth::plugins {

class VolumeBinding final : public PreFilterPlugin,
                            public FilterPlugin,
                            public PreScorePlugin,
                            public ScorePlugin,
                            public ReservePlugin,
                            public PreBindPlugin {
 public:
  static constexpr std::string_view kName = "VolumeBinding";
  static constexpr Reason kNotYet{"VolumeBinding: persistent volume claims are not yet supported", Remedy::kNone};

  struct Args {
    int64_t bind_timeout_seconds = 600;
    void Read(ArgsReader& in);
    Value Write() const;
  };
  explicit VolumeBinding(const Args&) {}

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override { return Error::Ok(); }
  // Scoring by storage capacity is behind a gate that is off.
  PreScoreOutcome PreScore(const Cycle&, std::span<const Row>) const override { return PreScoreOutcome::Skip(); }
  Error Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t> scores) const override;
  Verdict Reserve(const Placement&, StateSlot&) const override { return kFits; }
  void Unreserve(const Placement&, StateSlot&) const override {}
  PreFlight PreBindPreFlight(const Placement&, StateSlot&) const override { return {Verdict::Skip(), true}; }
  void PreBind(const Placement&, StateSlot&, Done done) const override { done(kFits); }

  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
