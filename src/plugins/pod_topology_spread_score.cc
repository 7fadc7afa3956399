// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread's soft constraints: fewer matching pods in a node's domains give a higher score.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "berth/vectorized.h"
#include "plugins/pod_topology_spread.h"

namespace berth::plugins {
namespace {

// Of live rows. Whether there is any.
BERTH_VECTORIZED bool MarkAbsent(const uint32_t* __restrict values, const uint8_t* __restrict live, size_t n,
                                 uint8_t* __restrict out) {
  uint8_t any = 0;
  for (size_t i = 0; i < n; ++i) {
    const auto absent = static_cast<uint8_t>((values[i] == LabelColumn::kAbsent) & (live[i] != 0));
    out[i] |= absent;
    any |= absent;
  }
  return any != 0;
}

// A score that no node that counts can have: marks ignored nodes until Normalize is done.
constexpr int64_t kIgnored = -1;

struct SpreadScoreState final : StateOf<SpreadScoreState> {
  std::vector<SpreadConstraint> constraints;
  // By row; empty when no node does, or when the system's default constraints are at work, which score every node.
  std::vector<uint8_t> lacks_a_key;
  // By constraint, then by value id: what a node with the value gets; none for the hostname key, whose pods Score
  // counts on the node itself.
  std::vector<std::vector<double>> parts;
  // The scores themselves, by value id, where one constraint is all there is.
  std::vector<int64_t> whole;
  std::vector<const RowCounts*> on_node;  // for the hostname key, if there is an index; otherwise null
  std::vector<double> weights;

  void FindLackingKeys(std::span<const uint8_t> live) {
    lacks_a_key.assign(live.size(), 0);
    bool any = false;
    for (const SpreadConstraint& constraint : constraints)
      any |= MarkAbsent(constraint.column->values().data(), live.data(), live.size(), lacks_a_key.data());
    if (!any) lacks_a_key.clear();
  }
  // What `count` matching pods in its domain are worth to a node.
  double Part(size_t c, int64_t count) const {
    return static_cast<double>(count) * weights[c] + static_cast<double>(constraints[c].max_skew - 1);
  }
  void SetParts(size_t c, const std::vector<int64_t>& counts) {
    parts[c].resize(counts.size(), 0);  // nothing for the lack of a value
    for (size_t value = LabelColumn::kAbsent + 1; value < counts.size(); ++value)
      parts[c][value] = Part(c, counts[value]);
    if (constraints.size() > 1) return;
    for (const double part : parts[c]) whole.push_back(static_cast<int64_t>(std::round(part)));
  }
  bool Ignores(Row row) const { return !lacks_a_key.empty() && lacks_a_key[row] != 0; }
};

// Where pods of a node are counted. A node without the key counts as one with an empty value: upstream reads a missing
// label as "" here (scoring.go, v1.36.4).
uint32_t DomainOf(const LabelColumn& column, uint32_t empty_value, Row row) {
  const uint32_t value = column[row];
  return value == LabelColumn::kAbsent ? empty_value : value;
}

// Matching pods by value id, of the domains that are wanted.
std::vector<int64_t> CountWanted(const Pod& pod, const Snapshot& snapshot, const SpreadScoreState& state,
                                 const SpreadConstraint& constraint, const InclusionPolicies& policies,
                                 std::span<const uint8_t> wanted, PodCountIndex* index) {
  std::vector<int64_t> counts(wanted.size(), 0);
  if (!constraint.counts_existing()) return counts;
  const LabelColumn& column = *constraint.column;
  const uint32_t empty_value = column.Find("");
  const auto each = [&](Row row, auto&& count) {
    if (!snapshot.live(row) || state.Ignores(row)) return;
    const uint32_t domain = DomainOf(column, empty_value, row);
    if (wanted[domain] == 0 || !policies.Includes(constraint, row)) return;
    counts[domain] += count();
  };
  if (index == nullptr) {
    SelectorMemo memo(constraint.selector);
    for (Row row = 0; row < snapshot.rows(); ++row)
      each(row, [&] { return CountPods(snapshot.pods(row), pod.namespace_(), memo); });
    return counts;
  }
  const RowCounts& rows = CountPods(snapshot, pod.namespace_(), constraint.selector, *index);
  if (state.lacks_a_key.empty() && policies.IncludesAll(constraint) && rows.SumsByValue(column)) {
    for (uint32_t value = LabelColumn::kAbsent; value <= column.distinct(); ++value) {
      const uint32_t domain = value == LabelColumn::kAbsent ? empty_value : value;
      if (wanted[domain]) counts[domain] += static_cast<int64_t>(rows.SumOf(value, column.values(), snapshot.live()));
    }
    return counts;
  }
  rows.ForEach([&](Row row, int64_t count) { each(row, [count] { return count; }); });
  return counts;
}

}  // namespace

PreScoreOutcome PodTopologySpread::PreScore(const Cycle& cycle, std::span<const Row> feasible) const {
  const Pod& pod = cycle.pod();
  const Snapshot& snapshot = cycle.snapshot();
  auto constraints = EffectiveConstraints(pod, snapshot, WhenUnsatisfiable::kScheduleAnyway);
  if (!constraints.ok()) return PreScoreOutcome::Fail("calculating preScoreState: " + constraints.error().text());
  if (constraints->empty()) return PreScoreOutcome::Skip().While(ConstraintsHoldWhile(pod));

  auto state = std::make_unique<SpreadScoreState>();
  state->constraints = std::move(constraints).value();
  Resolve(state->constraints, snapshot);
  const bool needs_keys = !pod.topology_spread.empty() || !system_defaulted_;
  if (needs_keys) state->FindLackingKeys(snapshot.live());
  const size_t n = state->constraints.size();
  state->parts.resize(n);
  state->on_node.resize(n, nullptr);
  state->weights.resize(n);

  std::vector<Row> room;
  std::span<const Row> scored = feasible;
  if (!state->lacks_a_key.empty()) {
    room.reserve(feasible.size());
    for (const Row row : feasible) {
      if (!state->Ignores(row)) room.push_back(row);
    }
    scored = room;
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
      if (needs_keys && size == column.distinct()) break;  // there are no more
      uint8_t& want = wanted[DomainOf(column, empty_value, row)];
      size += want == 0;
      want = 1;
    }
    state->weights[c] = std::log(static_cast<double>(size + 2));
    state->SetParts(c, CountWanted(pod, snapshot, *state, constraint, policies, wanted, index));
  }
  return PreScoreOutcome::Ok(std::move(state));
}

