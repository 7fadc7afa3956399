// SPDX-License-Identifier: Apache-2.0
// Condensing a judgement.
#include "framework/trace.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace berth::framework {

CycleTrace MakeTrace(const Pod& pod, const Snapshot& snapshot, const Judgement& judgement, uint64_t position) {
  CycleTrace trace;
  trace.pod = FullName(pod);
  trace.position = position;
  trace.kind = judgement.kind;
  trace.nodes = static_cast<uint32_t>(snapshot.node_count());
  trace.evaluated = static_cast<uint32_t>(judgement.evaluated);
  trace.feasible = static_cast<uint32_t>(judgement.feasible.size());

  struct Seen {
    uint32_t nodes = 0;
    Row example = kNoRow;
  };
  std::map<std::pair<VerdictId, uint16_t>, Seen> counts;
  for (Row row = 0; row < judgement.verdicts.size(); ++row) {
    if (judgement.verdicts[row] == kFitsId || !snapshot.live(row)) continue;
    Seen& seen = counts[{judgement.verdicts[row], judgement.plugins[row]}];
    if (seen.nodes++ == 0) seen.example = row;
  }
  for (const auto& [key, seen] : counts)
    trace.reasons.push_back({key.first, key.second, seen.nodes, snapshot.node(seen.example).name()});
  std::stable_sort(trace.reasons.begin(), trace.reasons.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  if (trace.reasons.size() > CycleTrace::kMaxReasons) trace.reasons.resize(CycleTrace::kMaxReasons);

  if (!judgement.totals.empty()) {
    std::vector<size_t> order(judgement.totals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t shown = std::min(order.size(), CycleTrace::kMaxCandidates);
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(),
                      [&](size_t a, size_t b) {
                        return std::pair(-judgement.totals[a], a) < std::pair(-judgement.totals[b], b);
                      });
    const int64_t best = judgement.totals[order[0]];
    trace.ties = static_cast<uint32_t>(std::count(judgement.totals.begin(), judgement.totals.end(), best));
    for (size_t i = 0; i < shown; ++i) {
      CycleTrace::Candidate candidate{snapshot.node(judgement.feasible[order[i]]).name(), judgement.totals[order[i]], {}};
      for (const PluginScores& scores : judgement.scores)
        candidate.weighted.emplace_back(scores.plugin, scores.normalized[order[i]] * scores.weight);
      trace.top.push_back(std::move(candidate));
    }
  } else if (!judgement.feasible.empty()) {
    trace.ties = 1;
    trace.top.push_back({snapshot.node(judgement.feasible.front()).name(), 0, {}});
  }

  if (const auto& plan = judgement.post_filter.plan) {
    trace.selected = plan->selected;
    trace.preemption_candidates = static_cast<uint32_t>(plan->candidates.size());
    for (const PreemptionCandidate& candidate : plan->candidates)
      if (candidate.node == plan->selected) trace.victims = static_cast<uint32_t>(candidate.victims.size());
  }
  return trace;
}

const CycleTrace* TraceRing::Find(const std::string& pod) const {
  for (size_t i = 0; i < size(); ++i) {
    const CycleTrace& trace = ring_[(next_ - 1 - i) % ring_.size()];
    if (trace.pod == pod) return &trace;
  }
  return nullptr;
}

}  // namespace berth::framework
