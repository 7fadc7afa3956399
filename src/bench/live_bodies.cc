// SPDX-License-Identifier: Apache-2.0
#include "bench/live_bodies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bench/value_edit.h"

namespace berth::bench {
namespace {

constexpr char kNotReady[] = "node.kubernetes.io/not-ready";

const Value& OrEmpty(const Value& object) {
  static const Value empty = Value::Object();
  return object.kind() == Value::Kind::kObject ? object : empty;
}

// object.OUTER.KEY = value
Value WithIn(const Value& object, const std::string& outer, const std::string& key, Value value) {
  return With(object, outer, With(OrEmpty(At(object, outer)), key, std::move(value)));
}

Value WithLabelIn(const Value& object, const std::string& key, const std::string& value) {
  const Value& labels = OrEmpty(At(At(object, "metadata"), "labels"));
  return WithIn(object, "metadata", "labels", With(labels, key, Value::String(value)));
}

bool HasNotReady(const Value& node) {
  const std::vector<Value>& taints = At(At(node, "spec"), "taints").items();
  return std::any_of(taints.begin(), taints.end(), [](const Value& t) { return At(t, "key").text() == kNotReady; });
}

Value StringsOf(const std::vector<std::string>& texts) {
  Value out = Value::Array();
  for (const std::string& text : texts) out.Append(Value::String(text));
  return out;
}

// Equal for pods that can share a class.
std::string PriorityClassName(const Value& pod) {
  const Value& spec = At(pod, "spec");
  std::string value = At(spec, "priority").text();
  if (value.starts_with('-')) value.replace(0, 1, "minus-");
  return "berth-bench-" + value + (At(spec, "preemptionPolicy").text() == "Never" ? "-never" : "");
}

}  // namespace

Value NodeBody(const Operation& op, int64_t index, const Value& node, const std::string& uid) {
  Value out = WithLabelIn(node, "kubernetes.io/hostname", At(At(node, "metadata"), "name").text());
  if (op.label_strategy) {
    const std::vector<std::string>& values = op.label_strategy->values;
    out = WithLabelIn(out, op.label_strategy->key, values[static_cast<size_t>(index) % values.size()]);
  }
  if (!op.unique_label_key.empty()) out = WithLabelIn(out, op.unique_label_key, uid);
  if (op.declared_features > 0)
    out = WithIn(out, "status", "declaredFeatures", StringsOf(FeatureNames(op.declared_features)));
  return out;
}

Value CsiNodeBody(const Operation& op, const std::string& node) {
  const Operation::AllocatableStrategy& strategy = *op.allocatable_strategy;
  std::string migrated;
  for (const std::string& plugin : strategy.migrated_plugins) migrated += (migrated.empty() ? "" : ",") + plugin;
  Value annotations =
      Value::Object({{"storage.alpha.kubernetes.io/migrated-plugins", Value::String(std::move(migrated))}});
  Value drivers = Value::Array();
  for (const auto& [driver, limit] : strategy.csi_limits) {
    Value one = Value::Object();
    one.Set("name", Value::String(driver)).Set("nodeID", Value::String(node));
    one.Set("allocatable", Value::Object({{"count", Value::Int(limit)}}));
    drivers.Append(std::move(one));
  }
  Value out = Value::Object();
  out.Set("apiVersion", Value::String("storage.k8s.io/v1")).Set("kind", Value::String("CSINode"));
  out.Set("metadata", Value::Object({{"name", Value::String(node)}, {"annotations", std::move(annotations)}}));
  out.Set("spec", Value::Object({{"drivers", std::move(drivers)}}));
  return out;
}

std::optional<Value> TaintPatch(const Value& node, const Value& created) {
  if (HasNotReady(node) || !HasNotReady(created)) return std::nullopt;
  // A list in a merge patch replaces the one that is there; null removes it.
  return Value::Object({{"spec", Value::Object({{"taints", At(At(node, "spec"), "taints")}})}});
}

Value NamespaceBody(const std::string& name) {
  Value out = Value::Object();
  out.Set("apiVersion", Value::String("v1")).Set("kind", Value::String("Namespace"));
  out.Set("metadata", Value::Object({{"name", Value::String(name)}}));
  return out;
}

Value BoundVolumeBody(const Value& volume, const std::string& ns, int64_t index) {
  const Value& spec = OrEmpty(At(volume, "spec"));
  Value out = volume;
  if (const Value& csi = At(spec, "csi"); csi.kind() == Value::Kind::kObject)
    out = WithIn(out, "spec", "csi", With(csi, "volumeHandle", Value::String(VolumeNameOf(ns, index))));
  if (const Value& ebs = At(spec, "awsElasticBlockStore"); ebs.kind() == Value::Kind::kObject)
    out = WithIn(out, "spec", "awsElasticBlockStore",
                 With(ebs, "volumeID", Value::String("vol-" + std::to_string(index))));
  Value reference = Value::Object();
  reference.Set("kind", Value::String("PersistentVolumeClaim")).Set("apiVersion", Value::String("v1"));
  reference.Set("namespace", Value::String(ns)).Set("name", Value::String(ClaimNameOf(index)));
  return WithIn(out, "spec", "claimRef", std::move(reference));
}

Value BoundClaimBody(const Value& claim, const std::string& ns, int64_t index) {
  return WithIn(claim, "spec", "volumeName", Value::String(VolumeNameOf(ns, index)));
}

Value WithClaim(const Value& pod, int64_t index) {
  Value volume = Value::Object();
  volume.Set("name", Value::String("vol"));
  volume.Set("persistentVolumeClaim", Value::Object({{"claimName", Value::String(ClaimNameOf(index))}}));
  return WithIn(pod, "spec", "volumes", Value::Array({std::move(volume)}));
}

Value BoundStatus() { return Value::Object({{"status", Value::Object({{"phase", Value::String("Bound")}})}}); }

Value UpdatedPod(const Value& current, const Value& wanted, bool resize) {
  Value meta = Value::Object();
  for (const auto& [key, value] : At(current, "metadata").members())
    if (key != "resourceVersion" && key != "managedFields") meta.Set(key, value);  // whatever is written meanwhile
  meta = With(meta, "labels", OrEmpty(At(At(wanted, "metadata"), "labels")));
  const Value &spec = At(current, "spec"), &asked = At(wanted, "spec");
  Value tolerations = Value::Array(At(spec, "tolerations").items());
  for (const Value& toleration : At(asked, "tolerations").items()) {
    const std::vector<Value>& there = tolerations.items();
    if (std::find(there.begin(), there.end(), toleration) == there.end()) tolerations.Append(toleration);
  }
  Value out = With(current, "metadata", std::move(meta));
  out = WithIn(out, "spec", "schedulingGates", Value::Array(At(asked, "schedulingGates").items()));
  out = WithIn(out, "spec", "tolerations", std::move(tolerations));
  if (!resize) return out;
  Value containers = Value::Array();
  for (const Value& container : At(spec, "containers").items()) {
    const std::vector<Value>& others = At(asked, "containers").items();
    const auto same = std::find_if(others.begin(), others.end(), [&](const Value& other) {
      return At(other, "name").text() == At(container, "name").text();
    });
    const bool resized = same != others.end() && !At(*same, "resources").is_null();
    containers.Append(resized ? With(container, "resources", At(*same, "resources")) : container);
  }
  return WithIn(out, "spec", "containers", std::move(containers));
}

Value PriorityClassFor(const Value& pod) {
  const Value& spec = At(pod, "spec");
  const Value& priority = At(spec, "priority");
  if (priority.kind() != Value::Kind::kNumber || priority.text() == "0") return Value();
  if (!At(spec, "priorityClassName").text().empty()) return Value();
  Value out = Value::Object();
  out.Set("apiVersion", Value::String("scheduling.k8s.io/v1")).Set("kind", Value::String("PriorityClass"));
  out.Set("metadata", Value::Object({{"name", Value::String(PriorityClassName(pod))}}));
  out.Set("value", priority);
  if (const Value& policy = At(spec, "preemptionPolicy"); !policy.is_null()) out.Set("preemptionPolicy", policy);
  return out;
}

Value WithPriorityClass(const Value& pod) {
  return WithIn(pod, "spec", "priorityClassName", Value::String(PriorityClassName(pod)));
}

Labels LabelsOf(const Value& object) {
  std::vector<Labels::Entry> entries;
  for (const auto& [key, value] : At(At(object, "metadata"), "labels").members())
    entries.emplace_back(key, value.text());
  return Labels(std::move(entries));
}

}  // namespace berth::bench
