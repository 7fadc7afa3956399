// SPDX-License-Identifier: Apache-2.0
// What InterPodAffinity keeps as pods come and go: counts of pods that match a pending pod's terms, and the terms of
// placed pods, equal ones once, with the rows of the pods that have them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/pod.h"
#include "berth/text_hash.h"
#include "plugins/common/pod_counts.h"

namespace berth::plugins {

// A term that pods on these rows have.
struct PlacedTerm {
  std::string key;
  std::string owner;  // the namespace of a pod that has it; they share it where it matters
  PodAffinityTerm term;
  int64_t weight = 0;
  RowCounts rows;
  uint64_t serial = 0;
  bool dropped = false;  // nobody has it any more
};

// Thread safety: scheduling thread.
class PlacedTerms {
 public:
  // A pod on `row` with this term came (1) or went (-1).
  void Add(const Pod& owner, const PodAffinityTerm& term, int64_t weight, Row row, int64_t amount);
  // The terms that match a pod whose namespace has these labels. Valid until the next call.
  const std::vector<std::shared_ptr<const PlacedTerm>>& Matching(const Pod& pod, const Labels& namespace_labels);
  size_t size() const { return by_key_.size(); }

 private:
  struct Known {
    uint64_t seen = 0;
    std::vector<std::shared_ptr<const PlacedTerm>> terms;
  };
  std::unordered_map<std::string, std::shared_ptr<PlacedTerm>, TextHash> by_key_;
  std::map<uint64_t, std::shared_ptr<PlacedTerm>> by_serial_;
  std::unordered_map<PodKind, Known, PodKindHash> kinds_;
  uint64_t serial_ = 0;
};

class InterPodAffinityIndex final : public PodCountIndex {
 public:
  explicit InterPodAffinityIndex(int64_t hard_weight) : hard_weight_(hard_weight) {}
  void PodAdded(const Snapshot& snapshot, const PodRecord& pod) override;
  void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) override;
  uint64_t epoch() const override { return PodCountIndex::epoch() + terms_changed_; }

  // Required anti-affinity of placed pods; weights mean nothing.
  PlacedTerms& anti() { return anti_; }
  // What placed pods add to a score: preferred terms, and required affinity by its configured weight.
  PlacedTerms& scoring() { return scoring_; }

 private:
  void Count(const PodRecord& pod, int64_t amount);

  const int64_t hard_weight_;
  PlacedTerms anti_, scoring_;
  uint64_t terms_changed_ = 0;
};

}  // namespace berth::plugins
