// SPDX-License-Identifier: Apache-2.0
// Pod (anti-)affinity terms as InterPodAffinity works with them, and counts by topology pair.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/depends.h"
#include "berth/pod.h"
#include "berth/snapshot.h"
#include "plugins/common/pod_counts.h"

namespace berth::plugins {

// What the terms of placed pods amount to for a pod without terms of its own depends on these alone.
inline constexpr Epochs kExistingTerms =
    epoch::kAffinityPods | epoch::kNamespaces | epoch::kNodeSet | epoch::kNodeLabels;

// One term of one pod, with the namespaces it speaks of.
struct AffinityTerm {
  const PodAffinityTerm* term;
  std::vector<std::string> namespaces;  // sorted
  // The namespace selector holds for a namespace without labels.
  bool any_namespace = false;
  int64_t weight = 0;  // of preferred terms
  size_t key = 0;      // of the topology key, in the TopologyKeys it was compiled with

  // As upstream matches the incoming pod's terms: namespaces are listed by name, and the namespace selector sees no
  // labels. That is right for `{}`, which matches every namespace; in upstream 1.34 to 1.36 it is also so for selectors
  // made of NotIn and DoesNotExist alone, which should not (interpodaffinity/plugin.go: the term is passed by value, so
  // the selector is not cleared after merging). Kept for equal verdicts.
  bool Matches(const Pod& pod) const;
  // The pods that match, as a query. REQUIRES: the term outlives it.
  void AddTo(PodQuery& query) const { query.And(any_namespace, namespaces, term->selector); }
  PodQuery Query() const {
    PodQuery query(true);
    AddTo(query);
    return query;
  }
};

// Namespaces by name, without looking up the namespace selector. REQUIRES: `owner` outlives the result.
AffinityTerm MakeTerm(const Pod& owner, const PodAffinityTerm& term);
// The same, with the namespaces that the selector matches now.
AffinityTerm MakeTerm(const Pod& owner, const PodAffinityTerm& term, const Snapshot& snapshot);

// True when `pod` matches all of the terms; false when there are none.
bool MatchesAll(const std::vector<AffinityTerm>& terms, const Pod& pod);

// Whether a term of a pod that is there already, in the namespace `owner`, matches the incoming pod, whose namespace
// has `namespace_labels`.
bool ExistingTermMatches(const std::string& owner, const PodAffinityTerm& term, const Pod& incoming,
                         const Labels& namespace_labels);

// Of a list with a selector that cannot be parsed, upstream keeps no term at all.
template <class Terms>
bool AllValid(const Terms& terms);

// What upstream says of a pod whose selectors cannot be parsed; empty when all can.
std::string TermParseErrors(const Pod& pod);

// All of a term as part of a signature.
void SignPodTerm(const PodAffinityTerm& term, Signature& out);

// The labels of a namespace; none when it is unknown.
Labels NamespaceLabels(const Snapshot& snapshot, const std::string& ns);

// The topology keys of one question. Keys are few, so they are searched one by one.
class TopologyKeys {
 public:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  // Scheduling thread only.
  size_t FindOrAdd(const std::string& key, const Snapshot& snapshot);
  size_t Find(std::string_view key) const;
  size_t size() const { return columns_.size(); }
  const LabelColumn& column(size_t key) const { return *columns_[key]; }

 private:
  std::vector<std::string> names_;
  std::vector<const LabelColumn*> columns_;
};

// How many matches fell on each (topology key, value) pair.
class PairCounts {
 public:
  // A node without the key adds nothing.
  void Add(const TopologyKeys& keys, size_t key, Row row, int64_t amount);
  // The same for every live row, `amount` times what it counts.
  void Add(const TopologyKeys& keys, size_t key, const Snapshot& snapshot, const RowCounts& rows, int64_t amount);
  int64_t Get(size_t key, uint32_t value) const {
    return key < counts_.size() && value < counts_[key].size() ? counts_[key][value] : 0;
  }
  // By value id; empty when nothing fell on the key.
  std::span<const int64_t> of(size_t key) const {
    return key < counts_.size() ? std::span<const int64_t>(counts_[key]) : std::span<const int64_t>();
  }
  // Pairs whose count is not zero.
  size_t pairs() const { return pairs_; }
  bool empty() const { return pairs_ == 0; }
  // True when Add reached a node that has the key, even if amounts cancelled out.
  bool touched() const { return touched_; }

 private:
  void Change(int64_t& count, int64_t amount) {
    touched_ = true;
    pairs_ -= count != 0;
    count += amount;
    pairs_ += count != 0;
  }

  std::vector<std::vector<int64_t>> counts_;  // [key][value id]
  size_t pairs_ = 0;
  bool touched_ = false;
};

// Counts, shared and immutable, and what a what-if changed about them. Cheap to copy.
class ChangedCounts {
 public:
  explicit ChangedCounts(std::shared_ptr<const PairCounts> base) : base_(std::move(base)), pairs_(base_->pairs()) {}
  void Add(const TopologyKeys& keys, size_t key, Row row, int64_t amount);
  int64_t Get(size_t key, uint32_t value) const {
    const int64_t count = base_->Get(key, value);
    return changes_.empty() ? count : count + ChangeOf(key, value);
  }
  bool empty() const { return pairs_ == 0; }
  bool changed() const { return !changes_.empty(); }
  const PairCounts& base() const { return *base_; }

 private:
  struct Change {
    size_t key;
    uint32_t value;
    int64_t delta;
  };
  int64_t ChangeOf(size_t key, uint32_t value) const;

  std::shared_ptr<const PairCounts> base_;
  std::vector<Change> changes_;
  size_t pairs_;
};

// Which terms match a pod, remembered by the address of the pod's labels: pods of one template share them.
// Lives for one count over one snapshot. Thread safety: none.
class TermMemo {
 public:
  // `all`: terms of interest only where a pod matches all of them; `each`: terms of interest one by one.
  TermMemo(const std::vector<AffinityTerm>& all, const std::vector<AffinityTerm>& each) : all_(&all), each_(&each) {}
  struct Answer {
    bool matches_all = false;
    std::vector<uint32_t> matching;  // indexes into `each`
  };
  const Answer& Ask(const Pod& pod);

 private:
  static constexpr size_t kSlots = 64;
  struct Slot {
    const void* labels = nullptr;
    std::string ns;
    bool known = false;
    Answer answer;
  };
  const std::vector<AffinityTerm>* all_;
  const std::vector<AffinityTerm>* each_;
  std::array<Slot, kSlots> slots_;
};

inline const PodAffinityTerm& TermOf(const PodAffinityTerm& term) { return term; }
inline const PodAffinityTerm& TermOf(const WeightedPodAffinityTerm& term) { return term.term; }

// The first parse error among a term's selectors; empty: none.
inline const std::string& ParseErrorOf(const PodAffinityTerm& term) {
  static const std::string kNone;
  if (term.selector && !term.selector->invalid.empty()) return term.selector->invalid;
  if (term.namespace_selector) return term.namespace_selector->invalid;
  return kNone;
}

template <class Terms>
bool AllValid(const Terms& terms) {
  for (const auto& term : terms) {
    if (!ParseErrorOf(TermOf(term)).empty()) return false;
  }
  return true;
}

}  // namespace berth::plugins
