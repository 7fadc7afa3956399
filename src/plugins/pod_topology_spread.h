// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread keeps pods that match a selector evenly spread over topology domains (zones, hosts, …).
//
// | argument           | default | meaning                                                                            |
// |--------------------|---------|------------------------------------------------------------------------------------|
// | defaultingType     | System  | System: hosts (maxSkew 3) and zones (maxSkew 5) are preferred, where a service or  |
// |                    |         | controller gives a selector. List: defaultConstraints, possibly none.              |
// | defaultConstraints | none    | with List: constraints, without selectors, for pods that have none of their own    |
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/sdk.h"
#include "plugins/pod_topology_spread_constraint.h"

namespace berth::plugins {

class PodTopologySpread final : public PreFilterPlugin, public FilterPlugin, public PreScorePlugin, public ScorePlugin {
 public:
  static constexpr std::string_view kName = "PodTopologySpread";
  static constexpr Reason kSkewTooLarge{"node(s) didn't match pod topology spread constraints", Remedy::kPreempt};
  static constexpr Reason kKeyMissing{"node(s) didn't match pod topology spread constraints (missing required label)",
                                      Remedy::kNone};

  struct Args {
    std::string defaulting_type = "System";
    std::vector<TopologySpreadConstraint> default_constraints;
    void Read(ArgsReader& in);
    Value Write() const;
  };
  PodTopologySpread() : PodTopologySpread(Args()) {}
  explicit PodTopologySpread(const Args& args);

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  bool TracksPods() const override { return true; }
  Error AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override;
  Error RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;

  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override;
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override;
  Normalization normalization() const override { return Normalization::kOwn; }
  Error Normalize(const Cycle& cycle, const PluginState* state, std::span<const Row> rows,
                  std::span<int64_t> scores) const override;

  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;
  std::unique_ptr<PluginIndex> MakeIndex() override;

 private:
  // What counts from the index depend on besides: taints decide which nodes take part.
  static constexpr Epochs kIndexed = PodCountIndex::kIndexed | epoch::kSets;
  // Ready for this pod's questions; null: pods have to be scanned. Scheduling thread only.
  PodCountIndex* IndexOf(const Snapshot& snapshot) const;

  // The pod's own constraints that say `when`, else the default ones; not resolved yet.
  Result<std::vector<SpreadConstraint>> EffectiveConstraints(const Pod& pod, const Snapshot& snapshot,
                                                             WhenUnsatisfiable when) const;
  // What the pod's effective constraints depend on: the default ones ask services and controllers for a selector.
  static Epochs ConstraintsHoldWhile(const Pod& pod) { return pod.topology_spread.empty() ? epoch::kWorkloads : 0; }
  // The hard constraints as far as they are known without a snapshot; no value: unknown, default ones apply.
  std::optional<std::vector<SpreadConstraint>> HardConstraintsForHint(const Pod& pod) const;
  QueueingHint HintPod(const Pod& rejected, const EventObjects& objects) const;
  QueueingHint HintNode(const Pod& rejected, const EventObjects& objects) const;

  bool system_defaulted_;
  std::vector<TopologySpreadConstraint> default_constraints_;
  PodCountIndex* index_ = nullptr;
};

}  // namespace berth::plugins
