// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode_test_util.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFullPod[] = R"(
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  uid: u-1
  resourceVersion: "7"
  generation: 3
  labels: {app: web, tier: ""}
  annotations: {passed: over}
  creationTimestamp: "2024-03-01T10:00:00.5+01:00"
  deletionTimestamp: "2024-03-01T10:00:00Z"
  ownerReferences:
  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: r-1, controller: true}
spec:
  schedulerName: other
  nodeName: node-a
  priority: 17
  priorityClassName: high
  preemptionPolicy: Never
  hostUsers: false
  nodeSelector: {disk: ssd}
  overhead: {cpu: 10m}
  tolerations:
  - {key: a, operator: Exists, effect: NoSchedule}
  - {key: b, value: c}
  - {operator: Exists}
  topologySpreadConstraints:
  - maxSkew: 2
    topologyKey: zone
    whenUnsatisfiable: DoNotSchedule
    minDomains: 3
    nodeAffinityPolicy: Ignore
    nodeTaintsPolicy: Honor
    labelSelector: {matchLabels: {app: web}}
    matchLabelKeys: [tier]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: cores, operator: Gt, values: ["4"]}
          - {key: zone, operator: In, values: [b, a, b]}
          matchFields:
          - {key: metadata.name, operator: In, values: [node-a]}
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 5
        preference: {matchExpressions: [{key: gpu, operator: DoesNotExist}]}
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: zone
        namespaces: [n1]
        namespaceSelector: {}
        labelSelector:
          matchLabels: {z: "1"}
          matchExpressions: [{key: a, operator: NotIn, values: [w, v]}]
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm: {topologyKey: host}
  initContainers:
  - {name: side, image: s:1, restartPolicy: Always, resources: {limits: {cpu: 1}}}
  containers:
  - name: c
    image: i:1
    restartPolicy: OnFailure
    restartPolicyRules: [{action: RestartAllContainers, exitCodes: {operator: In, values: [3]}}]
    ports: [{containerPort: 80, hostPort: 8080, hostIP: 1.2.3.4, protocol: UDP}, {containerPort: 81}]
    resources: {requests: {cpu: 500m, example.com/gpu: 2}, limits: {example.com/gpu: "2"}}
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: c-1, readOnly: true}}
  - {name: scratch, emptyDir: {}}
  - name: e
    ephemeral:
      volumeClaimTemplate:
        metadata: {labels: {tier: scratch}, annotations: {why: tmp}}
        spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
  resourceClaims: [{name: gpu, resourceClaimName: g}]
status:
  phase: Running
  nominatedNodeName: node-b
  startTime: "2024-03-01T09:30:00Z"
  conditions: [{type: PodScheduled, status: "True", reason: x}]
  containerStatuses: [{name: c, resources: {requests: {cpu: 1}}, allocatedResources: {cpu: 2}}]
  initContainerStatuses: [{name: side}]
  resources: {}
  allocatedResources: {memory: 1Gi}
)";

