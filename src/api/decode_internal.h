// SPDX-License-Identifier: Apache-2.0
// What the decoders of the several kinds share. Included by decode_*.cc only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/decode.h"
#include "api/json_reader.h"

namespace berth {

// How a kind's name is formed, and whether it lives in a namespace.
enum class NameForm { kSubdomain, kLabel, kPathSegment };
struct MetaRules {
  bool namespaced = false;
  NameForm name = NameForm::kSubdomain;
};

// metadata. Validation that needs the whole object (name missing) is CheckMeta's.
ObjectMeta DecodeMeta(Context& context, JsonValue value, bool keep_annotations);
// Runs after all fields were read, in strict mode, at the top of the object. Also gives namespaced objects without
// namespace the namespace `default` and takes it from cluster-scoped ones, as the API server does.
void CheckMeta(Context& context, const MetaRules& rules, ObjectMeta& meta);

Labels DecodeLabels(Context& context, JsonValue value);     // validated as labels in strict mode
Labels DecodeStringMap(Context& context, JsonValue value);  // no validation of keys and values
ResourceList DecodeResourceList(Context& context, JsonValue value);

// A label selector as it was written; Build* turn it into the matching form.
struct RawRequirement {
  std::string key, op;
  std::vector<std::string> values;
};
struct RawSelector {
  std::vector<Labels::Entry> match_labels;
  std::vector<RawRequirement> expressions;
};
std::optional<RawSelector> DecodeRawSelector(Context& context, JsonValue value);
LabelSelector BuildSelector(const RawSelector& raw);
std::optional<LabelSelector> DecodeSelector(Context& context, JsonValue value);

// A node selector's term. `strict_values` is false where the API server takes values that are no label values
// (preferred terms). `path` is where upstream's parse error puts the term.
NodeSelectorTerm DecodeNodeSelectorTerm(Context& context, JsonValue value, bool strict_values, const std::string& path);
NodeSelector DecodeNodeSelector(Context& context, JsonValue value);
NodeAffinity DecodeNodeAffinityValue(Context& context, JsonValue value);
Affinity DecodeAffinity(Context& context, JsonValue value, PodExtras& extras);
std::vector<TopologySpreadConstraint> DecodeTopologySpread(Context& context, JsonValue value, PodExtras& extras);
// Keys that a selector has besides matchLabelKeys; in strict mode, at the top of the object, with the pod's labels
// known.
void CheckMergedKeys(Context& context, const Labels& pod_labels, const PodExtras::LabelKeys& keys);

// Parts of a pod.
Container DecodeContainer(Context& context, JsonValue value);
Toleration DecodeToleration(Context& context, JsonValue value);
TaintEffect TaintEffectFromText(std::string_view text);  // "": kNone
PodVolume DecodeVolume(Context& context, JsonValue value);
void DecodePodStatus(Context& context, JsonValue value, Pod& pod);
// The rules that need several fields of a defaulted pod; in strict mode, at the top of the object.
void CheckPod(Context& context, const DecodedPod& decoded);

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

// One decoder per kind; each reads the members of one object and leaves metadata rules to CheckMeta.
DecodedPod DecodePod(Context& context, JsonValue value);
Node DecodeNode(Context& context, JsonValue value);
Namespace DecodeNamespace(Context& context, JsonValue value);
Service DecodeService(Context& context, JsonValue value);
ReplicationController DecodeReplicationController(Context& context, JsonValue value);
ReplicaSet DecodeReplicaSet(Context& context, JsonValue value);
StatefulSet DecodeStatefulSet(Context& context, JsonValue value);
PriorityClass DecodePriorityClass(Context& context, JsonValue value);
PodDisruptionBudget DecodePodDisruptionBudget(Context& context, JsonValue value);
PersistentVolumeClaim DecodePersistentVolumeClaim(Context& context, JsonValue value);
PersistentVolume DecodePersistentVolume(Context& context, JsonValue value);
StorageClass DecodeStorageClass(Context& context, JsonValue value);
CsiNode DecodeCsiNode(Context& context, JsonValue value);
CsiDriver DecodeCsiDriver(Context& context, JsonValue value);
CsiStorageCapacity DecodeCsiStorageCapacity(Context& context, JsonValue value);
VolumeAttachment DecodeVolumeAttachment(Context& context, JsonValue value);
ResourceClaim DecodeResourceClaim(Context& context, JsonValue value);
ResourceSlice DecodeResourceSlice(Context& context, JsonValue value);
DeviceClass DecodeDeviceClass(Context& context, JsonValue value);

}  // namespace berth
