// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity places pods near to, or away from, other pods: required terms filter, preferred terms score, and the
// terms of pods that are there already are honoured towards the new one.
//
// | argument                           | default | meaning                                                            |
// |------------------------------------|---------|--------------------------------------------------------------------|
// | hardPodAffinityWeight              | 1       | 0 to 100: what a required affinity term of an existing pod that    |
// |                                    |         | matches the new pod adds to the score                              |
// | ignorePreferredTermsOfExistingPods | false   | do not score pods without preferred terms of their own             |
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "berth/sdk.h"

namespace berth::plugins {

class InterPodAffinityIndex;

class InterPodAffinity final : public PreFilterPlugin, public FilterPlugin, public PreScorePlugin, public ScorePlugin {
 public:
  static constexpr std::string_view kName = "InterPodAffinity";
  static constexpr Reason kAffinity{"node(s) didn't match pod affinity rules", Remedy::kNone};
  static constexpr Reason kAntiAffinity{"node(s) didn't match pod anti-affinity rules", Remedy::kPreempt};
  static constexpr Reason kExistingAntiAffinity{"node(s) didn't satisfy existing pods anti-affinity rules",
                                                Remedy::kPreempt};

  struct Args {
    int32_t hard_pod_affinity_weight = 1;
    bool ignore_preferred_terms_of_existing_pods = false;
    void Read(ArgsReader& in);
    Value Write() const;
  };
  InterPodAffinity() = default;
  explicit InterPodAffinity(const Args& args) : args_(args) {}

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
  // Ready for this pod's questions; null: pods have to be scanned. Scheduling thread only.
  InterPodAffinityIndex* IndexOf(const Snapshot& snapshot) const;

  Args args_;
  InterPodAffinityIndex* index_ = nullptr;
};

}  // namespace berth::plugins
