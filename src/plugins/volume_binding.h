// SPDX-License-Identifier: Apache-2.0
// VolumeBinding: a pod's claims are bound to volumes that its node reaches, or such volumes are made for the node.
//
//   PreFilter   sorts the claims: bound, waiting for their first consumer, or not to be waited for here
//   Filter      bound volumes have to be reached from the node; for the others a free volume has to be found there, or
//               the class's provisioner has to be able to make one
//   Reserve     takes the volumes and claims, so that no other pod is given them
//   PreBind     writes that, and waits for the volume controller
//
// Arguments (VolumeBindingArgs):
//   bindTimeoutSeconds   how long to wait for volumes to be bound, default 600
//   shape                refused: it belongs to a feature that is off in v1.36
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/args.h"
#include "berth/handle.h"
#include "berth/plugin.h"

namespace berth::plugins {

class VolumeBindingIndex;

class VolumeBinding final : public PreFilterPlugin,
                            public FilterPlugin,
                            public PreScorePlugin,
                            public ScorePlugin,
                            public ReservePlugin,
                            public PreBindPlugin {
 public:
  static constexpr std::string_view kName = "VolumeBinding";

  struct Args {
    int64_t bind_timeout_seconds = 600;
    void Read(ArgsReader& in);
    Value Write() const;
  };
  VolumeBinding(const Args& args, Handle& handle) : args_(args), handle_(&handle) {}

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  // Scoring by storage capacity is behind a gate that is off.
  PreScoreOutcome PreScore(const Cycle&, std::span<const Row>) const override {
    return PreScoreOutcome::Skip().While(0);
  }
  Error Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t> scores) const override;
  Verdict Reserve(const Placement& placement, StateSlot& state) const override;
  void Unreserve(const Placement& placement, StateSlot& state) const override;
  PreFlight PreBindPreFlight(const Placement& placement, StateSlot& state) const override;
  void PreBind(const Placement& placement, StateSlot& state, Done done) const override;
  void CancelPreBind(const Placement& placement, StateSlot& state, const std::string& cause) const override;

  Depends DependsOn(Point point) const override;
  // Whether there are claims is all that is remembered of them: PreFilter and Filter see every pod that has any, since
  // what its claims are is not in the pod.
  bool Sign(const Pod& pod, Signature& out) const override;
  std::unique_ptr<PluginIndex> MakeIndex() override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;

 private:
  const Args args_;
  Handle* const handle_;
  VolumeBindingIndex* index_ = nullptr;
};

}  // namespace berth::plugins
