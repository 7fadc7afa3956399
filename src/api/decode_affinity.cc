// SPDX-License-Identifier: Apache-2.0
// A pod's affinity and topology spread constraints.
#include <algorithm>

#include "api/decode_internal.h"

namespace berth {
namespace {

// The form of the keys. What they do to the selector is checked when the pod's labels are known (CheckMergedKeys).
void CheckLabelKeys(Context& context, const PodExtras::LabelKeys& keys, bool selector) {
  if (!context.strict()) return;
  auto check = [&](std::string_view name, const std::vector<std::string>& list) {
    if (list.empty()) return;
    At at(context, name);
    if (!selector) return context.Forbidden("must not be specified when labelSelector is not set");
    for (size_t i = 0; i < list.size(); ++i) {
      At index(context, i);
      CheckForm(context, list[i], CheckQualifiedName);
    }
  };
  check("matchLabelKeys", keys.match);
  check("mismatchLabelKeys", keys.mismatch);
  At at(context, "matchLabelKeys");
  for (size_t i = 0; i < keys.match.size(); ++i) {
    if (std::find(keys.mismatch.begin(), keys.mismatch.end(), keys.match[i]) == keys.mismatch.end()) continue;
    At index(context, i);
    context.Invalid(keys.match[i], "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

void RememberSelector(Context& context, const RawSelector& selector, PodExtras::LabelKeys& keys) {
  if (!context.strict() || keys.match.empty()) return;
  for (const auto& entry : selector.match_labels) keys.map_keys.push_back(entry.first);
  for (const RawRequirement& raw : selector.expressions) {
    keys.expressions.push_back({raw.key, raw.op == "In" ? SelectorOp::kIn : SelectorOp::kUnknown, raw.values});
  }
  keys.path = context.Path();
}

template <class Value>
PodAffinityTerm DecodePodAffinityTerm(Context& context, Value value, PodExtras& extras) {
  PodAffinityTerm term;
  PodExtras::LabelKeys keys;
  std::optional<RawSelector> selector;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "labelSelector") {
      selector = DecodeRawSelector(context, item);
    } else if (key == "namespaces") {
      Read(context, item, term.namespaces);
      for (size_t i = 0; i < term.namespaces.size(); ++i) {
        At at(context, i);
        CheckForm(context, term.namespaces[i], CheckDnsLabel);
      }
    } else if (key == "namespaceSelector") {
      term.namespace_selector = DecodeSelector(context, item);
    } else if (key == "topologyKey") {
      Read(context, item, term.topology_key);
    } else if (key == "matchLabelKeys") {
      Read(context, item, keys.match);
    } else if (key == "mismatchLabelKeys") {
      Read(context, item, keys.mismatch);
    }
  });
  CheckLabelKeys(context, keys, selector.has_value());
  if (context.strict()) {
    At at(context, "topologyKey");
    if (term.topology_key.empty()) {
      context.Required("can not be empty");
    } else {
      CheckForm(context, term.topology_key, CheckQualifiedName);
    }
  }
  if (selector) {
    term.selector = BuildSelector(*selector);
    RememberSelector(context, *selector, keys);
  }
  extras.affinity_keys.push_back(std::move(keys));
  return term;
}

void CheckWeight(Context& context, int32_t weight) {
  if (!context.strict() || (weight >= 1 && weight <= 100)) return;
  At at(context, "weight");
  context.InvalidNumber(weight, "must be in the range 1-100");
}

template <class Value>
PodAffinity DecodePodAffinity(Context& context, Value value, PodExtras& extras, bool& there) {
  PodAffinity affinity;
  PodExtras required, preferred;  // whichever order the fields come in
  there = ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "requiredDuringSchedulingIgnoredDuringExecution") {
      required.affinity_keys.clear();
      ReadList(context, item, affinity.required,
               [&](Context& inner, Value term) { return DecodePodAffinityTerm(inner, term, required); });
    } else if (key == "preferredDuringSchedulingIgnoredDuringExecution") {
      preferred.affinity_keys.clear();
      ReadList(context, item, affinity.preferred, [&](Context& inner, Value weighted_value) {
        WeightedPodAffinityTerm weighted;
        bool has_term = false;
        ForEachMember(inner, weighted_value, [&](std::string_view member, Value part) {
          if (member == "weight") {
            Read(inner, part, weighted.weight);
          } else if (member == "podAffinityTerm") {
            if (has_term) preferred.affinity_keys.pop_back();
            has_term = true;
            weighted.term = DecodePodAffinityTerm(inner, part, preferred);
          }
        });
        if (!has_term) {
          preferred.affinity_keys.emplace_back();
          if (inner.strict()) {
            At at(inner, "podAffinityTerm");
            At key_at(inner, "topologyKey");
            inner.Required("can not be empty");
          }
        }
        CheckWeight(inner, weighted.weight);
        return weighted;
      });
    }
  });
  for (PodExtras* part : {&required, &preferred}) {
    for (PodExtras::LabelKeys& keys : part->affinity_keys) extras.affinity_keys.push_back(std::move(keys));
  }
  return affinity;
}

