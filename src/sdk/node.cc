// SPDX-License-Identifier: Apache-2.0
// Matching of nodes by node selectors; semantics of component-helpers' scheduling/corev1/nodeaffinity.
#include "berth/node.h"

#include <algorithm>

namespace berth {
inline namespace v1 {
namespace {

// Only metadata.name has a value; any other field reads as empty, as in upstream's field sets.
bool FieldMatches(const Requirement& requirement, const std::string& node_name) {
  if (requirement.values.size() != 1) return false;
  if (node_name.empty()) return true;  // without any field there is nothing to compare with (upstream's rule)
  static const std::string kNoValue;
  const std::string& value = requirement.key == "metadata.name" ? node_name : kNoValue;
  switch (requirement.op) {
    case SelectorOp::kIn:
      return value == requirement.values[0];
    case SelectorOp::kNotIn:
      return value != requirement.values[0];
    default:
      return false;
  }
}

}  // namespace

std::string_view ToString(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNone:
      return "";
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
    case TaintEffect::kUnknown:
      break;
  }
  return "Unknown";
}

bool NodeSelectorTerm::Matches(const std::string& node_name, const Labels& node_labels) const {
  if (empty() || !invalid.empty()) return false;
  return std::all_of(match_expressions.begin(), match_expressions.end(),
                     [&](const Requirement& r) { return r.Matches(node_labels); }) &&
         std::all_of(match_fields.begin(), match_fields.end(),
                     [&](const Requirement& r) { return FieldMatches(r, node_name); });
}

bool NodeSelector::Matches(const std::string& node_name, const Labels& node_labels) const {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const NodeSelectorTerm& term) { return term.Matches(node_name, node_labels); });
}

}  // namespace v1
}  // namespace berth
