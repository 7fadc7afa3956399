// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread's soft constraints: fewer matching pods in a node's domains give a higher score.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "plugins/pod_topology_spread.h"

namespace berth::plugins {
namespace {

// A score that no node that counts can have: marks ignored nodes until Normalize is done.
constexpr int64_t kIgnored = -1;

struct ScoreState final : StateOf<ScoreState> {
  std::vector<SpreadConstraint> constraints;
  // By row; empty when the system's default constraints are at work, which score every node.
  std::vector<uint8_t> lacks_a_key;
  // By constraint. Counts are by value id; none for the hostname key, whose pods Score counts on the node itself.
  std::vector<std::vector<int64_t>> counts;
  std::vector<const RowCounts*> on_node;  // for the hostname key, if there is an index; otherwise null
  std::vector<double> weights;

  void FindLackingKeys(size_t rows) {
    lacks_a_key.assign(rows, 0);
    for (const SpreadConstraint& constraint : constraints) {
      const std::span<const uint32_t> values = constraint.column->values();
      for (size_t row = 0; row < rows; ++row) lacks_a_key[row] |= values[row] == LabelColumn::kAbsent;
    }
  }
  bool Ignores(Row row) const { return !lacks_a_key.empty() && lacks_a_key[row] != 0; }
};

// Where pods of a node are counted. A node without the key counts as one with an empty value: upstream reads a missing
// label as "" here (scoring.go, v1.36.4).
uint32_t DomainOf(const LabelColumn& column, uint32_t empty_value, Row row) {
  const uint32_t value = column[row];
  return value == LabelColumn::kAbsent ? empty_value : value;
}

}  // namespace

PreScoreOutcome PodTopologySpread::PreScore(const Cycle& cycle, std::span<const Row> feasible) const {
  const Pod& pod = cycle.pod();
  const Snapshot& snapshot = cycle.snapshot();
  auto constraints = EffectiveConstraints(pod, snapshot, WhenUnsatisfiable::kScheduleAnyway);
  if (!constraints.ok()) return PreScoreOutcome::Fail("calculating preScoreState: " + constraints.error().text());
  if (constraints->empty()) return PreScoreOutcome::Skip().While(ConstraintsHoldWhile(pod));

  auto state = std::make_unique<ScoreState>();
  state->constraints = std::move(constraints).value();
  Resolve(state->constraints, snapshot);
  if (!pod.topology_spread.empty() || !system_defaulted_) state->FindLackingKeys(snapshot.rows());
  const size_t n = state->constraints.size();
  state->counts.resize(n);
  state->on_node.resize(n, nullptr);
  state->weights.resize(n);

  std::vector<Row> scored;
  scored.reserve(feasible.size());
  for (const Row row : feasible) {
    if (!state->Ignores(row)) scored.push_back(row);
  }

  PodCountIndex* const index = IndexOf(snapshot);
  const InclusionPolicies policies(pod, snapshot, state->constraints);
  for (size_t c = 0; c < n; ++c) {
    const SpreadConstraint& constraint = state->constraints[c];
    if (constraint.topology_key == kHostnameLabel) {
      state->weights[c] = std::log(static_cast<double>(scored.size() + 2));
      if (index != nullptr && constraint.counts_existing())
        state->on_node[c] = &CountPods(snapshot, pod.namespace_(), constraint.selector, *index);
      continue;
    }
    const LabelColumn& column = *constraint.column;
    const uint32_t empty_value = column.Find("");
    std::vector<uint8_t> wanted(column.distinct() + 1, 0);
    size_t size = 0;
    for (const Row row : scored) {
      uint8_t& want = wanted[DomainOf(column, empty_value, row)];
      size += want == 0;
      want = 1;
    }
    state->weights[c] = std::log(static_cast<double>(size + 2));
    std::vector<int64_t>& counts = state->counts[c];
    counts.assign(wanted.size(), 0);
    if (!constraint.counts_existing()) continue;
    const auto each = [&](Row row, auto&& count) {
      if (!snapshot.live(row) || state->Ignores(row)) return;
      const uint32_t domain = DomainOf(column, empty_value, row);
      if (wanted[domain] == 0 || !policies.Includes(constraint, row)) return;
      counts[domain] += count();
    };
    if (index != nullptr) {
      CountPods(snapshot, pod.namespace_(), constraint.selector, *index).ForEach([&](Row row, int64_t count) {
        each(row, [count] { return count; });
      });
    } else {
      SelectorMemo memo(constraint.selector);
      for (Row row = 0; row < snapshot.rows(); ++row)
        each(row, [&] { return CountPods(snapshot.pods(row), pod.namespace_(), memo); });
    }
  }
  return PreScoreOutcome::Ok(std::move(state));
}

Error PodTopologySpread::Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
                               std::span<int64_t> scores) const {
  if (state == nullptr) return Error("error reading \"PreScorePodTopologySpread\" from cycleState: not found");
  const auto& s = static_cast<const ScoreState&>(*state);
  std::vector<double> sums(nodes.size(), 0);
  for (size_t c = 0; c < s.constraints.size(); ++c) {
    const SpreadConstraint& constraint = s.constraints[c];
    const bool per_node = constraint.topology_key == kHostnameLabel;
    const std::span<const uint32_t> values = nodes.labels(*constraint.column);
    const auto each = [&](auto&& count) {
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (values[i] == LabelColumn::kAbsent || nodes.active()[i] == 0) continue;
        sums[i] += static_cast<double>(count(i)) * s.weights[c] + static_cast<double>(constraint.max_skew - 1);
      }
    };
    if (!per_node) {
      each([&](size_t i) { return s.counts[c][values[i]]; });
    } else if (!constraint.counts_existing()) {
      each([](size_t) { return int64_t{0}; });
    } else if (s.on_node[c] != nullptr && nodes.overlay() == nullptr) {
      each([&](size_t i) { return (*s.on_node[c])[nodes.row(i)]; });
    } else {
      SelectorMemo memo(constraint.selector);
      each([&](size_t i) { return CountPods(nodes.pods(i), cycle.pod().namespace_(), memo); });
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    const bool counts = nodes.active()[i] != 0 && !s.Ignores(nodes.row(i));
    scores[i] = counts ? static_cast<int64_t>(std::round(sums[i])) : 0;
  }
  return Error::Ok();
}

Error PodTopologySpread::Normalize(const Cycle&, const PluginState* state, std::span<const Row> rows,
                                   std::span<int64_t> scores) const {
  const auto& s = static_cast<const ScoreState&>(*state);
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (s.Ignores(rows[i])) {
      scores[i] = kIgnored;
      continue;
    }
    min = std::min(min, scores[i]);
    max = std::max(max, scores[i]);
  }
  // Nodes of one domain have one score, and neighbours are mostly of a few domains: a division less per node.
  int64_t last[8], answers[8];
  std::fill(std::begin(last), std::end(last), kIgnored);
  for (int64_t& score : scores) {
    if (score == kIgnored) {
      score = 0;
      continue;
    }
    const size_t slot = static_cast<size_t>(score) % 8;
    if (last[slot] != score) {
      last[slot] = score;
      answers[slot] = max == 0 ? kMaxScore : kMaxScore * (max + min - score) / max;
    }
    score = answers[slot];
  }
  return Error::Ok();
}

}  // namespace berth::plugins
