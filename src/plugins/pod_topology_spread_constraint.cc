// SPDX-License-Identifier: Apache-2.0
// Topology spread constraints: reading them off a pod, default selectors, inclusion policies and counting.
#include "plugins/pod_topology_spread_constraint.h"

#include <algorithm>
#include <map>

namespace berth::plugins {
namespace {

// Adds equality requirements for the labels of the pod that matchLabelKeys names. A null selector stays null.
void MergeMatchLabelKeys(const std::vector<std::string>& keys, const Labels& pod_labels,
                         std::optional<LabelSelector>& selector) {
  if (!selector) return;
  std::map<std::string_view, const std::string*> merged;  // a key listed twice counts once
  for (const std::string& key : keys) {
    if (const std::string* value = pod_labels.Find(key)) merged.emplace(key, value);
  }
  for (const auto& [key, value] : merged) {
    selector->requirements.push_back({std::string(key), SelectorOp::kIn, {*value}});
  }
  std::stable_sort(selector->requirements.begin(), selector->requirements.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
}

const OwnerReference* ControllerOf(const ObjectMeta& meta) {
  auto it = std::find_if(meta.owners.begin(), meta.owners.end(), [](const OwnerReference& o) { return o.controller; });
  return it == meta.owners.end() ? nullptr : &*it;
}

template <class Owner>
void AddSelectorOf(const Owner* owner, LabelSelector& selector) {
  if (owner == nullptr || !owner->selector || !owner->selector->invalid.empty()) return;
  selector.requirements.insert(selector.requirements.end(), owner->selector->requirements.begin(),
                               owner->selector->requirements.end());
}

}  // namespace

Result<std::vector<SpreadConstraint>> ConstraintsOf(std::span<const TopologySpreadConstraint> constraints,
                                                    const Labels& pod_labels, WhenUnsatisfiable when) {
  std::vector<SpreadConstraint> result;
  for (const TopologySpreadConstraint& c : constraints) {
    if (c.when_unsatisfiable != when) continue;
    if (c.selector && !c.selector->invalid.empty()) return Error(c.selector->invalid);
    SpreadConstraint made;
    made.max_skew = c.max_skew;
    made.min_domains = c.min_domains.value_or(1);
    made.topology_key = c.topology_key;
    made.selector = c.selector;
    MergeMatchLabelKeys(c.match_label_keys, pod_labels, made.selector);
    made.honors_affinity = c.node_affinity_policy != NodeInclusionPolicy::kIgnore;
    made.honors_taints = c.node_taints_policy == NodeInclusionPolicy::kHonor;
    result.push_back(std::move(made));
  }
  return result;
}

LabelSelector DefaultSpreadSelector(const Pod& pod, const Snapshot& snapshot) {
  // Service and ReplicationController selectors are merged as maps: of equal keys the last one stays. All of them match
  // the pod, except that a controller's may not.
  std::map<std::string, std::string> merged;
  snapshot.objects<Service>().ForEachIn(pod.namespace_(), [&](const Service& service) {
    if (!service.selector) return;
    const bool matches = std::all_of(service.selector->begin(), service.selector->end(), [&](const Labels::Entry& e) {
      const std::string* value = pod.meta.labels.Find(e.first);
      return value != nullptr && *value == e.second;
    });
    if (!matches) return;
    for (const auto& [key, value] : *service.selector) merged[key] = value;
  });
  const OwnerReference* owner = ControllerOf(pod.meta);
  LabelSelector selector;
  if (owner != nullptr && owner->api_version == "v1" && owner->kind == "ReplicationController") {
    const auto* rc = snapshot.objects<ReplicationController>().Find(pod.namespace_(), owner->name);
    if (rc != nullptr && rc->selector) {
      for (const auto& [key, value] : *rc->selector) merged[key] = value;
    }
  } else if (owner != nullptr && owner->api_version == "apps/v1" && owner->kind == "ReplicaSet") {
    AddSelectorOf(snapshot.objects<ReplicaSet>().Find(pod.namespace_(), owner->name), selector);
  } else if (owner != nullptr && owner->api_version == "apps/v1" && owner->kind == "StatefulSet") {
    AddSelectorOf(snapshot.objects<StatefulSet>().Find(pod.namespace_(), owner->name), selector);
  }
  for (const auto& [key, value] : merged) selector.requirements.push_back({key, SelectorOp::kIn, {value}});
  return selector;
}

void Resolve(std::vector<SpreadConstraint>& constraints, const Snapshot& snapshot) {
  for (SpreadConstraint& constraint : constraints) constraint.column = &snapshot.labels(constraint.topology_key);
}

bool HasAllKeys(std::span<const SpreadConstraint> constraints, Row row) {
  return std::all_of(constraints.begin(), constraints.end(), [&](const SpreadConstraint& constraint) {
    return (*constraint.column)[row] != LabelColumn::kAbsent;
  });
}

InclusionPolicies::InclusionPolicies(const Pod& pod, const Snapshot& snapshot,
                                     std::span<const SpreadConstraint> constraints)
    : taint_set_(snapshot.taint_set()) {
  const auto any = [&](bool SpreadConstraint::*honors) {
    return std::any_of(constraints.begin(), constraints.end(), [&](const SpreadConstraint& c) { return c.*honors; });
  };
  if (any(&SpreadConstraint::honors_affinity)) {
    affinity_.emplace(pod, snapshot);
    if (!affinity_->constrains()) affinity_.reset();
  }
  if (any(&SpreadConstraint::honors_taints)) {
    tolerated_sets_.reserve(snapshot.taint_sets().size());
    for (const std::vector<Taint>& taints : snapshot.taint_sets()) {
      tolerated_sets_.push_back(std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
        const bool keeps_out = taint.effect == TaintEffect::kNoSchedule || taint.effect == TaintEffect::kNoExecute;
        return !keeps_out || Tolerates(pod.tolerations, taint);
      }));
    }
  }
}

