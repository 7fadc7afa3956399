// SPDX-License-Identifier: Apache-2.0
// VolumeZone: a volume with labels of zones or regions keeps the pods that claim it there. It looks at volumes that
// claims are bound to; generic ephemeral volumes have no part in it, as upstream has it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class VolumeZone final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr std::string_view kName = "VolumeZone";
  static constexpr Reason kConflict{"node(s) had no available volume zone", Remedy::kNone};

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  // Pods of one template mostly have claims of their own: those are asked about one by one.
  Depends DependsOn(Point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
