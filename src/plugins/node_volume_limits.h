// SPDX-License-Identifier: Apache-2.0
// NodeVolumeLimits: how many volumes of a CSI driver a node takes. Pods are passed while no CSINode states a limit;
// where one does, pods with claims or volumes that would count are rejected saying so.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class NodeVolumeLimits final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeVolumeLimits";
  static constexpr Reason kNotYet{"NodeVolumeLimits: volume limits of CSI drivers are not yet supported",
                                  Remedy::kNone};

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override { return Error::Ok(); }
  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
