// SPDX-License-Identifier: Apache-2.0
// VolumeRestrictions: disks and claims that several pods cannot share. So far it knows claims that do not exist; pods
// with such a claim, or with disks and claims it would have to compare, are rejected saying so.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class VolumeRestrictions final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";
  static constexpr Reason kDisksNotYet{"VolumeRestrictions: GCE, AWS EBS, RBD and iSCSI volumes are not yet supported",
                                       Remedy::kNone};
  static constexpr Reason kOncePodNotYet{
      "VolumeRestrictions: claims with access mode ReadWriteOncePod are not yet supported", Remedy::kNone};

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override { return Error::Ok(); }
  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
};

}  // namespace berth::plugins
