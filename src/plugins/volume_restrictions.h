// SPDX-License-Identifier: Apache-2.0
// VolumeRestrictions: disks that one node cannot give to two pods (GCE, AWS EBS, RBD and iSCSI volumes that pods name
// themselves), and claims that one pod at a time may use (access mode ReadWriteOncePod). It also tells of claims that
// do not exist.
//
// Unlike upstream, a claim of another namespace that happens to have the same name is another claim in what-ifs, too.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

class VolumeRestrictionsIndex;

class VolumeRestrictions final : public PreFilterPlugin, public FilterPlugin {
 public:
  static constexpr std::string_view kName = "VolumeRestrictions";
  static constexpr Reason kDiskConflict{"node(s) had no available disk", Remedy::kPreempt};
  static constexpr Reason kClaimInUse{
      "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another "
      "pod",
      Remedy::kPreempt};

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  bool TracksPods() const override { return true; }
  Error AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override;
  Error RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  // Pods of one template mostly have claims of their own: those are asked about one by one.
  Depends DependsOn(Point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::unique_ptr<PluginIndex> MakeIndex() override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;

 private:
  // Null: the snapshot has to be searched.
  const VolumeRestrictionsIndex* IndexOf(const Snapshot& snapshot) const;

  VolumeRestrictionsIndex* index_ = nullptr;  // lives as long as the profile
};

}  // namespace berth::plugins
