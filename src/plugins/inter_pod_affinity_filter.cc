// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity's required terms: PreFilter counts matches by topology pair, Filter looks them up.
#include <algorithm>
#include <array>

#include "berth/vectorized.h"
#include "plugins/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity_index.h"
#include "plugins/inter_pod_affinity_terms.h"

namespace berth::plugins {
namespace {

// What does not change during a cycle; shared by all clones of a state.
struct PodAffinityFilterBase {
  TopologyKeys keys;
  std::vector<AffinityTerm> affinity, anti;  // the incoming pod's
  Labels namespace_labels;                   // the incoming pod's namespace's
  bool matches_itself = false;               // all of its own affinity terms
};

const std::vector<PodAffinityTerm>& RequiredAntiTerms(const Pod& pod) {
  static const std::vector<PodAffinityTerm> kNone;
  if (!pod.affinity.pod_anti_affinity || !AllValid(pod.affinity.pod_anti_affinity->required)) return kNone;
  return pod.affinity.pod_anti_affinity->required;
}

BERTH_VECTORIZED void MarkPositive(const int64_t* __restrict counts, size_t n, uint8_t fault, uint8_t* __restrict out) {
  for (size_t i = 0; i < n; ++i) out[i] |= static_cast<uint8_t>(0 - static_cast<uint8_t>(counts[i] > 0)) & fault;
}

BERTH_VECTORIZED void MarkOthers(const int64_t* __restrict counts, size_t n, uint8_t fault, uint8_t* __restrict out) {
  for (size_t i = 0; i < n; ++i) out[i] |= static_cast<uint8_t>(0 - static_cast<uint8_t>(counts[i] <= 0)) & fault;
}

// Counts of existing pods' anti-affinity terms that match the incoming pod. Only rows with such pods are visited.
PairCounts CountExistingAntiAffinity(const Cycle& cycle, PodAffinityFilterBase& base, InterPodAffinityIndex* index) {
  PairCounts counts;
  const Snapshot& snapshot = cycle.snapshot();
  if (index != nullptr) {
    for (const auto& placed : index->anti().Matching(cycle.pod(), base.namespace_labels))
      counts.Add(base.keys, base.keys.FindOrAdd(placed->term.topology_key, snapshot), snapshot, placed->rows, 1);
    return counts;
  }
  for (const Row row : snapshot.anti_affinity_rows()) {
    if (!snapshot.live(row)) continue;
    for (const PodRecord* record : snapshot.anti_affinity_pods(row)) {
      for (const PodAffinityTerm& term : RequiredAntiTerms(*record->pod)) {
        if (!ExistingTermMatches(record->pod->namespace_(), term, cycle.pod(), base.namespace_labels)) continue;
        counts.Add(base.keys, base.keys.FindOrAdd(term.topology_key, snapshot), row, 1);
      }
    }
  }
  return counts;
}

struct IncomingCounts {
  PairCounts affinity, anti;
};

// Counts of existing pods, terminating ones too, that match the incoming pod's own terms.
IncomingCounts CountIncoming(const Snapshot& snapshot, const PodAffinityFilterBase& base,
                             InterPodAffinityIndex* index) {
  IncomingCounts counts;
  if (base.affinity.empty() && base.anti.empty()) return counts;
  if (index != nullptr) {
    if (!base.affinity.empty()) {
      PodQuery query(true);
      for (const AffinityTerm& term : base.affinity) term.AddTo(query);
      const RowCounts& rows = index->counts().Count(snapshot, query);
      for (const AffinityTerm& term : base.affinity) counts.affinity.Add(base.keys, term.key, snapshot, rows, 1);
    }
    for (const AffinityTerm& term : base.anti)
      counts.anti.Add(base.keys, term.key, snapshot, index->counts().Count(snapshot, term.Query()), 1);
    return counts;
  }
  TermMemo memo(base.affinity, base.anti);
  for (Row row = 0; row < snapshot.rows(); ++row) {
    if (!snapshot.live(row)) continue;
    for (const PodRecord* record : snapshot.pods(row)) {
      const TermMemo::Answer& answer = memo.Ask(*record->pod);
      if (answer.matches_all) {
        for (const AffinityTerm& term : base.affinity) counts.affinity.Add(base.keys, term.key, row, 1);
      }
      for (const uint32_t t : answer.matching) counts.anti.Add(base.keys, base.anti[t].key, row, 1);
    }
  }
  return counts;
}

// The base, the counts and what a what-if changed about them. Cheap to clone.
class PodAffinityFilterState final : public StateOf<PodAffinityFilterState> {
 public:
  PodAffinityFilterState(std::shared_ptr<const PodAffinityFilterBase> base, PairCounts existing,
                         IncomingCounts incoming)
      : base_(std::move(base)),
        existing_anti_(std::make_shared<const PairCounts>(std::move(existing))),
        affinity_(std::make_shared<const PairCounts>(std::move(incoming.affinity))),
        anti_(std::make_shared<const PairCounts>(std::move(incoming.anti))),
        faults_(std::make_shared<const Faults>(FindFaults())) {}

