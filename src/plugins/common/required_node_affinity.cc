// SPDX-License-Identifier: Apache-2.0
// A pod's own demands, asked row by row.
#include "plugins/common/required_node_affinity.h"

#include <algorithm>

namespace berth::plugins {

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
  return std::any_of(terms_.begin(), terms_.end(), [&](const CompiledTerm& term) { return term.Matches(row); });
}

}  // namespace berth::plugins
