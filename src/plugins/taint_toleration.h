// SPDX-License-Identifier: Apache-2.0
// TaintToleration: keeps pods off nodes whose NoSchedule and NoExecute taints they do not tolerate, and prefers nodes
// with few PreferNoSchedule taints that they do not tolerate.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class TaintToleration final : public FilterPlugin, public PreScorePlugin, public ScorePlugin {
 public:
  static constexpr std::string_view kName = "TaintToleration";
  static constexpr Reason kUntolerated{"node(s) had untolerated taint(s)", Remedy::kNone};

  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override;
  // The number of PreferNoSchedule taints that are not tolerated.
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override;
  Normalization normalization() const override { return Normalization::kByMaxReversed; }

  Depends DependsOn(Point point) const override {
    // PreScore counts by set of taints.
    return {row_field::kTaints, point == Point::kPreScore ? epoch::kSets : 0};
  }
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
