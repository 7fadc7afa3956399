// SPDX-License-Identifier: Apache-2.0
// Grouping the terms of placed pods.
#include "plugins/inter_pod_affinity_index.h"

#include <algorithm>

#include "plugins/inter_pod_affinity_terms.h"

namespace berth::plugins {
namespace {

constexpr size_t kMaxTermKinds = 4096;  // more are forgotten, and asked for again

}  // namespace

void PlacedTerms::Add(const Pod& owner, const PodAffinityTerm& term, int64_t weight, Row row, int64_t amount) {
  const bool own_only = term.namespaces.empty() && !term.namespace_selector;
  Signature key;
  key.Add(own_only ? owner.namespace_() : std::string());
  key.Add(weight);
  SignPodTerm(term, key);
  auto at = by_key_.find(key.text());
  if (at == by_key_.end()) {
    auto made = std::make_shared<PlacedTerm>();
    made->key = key.text();
    made->owner = owner.namespace_();
    made->term = term;
    made->weight = weight;
    made->serial = ++serial_;
    by_serial_.emplace(made->serial, made);
    at = by_key_.emplace(made->key, std::move(made)).first;
  }
  PlacedTerm& placed = *at->second;
  placed.rows.Add(row, amount);
  if (placed.rows.total() != 0) return;
  placed.dropped = true;
  placed.rows = {};
  by_serial_.erase(placed.serial);
  by_key_.erase(at);
}

const std::vector<std::shared_ptr<const PlacedTerm>>& PlacedTerms::Matching(const Pod& pod,
                                                                            const Labels& namespace_labels) {
  static const std::vector<std::shared_ptr<const PlacedTerm>> kNone;
  if (by_key_.empty()) return kNone;
  const PodKind kind{pod.meta.labels, pod.namespace_(), namespace_labels};
  auto at = kinds_.find(kind);
  if (at == kinds_.end()) {
    if (kinds_.size() >= kMaxTermKinds) kinds_.clear();
    at = kinds_.emplace(kind, Known()).first;
  }
  Known& known = at->second;
  if (known.seen != serial_) {
    for (auto made = by_serial_.upper_bound(known.seen); made != by_serial_.end(); ++made) {
      const PlacedTerm& placed = *made->second;
      if (ExistingTermMatches(placed.owner, placed.term, pod, namespace_labels)) known.terms.push_back(made->second);
    }
    known.seen = serial_;
  }
  std::erase_if(known.terms, [](const auto& placed) { return placed->dropped; });
  return known.terms;
}

void InterPodAffinityIndex::Count(const PodRecord& record, int64_t amount) {
  const Pod& pod = *record.pod;
  if (!pod.HasPodAffinity()) return;
  ++terms_changed_;
  const auto preferred = [&](const PodAffinity& affinity, int64_t sign) {
    if (!AllValid(affinity.preferred)) return;
    for (const WeightedPodAffinityTerm& weighted : affinity.preferred)
      scoring_.Add(pod, weighted.term, sign * weighted.weight, record.row, amount);
  };
  if (const auto& affinity = pod.affinity.pod_affinity) {
    if (hard_weight_ > 0 && AllValid(affinity->required))
      for (const PodAffinityTerm& term : affinity->required) scoring_.Add(pod, term, hard_weight_, record.row, amount);
    preferred(*affinity, 1);
  }
  if (const auto& affinity = pod.affinity.pod_anti_affinity) {
    if (AllValid(affinity->required))
      for (const PodAffinityTerm& term : affinity->required) anti_.Add(pod, term, 0, record.row, amount);
    preferred(*affinity, -1);
  }
}

void InterPodAffinityIndex::PodAdded(const Snapshot& snapshot, const PodRecord& pod) {
  PodCountIndex::PodAdded(snapshot, pod);
  Count(pod, 1);
}

void InterPodAffinityIndex::PodRemoved(const Snapshot& snapshot, const PodRecord& pod) {
  PodCountIndex::PodRemoved(snapshot, pod);
  Count(pod, -1);
}

}  // namespace berth::plugins
