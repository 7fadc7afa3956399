// SPDX-License-Identifier: Apache-2.0
// What the decoders of the several kinds share. Included by decode_*.cc only.
//
// A Value is a JsonValue or a ProtoValue: a decoder sees members by their names in JSON, whichever encoding they came
// in, so that both give the same structs by the same rules. Templates are defined in the .cc files, for these two.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/decode.h"
#include "api/json_reader.h"
#include "api/pod_parts.h"
#include "api/proto_value.h"
#include "berth/host/share_lists.h"

namespace berth {

// How a kind's name is formed, and whether it lives in a namespace.
enum class NameForm { kSubdomain, kLabel, kPathSegment };
struct MetaRules {
  bool namespaced = false;
  NameForm name = NameForm::kSubdomain;
};

// metadata. Validation that needs the whole object (name missing) is CheckMeta's.
template <class Value>
ObjectMeta DecodeMeta(Context& context, Value value, bool keep_annotations);
// The same, but only annotations of these keys are kept; in file mode the others are looked at. REQUIRES: `meta` is
// empty.
template <class Value>
void DecodeMeta(Context& context, const Value& value, const std::vector<std::string>& annotations, ObjectMeta& meta);
// Runs after all fields were read, in strict mode, at the top of the object. Also gives namespaced objects without
// namespace the namespace `default` and takes it from cluster-scoped ones, as the API server does.
void CheckMeta(Context& context, const MetaRules& rules, ObjectMeta& meta);

template <class Value>
Labels DecodeLabels(Context& context, Value value);  // validated as labels in strict mode
template <class Value>
Labels DecodeStringMap(Context& context, Value value);  // no validation of keys and values
template <class Value>
ResourceList DecodeResourceList(Context& context, Value value);

// A label selector as it was written; Build* turn it into the matching form.
struct RawRequirement {
  std::string key, op;
  std::vector<std::string> values;
};
struct RawSelector {
  std::vector<Labels::Entry> match_labels;
  std::vector<RawRequirement> expressions;
};
template <class Value>
std::optional<RawSelector> DecodeRawSelector(Context& context, Value value);
LabelSelector BuildSelector(const RawSelector& raw);
template <class Value>
std::optional<LabelSelector> DecodeSelector(Context& context, Value value);

// A node selector's term. `strict_values` is false where the API server takes values that are no label values
// (preferred terms). `path` is where upstream's parse error puts the term.
template <class Value>
NodeSelectorTerm DecodeNodeSelectorTerm(Context& context, Value value, bool strict_values, const std::string& path);
template <class Value>
NodeSelector DecodeNodeSelector(Context& context, Value value);
// A term of a storage class's allowedTopologies: expressions without an operator, which is In.
NodeSelectorTerm DecodeTopologyTerm(Context& context, JsonValue value);
template <class Value>
NodeAffinity DecodeNodeAffinityValue(Context& context, Value value);
template <class Value>
Affinity DecodeAffinity(Context& context, Value value, PodExtras& extras);
template <class Value>
std::vector<TopologySpreadConstraint> DecodeTopologySpread(Context& context, Value value, PodExtras& extras);
// Keys that a selector has besides matchLabelKeys; in strict mode, at the top of the object, with the pod's labels
// known.
void CheckMergedKeys(Context& context, const Labels& pod_labels, const PodExtras::LabelKeys& keys);

// Parts of a pod.
template <class Value>
Container DecodeContainer(Context& context, Value value);
template <class Value>
Toleration DecodeToleration(Context& context, Value value);
TaintEffect TaintEffectFromText(std::string_view text);  // "": kNone
template <class Value>
PodVolume DecodeVolume(Context& context, Value value);

// Who has a volume source: a pod, or a PersistentVolume.
enum class VolumeOwner { kPod, kVolume };
// Reads the value of member `key` into `out` if it is a volume source; false if it is something else.
template <class Value>
bool ReadVolumeSource(Context& context, std::string_view key, Value value, VolumeOwner owner,
                      std::optional<VolumeSource>& out);
// In strict mode, the name of a CSI driver at a member of the current path.
void CheckDriverName(Context& context, std::string_view member, std::string_view name);

template <class Value>
void DecodePodStatus(Context& context, const Value& value, Pod& pod);
// Never null. What the struct does not keep goes to `extras`.
template <class Value>
std::shared_ptr<Pod> DecodePod(Context& context, const Value& value, PodExtras& extras);
// The rules that need several fields of a defaulted pod; in strict mode, at the top of the object.
void CheckPod(Context& context, const DecodedPod& decoded);

// What a list or map of a pod says: as it was read before out of the same bytes, or what read() gives. What is known
// takes no memory, so its items do not count: whether an object has too many may depend on what was read before.
// REQUIRES: read() calls nothing of the kind.
template <class Part, class ReadFn>
Part ReadOnce(Context&, const JsonValue&, KnownParts<Part> PodParts::*, ReadFn&& read) {
  return read();
}
template <class Part, class ReadFn>
Part ReadOnce(Context& context, const ProtoValue& value, KnownParts<Part> PodParts::*known, ReadFn&& read) {
  PodParts* parts = context.parts();
  if (!parts) return read();
  const std::optional<std::string_view> bytes = BytesThatCount(value, parts->scratch);
  if (const Part* found = bytes ? (parts->*known).Find(*bytes) : nullptr) return *found;
  const size_t errors = context.error_count();
  Part part = read();
  if (!bytes || context.error_count() != errors || part.size() > KnownParts<Part>::kMaxPartItems) return part;
  if constexpr (!std::is_same_v<Part, Labels>) ShareList(part);  // as it will be in the end, but only once
  (parts->*known).Keep(*bytes, part);
  return part;
}

// Checks every complaint list against the value at the current path, in strict mode.
inline void CheckForm(Context& context, std::string_view value, Complaints (*check)(std::string_view)) {
  if (context.strict()) context.Invalid(value, check(value));
}
// The same for a member of the current path.
inline void CheckForm(Context& context, std::string_view member, std::string_view value,
                      Complaints (*check)(std::string_view)) {
  At at(context, member);
  CheckForm(context, value, check);
}

// The decoder of a kind out of JSON: reads the members of one object and leaves metadata rules to CheckMeta. Each has
// its specialization below, and decode_objects.cc finds it by the table of kinds.
template <class T>
struct DecodedAs {
  using Type = T;
};
template <>
struct DecodedAs<Pod> {
  using Type = DecodedPod;
};
template <class T>
typename DecodedAs<T>::Type DecodeAs(Context& context, JsonValue value);

template <>
DecodedPod DecodeAs<Pod>(Context& context, JsonValue value);
template <>
Node DecodeAs<Node>(Context& context, JsonValue value);
template <>
Namespace DecodeAs<Namespace>(Context& context, JsonValue value);
template <>
Service DecodeAs<Service>(Context& context, JsonValue value);
template <>
ReplicationController DecodeAs<ReplicationController>(Context& context, JsonValue value);
template <>
ReplicaSet DecodeAs<ReplicaSet>(Context& context, JsonValue value);
template <>
StatefulSet DecodeAs<StatefulSet>(Context& context, JsonValue value);
template <>
PriorityClass DecodeAs<PriorityClass>(Context& context, JsonValue value);
template <>
PodDisruptionBudget DecodeAs<PodDisruptionBudget>(Context& context, JsonValue value);
template <>
PersistentVolumeClaim DecodeAs<PersistentVolumeClaim>(Context& context, JsonValue value);
template <>
PersistentVolume DecodeAs<PersistentVolume>(Context& context, JsonValue value);
template <>
StorageClass DecodeAs<StorageClass>(Context& context, JsonValue value);
template <>
CsiNode DecodeAs<CsiNode>(Context& context, JsonValue value);
template <>
CsiDriver DecodeAs<CsiDriver>(Context& context, JsonValue value);
template <>
CsiStorageCapacity DecodeAs<CsiStorageCapacity>(Context& context, JsonValue value);
template <>
VolumeAttachment DecodeAs<VolumeAttachment>(Context& context, JsonValue value);
template <>
ResourceClaim DecodeAs<ResourceClaim>(Context& context, JsonValue value);
template <>
ResourceSlice DecodeAs<ResourceSlice>(Context& context, JsonValue value);
template <>
DeviceClass DecodeAs<DeviceClass>(Context& context, JsonValue value);

}  // namespace berth