  // What stands against the values of a topology key, as long as no what-if changed anything.
  enum : uint8_t { kFarFromAll = 1, kNearAnti = 2, kNearExisting = 4 };
  using Faults = std::vector<std::vector<uint8_t>>;  // [key][value id]; empty: nothing
  const Faults* faults() const {
    const bool changed = existing_anti_.changed() || affinity_.changed() || anti_.changed() || !others_.empty();
    return changed ? nullptr : faults_.get();
  }
  const PodAffinityFilterBase& base() const { return *base_; }

  void Update(const Cycle& cycle, const Pod& other, Row row, int64_t amount) {
    for (const PodAffinityTerm& term : RequiredAntiTerms(other)) {
      if (!ExistingTermMatches(other.namespace_(), term, cycle.pod(), base_->namespace_labels)) continue;
      const size_t key = base_->keys.Find(term.topology_key);
      if (key != TopologyKeys::kNone) {
        existing_anti_.Add(base_->keys, key, row, amount);
      } else if (const std::string* value = cycle.snapshot().node(row).meta.labels.Find(term.topology_key)) {
        AddOther(term.topology_key, *value, amount);
      }
    }
    if (MatchesAll(base_->affinity, other)) {
      for (const AffinityTerm& term : base_->affinity) affinity_.Add(base_->keys, term.key, row, amount);
    }
    for (const AffinityTerm& term : base_->anti) {
      if (term.Matches(other)) anti_.Add(base_->keys, term.key, row, amount);
    }
  }

  bool AffinityHolds(Row row) const {
    bool all_found = true;
    for (const AffinityTerm& term : base_->affinity) {
      const uint32_t value = base_->keys.column(term.key)[row];
      if (value == LabelColumn::kAbsent) return false;
      all_found = all_found && affinity_.Get(term.key, value) > 0;
    }
    // The first pod of a series that wants to be near itself may go anywhere its keys are.
    return all_found || (affinity_.empty() && base_->matches_itself);
  }

  bool AntiAffinityHolds(Row row) const {
    return std::none_of(base_->anti.begin(), base_->anti.end(), [&](const AffinityTerm& term) {
      const uint32_t value = base_->keys.column(term.key)[row];
      return value != LabelColumn::kAbsent && anti_.Get(term.key, value) > 0;
    });
  }

  bool ExistingAntiAffinityHolds(const Snapshot& snapshot, Row row) const {
    for (size_t key = 0; key < base_->keys.size(); ++key) {
      const uint32_t value = base_->keys.column(key)[row];
      if (value != LabelColumn::kAbsent && existing_anti_.Get(key, value) > 0) return false;
    }
    return others_.empty() || std::none_of(others_.begin(), others_.end(), [&](const OtherPair& pair) {
             const std::string* value = snapshot.node(row).meta.labels.Find(pair.key);
             return value != nullptr && *value == pair.value && pair.count > 0;
           });
  }

 private:
  // A pair whose key PreFilter did not meet, and for which it therefore has no column.
  struct OtherPair {
    std::string key, value;
    int64_t count;
  };
  void AddOther(const std::string& key, const std::string& value, int64_t amount) {
    auto it = std::find_if(others_.begin(), others_.end(),
                           [&](const OtherPair& pair) { return pair.key == key && pair.value == value; });
    if (it != others_.end()) {
      it->count += amount;
    } else {
      others_.push_back({key, value, amount});
    }
  }

  Faults FindFaults() const {
    Faults faults(base_->keys.size());
    const auto of = [&](size_t key) -> std::vector<uint8_t>& {
      if (faults[key].empty()) faults[key].resize(base_->keys.column(key).distinct() + 1, 0);
      return faults[key];
    };
    const bool first_of_its_kind = affinity_.empty() && base_->matches_itself;
    for (const AffinityTerm& term : base_->affinity) {
      std::vector<uint8_t>& at = of(term.key);
      at[LabelColumn::kAbsent] |= kFarFromAll;
      if (first_of_its_kind) continue;
      const std::span<const int64_t> counts = affinity_.base().of(term.key);
      MarkOthers(counts.data(), std::min(counts.size(), at.size()), kFarFromAll, at.data());
      for (size_t value = counts.size(); value < at.size(); ++value) at[value] |= kFarFromAll;
    }
    const auto near = [&](size_t key, const PairCounts& pairs, uint8_t fault) {
      const std::span<const int64_t> counts = pairs.of(key);
      if (counts.empty()) return;
      std::vector<uint8_t>& at = of(key);
      MarkPositive(counts.data(), counts.size(), fault, at.data());
    };
    for (const AffinityTerm& term : base_->anti) near(term.key, anti_.base(), kNearAnti);
    for (size_t key = 0; key < base_->keys.size(); ++key) near(key, existing_anti_.base(), kNearExisting);
    return faults;
  }

