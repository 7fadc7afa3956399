// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread's hard constraints: PreFilter counts the domains, Filter compares skews.
#include <algorithm>
#include <array>
#include <limits>

#include "plugins/pod_topology_spread.h"

namespace berth::plugins {
namespace {

// What PreFilter found; shared by all clones of a state.
struct SpreadFilterBase {
  // The two domains with the fewest matching pods. Two are enough: a what-if changes one domain per constraint.
  struct Lowest {
    uint32_t value = LabelColumn::kAbsent;
    int64_t count = std::numeric_limits<int32_t>::max();
  };

  SpreadFilterBase(const Pod& pod, const Snapshot& snapshot, std::vector<SpreadConstraint> with, PodCountIndex* index)
      : constraints(std::move(with)),
        policies(pod, snapshot, constraints),
        counts(CountDomains(pod, snapshot, constraints, policies, index)) {
    for (size_t c = 0; c < constraints.size(); ++c) {
      self_match.push_back(Matches(constraints[c].selector, pod.meta.labels));
      std::array<Lowest, 2> low;
      int64_t found = 0;
      for (uint32_t value = 0; value < counts[c].by_value.size(); ++value) {
        if (counts[c].is_domain[value] == 0) continue;
        ++found;
        const int64_t count = counts[c].by_value[value];
        if (count < low[0].count) {
          low[1] = low[0];
          low[0] = {value, count};
        } else if (count < low[1].count) {
          low[1] = {value, count};
        }
      }
      lowest.push_back(low);
      domains.push_back(found);
    }
  }

  std::vector<SpreadConstraint> constraints;
  InclusionPolicies policies;
  std::vector<DomainCounts> counts;  // by constraint, as are the rest
  std::vector<std::array<Lowest, 2>> lowest;
  std::vector<int64_t> domains;
  std::vector<uint8_t> self_match;
};

// A base and what a what-if changed about it. Cheap to clone.
class SpreadFilterState final : public StateOf<SpreadFilterState> {
 public:
  explicit SpreadFilterState(std::shared_ptr<const SpreadFilterBase> base) : base_(std::move(base)) {}

  const SpreadFilterBase& base() const { return *base_; }
  bool changed() const { return !changes_.empty(); }

  int64_t Count(size_t c, uint32_t value) const {
    const Change* change = FindChange(c, value);
    return base_->counts[c].by_value[value] + (change ? change->delta : 0);
  }
  // The least count of any domain; 0 when there are fewer domains than minDomains asks for.
  int64_t Minimum(size_t c) const {
    if (base_->domains[c] < base_->constraints[c].min_domains) return 0;
    const Change* only = nullptr;
    size_t changes = 0;
    for (const Change& change : changes_) {
      if (change.constraint != c) continue;
      only = &change;
      ++changes;
    }
    const auto& lowest = base_->lowest[c];
    if (changes == 0) return lowest[0].count;
    if (changes == 1) {
      const int64_t others = lowest[0].value == only->value ? lowest[1].count : lowest[0].count;
      return std::min(others, Count(c, only->value));
    }
    int64_t minimum = std::numeric_limits<int32_t>::max();
    for (uint32_t value = 0; value < base_->counts[c].by_value.size(); ++value) {
      if (base_->counts[c].is_domain[value] != 0) minimum = std::min(minimum, Count(c, value));
    }
    return minimum;
  }
  // Unlike the count in PreFilter this one knows terminating pods and empty selectors: as upstream has it.
  void Update(const Pod& incoming, const Pod& other, Row row, int64_t delta) {
    if (other.namespace_() != incoming.namespace_() || !HasAllKeys(base_->constraints, row)) return;
    for (size_t c = 0; c < base_->constraints.size(); ++c) {
      const SpreadConstraint& constraint = base_->constraints[c];
      if (!Matches(constraint.selector, other.meta.labels) || !base_->policies.Includes(constraint, row)) continue;
      const uint32_t value = (*constraint.column)[row];
      if (Change* change = FindChange(c, value)) {
        change->delta += delta;
      } else {
        changes_.push_back({static_cast<uint32_t>(c), value, delta});
      }
    }
  }

 private:
  struct Change {
    uint32_t constraint;
    uint32_t value;
    int64_t delta;
  };
  const Change* FindChange(size_t c, uint32_t value) const {
    auto it = std::find_if(changes_.begin(), changes_.end(),
                           [&](const Change& change) { return change.constraint == c && change.value == value; });
    return it == changes_.end() ? nullptr : &*it;
  }
  Change* FindChange(size_t c, uint32_t value) {
    return const_cast<Change*>(static_cast<const SpreadFilterState*>(this)->FindChange(c, value));
  }

  std::shared_ptr<const SpreadFilterBase> base_;
  std::vector<Change> changes_;
};

}  // namespace

PreFilterOutcome PodTopologySpread::PreFilter(const Cycle& cycle) const {
  auto constraints = EffectiveConstraints(cycle.pod(), cycle.snapshot(), WhenUnsatisfiable::kDoNotSchedule);
  if (!constraints.ok()) return PreFilterOutcome::Fail("get constraints from pod: " + constraints.error().text());
  if (constraints->empty()) return PreFilterOutcome::Skip().While(ConstraintsHoldWhile(cycle.pod()));
  Resolve(constraints.value(), cycle.snapshot());
  PodCountIndex* const index = IndexOf(cycle.snapshot());
  auto base =
      std::make_shared<const SpreadFilterBase>(cycle.pod(), cycle.snapshot(), std::move(constraints).value(), index);
  PreFilterOutcome outcome = PreFilterOutcome::Ok(std::make_unique<SpreadFilterState>(std::move(base)));
  if (index != nullptr) outcome.holds_while = kIndexed | ConstraintsHoldWhile(cycle.pod());
  return outcome;
}

Error PodTopologySpread::AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const {
  static_cast<SpreadFilterState*>(state)->Update(cycle.pod(), *pod.pod, row, 1);
  return Error::Ok();
}

Error PodTopologySpread::RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const {
  static_cast<SpreadFilterState*>(state)->Update(cycle.pod(), *pod.pod, row, -1);
  return Error::Ok();
}

Error PodTopologySpread::Filter(const Cycle&, const PluginState* state, const NodeBatch& nodes, Rejections& out) const {
  if (state == nullptr) return Error("reading \"PreFilterPodTopologySpread\" from cycleState: not found");
  const auto& filter = static_cast<const SpreadFilterState&>(*state);
  const SpreadFilterBase& base = filter.base();
  const VerdictId missing = out.Intern(kKeyMissing);
  const VerdictId skewed = out.Intern(kSkewTooLarge);
  const std::span<VerdictId> slots = out.slots();
  for (size_t c = 0; c < base.constraints.size(); ++c) {
    const SpreadConstraint& constraint = base.constraints[c];
    // count + self - minimum > maxSkew, with everything but the count moved to one side.
    const int64_t limit = int64_t{constraint.max_skew} - base.self_match[c] + filter.Minimum(c);
    const std::span<const uint32_t> values = nodes.labels(*constraint.column);
    const int64_t* counts = base.counts[c].by_value.data();
    for (size_t i = 0; i < values.size(); ++i) {
      const int64_t count = filter.changed() ? filter.Count(c, values[i]) : counts[values[i]];
      const VerdictId verdict = values[i] == LabelColumn::kAbsent ? missing : count > limit ? skewed : kFitsId;
      slots[i] = slots[i] == kFitsId ? verdict : slots[i];
    }
  }
  return Error::Ok();
}

}  // namespace berth::plugins