template <class Value>
NodeInclusionPolicy ReadPolicy(Context& context, Value value) {
  std::string text;
  if (!Read(context, value, text)) return NodeInclusionPolicy::kDefault;
  context.CheckEnum(text, {"Honor", "Ignore"});
  if (text == "Honor") return NodeInclusionPolicy::kHonor;
  // Upstream asks only whether the policy is Honor: any other text ignores.
  return NodeInclusionPolicy::kIgnore;
}

template <class Value>
TopologySpreadConstraint DecodeConstraint(Context& context, Value value, PodExtras& extras) {
  TopologySpreadConstraint constraint;
  PodExtras::LabelKeys keys;
  std::optional<RawSelector> selector;
  std::string when;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "maxSkew") {
      Read(context, item, constraint.max_skew);
    } else if (key == "topologyKey") {
      Read(context, item, constraint.topology_key);
    } else if (key == "whenUnsatisfiable") {
      Read(context, item, when);
    } else if (key == "labelSelector") {
      selector = DecodeRawSelector(context, item);
    } else if (key == "minDomains") {
      Read(context, item, constraint.min_domains);
    } else if (key == "nodeAffinityPolicy") {
      constraint.node_affinity_policy = ReadPolicy(context, item);
    } else if (key == "nodeTaintsPolicy") {
      constraint.node_taints_policy = ReadPolicy(context, item);
    } else if (key == "matchLabelKeys") {
      Read(context, item, constraint.match_label_keys);
    }
  });
  if (when == "DoNotSchedule") constraint.when_unsatisfiable = WhenUnsatisfiable::kDoNotSchedule;
  if (when == "ScheduleAnyway") constraint.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway;
  keys.match = constraint.match_label_keys;
  CheckLabelKeys(context, keys, selector.has_value());
  if (selector) {
    constraint.selector = BuildSelector(*selector);
    RememberSelector(context, *selector, keys);
  }
  extras.spread_keys.push_back(std::move(keys));
  if (!context.strict()) return constraint;
  if (constraint.max_skew <= 0) {
    At at(context, "maxSkew");
    context.InvalidNumber(constraint.max_skew, "must be greater than zero");
  }
  if (constraint.topology_key.empty()) {
    At at(context, "topologyKey");
    context.Required("can not be empty");
  }
  {
    At at(context, "whenUnsatisfiable");
    context.CheckEnum(when, {"DoNotSchedule", "ScheduleAnyway"});
  }
  if (constraint.min_domains) {
    At at(context, "minDomains");
    if (*constraint.min_domains <= 0) context.InvalidNumber(*constraint.min_domains, "must be greater than zero");
    if (when != "DoNotSchedule") {
      context.InvalidNumber(*constraint.min_domains,
                            "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + when);
    }
  }
  return constraint;
}

}  // namespace

template <class Value>
NodeAffinity DecodeNodeAffinityValue(Context& context, Value value) {
  NodeAffinity affinity;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    if (key == "requiredDuringSchedulingIgnoredDuringExecution") {
      affinity.required.reset();
      if (!IsNull(context, item)) affinity.required = DecodeNodeSelector(context, item);
    } else if (key == "preferredDuringSchedulingIgnoredDuringExecution") {
      ReadList(context, item, affinity.preferred, [&](Context& inner, Value weighted_value) {
        const std::string path = "[" + std::to_string(affinity.preferred.size()) + "]";
        PreferredSchedulingTerm weighted;
        ForEachMember(inner, weighted_value, [&](std::string_view member, Value part) {
          if (member == "weight") {
            Read(inner, part, weighted.weight);
          } else if (member == "preference") {
            weighted.preference = DecodeNodeSelectorTerm(inner, part, /*strict_values=*/false, path);
          }
        });
        CheckWeight(inner, weighted.weight);
        return weighted;
      });
    }
  });
  return affinity;
}

