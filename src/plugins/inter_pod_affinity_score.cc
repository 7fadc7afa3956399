// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity's preferred terms, in both directions, and existing pods' required ones: PreScore sums weights by
// topology pair, Score adds up a node's pairs.
#include <algorithm>
#include <limits>

#include "plugins/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity_index.h"
#include "plugins/inter_pod_affinity_terms.h"

namespace berth::plugins {
namespace {

struct PodAffinityScoreState final : StateOf<PodAffinityScoreState> {
  TopologyKeys keys;
  PairCounts weights;
};

bool HasPreferred(const std::optional<PodAffinity>& affinity) { return affinity && !affinity->preferred.empty(); }

void CompilePreferred(const Cycle& cycle, const std::optional<PodAffinity>& affinity, int64_t sign, TopologyKeys& keys,
                      std::vector<AffinityTerm>& out) {
  if (!affinity) return;
  for (const WeightedPodAffinityTerm& weighted : affinity->preferred) {
    out.push_back(MakeTerm(cycle.pod(), weighted.term, cycle.snapshot()));
    out.back().weight = sign * weighted.weight;
    out.back().key = keys.FindOrAdd(weighted.term.topology_key, cycle.snapshot());
  }
}

// What the terms of a pod that is there already say of the incoming one.
class ExistingPodScorer {
 public:
  ExistingPodScorer(const Cycle& cycle, int64_t hard_weight, PodAffinityScoreState& state)
      : cycle_(cycle),
        hard_weight_(hard_weight),
        namespace_labels_(NamespaceLabels(cycle.snapshot(), cycle.pod().namespace_())),
        state_(state) {}

  void Add(const Pod& existing, Row row) {
    const Affinity& affinity = existing.affinity;
    if (affinity.pod_affinity) {
      if (hard_weight_ > 0 && AllValid(affinity.pod_affinity->required)) {
        for (const PodAffinityTerm& term : affinity.pod_affinity->required) AddTerm(existing, term, hard_weight_, row);
      }
      AddPreferred(existing, *affinity.pod_affinity, 1, row);
    }
    if (affinity.pod_anti_affinity) AddPreferred(existing, *affinity.pod_anti_affinity, -1, row);
  }

 private:
  void AddPreferred(const Pod& existing, const PodAffinity& affinity, int64_t sign, Row row) {
    if (!AllValid(affinity.preferred)) return;
    for (const WeightedPodAffinityTerm& weighted : affinity.preferred) {
      AddTerm(existing, weighted.term, sign * weighted.weight, row);
    }
  }
  void AddTerm(const Pod& existing, const PodAffinityTerm& term, int64_t weight, Row row) {
    if (!ExistingTermMatches(existing.namespace_(), term, cycle_.pod(), namespace_labels_)) return;
    state_.weights.Add(state_.keys, state_.keys.FindOrAdd(term.topology_key, cycle_.snapshot()), row, weight);
  }

  const Cycle& cycle_;
  const int64_t hard_weight_;
  const Labels namespace_labels_;
  PodAffinityScoreState& state_;
};

}  // namespace

PreScoreOutcome InterPodAffinity::PreScore(const Cycle& cycle, std::span<const Row>) const {
  const Pod& pod = cycle.pod();
  const Snapshot& snapshot = cycle.snapshot();
  const bool own_terms = HasPreferred(pod.affinity.pod_affinity) || HasPreferred(pod.affinity.pod_anti_affinity);
  if (args_.ignore_preferred_terms_of_existing_pods && !own_terms) return PreScoreOutcome::Skip().While(0);
  if (const std::string errors = TermParseErrors(pod); !errors.empty()) {
    return PreScoreOutcome::Fail("failed to parse pod: " + errors);
  }

  auto state = std::make_unique<PodAffinityScoreState>();
  InterPodAffinityIndex* const index = IndexOf(snapshot);
  if (index != nullptr) {
    for (const auto& placed : index->scoring().Matching(pod, NamespaceLabels(snapshot, pod.namespace_()))) {
      const size_t key = state->keys.FindOrAdd(placed->term.topology_key, snapshot);
      state->weights.Add(state->keys, key, snapshot, placed->rows, placed->weight);
    }
  } else {
    ExistingPodScorer existing(cycle, args_.hard_pod_affinity_weight, *state);
    for (const Row row : snapshot.affinity_rows()) {
      if (!snapshot.live(row)) continue;
      for (const PodRecord* record : snapshot.affinity_pods(row)) existing.Add(*record->pod, row);
    }
  }
  if (own_terms) {
    std::vector<AffinityTerm> terms;
    CompilePreferred(cycle, pod.affinity.pod_affinity, 1, state->keys, terms);
    CompilePreferred(cycle, pod.affinity.pod_anti_affinity, -1, state->keys, terms);
    if (index != nullptr) {
      for (const AffinityTerm& term : terms)
        state->weights.Add(state->keys, term.key, snapshot, index->counts().Count(snapshot, term.Query()), term.weight);
    }
    const std::vector<AffinityTerm> none;
    TermMemo memo(none, terms);
    for (Row row = 0; index == nullptr && row < snapshot.rows(); ++row) {
      if (!snapshot.live(row)) continue;
      for (const PodRecord* record : snapshot.pods(row)) {
        for (const uint32_t t : memo.Ask(*record->pod).matching) {
          state->weights.Add(state->keys, terms[t].key, row, terms[t].weight);
        }
      }
    }
  }
  if (!state->weights.touched())
    return own_terms ? PreScoreOutcome::Skip() : PreScoreOutcome::Skip().While(kExistingTerms);
  return PreScoreOutcome::Ok(std::move(state));
}

Error InterPodAffinity::Score(const Cycle&, const PluginState* state, const NodeBatch& nodes,
                              std::span<int64_t> scores) const {
  if (state == nullptr) return Error("failed to read \"PreScoreInterPodAffinity\" from cycleState: not found");
  const auto& s = static_cast<const PodAffinityScoreState&>(*state);
  std::fill(scores.begin(), scores.end(), 0);
  for (size_t key = 0; key < s.keys.size(); ++key) {
    const std::span<const int64_t> weights = s.weights.of(key);
    if (weights.empty()) continue;
    const std::span<const uint32_t> values = nodes.labels(s.keys.column(key));
    for (size_t i = 0; i < values.size(); ++i) scores[i] += weights[values[i]];
  }
  return Error::Ok();
}

Error InterPodAffinity::Normalize(const Cycle&, const PluginState*, std::span<const Row>,
                                  std::span<int64_t> scores) const {
  if (scores.empty()) return Error::Ok();
  const auto [min, max] = std::minmax_element(scores.begin(), scores.end());
  const int64_t least = *min;
  const int64_t spread = *max - least;
  if (spread == 0) {
    std::fill(scores.begin(), scores.end(), 0);
    return Error::Ok();
  }
  for (int64_t& score : scores) {
    const double share = spread > 0 ? static_cast<double>(score - least) / static_cast<double>(spread) : 0;
    score = static_cast<int64_t>(static_cast<double>(kMaxScore) * share);
  }
  return Error::Ok();
}

}  // namespace berth::plugins
