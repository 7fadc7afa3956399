// SPDX-License-Identifier: Apache-2.0
// PodTopologySpread: arguments, which constraints apply, signature, events. Filter and Score have files of their own.
#include "plugins/pod_topology_spread.h"

#include <algorithm>

#include "plugins/common/label_syntax.h"
#include "plugins/common/pod_signing.h"
#include "plugins/common/signing.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";

std::vector<TopologySpreadConstraint> SystemDefaults() {
  std::vector<TopologySpreadConstraint> defaults(2);
  defaults[0].max_skew = 3;
  defaults[0].topology_key = kHostnameLabel;
  defaults[1].max_skew = 5;
  defaults[1].topology_key = kZoneLabel;
  for (auto& constraint : defaults) constraint.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway;
  return defaults;
}

std::string_view ToString(WhenUnsatisfiable when) {
  return when == WhenUnsatisfiable::kDoNotSchedule ? "DoNotSchedule" : "ScheduleAnyway";
}

NodeInclusionPolicy ReadPolicy(ArgsReader& in, std::string_view field) {
  std::string text;
  in.Enum(field, text, {"Honor", "Ignore"});
  if (text.empty()) return NodeInclusionPolicy::kDefault;
  return text == "Honor" ? NodeInclusionPolicy::kHonor : NodeInclusionPolicy::kIgnore;
}

void WritePolicy(NodeInclusionPolicy policy, const char* field, Value& out) {
  if (policy == NodeInclusionPolicy::kDefault) return;
  out.Set(field, Value::String(policy == NodeInclusionPolicy::kHonor ? "Honor" : "Ignore"));
}

TopologySpreadConstraint ReadConstraint(ArgsReader& in) {
  TopologySpreadConstraint c;
  in.Int32("maxSkew", c.max_skew);
  if (c.max_skew <= 0) in.Invalid("maxSkew", std::to_string(c.max_skew), "not in valid range (0, inf)");
  in.String("topologyKey", c.topology_key);
  if (c.topology_key.empty()) {
    in.Complain("topologyKey", "Required value: can not be empty");
  } else {
    for (const std::string& problem : LabelKeyComplaints(c.topology_key)) {
      in.Invalid("topologyKey", '"' + c.topology_key + '"', problem);
    }
  }
  std::string when;
  in.String("whenUnsatisfiable", when);
  if (when.empty()) {
    in.Complain("whenUnsatisfiable", "Required value: can not be empty");
  } else if (when == "DoNotSchedule") {
    c.when_unsatisfiable = WhenUnsatisfiable::kDoNotSchedule;
  } else if (when == "ScheduleAnyway") {
    c.when_unsatisfiable = WhenUnsatisfiable::kScheduleAnyway;
  } else {
    in.Complain("whenUnsatisfiable",
                "Unsupported value: \"" + when + "\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"");
  }
  if (const Value* selector = in.Raw("labelSelector"); selector != nullptr && !selector->is_null()) {
    in.Complain("labelSelector", "Forbidden: constraint must not define a selector, as they deduced for each pod");
  }
  if (in.Has("minDomains")) {
    int32_t min_domains = 0;
    in.Int32("minDomains", min_domains);
    c.min_domains = min_domains;
  }
  c.node_affinity_policy = ReadPolicy(in, "nodeAffinityPolicy");
  c.node_taints_policy = ReadPolicy(in, "nodeTaintsPolicy");
  in.Strings("matchLabelKeys", c.match_label_keys);
  return c;
}

Value WriteConstraint(const TopologySpreadConstraint& c) {
  Value out = Value::Object();
  out.Set("maxSkew", Value::Int(c.max_skew));
  out.Set("topologyKey", Value::String(c.topology_key));
  out.Set("whenUnsatisfiable", Value::String(std::string(ToString(c.when_unsatisfiable))));
  if (c.min_domains) out.Set("minDomains", Value::Int(*c.min_domains));
  WritePolicy(c.node_affinity_policy, "nodeAffinityPolicy", out);
  WritePolicy(c.node_taints_policy, "nodeTaintsPolicy", out);
  if (!c.match_label_keys.empty()) {
    Value keys = Value::Array();
    for (const std::string& key : c.match_label_keys) keys.Append(Value::String(key));
    out.Set("matchLabelKeys", std::move(keys));
  }
  return out;
}

// A pod that is neither bound nor nominated, or lives in another namespace, has no part in the rejected pod's counts.
bool Involved(const Pod& changed, const Pod& rejected) {
  if (changed.uid() == rejected.uid()) return true;
  if (changed.node_name.empty() && changed.nominated_node_name.empty()) return false;
  return changed.namespace_() == rejected.namespace_();
}

bool NodeHasAllKeys(const std::vector<SpreadConstraint>& constraints, const Node& node) {
  return std::all_of(constraints.begin(), constraints.end(),
                     [&](const SpreadConstraint& c) { return node.meta.labels.Has(c.topology_key); });
}

}  // namespace

