// SPDX-License-Identifier: Apache-2.0
// NodeDeclaredFeatures: what a pod's spec silently needs of the kubelet must be among the features its node declares.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

// Features that v1.36 infers from a pod's spec before it is scheduled.
inline constexpr std::string_view kRestartAllContainersFeature = "RestartAllContainersOnContainerExits";
inline constexpr std::string_view kUserNamespacesHostNetworkFeature = "UserNamespacesHostNetworkSupport";

class NodeDeclaredFeatures final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeDeclaredFeatures";
  static constexpr Reason kFeatureMissing{"node(s) didn't match Pod's required features", Remedy::kNone};

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