Error PodTopologySpread::Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
                               std::span<int64_t> scores) const {
  if (state == nullptr) return Error("error reading \"PreScorePodTopologySpread\" from cycleState: not found");
  const auto& s = static_cast<const SpreadScoreState&>(*state);
  if (!s.whole.empty()) {
    const std::span<const uint32_t> values = nodes.labels(*s.constraints[0].column);
    for (size_t i = 0; i < values.size(); ++i) scores[i] = s.whole[values[i]];
    return Error::Ok();
  }
  std::vector<double> sums(nodes.size(), 0);
  for (size_t c = 0; c < s.constraints.size(); ++c) {
    const SpreadConstraint& constraint = s.constraints[c];
    const std::span<const uint32_t> values = nodes.labels(*constraint.column);
    if (constraint.topology_key != kHostnameLabel) {
      for (size_t i = 0; i < values.size(); ++i) sums[i] += s.parts[c][values[i]];
      continue;
    }
    const auto each = [&](auto&& count) {
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (values[i] == LabelColumn::kAbsent || nodes.active()[i] == 0) continue;
        sums[i] += s.Part(c, count(i));
      }
    };
    if (!constraint.counts_existing()) {
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
  const auto& s = static_cast<const SpreadScoreState&>(*state);
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = 0;
  const auto take = [&](int64_t score) {
    min = std::min(min, score);
    max = std::max(max, score);
  };
  if (s.lacks_a_key.empty()) {
    for (const int64_t score : scores) take(score);
  } else {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (s.Ignores(rows[i])) {
        scores[i] = kIgnored;
      } else {
        take(scores[i]);
      }
    }
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
