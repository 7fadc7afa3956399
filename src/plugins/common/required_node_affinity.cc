// SPDX-License-Identifier: Apache-2.0
// Compiles node selector terms to accepted value ids.
#include "plugins/common/required_node_affinity.h"

#include <algorithm>

namespace berth::plugins {

CompiledNodeTerm::CompiledNodeTerm(const NodeSelectorTerm& term, const Snapshot& snapshot) {
  if (term.empty() || !term.invalid.empty()) {
    never_ = true;
    return;
  }
  for (const Requirement& requirement : term.match_expressions) Add(requirement, snapshot);
  for (const Requirement& requirement : term.match_fields) AddField(requirement, snapshot);
}

CompiledNodeTerm::CompiledNodeTerm(const Labels& map, const Snapshot& snapshot) {
  for (const auto& [key, value] : map) Add({key, SelectorOp::kIn, {value}}, snapshot);
}

void CompiledNodeTerm::Add(const Requirement& requirement, const Snapshot& snapshot) {
  const LabelColumn& column = snapshot.labels(requirement.key);
  Condition condition{&column, {}};
  const size_t ids = column.distinct() + 1;
  switch (requirement.op) {
    case SelectorOp::kIn:
    case SelectorOp::kNotIn: {
      const bool in = requirement.op == SelectorOp::kIn;
      condition.accepts.assign(ids, in ? 0 : 1);
      for (const std::string& value : requirement.values) {
        const uint32_t id = column.Find(value);
        if (id != LabelColumn::kAbsent) condition.accepts[id] = in ? 1 : 0;
      }
      break;
    }
    case SelectorOp::kExists:
    case SelectorOp::kDoesNotExist: {
      const bool exists = requirement.op == SelectorOp::kExists;
      condition.accepts.assign(ids, exists ? 1 : 0);
      condition.accepts[LabelColumn::kAbsent] = exists ? 0 : 1;
      break;
    }
    default:
      condition.accepts.assign(ids, 0);
      for (uint32_t id = 1; id < ids; ++id) condition.accepts[id] = requirement.MatchesValue(&column.text(id)) ? 1 : 0;
      break;
  }
  conditions_.push_back(std::move(condition));
}

void CompiledNodeTerm::AddField(const Requirement& requirement, const Snapshot& snapshot) {
  const bool known_op = requirement.op == SelectorOp::kIn || requirement.op == SelectorOp::kNotIn;
  if (!known_op || requirement.values.size() != 1) {
    never_ = true;  // a parse error upstream, and such a term does not match
    return;
  }
  const bool equal = requirement.op == SelectorOp::kIn;
  const std::string& value = requirement.values[0];
  if (requirement.key == "metadata.name") {
    names_.push_back({snapshot.FindRow(value), equal});
  } else if (equal != value.empty()) {
    never_ = true;  // an unknown field reads as the empty text
  }
}

bool CompiledNodeTerm::Matches(Row row) const {
  if (never_) return false;
  for (const Condition& condition : conditions_) {
    if (condition.accepts[(*condition.column)[row]] == 0) return false;
  }
  return std::all_of(names_.begin(), names_.end(), [&](const NameCondition& c) { return (c.row == row) == c.equal; });
}

RequiredNodeAffinity::RequiredNodeAffinity(const Pod& pod, const Snapshot& snapshot) {
  if (pod.node_selector && !pod.node_selector->empty()) selector_.emplace_back(*pod.node_selector, snapshot);
  if (pod.affinity.node_required) {
    has_terms_ = true;
    for (const NodeSelectorTerm& term : pod.affinity.node_required->terms) terms_.emplace_back(term, snapshot);
  }
}

bool RequiredNodeAffinity::Matches(Row row) const {
  if (!selector_.empty() && !selector_[0].Matches(row)) return false;
  if (!has_terms_) return true;
  return std::any_of(terms_.begin(), terms_.end(), [&](const CompiledNodeTerm& term) { return term.Matches(row); });
}

}  // namespace berth::plugins
