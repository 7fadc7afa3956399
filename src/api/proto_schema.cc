// SPDX-License-Identifier: Apache-2.0
// Numbers and names of k8s.io/apimachinery and k8s.io/api v0.36.4 (generated.proto of meta/v1, runtime, core/v1).
#include "api/proto_schema.h"

#include <algorithm>
#include <cstring>

#include "api/decode.h"

namespace berth {
namespace {

constexpr ProtoField One(uint32_t number, std::string_view name) { return {number, name}; }
constexpr ProtoField One(uint32_t number, std::string_view name, const ProtoMessage& message) {
  return {number, name, &message};
}
constexpr ProtoField Many(uint32_t number, std::string_view name) { return {number, name, nullptr, ProtoForm::kList}; }
constexpr ProtoField Many(uint32_t number, std::string_view name, const ProtoMessage& message) {
  return {number, name, &message, ProtoForm::kList};
}
// Of strings or quantities.
constexpr ProtoField Map(uint32_t number, std::string_view name) { return {number, name, nullptr, ProtoForm::kMap}; }
constexpr ProtoField Inline(uint32_t number, const ProtoMessage& message) {
  return {number, {}, &message, ProtoForm::kInline};
}

constexpr ProtoMessage kNothing;  // one that is there or not

// meta/v1

constexpr ProtoField kOwnerReferenceFields[] = {One(1, "kind"), One(3, "name"), One(4, "uid"), One(5, "apiVersion"),
                                                One(6, "controller")};
constexpr ProtoMessage kOwnerReference(kOwnerReferenceFields);

constexpr ProtoField kObjectMetaFields[] = {One(1, "name"),
                                            One(3, "namespace"),
                                            One(5, "uid"),
                                            One(6, "resourceVersion"),
                                            One(7, "generation"),
                                            One(8, "creationTimestamp"),
                                            One(9, "deletionTimestamp"),
                                            Map(11, "labels"),
                                            Map(12, "annotations"),
                                            Many(13, "ownerReferences", kOwnerReference)};
constexpr ProtoMessage kObjectMeta(kObjectMetaFields);

constexpr ProtoField kMetadataFields[] = {One(1, "metadata", kObjectMeta)};
constexpr ProtoMessage kMetadata(kMetadataFields);

constexpr ProtoField kListMetaFields[] = {One(2, "resourceVersion"), One(3, "continue")};
constexpr ProtoMessage kListMeta(kListMetaFields);

constexpr ProtoField kRequirementFields[] = {One(1, "key"), One(2, "operator"), Many(3, "values")};
constexpr ProtoMessage kRequirement(kRequirementFields);  // of label selectors and of node selectors

constexpr ProtoField kLabelSelectorFields[] = {Map(1, "matchLabels"), Many(2, "matchExpressions", kRequirement)};
constexpr ProtoMessage kLabelSelector(kLabelSelectorFields);

constexpr ProtoField kStatusCauseFields[] = {One(1, "reason"), One(3, "field")};
constexpr ProtoMessage kStatusCause(kStatusCauseFields);
constexpr ProtoField kStatusDetailsFields[] = {Many(4, "causes", kStatusCause)};
constexpr ProtoMessage kStatusDetails(kStatusDetailsFields);
constexpr ProtoField kStatusFields[] = {One(2, "status"), One(3, "message"), One(4, "reason"),
                                        One(5, "details", kStatusDetails), One(6, "code")};
constexpr ProtoMessage kStatus(kStatusFields);

// core/v1, what pods and nodes share

constexpr ProtoField kResourceRequirementsFields[] = {Map(1, "limits"), Map(2, "requests")};
constexpr ProtoMessage kResourceRequirements(kResourceRequirementsFields);

// Pods: containers

constexpr ProtoField kContainerPortFields[] = {One(1, "name"), One(2, "hostPort"), One(3, "containerPort"),
                                               One(4, "protocol"), One(5, "hostIP")};
constexpr ProtoMessage kContainerPort(kContainerPortFields);

constexpr ProtoField kRestartRuleFields[] = {One(1, "action"), One(2, "exitCodes", kNothing)};
constexpr ProtoMessage kRestartRule(kRestartRuleFields);

constexpr ProtoField kContainerFields[] = {One(1, "name"),
                                           One(2, "image"),
                                           Many(6, "ports", kContainerPort),
                                           One(8, "resources", kResourceRequirements),
                                           One(24, "restartPolicy"),
                                           Many(25, "restartPolicyRules", kRestartRule)};
constexpr ProtoMessage kContainer(kContainerFields);

// Pods: volumes. Every source is there, since one is as good as another for whoever asks whether there is one.

constexpr ProtoField kClaimSourceFields[] = {One(1, "claimName"), One(2, "readOnly")};
constexpr ProtoMessage kClaimSource(kClaimSourceFields);
constexpr ProtoField kImageSourceFields[] = {One(1, "reference")};
constexpr ProtoMessage kImageSource(kImageSourceFields);
constexpr ProtoField kGcePdFields[] = {One(1, "pdName"), One(4, "readOnly")};
constexpr ProtoMessage kGcePd(kGcePdFields);
constexpr ProtoField kAwsEbsFields[] = {One(1, "volumeID"), One(4, "readOnly")};
constexpr ProtoMessage kAwsEbs(kAwsEbsFields);
constexpr ProtoField kRbdFields[] = {Many(1, "monitors"), One(2, "image"), One(4, "pool"), One(8, "readOnly")};
constexpr ProtoMessage kRbd(kRbdFields);
constexpr ProtoField kIscsiFields[] = {One(2, "iqn"), One(6, "readOnly")};
constexpr ProtoMessage kIscsi(kIscsiFields);
constexpr ProtoField kAzureDiskFields[] = {One(2, "diskURI"), One(5, "readOnly"), One(6, "kind")};
constexpr ProtoMessage kAzureDisk(kAzureDiskFields);
constexpr ProtoField kAzureFileFields[] = {One(3, "readOnly")};
constexpr ProtoMessage kAzureFile(kAzureFileFields);
constexpr ProtoField kCsiFields[] = {One(1, "driver"), One(2, "readOnly")};
constexpr ProtoMessage kCsi(kCsiFields);
constexpr ProtoField kVolumeIdFields[] = {One(1, "volumeID"), One(3, "readOnly")};
constexpr ProtoMessage kVolumeId(kVolumeIdFields);  // Cinder, Portworx

constexpr ProtoField kVolumeSourceFields[] = {One(1, "hostPath", kNothing),
                                              One(2, "emptyDir", kNothing),
                                              One(3, "gcePersistentDisk", kGcePd),
                                              One(4, "awsElasticBlockStore", kAwsEbs),
                                              One(5, "gitRepo", kNothing),
                                              One(6, "secret", kNothing),
                                              One(7, "nfs", kNothing),
                                              One(8, "iscsi", kIscsi),
                                              One(9, "glusterfs", kNothing),
                                              One(10, "persistentVolumeClaim", kClaimSource),
                                              One(11, "rbd", kRbd),
                                              One(12, "flexVolume", kNothing),
                                              One(13, "cinder", kVolumeId),
                                              One(14, "cephfs", kNothing),
                                              One(15, "flocker", kNothing),
                                              One(16, "downwardAPI", kNothing),
                                              One(17, "fc", kNothing),
                                              One(18, "azureFile", kAzureFile),
                                              One(19, "configMap", kNothing),
                                              One(20, "vsphereVolume", kNothing),
                                              One(21, "quobyte", kNothing),
                                              One(22, "azureDisk", kAzureDisk),
                                              One(23, "photonPersistentDisk", kNothing),
                                              One(24, "portworxVolume", kVolumeId),
                                              One(25, "scaleIO", kNothing),
                                              One(26, "projected", kNothing),
                                              One(27, "storageos", kNothing),
                                              One(28, "csi", kCsi),
                                              One(29, "ephemeral", kNothing),
                                              One(30, "image", kImageSource)};
constexpr ProtoMessage kVolumeSource(kVolumeSourceFields);
constexpr ProtoField kPodVolumeFields[] = {One(1, "name"), Inline(2, kVolumeSource)};
constexpr ProtoMessage kPodVolume(kPodVolumeFields);

// Pods: where they may go

constexpr ProtoField kTolerationFields[] = {One(1, "key"), One(2, "operator"), One(3, "value"), One(4, "effect"),
                                            One(5, "tolerationSeconds")};
constexpr ProtoMessage kToleration(kTolerationFields);

constexpr ProtoField kNodeSelectorTermFields[] = {Many(1, "matchExpressions", kRequirement),
                                                  Many(2, "matchFields", kRequirement)};
constexpr ProtoMessage kNodeSelectorTerm(kNodeSelectorTermFields);
constexpr ProtoField kNodeSelectorFields[] = {Many(1, "nodeSelectorTerms", kNodeSelectorTerm)};
constexpr ProtoMessage kNodeSelector(kNodeSelectorFields);
constexpr ProtoField kPreferredSchedulingTermFields[] = {One(1, "weight"), One(2, "preference", kNodeSelectorTerm)};
constexpr ProtoMessage kPreferredSchedulingTerm(kPreferredSchedulingTermFields);
constexpr ProtoField kNodeAffinityFields[] = {
    One(1, "requiredDuringSchedulingIgnoredDuringExecution", kNodeSelector),
    Many(2, "preferredDuringSchedulingIgnoredDuringExecution", kPreferredSchedulingTerm)};
constexpr ProtoMessage kNodeAffinity(kNodeAffinityFields);

constexpr ProtoField kPodAffinityTermFields[] = {
    One(1, "labelSelector", kLabelSelector),     Many(2, "namespaces"),     One(3, "topologyKey"),
    One(4, "namespaceSelector", kLabelSelector), Many(5, "matchLabelKeys"), Many(6, "mismatchLabelKeys")};
constexpr ProtoMessage kPodAffinityTerm(kPodAffinityTermFields);
constexpr ProtoField kWeightedPodAffinityTermFields[] = {One(1, "weight"), One(2, "podAffinityTerm", kPodAffinityTerm)};
constexpr ProtoMessage kWeightedPodAffinityTerm(kWeightedPodAffinityTermFields);
constexpr ProtoField kPodAffinityFields[] = {
    Many(1, "requiredDuringSchedulingIgnoredDuringExecution", kPodAffinityTerm),
    Many(2, "preferredDuringSchedulingIgnoredDuringExecution", kWeightedPodAffinityTerm)};
constexpr ProtoMessage kPodAffinity(kPodAffinityFields);  // and PodAntiAffinity

constexpr ProtoField kAffinityFields[] = {One(1, "nodeAffinity", kNodeAffinity), One(2, "podAffinity", kPodAffinity),
                                          One(3, "podAntiAffinity", kPodAffinity)};
constexpr ProtoMessage kAffinity(kAffinityFields);

constexpr ProtoField kTopologySpreadConstraintFields[] = {
    One(1, "maxSkew"),           One(2, "topologyKey"),
    One(3, "whenUnsatisfiable"), One(4, "labelSelector", kLabelSelector),
    One(5, "minDomains"),        One(6, "nodeAffinityPolicy"),
    One(7, "nodeTaintsPolicy"),  Many(8, "matchLabelKeys")};
constexpr ProtoMessage kTopologySpreadConstraint(kTopologySpreadConstraintFields);

constexpr ProtoField kSchedulingGateFields[] = {One(1, "name")};
constexpr ProtoMessage kSchedulingGate(kSchedulingGateFields);
constexpr ProtoField kPodResourceClaimFields[] = {One(1, "name"), One(3, "resourceClaimName"),
                                                  One(4, "resourceClaimTemplateName")};
constexpr ProtoMessage kPodResourceClaim(kPodResourceClaimFields);

// Pods

constexpr ProtoField kPodSpecFields[] = {Many(1, "volumes", kPodVolume),
                                         Many(2, "containers", kContainer),
                                         Map(7, "nodeSelector"),
                                         One(10, "nodeName"),
                                         One(11, "hostNetwork"),
                                         One(18, "affinity", kAffinity),
                                         One(19, "schedulerName"),
                                         Many(20, "initContainers", kContainer),
                                         Many(22, "tolerations", kToleration),
                                         One(24, "priorityClassName"),
                                         One(25, "priority"),
                                         One(31, "preemptionPolicy"),
                                         Map(32, "overhead"),
                                         Many(33, "topologySpreadConstraints", kTopologySpreadConstraint),
                                         One(37, "hostUsers"),
                                         Many(38, "schedulingGates", kSchedulingGate),
                                         Many(39, "resourceClaims", kPodResourceClaim),
                                         One(40, "resources", kResourceRequirements)};
constexpr ProtoMessage kPodSpec(kPodSpecFields);

constexpr ProtoField kPodConditionFields[] = {One(1, "type"), One(2, "status"), One(5, "reason"), One(6, "message")};
constexpr ProtoMessage kPodCondition(kPodConditionFields);
constexpr ProtoField kContainerStatusFields[] = {One(1, "name"), Map(10, "allocatedResources"),
                                                 One(11, "resources", kResourceRequirements)};
constexpr ProtoMessage kContainerStatus(kContainerStatusFields);
constexpr ProtoField kPodStatusFields[] = {One(1, "phase"),
                                           Many(2, "conditions", kPodCondition),
                                           One(7, "startTime"),
                                           Many(8, "containerStatuses", kContainerStatus),
                                           Many(10, "initContainerStatuses", kContainerStatus),
                                           One(11, "nominatedNodeName"),
                                           Map(19, "allocatedResources"),
                                           One(20, "resources", kResourceRequirements)};
constexpr ProtoMessage kPodStatus(kPodStatusFields);

constexpr ProtoField kPodFields[] = {One(1, "metadata", kObjectMeta), One(2, "spec", kPodSpec),
                                     One(3, "status", kPodStatus)};
constexpr ProtoMessage kPod(kPodFields);
constexpr ProtoField kPodListFields[] = {One(1, "metadata", kListMeta), Many(2, "items", kPod)};
constexpr ProtoMessage kPodList(kPodListFields);

// Nodes

constexpr ProtoField kTaintFields[] = {One(1, "key"), One(2, "value"), One(3, "effect")};
constexpr ProtoMessage kTaint(kTaintFields);
constexpr ProtoField kNodeSpecFields[] = {One(4, "unschedulable"), Many(5, "taints", kTaint)};
constexpr ProtoMessage kNodeSpec(kNodeSpecFields);
constexpr ProtoField kNodeConditionFields[] = {One(1, "type"), One(2, "status")};
constexpr ProtoMessage kNodeCondition(kNodeConditionFields);
constexpr ProtoField kContainerImageFields[] = {Many(1, "names"), One(2, "sizeBytes")};
constexpr ProtoMessage kContainerImage(kContainerImageFields);
constexpr ProtoField kNodeStatusFields[] = {Map(1, "capacity"), Map(2, "allocatable"),
                                            Many(4, "conditions", kNodeCondition), Many(8, "images", kContainerImage),
                                            Many(14, "declaredFeatures")};
constexpr ProtoMessage kNodeStatus(kNodeStatusFields);

constexpr ProtoField kNodeFields[] = {One(1, "metadata", kObjectMeta), One(2, "spec", kNodeSpec),
                                      One(3, "status", kNodeStatus)};
constexpr ProtoMessage kNode(kNodeFields);
constexpr ProtoField kNodeListFields[] = {One(1, "metadata", kListMeta), Many(2, "items", kNode)};
constexpr ProtoMessage kNodeList(kNodeListFields);

struct NamedMessage {
  std::string_view kind;
  const ProtoMessage* message;
};
constexpr NamedMessage kMessages[] = {
    {"Pod", &kPod}, {"PodList", &kPodList}, {"Node", &kNode}, {"NodeList", &kNodeList}, {"Status", &kStatus}};

const ProtoMessage* FindMessage(std::string_view kind) {
  const auto* found =
      std::find_if(std::begin(kMessages), std::end(kMessages), [&](const NamedMessage& m) { return m.kind == kind; });
  return found == std::end(kMessages) ? nullptr : found->message;
}

// runtime: Unknown, its TypeMeta, RawExtension; meta/v1: WatchEvent.
constexpr std::string_view kMagic("k8s\0", 4);
constexpr uint32_t kUnknownTypeMeta = 1, kUnknownRaw = 2;
constexpr uint32_t kTypeMetaApiVersion = 1, kTypeMetaKind = 2;
constexpr uint32_t kRawExtensionRaw = 1;
constexpr uint32_t kWatchEventType = 1, kWatchEventObject = 2;

// Calls fn(number, bytes) for each field, all of which are bytes.
template <class Fn>
bool ForEachBytes(Context& context, std::string_view message, Fn&& fn) {
  ProtoFields fields(message);
  while (fields.Next()) {
    if (fields.wire() == ProtoWire::kBytes) fn(fields.number(), fields.bytes());
  }
  if (fields.broken()) return BrokenMessage(context), false;
  return true;
}

}  // namespace

bool HasProtobuf(Kind kind) { return FindMessage(ToString(kind)) != nullptr; }

const ProtoMessage& ProtoMessageOf(std::string_view kind) {
  const ProtoMessage* found = FindMessage(kind);
  return found != nullptr ? *found : kMetadata;
}

const ProtoMessage& ProtoMetadata() { return kMetadata; }

std::optional<ProtoEnvelope> OpenEnvelope(Context& context, std::string_view bytes) {
  // Compiles to one comparison of four bytes; starts_with does not.
  if (bytes.size() < kMagic.size() || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
    return context.Malformed("it does not begin with k8s", "protobuf"), std::nullopt;
  ProtoEnvelope envelope;
  std::string_view type_meta;
  const bool whole = ForEachBytes(context, bytes.substr(kMagic.size()), [&](uint32_t number, std::string_view field) {
    if (number == kUnknownTypeMeta) type_meta = field;
    if (number == kUnknownRaw) envelope.raw = field;
  });
  if (!whole || !ForEachBytes(context, type_meta, [&](uint32_t number, std::string_view field) {
        if (number == kTypeMetaApiVersion) envelope.api_version = field;
        if (number == kTypeMetaKind) envelope.kind = field;
      })) {
    return std::nullopt;
  }
  return envelope;
}

std::optional<ProtoWatchEvent> OpenWatchEvent(Context& context, std::string_view bytes) {
  ProtoWatchEvent event;
  std::string_view extension;
  const bool whole = ForEachBytes(context, bytes, [&](uint32_t number, std::string_view field) {
    if (number == kWatchEventType) event.type = field;
    if (number == kWatchEventObject) extension = field;
  });
  if (!whole || !ForEachBytes(context, extension, [&](uint32_t number, std::string_view field) {
        if (number == kRawExtensionRaw) event.object = field;
      })) {
    return std::nullopt;
  }
  return event;
}

}  // namespace berth
