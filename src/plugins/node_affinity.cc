// SPDX-License-Identifier: Apache-2.0
// NodeAffinity; selectors are compiled to value ids in PreFilter and PreScore, so Filter and Score compare integers.
// Mirrors nodeaffinity/node_affinity.go of v1.36. Arguments are read in node_affinity_args.cc.
#include "plugins/node_affinity.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>

#include "plugins/common/node_terms.h"
#include "plugins/common/signing.h"

namespace berth::plugins {
namespace {

struct Compiled {
  std::optional<CompiledSelector> added;
  std::optional<CompiledTerm> node_selector;
  std::optional<CompiledSelector> required;
};

struct NodeAffinityFilterState : StateOf<NodeAffinityFilterState> {
  std::shared_ptr<const Compiled> compiled;
};

struct WeightedTerm {
  CompiledTerm term;
  int64_t weight;
};

struct NodeAffinityScoreState : StateOf<NodeAffinityScoreState> {
  std::shared_ptr<const std::vector<WeightedTerm>> terms;
};

bool MatchesRequired(const Pod& pod, const Node& node) {
  if (pod.node_selector && !SelectorFromMap(*pod.node_selector).Matches(node.meta.labels)) return false;
  return !pod.affinity.node_required || pod.affinity.node_required->Matches(node.meta.name, node.meta.labels);
}

bool Counts(const PreferredSchedulingTerm& term) { return term.weight != 0 && !term.preference.empty(); }

// What upstream says when terms cannot be parsed; empty when all can.
std::string ParseErrors(const std::vector<PreferredSchedulingTerm>& terms) {
  std::string texts;
  size_t count = 0;
  for (const PreferredSchedulingTerm& term : terms) {
    if (!Counts(term) || term.preference.invalid.empty()) continue;
    if (count++ > 0) texts += ", ";
    texts += term.preference.invalid;
  }
  return count > 1 ? "[" + texts + "]" : texts;
}

int64_t ScoreOf(const std::vector<PreferredSchedulingTerm>& terms, const Node& node) {
  int64_t score = 0;
  for (const PreferredSchedulingTerm& term : terms) {
    if (Counts(term) && term.preference.Matches(node.meta.name, node.meta.labels)) score += term.weight;
  }
  return score;
}

// The names that all terms together allow, or no value when some term does not speak of names.
std::optional<std::set<std::string>> NamedNodes(const NodeSelector& required) {
  std::set<std::string> all;
  for (const NodeSelectorTerm& term : required.terms) {
    std::optional<std::set<std::string>> of_term;
    for (const Requirement& field : term.match_fields) {
      if (field.key != "metadata.name" || field.op != SelectorOp::kIn) continue;
      const std::set<std::string> values(field.values.begin(), field.values.end());
      if (!of_term) {
        of_term = values;
      } else {
        std::erase_if(*of_term, [&](const std::string& name) { return !values.contains(name); });
      }
    }
    if (!of_term) return std::nullopt;
    all.merge(*of_term);
  }
  return all;
}

}  // namespace

PreFilterOutcome NodeAffinity::PreFilter(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  const std::optional<NodeSelector>& required = pod.affinity.node_required;
  if (!required && !args_.added_required && !pod.node_selector) return PreFilterOutcome::Skip();

  auto compiled = std::make_shared<Compiled>();
  const Snapshot& snapshot = cycle.snapshot();
  if (args_.added_required) compiled->added.emplace(*args_.added_required, snapshot);
  if (pod.node_selector && !pod.node_selector->empty()) compiled->node_selector.emplace(*pod.node_selector, snapshot);
  if (required) compiled->required.emplace(*required, snapshot);
  auto state = std::make_unique<NodeAffinityFilterState>();
  state->compiled = std::move(compiled);
  PreFilterOutcome outcome = PreFilterOutcome::Ok(std::move(state));

  if (!required || required->terms.empty()) return outcome;
  const std::optional<std::set<std::string>> names = NamedNodes(*required);
  if (!names) return outcome;
  if (names->empty()) {
    outcome.verdict = kConflict;
  } else {
    outcome.node_names.emplace(names->begin(), names->end());
  }
  return outcome;
}

Error NodeAffinity::Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
                           Rejections& out) const {
  const VerdictId mismatch = out.Intern(kPodMismatch);
  const VerdictId enforced = args_.added_required ? out.Intern(kEnforcedMismatch) : kFitsId;
  if (state == nullptr) {  // PreFilter is disabled: ask node by node
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes.active()[i]) continue;
      const Node& node = nodes.view(i).node();
      if (args_.added_required && !args_.added_required->Matches(node.meta.name, node.meta.labels)) {
        out.Reject(i, enforced);
      } else if (!MatchesRequired(cycle.pod(), node)) {
        out.Reject(i, mismatch);
      }
    }
    return Error::Ok();
  }

  const Compiled& compiled = *static_cast<const NodeAffinityFilterState*>(state)->compiled;
  const std::span<VerdictId> slots = out.slots();
  std::array<uint8_t, kMatchChunk> own, added;
  for (size_t first = 0; first < nodes.size(); first += kMatchChunk) {
    const size_t n = std::min(kMatchChunk, nodes.size() - first);
    if (compiled.required) {
      compiled.required->Match(nodes, first, {own.data(), n});
    } else {
      std::fill_n(own.begin(), n, uint8_t{1});
    }
    if (compiled.node_selector) compiled.node_selector->And(nodes, first, {own.data(), n});
    for (size_t i = 0; i < n; ++i) slots[first + i] = own[i] ? kFitsId : mismatch;
    if (compiled.added) {
      compiled.added->Match(nodes, first, {added.data(), n});
      for (size_t i = 0; i < n; ++i) slots[first + i] = added[i] ? slots[first + i] : enforced;
    }
  }
  return Error::Ok();
}

