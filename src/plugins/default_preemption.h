// SPDX-License-Identifier: Apache-2.0
// DefaultPreemption looks for a node where evicting pods of lower priority makes room for a pod that fits nowhere, and
// for the cheapest set of victims. It only plans: evicting is the cycle's business.
//
// | argument                    | default | meaning                                                              |
// |-----------------------------|---------|----------------------------------------------------------------------|
// | minCandidateNodesPercentage | 10      | 0 to 100: on how many of the nodes where eviction may help to look   |
// |                             |         | for victims                                                          |
// | minCandidateNodesAbsolute   | 100     | on at least this many; not both may be 0                             |
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/host/preemption_review.h"
#include "berth/sdk.h"

namespace berth::plugins {

class DefaultPreemption final : public PostFilterPlugin, public PreEnqueuePlugin, public PreemptionReviewer {
 public:
  static constexpr std::string_view kName = "DefaultPreemption";
  static constexpr Reason kNoVictims{"No preemption victims found for incoming pod", Remedy::kNone};
  static constexpr Reason kNotHelpful{"Preemption is not helpful for scheduling", Remedy::kNone};

  struct Args {
    int32_t min_candidate_nodes_percentage = 10;
    int32_t min_candidate_nodes_absolute = 100;
    void Read(ArgsReader& in);
    Value Write() const;
  };
  DefaultPreemption(const Args& args, Handle& handle) : args_(args), handle_(handle) {}

  PostFilterOutcome PostFilter(const Cycle& cycle, const PluginState* state, const FilterReport& report) const override;
  PostFilterOutcome Review(const Cycle& cycle, Result<std::vector<PreemptionCandidate>> left) const override;
  // Gated while evictions for the pod are being sent.
  Verdict PreEnqueue(const Pod& pod) const override;

  // What a pod fits depends on every pod, clock and random number: never remembered.
  // Which nodes the filters left out, and whom the budgets protect.
  Depends DependsOn(Point) const override { return {row_field::kAll, epoch::kUnrememberable | epoch::kBudgets}; }
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;

  // On how many of `nodes` nodes victims are looked for.
  int64_t CandidatesWanted(int64_t nodes) const;

 private:
  PostFilterOutcome Preempt(const Cycle& cycle, const FilterReport& report) const;

  Args args_;
  Handle& handle_;
};

}  // namespace berth::plugins
