// SPDX-License-Identifier: Apache-2.0
// DefaultPreemption's choices: who may be evicted from a node, in which order pods are spared, and which node is best.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/plugin.h"

namespace berth::plugins {

// True when `a` is to be spared before `b`: higher priority, then earlier start. A pod that has not started counts as
// starting now; upstream reads the clock once per pod, so of two such pods of equal priority *each* is before the
// other.
bool MoreImportant(const Pod& a, const Pod& b, Time now);

// Most important first. Up to twelve pods are sorted exactly as Go's sort.Slice does it, insertion by insertion, which
// matters because MoreImportant is no order for pods that have not started: those end up reversed. Beyond that Go's
// algorithm is unstable, and equal pods keep their order here.
void SortByImportance(std::vector<const PodRecord*>& pods, Time now);

// Disruption budgets, as far as they allow evictions now.
class Budgets {
 public:
  Budgets() = default;  // there are none
  explicit Budgets(const Snapshot& snapshot);
  struct Split {
    std::vector<const PodRecord*> violating, others;
  };
  // Evicting `pods` one after the other: those whose eviction would overdraw a budget, and the rest. Order is kept.
  Split SplitPods(const std::vector<const PodRecord*>& pods) const;

 private:
  std::vector<const PodDisruptionBudget*> budgets_;  // that can match anything; by namespace
};

// A node as a candidate, or why it is none.
struct NodeTrial {
  Verdict verdict;  // Success: evicting the victims makes room
  std::vector<const PodRecord*> victims;
  int64_t pdb_violations = 0;
};

// Finds the victims on one node: takes away every pod of lower priority, then gives back as many as still fit, those
// whose eviction would violate a budget first, the most important ones first. REQUIRES: snapshot.live(row).
NodeTrial SelectVictims(const Cycle& cycle, const Budgets& budgets, Row row);

// Indexes of the best candidates: fewest budget violations, lowest highest priority, smallest sum of priorities, fewest
// victims, latest start of the earliest of the highest-priority victims. Upstream takes any of them.
// REQUIRES: every candidate has victims, the most important one first.
std::vector<size_t> BestCandidates(const std::vector<PreemptionCandidate>& candidates, Time now);

}  // namespace berth::plugins
