// SPDX-License-Identifier: Apache-2.0
// DynamicResources: devices that pods claim. Pods without claims pass, with the part that upstream's plugin has in
// their messages and scores; pods with claims are rejected saying that they are not supported yet, and so are nodes
// that could serve an extended resource only by devices.
//
// Arguments (DynamicResourcesArgs):
//   filterTimeout    how long to look for devices for one node, default 10s; 0: no limit
//   bindingTimeout   how long to wait for devices to become ready, default 10m, at least 1s
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/args.h"
#include "berth/plugin.h"

namespace berth::plugins {

class DynamicResources final : public PreEnqueuePlugin,
                               public PreFilterPlugin,
                               public FilterPlugin,
                               public PostFilterPlugin,
                               public ScorePlugin,
                               public ReservePlugin,
                               public PreBindPlugin {
 public:
  static constexpr std::string_view kName = "DynamicResources";
  static constexpr Reason kClaimsNotYet{"DynamicResources: resource claims are not yet supported", Remedy::kNone};
  static constexpr Reason kDevicesNotYet{"DynamicResources: extended resources backed by devices are not yet supported",
                                         Remedy::kNone};
  static constexpr Reason kNoClaims{"no new claims to deallocate"};
  static constexpr Reason kStillNot{"still not schedulable"};

  struct Args {
    Duration filter_timeout = Duration::Seconds(10);
    Duration binding_timeout = Duration::Seconds(600);
    void Read(ArgsReader& in);
    Value Write() const;
  };
  explicit DynamicResources(const Args&) {}

  Verdict PreEnqueue(const Pod&) const override { return kFits; }
  // Leaves a state also with Skip and rejection: PostFilter's answer depends on whether this was reached.
  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  PostFilterOutcome PostFilter(const Cycle&, const PluginState* state, const FilterReport&) const override;
  Error Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t> scores) const override;
  Normalization normalization() const override { return Normalization::kByMax; }
  Verdict Reserve(const Placement&, StateSlot&) const override { return kFits; }
  void Unreserve(const Placement&, StateSlot&) const override {}
  PreFlight PreBindPreFlight(const Placement&, StateSlot&) const override { return {Verdict::Skip(), true}; }
  void PreBind(const Placement&, StateSlot&, Done done) const override { done(kFits); }

  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