  std::shared_ptr<const PodAffinityFilterBase> base_;
  ChangedCounts existing_anti_, affinity_, anti_;
  std::shared_ptr<const Faults> faults_;
  std::vector<OtherPair> others_;
};

std::vector<AffinityTerm> CompileRequired(const Cycle& cycle, const std::optional<PodAffinity>& affinity,
                                          TopologyKeys& keys) {
  std::vector<AffinityTerm> terms;
  if (!affinity) return terms;
  for (const PodAffinityTerm& term : affinity->required) {
    terms.push_back(MakeTerm(cycle.pod(), term, cycle.snapshot()));
    terms.back().key = keys.FindOrAdd(term.topology_key, cycle.snapshot());
  }
  return terms;
}

}  // namespace

PreFilterOutcome InterPodAffinity::PreFilter(const Cycle& cycle) const {
  const Pod& pod = cycle.pod();
  if (const std::string errors = TermParseErrors(pod); !errors.empty()) {
    return PreFilterOutcome::Reject(Verdict(Code::kUnschedulableAndUnresolvable, "parsing pod: " + errors));
  }
  auto base = std::make_shared<PodAffinityFilterBase>();
  base->affinity = CompileRequired(cycle, pod.affinity.pod_affinity, base->keys);
  base->anti = CompileRequired(cycle, pod.affinity.pod_anti_affinity, base->keys);
  base->namespace_labels = NamespaceLabels(cycle.snapshot(), pod.namespace_());
  base->matches_itself = MatchesAll(base->affinity, pod);
  InterPodAffinityIndex* const index = IndexOf(cycle.snapshot());
  PairCounts existing = CountExistingAntiAffinity(cycle, *base, index);
  if (existing.empty() && base->affinity.empty() && base->anti.empty())
    return PreFilterOutcome::Skip().While(kExistingTerms);
  IncomingCounts incoming = CountIncoming(cycle.snapshot(), *base, index);
  return PreFilterOutcome::Ok(
      std::make_unique<PodAffinityFilterState>(std::move(base), std::move(existing), std::move(incoming)));
}

Error InterPodAffinity::AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const {
  static_cast<PodAffinityFilterState*>(state)->Update(cycle, *pod.pod, row, 1);
  return Error::Ok();
}

Error InterPodAffinity::RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const {
  static_cast<PodAffinityFilterState*>(state)->Update(cycle, *pod.pod, row, -1);
  return Error::Ok();
}

Error InterPodAffinity::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  if (state == nullptr) return Error("error reading \"PreFilterInterPodAffinity\" from cycleState: not found");
  const auto& filter = static_cast<const PodAffinityFilterState&>(*state);
  const VerdictId affinity = out.Intern(kAffinity);
  const VerdictId anti = out.Intern(kAntiAffinity);
  const VerdictId existing = out.Intern(kExistingAntiAffinity);
  if (const PodAffinityFilterState::Faults* faults = filter.faults()) {
    std::array<VerdictId, 8> verdicts;
    for (size_t found = 0; found < verdicts.size(); ++found)
      verdicts[found] = found & PodAffinityFilterState::kFarFromAll     ? affinity
                        : found & PodAffinityFilterState::kNearAnti     ? anti
                        : found & PodAffinityFilterState::kNearExisting ? existing
                                                                        : kFitsId;
    const std::span<VerdictId> slots = out.slots();
    size_t key = 0;
    const auto next = [&] {
      while (key < faults->size() && (*faults)[key].empty()) ++key;
      return key < faults->size();
    };
    // What the rows' values say is gathered in the slots and becomes verdicts with the last key, mostly the only one.
    static_assert(kFitsId == 0);
    if (!next()) return Error::Ok();
    for (bool more = true; more;) {
      const uint8_t* const at = (*faults)[key].data();
      const std::span<const uint32_t> values = nodes.labels(filter.base().keys.column(key));
      ++key;
      more = next();
      if (more) {
        for (size_t i = 0; i < values.size(); ++i) slots[i] |= at[values[i]];
      } else {
        for (size_t i = 0; i < values.size(); ++i) slots[i] = verdicts[slots[i] | at[values[i]]];
      }
    }
    return Error::Ok();
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes.active()[i] == 0) continue;
    const Row row = nodes.row(i);
    if (!filter.AffinityHolds(row)) {
      out.Reject(i, affinity);
    } else if (!filter.AntiAffinityHolds(row)) {
      out.Reject(i, anti);
    } else if (!filter.ExistingAntiAffinityHolds(nodes.snapshot(), row)) {
      out.Reject(i, existing);
    }
  }
  return Error::Ok();
}

}  // namespace berth::plugins
