// SPDX-License-Identifier: Apache-2.0
// NodeVolumeLimits: a node takes as many volumes of a CSI driver as its CSINode says. Counted are volumes of claims, of
// generic ephemeral volumes, and disks of kinds that a CSI driver took over (plugins/common/volumes.h); equal ones
// once.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class NodeVolumeLimitsIndex;

class NodeVolumeLimits final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  static constexpr Reason kTooMany{"node(s) exceed max volume count", Remedy::kPreempt};

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  // Pods of one template mostly have claims of their own: those are asked about one by one.
  Depends DependsOn(Point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::unique_ptr<PluginIndex> MakeIndex() override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;

 private:
  // Null: the pods of a row have to be looked at.
  const NodeVolumeLimitsIndex* IndexOf(const Snapshot& snapshot) const;

  NodeVolumeLimitsIndex* index_ = nullptr;  // lives as long as the profile
};

}  // namespace berth::plugins
