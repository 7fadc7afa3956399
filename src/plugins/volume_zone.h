// SPDX-License-Identifier: Apache-2.0
// VolumeZone: bound volumes with zone or region labels keep their pod in that zone. Pods without claims pass; pods with
// claims are rejected saying that this is not there yet.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class VolumeZone final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr std::string_view kName = "VolumeZone";
  static constexpr Reason kNotYet{"VolumeZone: zones of persistent volume claims are not yet supported", Remedy::kNone};

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override { return Error::Ok(); }
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
