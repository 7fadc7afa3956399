// SPDX-License-Identifier: Apache-2.0
// Condensing a judgement.
#include "framework/trace.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace berth::framework {

bool ReasonBefore(const CycleTrace::ReasonCount& a, const CycleTrace::ReasonCount& b, const VerdictTable& table) {
  if (a.nodes != b.nodes) return a.nodes > b.nodes;
  if (a.plugin != b.plugin) return a.plugin < b.plugin;
  if (a.verdict == b.verdict || a.verdict == kNotJudged || b.verdict == kNotJudged) return a.verdict < b.verdict;
  const Verdict &x = table.Get(a.verdict), &y = table.Get(b.verdict);
  return x.code() != y.code() ? x.code() < y.code() : x.reasons() < y.reasons();
}

CycleTrace MakeTrace(const Pod& pod, const Snapshot& snapshot, const Judgement& judgement, const VerdictTable& table,
                     uint64_t position) {
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
  using Key = std::pair<VerdictId, uint16_t>;
  std::map<Key, Seen> counts;
  const std::span<const uint8_t> live = snapshot.live();
  for (Row row = 0; row < judgement.verdicts.size();) {
    // Neighbours mostly share a verdict.
    const Key key(judgement.verdicts[row], judgement.plugins[row]);
    Row end = row;
    uint32_t nodes = 0;
    for (; end < judgement.verdicts.size(); ++end) {
      if (judgement.verdicts[end] != key.first || judgement.plugins[end] != key.second) break;
      nodes += live[end];
    }
    if (key.first != kFitsId && nodes > 0) {
      Seen& seen = counts[key];
      if (seen.nodes == 0) seen.example = static_cast<Row>(std::find(live.begin() + row, live.end(), 1) - live.begin());
      seen.nodes += nodes;
    }
    row = end;
  }
  std::vector<std::pair<CycleTrace::ReasonCount, Row>> most;
  for (const auto& [key, seen] : counts) most.push_back({{key.first, key.second, seen.nodes, ""}, seen.example});
  std::sort(most.begin(), most.end(),
            [&](const auto& a, const auto& b) { return ReasonBefore(a.first, b.first, table); });
  // Room for what is kept and no more: a ring holds many thousands of these.
  most.resize(std::min(most.size(), CycleTrace::kMaxReasons));
  trace.reasons.reserve(most.size());
  for (auto& [reason, example] : most) {
    reason.example = snapshot.node(example).name();
    trace.reasons.push_back(std::move(reason));
  }

  if (!judgement.totals.empty()) {
    std::vector<size_t> order(judgement.totals.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t shown = std::min(order.size(), CycleTrace::kMaxCandidates);
    const std::vector<int64_t>& totals = judgement.totals;  // of any sign and size: extenders add to them
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(shown), order.end(),
                      [&](size_t a, size_t b) { return totals[a] != totals[b] ? totals[a] > totals[b] : a < b; });
    const int64_t best = judgement.totals[order[0]];
    trace.ties = static_cast<uint32_t>(std::count(judgement.totals.begin(), judgement.totals.end(), best));
    trace.top.reserve(shown);
    for (size_t i = 0; i < shown; ++i) {
      const std::string& node = snapshot.node(judgement.feasible[order[i]]).name();
      CycleTrace::Candidate candidate{node, judgement.totals[order[i]], {}};
      candidate.scores.reserve(judgement.scores.size());
      for (const PluginScores& scores : judgement.scores)
        candidate.scores.emplace_back(scores.plugin, static_cast<uint8_t>(scores.normalized[order[i]]));
      trace.top.push_back(std::move(candidate));
    }
  } else if (!judgement.feasible.empty()) {
    trace.ties = 1;
    trace.top.push_back({snapshot.node(judgement.feasible.front()).name(), 0, {}});
  }

  DescribePlan(judgement.post_filter, trace);
  return trace;
}

void DescribePlan(const PostFilterOutcome& outcome, CycleTrace& trace) {
  if (!outcome.plan) return;
  const PreemptionPlan& plan = *outcome.plan;
  trace.selected = plan.selected;
  trace.preemption_candidates = static_cast<uint32_t>(plan.candidates.size());
  for (const PreemptionCandidate& candidate : plan.candidates)
    if (candidate.node == plan.selected) trace.victims = static_cast<uint32_t>(candidate.victims.size());
}

const CycleTrace* TraceRing::Find(const std::string& pod) const {
  for (size_t i = 0; i < size(); ++i) {
    if (at(i).pod == pod) return &at(i);
  }
  return nullptr;
}

}  // namespace berth::framework
