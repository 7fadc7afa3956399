// SPDX-License-Identifier: Apache-2.0
// NodeUnschedulable: cordoned nodes take only pods that tolerate node.kubernetes.io/unschedulable:NoSchedule.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class NodeUnschedulable final : public FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeUnschedulable";
  static constexpr Reason kUnschedulable{"node(s) were unschedulable", Remedy::kNone};

  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  Depends DependsOn(Point) const override { return Depends::OnRow(row_field::kUnschedulable); }
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
