// SPDX-License-Identifier: Apache-2.0
// Victims of preemption; the rules are those of upstream's defaultpreemption and framework/preemption at v1.36.4.
#include "plugins/default_preemption_victims.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <utility>

#include "plugins/default_preemption.h"

namespace berth::plugins {
namespace {

Time StartOf(const Pod& pod, Time now) { return pod.start_time.value_or(now); }

// The earliest start among the victims of the highest priority.
Time EarliestStart(const PreemptionCandidate& candidate, Time now) {
  const Pod* first = candidate.victims[0].get();
  int32_t highest = first->priority;
  Time earliest = StartOf(*first, now);
  for (const auto& pod : candidate.victims) {
    const Time start = StartOf(*pod, now);
    if (pod->priority > highest || (pod->priority == highest && start < earliest)) {
      highest = pod->priority;
      earliest = start;
    }
  }
  return earliest;
}

// The criteria in turn; larger is better.
constexpr size_t kCriteria = 5;
using Criteria = std::array<int64_t, kCriteria>;

Criteria CriteriaOf(const PreemptionCandidate& candidate, Time now) {
  int64_t sum = 0;
  // 2^31 is added per victim, so that one more victim of negative priority never makes a node look better.
  for (const auto& pod : candidate.victims) sum += int64_t{pod->priority} + (int64_t{1} << 31);
  return {-candidate.pdb_violations, -int64_t{candidate.victims[0]->priority}, -sum,
          -static_cast<int64_t>(candidate.victims.size()), EarliestStart(candidate, now).ns};
}

bool NamespaceBefore(const PodDisruptionBudget* budget, const std::string& ns) { return budget->meta.namespace_ < ns; }

}  // namespace

bool MoreImportant(const Pod& a, const Pod& b, Time now) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (!a.start_time && !b.start_time) return true;
  return StartOf(a, now) < StartOf(b, now);
}

void SortByImportance(std::vector<const PodRecord*>& pods, Time now) {
  constexpr size_t kInsertionSortUpTo = 12;
  if (pods.size() > kInsertionSortUpTo) {
    std::stable_sort(pods.begin(), pods.end(), [&](const PodRecord* a, const PodRecord* b) {
      if (a->pod->priority != b->pod->priority) return a->pod->priority > b->pod->priority;
      return StartOf(*a->pod, now) < StartOf(*b->pod, now);
    });
    return;
  }
  for (size_t i = 1; i < pods.size(); ++i) {
    for (size_t j = i; j > 0 && MoreImportant(*pods[j]->pod, *pods[j - 1]->pod, now); --j) {
      std::swap(pods[j], pods[j - 1]);
    }
  }
}

Budgets::Budgets(const Snapshot& snapshot) {
  snapshot.objects<PodDisruptionBudget>().ForEach([&](const PodDisruptionBudget& budget) {
    if (budget.selector && !budget.selector->empty() && budget.selector->invalid.empty()) budgets_.push_back(&budget);
  });
}

Budgets::Split Budgets::SplitPods(const std::vector<const PodRecord*>& pods) const {
  Split split;
  std::map<const PodDisruptionBudget*, int64_t> left;
  for (const PodRecord* record : pods) {
    const Pod& pod = *record->pod;
    bool violates = false;
    // A pod without labels matches no budget, whatever the selector says.
    auto it = budgets_.end();
    if (!pod.meta.labels.empty()) {
      it = std::lower_bound(budgets_.begin(), budgets_.end(), pod.namespace_(), NamespaceBefore);
    }
    for (; it != budgets_.end() && (*it)->meta.namespace_ == pod.namespace_(); ++it) {
      const PodDisruptionBudget& budget = **it;
      if (!budget.selector->Matches(pod.meta.labels)) continue;
      if (std::binary_search(budget.disrupted_pods.begin(), budget.disrupted_pods.end(), pod.name())) continue;
      int64_t& allowed = left.try_emplace(&budget, budget.disruptions_allowed).first->second;
      if (--allowed < 0) violates = true;
    }
    (violates ? split.violating : split.others).push_back(record);
  }
  return split;
}

NodeTrial SelectVictims(const Cycle& cycle, const Budgets& budgets, Row row) {
  std::vector<const PodRecord*> potential;
  for (const PodRecord* record : cycle.snapshot().pods(row)) {
    if (record->pod->priority < cycle.pod().priority) potential.push_back(record);
  }
  if (potential.empty()) return {DefaultPreemption::kNoVictims, {}, 0};

  const std::unique_ptr<WhatIf> node = cycle.Imagine(row);
  for (const PodRecord* record : potential) {
    if (const Error error = node->RemovePod(*record); !error.ok()) return {Verdict::Fail(error.text()), {}, 0};
  }
  if (Verdict verdict = node->Judge(); !verdict.fits()) return {std::move(verdict), {}, 0};

  SortByImportance(potential, cycle.now());
  const Budgets::Split split = budgets.SplitPods(potential);
  NodeTrial trial;
  for (const bool violating : {true, false}) {
    for (const PodRecord* record : violating ? split.violating : split.others) {
      if (const Error error = node->AddPod(*record); !error.ok()) return {Verdict::Fail(error.text()), {}, 0};
      if (node->Fits()) continue;
      if (const Error error = node->RemovePod(*record); !error.ok()) return {Verdict::Fail(error.text()), {}, 0};
      trial.victims.push_back(record);
      trial.pdb_violations += violating;
    }
  }
  if (!split.violating.empty() && !split.others.empty()) SortByImportance(trial.victims, cycle.now());
  return trial;
}

std::vector<size_t> BestCandidates(const std::vector<PreemptionCandidate>& candidates, Time now) {
  std::vector<size_t> best;
  Criteria of_best{};
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Criteria criteria = CriteriaOf(candidates[i], now);
    if (best.empty() || criteria > of_best) {
      best.assign(1, i);
      of_best = criteria;
    } else if (criteria == of_best) {
      best.push_back(i);
    }
  }
  return best;
}

}  // namespace berth::plugins
