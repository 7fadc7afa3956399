// SPDX-License-Identifier: Apache-2.0
// NodeName: a pod that names its node in spec.nodeName fits no other.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class NodeName final : public FilterPlugin {
 public:
  static constexpr std::string_view kName = "NodeName";
  static constexpr Reason kOtherNode{"node(s) didn't match the requested node name", Remedy::kNone};

  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  Depends DependsOn(Point) const override { return Depends::OnRow(row_field::kName); }
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
