// SPDX-License-Identifier: Apache-2.0
// SpreadConstraint: one topology spread constraint as PodTopologySpread works with it, and the counting of pods by
// domain, from an index or by looking at all pods.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/pod.h"
#include "berth/snapshot.h"
#include "plugins/common/pod_counts.h"
#include "plugins/common/required_node_affinity.h"
#include "plugins/common/selector_memo.h"

namespace berth::plugins {

inline constexpr std::string_view kHostnameLabel = "kubernetes.io/hostname";

// Defaults applied, matchLabelKeys merged into the selector.
struct SpreadConstraint {
  int32_t max_skew = 0;
  int32_t min_domains = 1;
  std::string topology_key;
  std::optional<LabelSelector> selector;  // no value: matches nothing
  bool honors_affinity = true;
  bool honors_taints = false;
  const LabelColumn* column = nullptr;  // of topology_key; null until Resolve

  // An empty selector matches every pod but counts none of those that exist.
  bool counts_existing() const { return selector.has_value() && !selector->empty(); }
};

// Those of `constraints` that say `when`, or the first selector's parse error.
Result<std::vector<SpreadConstraint>> ConstraintsOf(std::span<const TopologySpreadConstraint> constraints,
                                                    const Labels& pod_labels, WhenUnsatisfiable when);

// The selector that default constraints get: the AND of the selectors of the pod's services and of its controller.
// Empty when there are none.
LabelSelector DefaultSpreadSelector(const Pod& pod, const Snapshot& snapshot);

// Looks up the label columns. Scheduling thread only.
void Resolve(std::vector<SpreadConstraint>& constraints, const Snapshot& snapshot);

// True when the row's node has the topology keys of all constraints.
bool HasAllKeys(std::span<const SpreadConstraint> constraints, Row row);

// Whether a node takes part in a constraint's count, by nodeAffinityPolicy and nodeTaintsPolicy.
// Constructed on the scheduling thread, read from any.
class InclusionPolicies {
 public:
  InclusionPolicies(const Pod& pod, const Snapshot& snapshot, std::span<const SpreadConstraint> constraints);
  bool Includes(const SpreadConstraint& constraint, Row row) const {
    if (constraint.honors_affinity && affinity_ && !affinity_->Matches(row)) return false;
    return !constraint.honors_taints || tolerated_sets_[taint_set_[row]] != 0;
  }

  // Every row takes part.
  bool IncludesAll(const SpreadConstraint& constraint) const {
    return !(constraint.honors_affinity && affinity_) && !constraint.honors_taints;
  }

 private:
  std::optional<RequiredNodeAffinity> affinity_;  // no value: nothing to match
  std::span<const uint32_t> taint_set_;
  std::vector<uint8_t> tolerated_sets_;  // by taint set
};

// Pods of `ns` that are not terminating and match.
int64_t CountPods(std::span<const PodRecord* const> pods, const std::string& ns, SelectorMemo& selector);
// The same for all rows, free and ghost ones included. Valid until the index begins anew.
const RowCounts& CountPods(const Snapshot& snapshot, const std::string& ns,
                           const std::optional<LabelSelector>& selector, PodCountIndex& index);

// Matching pods by domain of one constraint; a domain is a value of the topology key on some counted node.
struct DomainCounts {
  std::vector<int64_t> by_value;   // by value id; 0 for what is no domain
  std::vector<uint8_t> is_domain;  // by value id
};

// Over all live rows that have all topology keys, one entry per constraint. Without an index pods are looked at.
// REQUIRES: constraints are resolved.
std::vector<DomainCounts> CountDomains(const Pod& pod, const Snapshot& snapshot,
                                       std::span<const SpreadConstraint> constraints, const InclusionPolicies& policies,
                                       PodCountIndex* index);

}  // namespace berth::plugins
