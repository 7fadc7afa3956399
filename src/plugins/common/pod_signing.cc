// SPDX-License-Identifier: Apache-2.0
// Signature parts: see pod_signing.h.
#include "plugins/common/pod_signing.h"

#include "plugins/common/signing.h"

namespace berth::plugins {

void SignLabels(const Labels& labels, Signature& out) {
  out.Add(static_cast<int64_t>(labels.size()));
  for (const auto& [key, value] : labels) {
    out.Add(key);
    out.Add(value);
  }
}

void SignSelector(const std::optional<LabelSelector>& selector, Signature& out) {
  out.Add(int64_t{selector.has_value()});
  if (!selector) return;
  SignRequirements(selector->requirements, out);
  out.Add(selector->invalid);
}

void SignStrings(const std::vector<std::string>& strings, Signature& out) {
  out.Add(static_cast<int64_t>(strings.size()));
  for (const std::string& text : strings) out.Add(text);
}

void SignRequiredNodeAffinity(const Pod& pod, Signature& out) {
  out.Add(int64_t{pod.node_selector.has_value()});
  if (pod.node_selector) SignLabels(*pod.node_selector, out);
  out.Add(int64_t{pod.affinity.node_required.has_value()});
  if (!pod.affinity.node_required) return;
  out.Add(static_cast<int64_t>(pod.affinity.node_required->terms.size()));
  for (const NodeSelectorTerm& term : pod.affinity.node_required->terms) SignTerm(term, out);
}

}  // namespace berth::plugins
