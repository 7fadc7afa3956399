// SPDX-License-Identifier: Apache-2.0
// Kubernetes objects out of JSON and protobuf: which kinds are read, in which mode, and the decoded object of any kind.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/load_error.h"
#include "berth/annotations.h"
#include "berth/host/cluster_object.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"

namespace berth {

enum class DecodeMode {
  kFile,  // strict: the API server's validation for every field that is read
  kPeer,  // from a live API server or extender request: lenient; an unknown enum value never matches and never fails
};

// What a pod says that its struct does not keep: input of defaulting and admission.
struct PodExtras {
  std::optional<int32_t> priority;
  // spec.resources.limits; no value when spec.resources is absent.
  std::optional<ResourceList> pod_limits;
  // matchLabelKeys and mismatchLabelKeys with the selector they belong to, as written.
  struct LabelKeys {
    std::vector<std::string> match, mismatch;
    std::vector<std::string> map_keys;     // of matchLabels
    std::vector<Requirement> expressions;  // matchExpressions
    std::string path;                      // of the term or constraint
  };
  // Of each (anti-)affinity term, in the order pod affinity required, preferred, anti-affinity required, preferred.
  std::vector<LabelKeys> affinity_keys;
  // Of each topology spread constraint.
  std::vector<LabelKeys> spread_keys;
};

// Where the data of a volume is, in a pod or a PersistentVolume: input of defaulting and of their structs.
struct VolumeSource {
  VolumeKind kind = VolumeKind::kOther;
  std::string id;      // claim name, image reference, disk or driver name
  std::string handle;  // of kCsi in a PersistentVolume
  std::string variant;
  std::vector<std::string> hosts;
  bool read_only = false;
  List<PersistentVolumeClaim> claim_template;  // of kEphemeral; see PodVolume
};

struct DecodedPod {
  Pod pod;
  PodExtras extras;
};

template <class List>
struct AnyObjectOf;
template <class... Ts>
struct AnyObjectOf<TypeList<Pod, Ts...>> {
  using Type = std::variant<std::monostate, DecodedPod, Ts...>;
};
// Nothing, or what was decoded: the struct of any kind of the table.
using AnyObject = AnyObjectOf<KindTypes>::Type;

struct DecodedObject {
  std::string kind;               // as written, e.g. CSINode
  std::string api_version;        // as written
  AnyObject object;               // monostate: a kind that is not read
  std::vector<LoadError> errors;  // empty: the object is good

  bool known() const { return object.index() != 0; }
};

// The metadata of any known object.
const ObjectMeta& MetaOf(const AnyObject& object);
ObjectMeta& MetaOf(AnyObject& object);
// No value: a kind that is not read. A pod goes as it is, without its extras.
std::optional<ClusterObject> ToClusterObject(AnyObject object);

// Decodes one document; `List` kinds are unrolled, a document that is null gives nothing, a top-level array gives its
// elements. In kPeer mode a pod comes out ready to use (PodResources computed); in kFile mode defaults.h and admission
// have their say first. Of pods and nodes the annotations of the given keys are kept. REQUIRES: in kFile mode `json`
// went through ForEachDocument (valid JSON). Never throws; malformed JSON is an entry with errors.
std::vector<DecodedObject> DecodeDocument(std::string_view json, DecodeMode mode, const AnnotationKeys& keep = {});

// Whether objects of this kind are read out of protobuf, too.
bool HasProtobuf(Kind kind);
// One object of such a kind as an API server sends it in protobuf, envelope and all: what DecodeObject makes of the
// same object's JSON in kPeer mode, but for PodExtras. Never throws; what is wrong is in its errors.
DecodedObject DecodeProtobuf(std::string_view bytes, const AnnotationKeys& keep = {});

// One object that is not a list.
DecodedObject DecodeObject(std::string_view json, DecodeMode mode, const AnnotationKeys& keep = {});

// The two parts of a v1.NodeAffinity object, e.g. of NodeAffinityArgs.addedAffinity. In file mode its validation
// applies; the errors' paths start at the object.
struct NodeAffinity {
  std::optional<NodeSelector> required;
  std::vector<PreferredSchedulingTerm> preferred;
};
NodeAffinity DecodeNodeAffinity(std::string_view json, DecodeMode mode, std::vector<LoadError>& errors);

}  // namespace berth