template <class Value>
Affinity DecodeAffinity(Context& context, Value value, PodExtras& extras) {
  Affinity affinity;
  PodExtras with, anti;
  ForEachMember(context, value, [&](std::string_view key, Value item) {
    bool there = false;
    if (key == "nodeAffinity") {
      NodeAffinity node = DecodeNodeAffinityValue(context, item);
      affinity.node_required = std::move(node.required);
      affinity.node_preferred = std::move(node.preferred);
    } else if (key == "podAffinity") {
      with.affinity_keys.clear();
      PodAffinity decoded = DecodePodAffinity(context, item, with, there);
      affinity.pod_affinity.reset();
      if (there) affinity.pod_affinity = std::move(decoded);
    } else if (key == "podAntiAffinity") {
      anti.affinity_keys.clear();
      PodAffinity decoded = DecodePodAffinity(context, item, anti, there);
      affinity.pod_anti_affinity.reset();
      if (there) affinity.pod_anti_affinity = std::move(decoded);
    }
  });
  extras.affinity_keys.clear();
  for (PodExtras* part : {&with, &anti}) {
    for (PodExtras::LabelKeys& keys : part->affinity_keys) extras.affinity_keys.push_back(std::move(keys));
  }
  return affinity;
}

// The API server adds an In requirement for every key the pod has a label for, and then rejects selectors in which the
// key comes again. An object that was read back from it has the requirement already: that one passes, and is not merged
// again (defaults.cc).
void CheckMergedKeys(Context& context, const Labels& pod_labels, const PodExtras::LabelKeys& keys) {
  for (size_t i = 0; i < keys.match.size(); ++i) {
    const std::string& key = keys.match[i];
    auto occurs = static_cast<size_t>(std::count_if(keys.expressions.begin(), keys.expressions.end(),
                                                    [&](const Requirement& r) { return r.key == key; }));
    if (const std::string* value = pod_labels.Find(key)) {
      const Requirement merged{key, SelectorOp::kIn, {*value}};
      if (std::find(keys.expressions.begin(), keys.expressions.end(), merged) == keys.expressions.end()) ++occurs;
    }
    const bool in_map = std::find(keys.map_keys.begin(), keys.map_keys.end(), key) != keys.map_keys.end();
    if (occurs + (in_map ? 1 : 0) < 2 || occurs == 0) continue;
    At at(context, keys.path);
    At list(context, "matchLabelKeys");
    At index(context, i);
    context.Invalid(key, "exists in both matchLabelKeys and labelSelector");
  }
}

template <class Value>
std::vector<TopologySpreadConstraint> DecodeTopologySpread(Context& context, Value value, PodExtras& extras) {
  std::vector<TopologySpreadConstraint> constraints;
  extras.spread_keys.clear();
  ReadList(context, value, constraints,
           [&](Context& inner, Value item) { return DecodeConstraint(inner, item, extras); });
  if (!context.strict()) return constraints;
  for (size_t i = 0; i < constraints.size(); ++i) {
    for (size_t k = i + 1; k < constraints.size(); ++k) {
      if (constraints[i].topology_key != constraints[k].topology_key ||
          constraints[i].when_unsatisfiable != constraints[k].when_unsatisfiable) {
        continue;
      }
      At index(context, i);
      At at(context, "{topologyKey, whenUnsatisfiable}");
      const bool hard = constraints[i].when_unsatisfiable == WhenUnsatisfiable::kDoNotSchedule;
      context.Duplicate("{" + constraints[i].topology_key + ", " + (hard ? "DoNotSchedule" : "ScheduleAnyway") + "}");
      break;
    }
  }
  return constraints;
}

// For either encoding.
template NodeAffinity DecodeNodeAffinityValue(Context&, JsonValue);
template NodeAffinity DecodeNodeAffinityValue(Context&, ProtoValue);
template Affinity DecodeAffinity(Context&, JsonValue, PodExtras&);
template Affinity DecodeAffinity(Context&, ProtoValue, PodExtras&);
template std::vector<TopologySpreadConstraint> DecodeTopologySpread(Context&, JsonValue, PodExtras&);
template std::vector<TopologySpreadConstraint> DecodeTopologySpread(Context&, ProtoValue, PodExtras&);

}  // namespace berth