void PodTopologySpread::Args::Read(ArgsReader& in) {
  in.Enum("defaultingType", defaulting_type, {"System", "List"});
  // Every constraint's own complaints, then whether it repeats an earlier one.
  in.Objects("defaultConstraints", [&](ArgsReader& item) {
    TopologySpreadConstraint c = ReadConstraint(item);
    const bool repeated =
        std::any_of(default_constraints.begin(), default_constraints.end(), [&](const TopologySpreadConstraint& other) {
          return other.topology_key == c.topology_key && other.when_unsatisfiable == c.when_unsatisfiable;
        });
    if (repeated) {
      item.Complain(
          "", "Duplicate value: \"{" + c.topology_key + ", " + std::string(ToString(c.when_unsatisfiable)) + "}\"");
    }
    default_constraints.push_back(std::move(c));
  });
  if (defaulting_type == "System" && !default_constraints.empty()) {
    in.Invalid("defaultingType", "\"System\"", "when .defaultConstraints are not empty");
  }
}

Value PodTopologySpread::Args::Write() const {
  Value out = Value::Object();
  out.Set("kind", Value::String("PodTopologySpreadArgs"));
  out.Set("apiVersion", Value::String("kubescheduler.config.k8s.io/v1"));
  if (!default_constraints.empty()) {
    Value list = Value::Array();
    for (const TopologySpreadConstraint& c : default_constraints) list.Append(WriteConstraint(c));
    out.Set("defaultConstraints", std::move(list));
  }
  out.Set("defaultingType", Value::String(defaulting_type));
  return out;
}

PodTopologySpread::PodTopologySpread(const Args& args)
    : system_defaulted_(args.defaulting_type == "System"),
      default_constraints_(system_defaulted_ ? SystemDefaults() : args.default_constraints) {}

Result<std::vector<SpreadConstraint>> PodTopologySpread::EffectiveConstraints(const Pod& pod, const Snapshot& snapshot,
                                                                              WhenUnsatisfiable when) const {
  const std::string kind = when == WhenUnsatisfiable::kDoNotSchedule ? "hard" : "soft";
  if (!pod.topology_spread.empty()) {
    auto own = ConstraintsOf(pod.topology_spread, pod.meta.labels, when);
    if (!own.ok()) return own.error().Wrap("obtaining pod's " + kind + " topology spread constraints");
    return own;
  }
  auto defaults = ConstraintsOf(default_constraints_, pod.meta.labels, when);
  if (!defaults.ok()) return defaults.error().Wrap("setting default " + kind + " topology spread constraints");
  if (defaults->empty()) return defaults;
  const LabelSelector selector = DefaultSpreadSelector(pod, snapshot);
  if (selector.empty()) return std::vector<SpreadConstraint>();
  for (SpreadConstraint& constraint : defaults.value()) constraint.selector = selector;
  return defaults;
}

Depends PodTopologySpread::DependsOn(Point point) const {
  // Score's weights depend on which nodes passed the filters, which no epoch speaks of.
  if (point == Point::kPreScore || point == Point::kScore)
    return {row_field::kAll, epoch::kUnrememberable | epoch::kWorkloads};
  constexpr RowFields kRow = row_field::kLabels | row_field::kTaints;
  if (index_ != nullptr) return {kRow, kIndexed | epoch::kWorkloads};
  return {kRow, epoch::kNodeSet | epoch::kOtherRows | epoch::kWorkloads};
}

std::unique_ptr<PluginIndex> PodTopologySpread::MakeIndex() {
  auto index = std::make_unique<PodCountIndex>();
  index_ = index.get();
  return index;
}

PodCountIndex* PodTopologySpread::IndexOf(const Snapshot& snapshot) const {
  if (index_ == nullptr || !index_->Serves(snapshot)) return nullptr;
  index_->counts().Begin();
  return index_;
}

