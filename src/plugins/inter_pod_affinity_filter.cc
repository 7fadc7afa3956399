// SPDX-License-Identifier: Apache-2.0
// InterPodAffinity's required terms: PreFilter counts matches by topology pair, Filter looks them up.
#include <algorithm>

#include "plugins/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity_terms.h"

namespace berth::plugins {
namespace {

// What does not change during a cycle; shared by all clones of a state.
struct FilterBase {
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

// Counts of existing pods' anti-affinity terms that match the incoming pod. Only rows with such pods are visited.
PairCounts CountExistingAntiAffinity(const Cycle& cycle, FilterBase& base) {
  PairCounts counts;
  const Snapshot& snapshot = cycle.snapshot();
  for (const Row row : snapshot.anti_affinity_rows()) {
    if (!snapshot.live(row)) continue;
    for (const PodRecord* record : snapshot.row_data(row).anti_affinity_pods) {
      for (const PodAffinityTerm& term : RequiredAntiTerms(*record->pod)) {
        if (!ExistingTermMatches(*record->pod, term, cycle.pod(), base.namespace_labels)) continue;
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
IncomingCounts CountIncoming(const Snapshot& snapshot, const FilterBase& base) {
  IncomingCounts counts;
  if (base.affinity.empty() && base.anti.empty()) return counts;
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
class FilterState final : public StateOf<FilterState> {
 public:
  FilterState(std::shared_ptr<const FilterBase> base, PairCounts existing, IncomingCounts incoming)
      : base_(std::move(base)),
        existing_anti_(std::make_shared<const PairCounts>(std::move(existing))),
        affinity_(std::make_shared<const PairCounts>(std::move(incoming.affinity))),
        anti_(std::make_shared<const PairCounts>(std::move(incoming.anti))) {}

  void Update(const Cycle& cycle, const Pod& other, Row row, int64_t amount) {
    for (const PodAffinityTerm& term : RequiredAntiTerms(other)) {
      if (!ExistingTermMatches(other, term, cycle.pod(), base_->namespace_labels)) continue;
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

  std::shared_ptr<const FilterBase> base_;
  ChangedCounts existing_anti_, affinity_, anti_;
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
  auto base = std::make_shared<FilterBase>();
  base->affinity = CompileRequired(cycle, pod.affinity.pod_affinity, base->keys);
  base->anti = CompileRequired(cycle, pod.affinity.pod_anti_affinity, base->keys);
  base->namespace_labels = NamespaceLabels(cycle.snapshot(), pod.namespace_());
  base->matches_itself = MatchesAll(base->affinity, pod);
  PairCounts existing = CountExistingAntiAffinity(cycle, *base);
  if (existing.empty() && base->affinity.empty() && base->anti.empty())
    return PreFilterOutcome::Skip().While(kExistingTerms);
  IncomingCounts incoming = CountIncoming(cycle.snapshot(), *base);
  return PreFilterOutcome::Ok(std::make_unique<FilterState>(std::move(base), std::move(existing), std::move(incoming)));
}

Error InterPodAffinity::AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const {
  static_cast<FilterState*>(state)->Update(cycle, *pod.pod, row, 1);
  return Error::Ok();
}

Error InterPodAffinity::RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const {
  static_cast<FilterState*>(state)->Update(cycle, *pod.pod, row, -1);
  return Error::Ok();
}

Error InterPodAffinity::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  const auto& filter = static_cast<const FilterState&>(*state);
  const VerdictId affinity = out.Intern(kAffinity);
  const VerdictId anti = out.Intern(kAntiAffinity);
  const VerdictId existing = out.Intern(kExistingAntiAffinity);
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
