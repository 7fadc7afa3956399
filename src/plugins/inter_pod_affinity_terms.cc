// SPDX-License-Identifier: Apache-2.0
// Pod affinity terms: namespaces, matching and counting.
#include "plugins/inter_pod_affinity_terms.h"

#include <algorithm>

#include "berth/vectorized.h"
#include "plugins/common/pod_signing.h"

namespace berth::plugins {
namespace {

template <class Terms>
void CollectError(const char* list, const Terms& terms, std::vector<std::string>& errors) {
  for (const auto& term : terms) {
    if (const std::string& error = ParseErrorOf(TermOf(term)); !error.empty()) {
      errors.push_back(std::string(list) + ": " + error);
      return;
    }
  }
}

// For keys of which nearly every row has a value of its own: no row's count waits for its neighbour's.
void Scatter(const uint32_t* __restrict values, const uint8_t* __restrict live, const uint32_t* __restrict counts,
             int64_t amount, size_t n, int64_t* __restrict out) {
  for (size_t i = 0; i < n; ++i) {
    const uint32_t count = counts[i] & (0 - static_cast<uint32_t>(live[i] != 0));
    out[values[i]] += amount * int64_t{count};
  }
}

BERTH_VECTORIZED bool AnyCounted(const uint32_t* values, const uint8_t* live, const uint32_t* counts, size_t n) {
  uint32_t any = 0;
  for (size_t i = 0; i < n; ++i)
    any |= counts[i] & (0 - static_cast<uint32_t>((values[i] != LabelColumn::kAbsent) & (live[i] != 0)));
  return any != 0;
}

BERTH_VECTORIZED size_t NotZero(const int64_t* counts, size_t n) {
  uint64_t found = 0;
  for (size_t i = 0; i < n; ++i) found += counts[i] != 0;
  return found;
}

}  // namespace

bool AffinityTerm::Matches(const Pod& pod) const {
  if (!any_namespace && !std::binary_search(namespaces.begin(), namespaces.end(), pod.namespace_())) return false;
  return berth::Matches(term->selector, pod.meta.labels);
}

AffinityTerm MakeTerm(const Pod& owner, const PodAffinityTerm& term) {
  AffinityTerm made{&term, term.namespaces};
  if (term.namespaces.empty() && !term.namespace_selector) made.namespaces = {owner.namespace_()};
  std::sort(made.namespaces.begin(), made.namespaces.end());
  made.any_namespace = Matches(term.namespace_selector, Labels());
  return made;
}

AffinityTerm MakeTerm(const Pod& owner, const PodAffinityTerm& term, const Snapshot& snapshot) {
  AffinityTerm made = MakeTerm(owner, term);
  if (!term.namespace_selector || term.namespace_selector->empty()) return made;
  snapshot.objects<Namespace>().ForEach([&](const Namespace& ns) {
    if (term.namespace_selector->Matches(ns.meta.labels)) made.namespaces.push_back(ns.meta.name);
  });
  std::sort(made.namespaces.begin(), made.namespaces.end());
  return made;
}

bool MatchesAll(const std::vector<AffinityTerm>& terms, const Pod& pod) {
  if (terms.empty()) return false;
  return std::all_of(terms.begin(), terms.end(), [&](const AffinityTerm& term) { return term.Matches(pod); });
}

bool ExistingTermMatches(const std::string& owner, const PodAffinityTerm& term, const Pod& incoming,
                         const Labels& namespace_labels) {
  const auto& names = term.namespaces;
  const bool own_only = names.empty() && !term.namespace_selector;
  const bool named = own_only ? owner == incoming.namespace_()
                              : std::find(names.begin(), names.end(), incoming.namespace_()) != names.end();
  if (!named && !Matches(term.namespace_selector, namespace_labels)) return false;
  return Matches(term.selector, incoming.meta.labels);
}

std::string TermParseErrors(const Pod& pod) {
  std::vector<std::string> errors;
  const auto& affinity = pod.affinity.pod_affinity;
  const auto& anti = pod.affinity.pod_anti_affinity;
  if (affinity) CollectError("requiredAffinityTerms", affinity->required, errors);
  if (anti) CollectError("requiredAntiAffinityTerms", anti->required, errors);
  if (affinity) CollectError("preferredAffinityTerms", affinity->preferred, errors);
  if (anti) CollectError("preferredAntiAffinityTerms", anti->preferred, errors);
  if (errors.size() <= 1) return errors.empty() ? "" : errors[0];
  std::string joined = "[";
  for (const std::string& error : errors) joined += (joined.size() > 1 ? ", " : "") + error;
  return joined + "]";
}

void SignPodTerm(const PodAffinityTerm& term, Signature& out) {
  SignSelector(term.selector, out);
  SignStrings(term.namespaces, out);
  SignSelector(term.namespace_selector, out);
  out.Add(term.topology_key);
}

Labels NamespaceLabels(const Snapshot& snapshot, const std::string& ns) {
  const Namespace* found = snapshot.objects<Namespace>().Find(ns);
  return found == nullptr ? Labels() : found->meta.labels;
}

size_t TopologyKeys::FindOrAdd(const std::string& key, const Snapshot& snapshot) {
  if (const size_t found = Find(key); found != kNone) return found;
  names_.push_back(key);
  columns_.push_back(&snapshot.labels(key));
  return columns_.size() - 1;
}

size_t TopologyKeys::Find(std::string_view key) const {
  const auto it = std::find(names_.begin(), names_.end(), key);
  return it == names_.end() ? kNone : static_cast<size_t>(it - names_.begin());
}

void PairCounts::Add(const TopologyKeys& keys, size_t key, Row row, int64_t amount) {
  const LabelColumn& column = keys.column(key);
  const uint32_t value = column[row];
  if (value == LabelColumn::kAbsent) return;
  if (counts_.size() < keys.size()) counts_.resize(keys.size());
  if (counts_[key].empty()) counts_[key].resize(column.distinct() + 1);
  Change(counts_[key][value], amount);
}

void PairCounts::Add(const TopologyKeys& keys, size_t key, const Snapshot& snapshot, const RowCounts& rows,
                     int64_t amount) {
  if (rows.total() == 0) return;
  const LabelColumn& column = keys.column(key);
  if (counts_.size() < keys.size()) counts_.resize(keys.size());
  std::vector<int64_t>& counts = counts_[key];
  if (counts.empty()) counts.resize(column.distinct() + 1);
  const std::span<const uint32_t> values = column.values();
  const std::span<const uint8_t> live = snapshot.live();
  const size_t size = std::min(values.size(), live.size());
  const std::span<const uint32_t> all = rows.dense();
  const size_t n = std::min(size, all.size());
  if (rows.SumsByValue(column)) {
    for (uint32_t value = LabelColumn::kAbsent + 1; value <= column.distinct(); ++value) {
      const auto sum = static_cast<int64_t>(rows.SumOf(value, values, live));
      if (sum != 0) Change(counts[value], amount * sum);
    }
    return;
  }
  if (!all.empty() && column.distinct() >= n / 2) {
    pairs_ -= NotZero(counts.data(), counts.size());
    Scatter(values.data(), live.data(), all.data(), amount, n, counts.data());
    counts[LabelColumn::kAbsent] = 0;
    pairs_ += NotZero(counts.data(), counts.size());
    touched_ = touched_ || AnyCounted(values.data(), live.data(), all.data(), n);
    return;
  }
  // Neighbours mostly share a zone: their sum is kept at hand until the value changes.
  uint32_t last = LabelColumn::kAbsent;
  int64_t sum = 0;
  const auto store = [&] {
    if (last != LabelColumn::kAbsent) Change(counts[last], sum);
  };
  rows.ForEach([&](Row row, int64_t count) {
    if (row >= size || !live[row]) return;
    const uint32_t value = values[row];
    if (value != last) {
      store();
      last = value;
      sum = 0;
    }
    sum += amount * count;
  });
  store();
}

void ChangedCounts::Add(const TopologyKeys& keys, size_t key, Row row, int64_t amount) {
  const uint32_t value = keys.column(key)[row];
  if (value == LabelColumn::kAbsent) return;
  pairs_ -= Get(key, value) != 0;
  auto it = std::find_if(changes_.begin(), changes_.end(),
                         [&](const Change& change) { return change.key == key && change.value == value; });
  if (it != changes_.end()) {
    it->delta += amount;
  } else {
    changes_.push_back({key, value, amount});
  }
  pairs_ += Get(key, value) != 0;
}

int64_t ChangedCounts::ChangeOf(size_t key, uint32_t value) const {
  for (const Change& change : changes_) {
    if (change.key == key && change.value == value) return change.delta;
  }
  return 0;
}

const TermMemo::Answer& TermMemo::Ask(const Pod& pod) {
  const void* const id = pod.meta.labels.begin();
  Slot& slot = slots_[(reinterpret_cast<uintptr_t>(id) >> 5) % kSlots];
  if (slot.known && slot.labels == id && slot.ns == pod.namespace_()) return slot.answer;
  slot.labels = id;
  slot.ns = pod.namespace_();
  slot.known = true;
  slot.answer.matches_all = MatchesAll(*all_, pod);
  slot.answer.matching.clear();
  for (size_t t = 0; t < each_->size(); ++t) {
    if ((*each_)[t].Matches(pod)) slot.answer.matching.push_back(static_cast<uint32_t>(t));
  }
  return slot.answer;
}

}  // namespace berth::plugins
