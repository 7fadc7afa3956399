// SPDX-License-Identifier: Apache-2.0
// The API server's validation of pods, one rule per case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode_test_util.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TEST(ValidatePodTest, EachRuleSaysWhereAndWhat) {
  const struct {
    const char* spec;
    const char* error;  // how it starts; "" for a pod that is fine
  } cases[] = {
      {"  containers: []", "spec.containers: Required value"},
      {"  containers: [{image: i}]", "spec.containers[0].name: Required value"},
      {"  containers: [{name: c}]", "spec.containers[0].image: Required value"},
      {"  containers: [{name: C, image: i}]",
       "spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 label"},
      {"  containers: [{name: c, image: i}, {name: c, image: i}]", "spec.containers[1].name: Duplicate value: \"c\""},
      {"  initContainers: [{name: c, image: i}]", "spec.initContainers[0].name: Duplicate value: \"c\""},
      {"  nodeName: Not_A_Node", "spec.nodeName: Invalid value: \"Not_A_Node\""},
      {"  nodeName: node\n  schedulingGates: [{name: g}]", "spec.nodeName: Forbidden: cannot be set until"},
      {"  schedulingGates: [{name: g}, {name: g}]", "spec.schedulingGates[1]: Duplicate value: \"g\""},
      {"  schedulingGates: [{name: \"a b\"}]", "spec.schedulingGates[0]: Invalid value: \"a b\""},
      {"  nodeSelector: {\"a b\": c}", "spec.nodeSelector[a b]: Invalid value: \"a b\""},
      {"  preemptionPolicy: Often", "spec.preemptionPolicy: Unsupported value: \"Often\": supported values: "},
      {"  priorityClassName: A", "spec.priorityClassName: Invalid value: \"A\""},
      // Resources.
      {"  containers: [{name: c, image: i, resources: {requests: {cpu: -1}}}]",
       "spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"},
      {"  containers: [{name: c, image: i, resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]",
       "spec.containers[0].resources.requests[cpu]: Invalid value: \"2\": must be less than or equal to cpu limit of "
       "1"},
      {"  containers: [{name: c, image: i, resources: {requests: {foo: 2}}}]",
       "spec.containers[0].resources.requests[foo]: Invalid value: \"foo\": must be a standard resource type or fully"},
      {"  containers: [{name: c, image: i, resources: {requests: {pods: 2}}}]",
       "spec.containers[0].resources.requests[pods]: Invalid value: \"pods\": must be a standard resource for "
       "containers"},
      {"  containers: [{name: c, image: i, resources: {limits: {example.com/gpu: \"1.5\"}}}]",
       "spec.containers[0].resources.limits[example.com/gpu]: Invalid value: \"1.5\": must be an integer"},
      {"  containers: [{name: c, image: i, resources: {requests: {example.com/gpu: 1}}}]",
       "spec.containers[0].resources.limits[example.com/gpu]: Required value: Limit must be set"},
      {"  containers: [{name: c, image: i, resources: {requests: {example.com/gpu: 1}, limits: {example.com/gpu: 2}}}]",
       "spec.containers[0].resources.requests[example.com/gpu]: Invalid value: \"1\": must be equal to "
       "example.com/gpu"},
      {"  containers: [{name: c, image: i, resources: {limits: {hugepages-2Mi: 3Mi, cpu: 1}}}]",
       "spec.containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"3145728\": 3145728 is not positive "
       "integer"},
      {"  containers: [{name: c, image: i, resources: {limits: {hugepages-2Mi: 4Mi}}}]",
       "spec.containers[0].resources: Forbidden: HugePages require cpu or memory"},
      {"  containers: [{name: c, image: i, resources: {limits: {hugepages-2Mi: 4Mi, cpu: 1}}}]", ""},
      {"  overhead: {foo.com/x: 0.5}", "spec.overhead[foo.com/x]: Invalid value: \"0.5\": must be an integer"},
      {"  resources: {requests: {example.com/gpu: 1}}",
       "spec.resources.requests[example.com/gpu]: Unsupported value: \"example.com/gpu\": supported values: \"cpu\", "},
      {"  resources: {requests: {cpu: 1}}\n  containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]",
       "spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to aggregate container"},
      {"  resources: {limits: {cpu: 1}}\n  containers: [{name: c, image: i, resources: {requests: {cpu: 1}, limits: "
       "{cpu: 2}}}]",
       "spec.resources.containers[0][cpu].limits: Invalid value: \"2\": must be less than or equal to pod limits of 1"},
      // Ports.
      {"  containers: [{name: c, image: i, ports: [{containerPort: 0}]}]",
       "spec.containers[0].ports[0].containerPort: Required value"},
      {"  containers: [{name: c, image: i, ports: [{containerPort: 65536}]}]",
       "spec.containers[0].ports[0].containerPort: Invalid value: 65536: must be between 1 and 65535, inclusive"},
      {"  containers: [{name: c, image: i, ports: [{containerPort: 1, protocol: ICMP}]}]",
       "spec.containers[0].ports[0].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", "
       "\"UDP\""},
      {"  containers: [{name: c, image: i, ports: [{containerPort: 1, name: p1}, {containerPort: 2, name: p1}]}]",
       "spec.containers[0].ports[1].name: Duplicate value: \"p1\""},
      {"  containers: [{name: c, image: i, ports: [{containerPort: 1, hostPort: 5}, {containerPort: 2, hostPort: 5}]}]",
       "spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//5\""},
      {"  containers: [{name: c, image: i, ports: [{containerPort: 1, hostPort: 5}, {containerPort: 2, hostPort: 5, "
       "protocol: UDP}]}]",
       ""},
      {"  hostNetwork: true\n  containers: [{name: c, image: i, ports: [{containerPort: 1, hostPort: 5}]}]",
       "spec.containers[0].ports[0].hostPort: Invalid value: 5: must match `containerPort` when `hostNetwork` is true"},
      {"  hostNetwork: true\n  containers: [{name: c, image: i, ports: [{containerPort: 1}]}]", ""},
      // Restart policies.
      {"  containers: [{name: c, image: i, restartPolicyRules: [{action: Restart, exitCodes: {}}]}]",
       "spec.containers[0].restartPolicy: Required value: must specify restartPolicy"},
      {"  initContainers: [{name: d, image: i, restartPolicy: Twice}]",
       "spec.initContainers[0].restartPolicy: Unsupported value: \"Twice\""},
      // Tolerations.
      {"  tolerations: [{value: a}]",
       "spec.tolerations[0].operator: Invalid value: \"\": operator must be Exists when `key`"},
      {"  tolerations: [{key: a, operator: Exists, value: b}]",
       "spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"},
      {"  tolerations: [{key: a, operator: Gt, value: \"1\"}]",
       "spec.tolerations[0].operator: Unsupported value: \"Gt\""},
      {"  tolerations: [{key: a, effect: Some}]", "spec.tolerations[0].effect: Unsupported value: \"Some\""},
      {"  tolerations: [{key: a, tolerationSeconds: 5, effect: NoSchedule}]",
       "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when "
       "`tolerationSeconds`"},
      {"  tolerations: [{key: a, tolerationSeconds: 5, effect: NoExecute}]", ""},
      // Topology spread.
      {"  topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]",
       "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero"},
      {"  topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]",
       "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"},
      {"  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z}]",
       "spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: \"\": supported values: "
       "\"DoNotSchedule\""},
      {"  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
       "spec.topologySpreadConstraints[0].minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable="},
      {"  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, "
       "topologyKey: z, whenUnsatisfiable: DoNotSchedule}]",
       "spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{z, DoNotSchedule}\""},
      {"  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: "
       "Maybe}]",
       "spec.topologySpreadConstraints[0].nodeTaintsPolicy: Unsupported value: \"Maybe\""},
      {"  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: "
       "[app]}]",
       "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified when labelSelector is not "
       "set"},
      // Affinity.
      {"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value"},
      {"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: a, operator: Is}]}]}}}",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchExpressions[0].operator: Invalid value: \"Is\": not a valid selector operator"},
      {"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
       "[{matchExpressions: [{key: a, operator: In}]}]}}}",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
       "matchExpressions[0].values: Required value"},
      {"  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: "
       "[{key: metadata.uid, operator: In, values: [a]}]}]}}}",
       "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0]."
       "key: Invalid value: \"metadata.uid\": not a valid field selector key"},
      {"  affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, preference: {}}]}}",
       "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must "
       "be in the range 1-100"},
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can "
       "not be empty"},
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, namespaces: "
       "[A]}]}}",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces[0]: Invalid value: "
       "\"A\""},
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, labelSelector: "
       "{matchExpressions: [{key: a, operator: Gt, values: [\"1\"]}]}}]}}",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0]."
       "operator: Invalid value: \"Gt\""},
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, matchLabelKeys: "
       "[app], labelSelector: {matchLabels: {app: web}}}]}}",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]: Invalid value: "
       "\"app\": exists in both matchLabelKeys and labelSelector"},
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, matchLabelKeys: "
       "[a], mismatchLabelKeys: [a], labelSelector: {}}]}}",
       "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]: Invalid value: "
       "\"a\": exists in both matchLabelKeys and mismatchLabelKeys"},
      // A key the pod has no label for is not merged, so it may be in the selector.
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, matchLabelKeys: "
       "[other], labelSelector: {matchLabels: {other: web}}}]}}",
       ""},
      // Read back from an API server: merged already.
      {"  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, matchLabelKeys: "
       "[app], labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}}]}}",
       ""},
      // Volumes and claims.
      {"  volumes: [{name: v, emptyDir: {}, hostPath: {path: /x}}]",
       "spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"},
      {"  volumes: [{name: v, persistentVolumeClaim: {}}]",
       "spec.volumes[0].persistentVolumeClaim.claimName: Required value"},
      {"  volumes: [{name: v, ephemeral: {}}]", "spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"},
      {"  volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]",
       "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value"},
      {"  volumes: [{name: v}, {name: v}]", "spec.volumes[1].name: Duplicate value: \"v\""},
      {"  resourceClaims: [{name: a}]", "spec.resourceClaims[0]: Invalid value: \"a\": must specify one of"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.spec);
    const std::vector<std::string> errors = ErrorsOf(PodYaml(c.spec));
    if (*c.error == '\0') {
      EXPECT_THAT(errors, ElementsAre());
    } else {
      ASSERT_FALSE(errors.empty());
      EXPECT_THAT(errors[0], StartsWith(c.error));
      EXPECT_LE(errors.size(), 2u);  // a wrong name may break a second rule
    }
  }
}

}  // namespace
}  // namespace berth
