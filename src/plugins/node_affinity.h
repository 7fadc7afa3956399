// SPDX-License-Identifier: Apache-2.0
// NodeAffinity: a pod's nodeSelector and node affinity, and affinity that the configuration adds to every pod.
//
// Arguments (NodeAffinityArgs):
//   addedAffinity   a NodeAffinity object; its required terms hold besides the pod's own, its preferred ones add scores
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "berth/args.h"
#include "berth/plugin.h"

namespace berth::plugins {

class NodeAffinity final : public PreFilterPlugin, public FilterPlugin, public PreScorePlugin, public ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeAffinity";
  static constexpr Reason kPodMismatch{"node(s) didn't match Pod's node affinity/selector", Remedy::kNone};
  static constexpr Reason kEnforcedMismatch{"node(s) didn't match scheduler-enforced node affinity", Remedy::kNone};
  static constexpr Reason kConflict{"pod affinity terms conflict", Remedy::kNone};

  struct Args {
    std::optional<NodeSelector> added_required;
    std::vector<PreferredSchedulingTerm> added_preferred;
    Value added_affinity;  // as given, for display
    void Read(ArgsReader& in);
    Value Write() const;
  };
  explicit NodeAffinity(const Args& args) : args_(args) {}

  // Names the nodes when every term asks for certain ones by metadata.name.
  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override;
  // The sum of the weights of the preferred terms that match.
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override;
  Normalization normalization() const override { return Normalization::kByMax; }

  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;

 private:
  QueueingHint AfterNodeChange(const Pod& rejected, const EventObjects& objects) const;

  Args args_;
};

}  // namespace berth::plugins