TEST(DecodePodTest, EveryFieldThatIsReadArrives) {
  const DecodedPod decoded = Decode<DecodedPod>(kFullPod);
  const Pod& pod = decoded.pod;
  EXPECT_EQ(pod.meta.name, "web-1");
  EXPECT_EQ(pod.meta.namespace_, "shop");
  EXPECT_EQ(pod.meta.uid, "u-1");
  EXPECT_EQ(pod.meta.resource_version, "7");
  EXPECT_EQ(pod.meta.generation, 3);
  EXPECT_EQ(pod.meta.labels, Labels({{"app", "web"}, {"tier", ""}}));
  EXPECT_TRUE(pod.meta.annotations.empty());
  EXPECT_EQ(pod.meta.creation_time->ns, 1709283600500000000);
  EXPECT_TRUE(pod.terminating());
  EXPECT_THAT(pod.meta.owners, ElementsAre(OwnerReference{"apps/v1", "ReplicaSet", "web", "r-1", true}));
  EXPECT_EQ(pod.scheduler_name, "other");
  EXPECT_EQ(pod.node_name, "node-a");
  EXPECT_EQ(decoded.extras.priority, 17);
  EXPECT_EQ(pod.priority_class_name, "high");
  EXPECT_EQ(pod.preemption_policy, PreemptionPolicy::kNever);
  EXPECT_EQ(pod.host_users, false);
  EXPECT_EQ(pod.node_selector, Labels({{"disk", "ssd"}}));
  EXPECT_EQ(pod.overhead, Amounts({{"cpu", "10m"}}));
  EXPECT_THAT(pod.tolerations, ElementsAre(Toleration{"a", TolerationOp::kExists, "", TaintEffect::kNoSchedule},
                                           Toleration{"b", TolerationOp::kEqual, "c", TaintEffect::kNone},
                                           Toleration{"", TolerationOp::kExists, "", TaintEffect::kNone}));
  ASSERT_EQ(pod.topology_spread.size(), 1u);
  const TopologySpreadConstraint& spread = pod.topology_spread[0];
  EXPECT_EQ(spread.max_skew, 2);
  EXPECT_EQ(spread.topology_key, "zone");
  EXPECT_EQ(spread.when_unsatisfiable, WhenUnsatisfiable::kDoNotSchedule);
  EXPECT_EQ(spread.min_domains, 3);
  EXPECT_EQ(spread.node_affinity_policy, NodeInclusionPolicy::kIgnore);
  EXPECT_EQ(spread.node_taints_policy, NodeInclusionPolicy::kHonor);
  EXPECT_THAT(spread.match_label_keys, ElementsAre("tier"));

  EXPECT_THAT(pod.containers, ElementsAre(Container{.name = "c",
                                                    .image = "i:1",
                                                    .requests = Amounts({{"cpu", "500m"}, {"example.com/gpu", "2"}}),
                                                    .limits = Amounts({{"example.com/gpu", "2"}}),
                                                    .ports = {{80, 8080, "1.2.3.4", "UDP"}, {81, 0, "", "TCP"}},
                                                    .sidecar = false,
                                                    .restarts_all_containers = true}));
  ASSERT_EQ(pod.init_containers.size(), 1u);
  EXPECT_TRUE(pod.init_containers[0].sidecar);
  EXPECT_EQ(pod.init_containers[0].requests, Amounts({{"cpu", "1"}}));  // defaulted from the limits
  PersistentVolumeClaim made;
  made.meta.labels = Labels({{"tier", "scratch"}});
  made.meta.annotations = Labels({{"why", "tmp"}});
  made.storage_class = "fast";
  made.access_modes = {"ReadWriteOnce"};
  made.request = Quantity::FromValue(1 << 30);
  made.volume_mode = "Filesystem";
  made.phase = "Pending";
  EXPECT_THAT(pod.volumes, ElementsAre(PodVolume{"data", VolumeKind::kClaim, "c-1", true},
                                       PodVolume{"scratch", VolumeKind::kOther, "", false},
                                       PodVolume{"e", VolumeKind::kEphemeral, "web-1-e", false, "", {}, {made}}));
  EXPECT_THAT(pod.resource_claims, ElementsAre("gpu"));
  EXPECT_EQ(pod.phase, "Running");
  EXPECT_EQ(pod.nominated_node_name, "node-b");
  EXPECT_EQ(pod.start_time->ns, 1709285400000000000);
  EXPECT_THAT(pod.conditions, ElementsAre(PodCondition{"PodScheduled", "True", "x", ""}));
  EXPECT_THAT(pod.container_statuses,
              ElementsAre(ContainerStatus{"c", Amounts({{"cpu", "1"}}), Amounts({{"cpu", "2"}})}));
  EXPECT_EQ(pod.init_container_statuses[0].resources_requests, std::nullopt);
  EXPECT_EQ(pod.status_requests, ResourceList());
  EXPECT_EQ(pod.status_allocated, Amounts({{"memory", "1Gi"}}));
}