PreScoreOutcome NodeAffinity::PreScore(const Cycle& cycle, std::span<const Row>) const {
  const std::vector<PreferredSchedulingTerm>& own = cycle.pod().affinity.node_preferred;
  if (std::string errors = ParseErrors(own); !errors.empty()) return PreScoreOutcome::Fail(std::move(errors));
  if (own.empty() && args_.added_preferred.empty()) return PreScoreOutcome::Skip();
  auto terms = std::make_shared<std::vector<WeightedTerm>>();
  for (const auto* list : {&args_.added_preferred, &own}) {
    for (const PreferredSchedulingTerm& term : *list) {
      if (!Counts(term)) continue;
      CompiledTerm compiled(term.preference, cycle.snapshot());
      if (!compiled.matches_nothing()) terms->push_back({std::move(compiled), term.weight});
    }
  }
  auto state = std::make_unique<NodeAffinityScoreState>();
  state->terms = std::move(terms);
  return PreScoreOutcome::Ok(std::move(state));
}

Error NodeAffinity::Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
                          std::span<int64_t> scores) const {
  if (state == nullptr) {  // PreScore is disabled: ask node by node
    const std::vector<PreferredSchedulingTerm>& own = cycle.pod().affinity.node_preferred;
    if (std::string errors = ParseErrors(own); !errors.empty()) return Error(std::move(errors));
    for (size_t i = 0; i < scores.size(); ++i) {
      if (!nodes.active()[i]) continue;
      const Node& node = nodes.view(i).node();
      scores[i] = ScoreOf(args_.added_preferred, node) + ScoreOf(own, node);
    }
    return Error::Ok();
  }

  const std::vector<WeightedTerm>& terms = *static_cast<const NodeAffinityScoreState*>(state)->terms;
  std::fill(scores.begin(), scores.end(), 0);
  std::array<uint8_t, kMatchChunk> match;
  for (size_t first = 0; first < scores.size(); first += kMatchChunk) {
    const size_t n = std::min(kMatchChunk, scores.size() - first);
    for (const auto& [term, weight] : terms) {
      std::fill_n(match.begin(), n, uint8_t{1});
      term.And(nodes, first, {match.data(), n});
      for (size_t i = 0; i < n; ++i) scores[first + i] += match[i] ? weight : 0;
    }
  }
  return Error::Ok();
}

Depends NodeAffinity::DependsOn(Point point) const {
  if (point == Point::kFilter || point == Point::kScore) return Depends::OnRow(row_field::kLabels | row_field::kName);
  // The compiled selectors hold value ids, which change with any node's labels.
  return {row_field::kLabels | row_field::kName, epoch::kNodeSet | epoch::kNodeLabels};
}

bool NodeAffinity::Sign(const Pod& pod, Signature& out) const {
  out.Add(int64_t{pod.node_selector.has_value()});
  if (pod.node_selector) {
    out.Add(static_cast<int64_t>(pod.node_selector->size()));
    for (const auto& [key, value] : *pod.node_selector) {
      out.Add(key);
      out.Add(value);
    }
  }
  const Affinity& affinity = pod.affinity;
  out.Add(affinity.node_required ? static_cast<int64_t>(affinity.node_required->terms.size()) : -1);
  if (affinity.node_required) {
    for (const NodeSelectorTerm& term : affinity.node_required->terms) SignTerm(term, out);
  }
  out.Add(static_cast<int64_t>(affinity.node_preferred.size()));
  for (const PreferredSchedulingTerm& term : affinity.node_preferred) {
    out.Add(term.weight);
    SignTerm(term.preference, out);
  }
  return true;
}

QueueingHint NodeAffinity::AfterNodeChange(const Pod& rejected, const EventObjects& objects) const {
  const Node* after = objects.node_after;
  if (after == nullptr) return QueueingHint::kSkip;
  if (args_.added_required && !args_.added_required->Matches(after->meta.name, after->meta.labels)) {
    return QueueingHint::kSkip;
  }
  if (!MatchesRequired(rejected, *after)) return QueueingHint::kSkip;
  // Only the pod's own terms are asked about the old node, so a change that merely satisfies addedAffinity is passed
  // over.
  const bool matched_before = objects.node_before != nullptr && MatchesRequired(rejected, *objects.node_before);
  return matched_before ? QueueingHint::kSkip : QueueingHint::kQueue;
}

std::optional<std::vector<EventRegistration>> NodeAffinity::EventsToRegister() const {
  return std::vector<EventRegistration>{
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel},
       [this](const Pod& rejected, const EventObjects& objects) { return AfterNodeChange(rejected, objects); }}};
}

}  // namespace berth::plugins