bool PodTopologySpread::Sign(const Pod& pod, Signature& out) const {
  if (pod.topology_spread.empty() && default_constraints_.empty()) return true;
  out.Add(pod.namespace_());
  SignLabels(pod.meta.labels, out);
  SignRequiredNodeAffinity(pod, out);
  SignTolerations(pod.tolerations, out);
  out.Add(static_cast<int64_t>(pod.topology_spread.size()));
  for (const TopologySpreadConstraint& c : pod.topology_spread) {
    out.Add(int64_t{c.max_skew});
    out.Add(c.topology_key);
    out.Add(static_cast<int64_t>(c.when_unsatisfiable));
    SignSelector(c.selector, out);
    out.Add(int64_t{c.min_domains.value_or(1)});
    out.Add(static_cast<int64_t>(c.node_affinity_policy));
    out.Add(static_cast<int64_t>(c.node_taints_policy));
    SignStrings(c.match_label_keys, out);
  }
  if (!pod.topology_spread.empty()) return true;
  out.Add(static_cast<int64_t>(pod.meta.owners.size()));  // default constraints ask the controller for its selector
  for (const OwnerReference& owner : pod.meta.owners) {
    out.Add(owner.api_version);
    out.Add(owner.kind);
    out.Add(owner.name);
    out.Add(int64_t{owner.controller});
  }
  return true;
}

std::optional<std::vector<EventRegistration>> PodTopologySpread::EventsToRegister() const {
  using namespace action;
  return std::vector<EventRegistration>{
      {{EventResource::kPod, kAdd | kUpdatePodLabel | kUpdatePodToleration | kDelete},
       [this](const Pod& pod, const EventObjects& objects) { return HintPod(pod, objects); }},
      {{EventResource::kNode, kAdd | kDelete | kUpdateNodeLabel | kUpdateNodeTaint},
       [this](const Pod& pod, const EventObjects& objects) { return HintNode(pod, objects); }},
  };
}

std::optional<std::vector<SpreadConstraint>> PodTopologySpread::HardConstraintsForHint(const Pod& pod) const {
  if (pod.topology_spread.empty()) {
    const bool soft_only = std::none_of(
        default_constraints_.begin(), default_constraints_.end(),
        [](const TopologySpreadConstraint& c) { return c.when_unsatisfiable == WhenUnsatisfiable::kDoNotSchedule; });
    if (soft_only) return std::vector<SpreadConstraint>();
    return std::nullopt;
  }
  auto own = ConstraintsOf(pod.topology_spread, pod.meta.labels, WhenUnsatisfiable::kDoNotSchedule);
  if (!own.ok()) return std::nullopt;
  return std::move(own).value();
}

QueueingHint PodTopologySpread::HintPod(const Pod& rejected, const EventObjects& objects) const {
  const Pod* before = objects.pod_before;
  const Pod* after = objects.pod_after;
  if ((after != nullptr && !Involved(*after, rejected)) || (before != nullptr && !Involved(*before, rejected))) {
    return QueueingHint::kSkip;
  }
  const auto constraints = HardConstraintsForHint(rejected);
  if (!constraints) return QueueingHint::kQueue;
  const auto any = [&](auto&& holds) {
    return std::any_of(constraints->begin(), constraints->end(), holds) ? QueueingHint::kQueue : QueueingHint::kSkip;
  };
  if (before != nullptr && after != nullptr) {
    const bool tolerates_more = after->uid() == rejected.uid() && after->tolerations != before->tolerations;
    if (tolerates_more && any([](const SpreadConstraint& c) { return c.honors_taints; }) == QueueingHint::kQueue) {
      return QueueingHint::kQueue;
    }
    return any([&](const SpreadConstraint& c) {
      return Matches(c.selector, before->meta.labels) != Matches(c.selector, after->meta.labels);
    });
  }
  const Pod* changed = after != nullptr ? after : before;
  if (changed == nullptr) return QueueingHint::kQueue;
  return any([&](const SpreadConstraint& c) { return Matches(c.selector, changed->meta.labels); });
}

QueueingHint PodTopologySpread::HintNode(const Pod& rejected, const EventObjects& objects) const {
  const Node* before = objects.node_before;
  const Node* after = objects.node_after;
  const auto constraints = HardConstraintsForHint(rejected);
  if (!constraints) return QueueingHint::kQueue;
  const bool had = before != nullptr && NodeHasAllKeys(*constraints, *before);
  const bool has = after != nullptr && NodeHasAllKeys(*constraints, *after);
  bool helps = had || has;
  if (before != nullptr && after != nullptr) {
    const bool moved = std::any_of(constraints->begin(), constraints->end(), [&](const SpreadConstraint& c) {
      const std::string* old_value = before->meta.labels.Find(c.topology_key);
      const std::string* new_value = after->meta.labels.Find(c.topology_key);
      return old_value != nullptr && new_value != nullptr && *old_value != *new_value;
    });
    helps = had != has || (has && (moved || before->taints != after->taints));
  }
  return helps ? QueueingHint::kQueue : QueueingHint::kSkip;
}

}  // namespace berth::plugins