TEST(DecodePodTest, AffinityTermsArriveInTheFormThatMatches) {
  const Pod pod = Decode<DecodedPod>(kFullPod).pod;
  ASSERT_TRUE(pod.affinity.node_required);
  ASSERT_EQ(pod.affinity.node_required->terms.size(), 1u);
  const NodeSelectorTerm& term = pod.affinity.node_required->terms[0];
  EXPECT_THAT(term.match_expressions, ElementsAre(Requirement{"cores", SelectorOp::kGt, {"4"}},
                                                  Requirement{"zone", SelectorOp::kIn, {"a", "b"}}));
  EXPECT_THAT(term.match_fields, ElementsAre(Requirement{"metadata.name", SelectorOp::kIn, {"node-a"}}));
  EXPECT_EQ(term.invalid, "");
  ASSERT_EQ(pod.affinity.node_preferred.size(), 1u);
  EXPECT_EQ(pod.affinity.node_preferred[0].weight, 5);
  ASSERT_TRUE(pod.affinity.pod_affinity);
  const PodAffinityTerm& with = pod.affinity.pod_affinity->required.at(0);
  EXPECT_EQ(with.topology_key, "zone");
  EXPECT_THAT(with.namespaces, ElementsAre("n1"));
  EXPECT_TRUE(with.namespace_selector && with.namespace_selector->empty());
  // Sorted by key, matchLabels folded in.
  EXPECT_THAT(with.selector->requirements,
              ElementsAre(Requirement{"a", SelectorOp::kNotIn, {"v", "w"}}, Requirement{"z", SelectorOp::kIn, {"1"}}));
  ASSERT_TRUE(pod.affinity.pod_anti_affinity);
  EXPECT_EQ(pod.affinity.pod_anti_affinity->preferred.at(0).weight, 100);
  EXPECT_EQ(pod.affinity.pod_anti_affinity->preferred.at(0).term.selector, std::nullopt);
}

TEST(DecodePodTest, NullIsAbsent) {
  const Pod pod =
      Decode<DecodedPod>(
          PodYaml("  nodeSelector: null\n  affinity: {podAffinity: null, nodeAffinity: "
                  "{requiredDuringSchedulingIgnoredDuringExecution: null}}\n  tolerations: null\n  priority: null"))
          .pod;
  EXPECT_EQ(pod.node_selector, std::nullopt);
  EXPECT_EQ(pod.affinity, Affinity());
  EXPECT_EQ(pod.scheduler_name, "default-scheduler");
  EXPECT_EQ(pod.meta.namespace_, "default");
  // An empty object is not absent.
  EXPECT_TRUE(Decode<DecodedPod>(PodYaml("  affinity: {podAffinity: {}}")).pod.affinity.pod_affinity.has_value());
  EXPECT_TRUE(Decode<DecodedPod>(PodYaml("  nodeSelector: {}")).pod.node_selector.has_value());
  // A null amount is zero, as upstream reads it.
  EXPECT_EQ(Decode<DecodedPod>(PodYaml("  containers: [{name: c, image: i, resources: {requests: {cpu: null}}}]"))
                .pod.containers[0]
                .requests,
            Amounts({{"cpu", "0"}}));
}