int64_t CountPods(std::span<const PodRecord* const> pods, const std::string& ns, SelectorMemo& selector) {
  int64_t count = 0;
  for (const PodRecord* record : pods) {
    const Pod& pod = *record->pod;
    if (!pod.terminating() && pod.namespace_() == ns && selector.Matches(pod.meta.labels)) ++count;
  }
  return count;
}

const RowCounts& CountPods(const Snapshot& snapshot, const std::string& ns,
                           const std::optional<LabelSelector>& selector, PodCountIndex& index) {
  PodQuery query(false);
  query.And(false, std::span(&ns, 1), selector);
  return index.counts().Count(snapshot, query);
}

std::vector<DomainCounts> CountDomains(const Pod& pod, const Snapshot& snapshot,
                                       std::span<const SpreadConstraint> constraints, const InclusionPolicies& policies,
                                       PodCountIndex* index) {
  std::vector<DomainCounts> result(constraints.size());
  // By row: a live node with all topology keys.
  std::vector<uint8_t> eligible(snapshot.live().begin(), snapshot.live().end());
  for (const SpreadConstraint& constraint : constraints) {
    const std::span<const uint32_t> values = constraint.column->values();
    for (size_t row = 0; row < eligible.size(); ++row) eligible[row] &= values[row] != LabelColumn::kAbsent;
  }
  std::vector<uint32_t> room;
  for (size_t c = 0; c < constraints.size(); ++c) {
    const SpreadConstraint& constraint = constraints[c];
    const std::span<const uint32_t> values = constraint.column->values();
    std::vector<int64_t>& by_value = result[c].by_value;
    std::vector<uint8_t>& is_domain = result[c].is_domain;
    by_value.assign(constraint.column->distinct() + 1, 0);
    is_domain.assign(by_value.size(), 0);
    const auto each = [ok = eligible.data(), rows = eligible.size(), value_of = values.data(),
                       domain = is_domain.data(), sums = by_value.data()](auto&& includes, auto&& count) {
      for (Row row = 0; row < rows; ++row) {
        if (!ok[row] || !includes(row)) continue;
        const uint32_t value = value_of[row];
        domain[value] = 1;
        sums[value] += count(row);
      }
    };
    const auto every = [&](auto&& count) {
      if (policies.IncludesAll(constraint)) {
        each([](Row) { return true; }, count);
      } else {
        each([&](Row row) { return policies.Includes(constraint, row); }, count);
      }
    };
    if (!constraint.counts_existing()) {
      every([](Row) { return 0; });
    } else if (index != nullptr) {
      const std::span<const uint32_t> counts =
          CountPods(snapshot, pod.namespace_(), constraint.selector, *index).Column(eligible.size(), room);
      every([&](Row row) { return int64_t{counts[row]}; });
    } else {
      SelectorMemo memo(constraint.selector);
      every([&](Row row) { return CountPods(snapshot.pods(row), pod.namespace_(), memo); });
    }
  }
  return result;
}

}  // namespace berth::plugins