TEST(DecodePodTest, SelectorsThatUpstreamCannotParseCarryItsSentence) {
  // The API server accepts these: the value of Gt need not be a number, and preferred terms take any value.
  const Pod pod = Decode<DecodedPod>(PodYaml(R"(  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: [x]}]}]
      preferredDuringSchedulingIgnoredDuringExecution:
      - {weight: 1, preference: {}}
      - {weight: 1, preference: {matchExpressions: [{key: a, operator: In, values: ["x y"]}]}})"))
                      .pod;
  EXPECT_EQ(pod.affinity.node_required->terms[0].invalid,
            "nodeSelectorTerms[0].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the "
            "value must be an integer");
  EXPECT_THAT(pod.affinity.node_preferred[1].preference.invalid,
              HasSubstr("[1].matchExpressions[0].values[0][a]: Invalid value: \"x y\": a valid label must be"));
  const Pod peer = Decode<DecodedPod>(PodYaml(R"(  affinity:
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - {topologyKey: z, labelSelector: {matchExpressions: [{key: a, operator: Like, values: [b]}]}}
      - {topologyKey: z, labelSelector: {matchExpressions: [{key: a, operator: In}]}})"),
                                      DecodeMode::kPeer)
                       .pod;
  EXPECT_EQ(peer.affinity.pod_affinity->required[0].selector->invalid,
            "\"Like\" is not a valid label selector operator");
  EXPECT_EQ(peer.affinity.pod_affinity->required[1].selector->invalid,
            "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
}

TEST(DecodePodTest, PeersMaySayWhatWeDoNotKnow) {
  const std::string yaml = PodYaml(
      "  tolerations: [{key: a, operator: Near, effect: Later}]\n  preemptionPolicy: Sometimes\n"
      "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Maybe}]\n"
      "  containers: [{name: c, image: i, restartPolicy: Twice, ports: [{containerPort: 1, protocol: QUIC}]}]");
  const Pod pod = Decode<DecodedPod>(yaml, DecodeMode::kPeer).pod;
  EXPECT_EQ(pod.tolerations[0].op, TolerationOp::kUnknown);
  EXPECT_EQ(pod.tolerations[0].effect, TaintEffect::kUnknown);
  EXPECT_EQ(pod.topology_spread[0].when_unsatisfiable, WhenUnsatisfiable::kUnknown);
  EXPECT_EQ(pod.containers[0].ports[0].protocol, "QUIC");
  EXPECT_EQ(pod.preemption_policy, PreemptionPolicy::kPreemptLowerPriority);
  EXPECT_EQ(ErrorsOf(yaml).size(), 6u);
}

TEST(DecodePodTest, PeersPodsAreReadyToUse) {
  const Pod pod = Decode<DecodedPod>(PodYaml("  containers: [{name: c, image: i, resources: {requests: {cpu: 300m}}}]"),
                                     DecodeMode::kPeer)
                      .pod;
  EXPECT_EQ(pod.resources.request.milli_cpu, 300);
}

TEST(DecodePodTest, AllErrorsOfADocumentAreListed) {
  EXPECT_THAT(
      ErrorsOf(R"(
apiVersion: v1
kind: Pod
metadata: {name: [p], labels: {a: 5}, creationTimestamp: yesterday}
spec:
  priority: high
  hostNetwork: 1
  nodeSelector: [a]
  containers:
  - name: c
    image: i
    resources: {requests: {cpu: lots, memory: {}}}
    ports: [{containerPort: 1.5}, {containerPort: 99999999999}]
)"),
      ElementsAre("metadata.name: Invalid value: must be a string, not an array",
                  "metadata.labels[a]: Invalid value: 5: must be a string, not a number",
                  "metadata.creationTimestamp: Invalid value: \"yesterday\": must be a time in RFC 3339 form, "
                  "e.g. 2006-01-02T15:04:05Z",
                  "spec.priority: Invalid value: \"high\": must be an int32, not a string",
                  "spec.hostNetwork: Invalid value: 1: must be a boolean, not a number",
                  "spec.nodeSelector: Invalid value: must be an object, not an array",
                  "spec.containers[0].resources.requests[cpu]: Invalid value: \"lots\": quantities must match "
                  "the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
                  "spec.containers[0].resources.requests[memory]: Invalid value: must be a quantity, not an object",
                  "spec.containers[0].ports[0].containerPort: Invalid value: 1.5: must be an integer",
                  "spec.containers[0].ports[0].containerPort: Required value",
                  "spec.containers[0].ports[1].containerPort: Invalid value: 99999999999: out of range for an int32",
                  "spec.containers[0].ports[1].containerPort: Required value",
                  "metadata.name: Required value: name is required; generateName is not read"));
}

TEST(DecodePodTest, WrongTypesFailOnlyThatObjectOfAPeer) {
  EXPECT_THAT(ErrorsOf(PodYaml("  nodeName: 5"), DecodeMode::kPeer),
              ElementsAre("spec.nodeName: Invalid value: 5: must be a string, not a number"));
}

}  // namespace
}  // namespace berth
