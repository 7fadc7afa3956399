// SPDX-License-Identifier: Apache-2.0
#include "api/defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode_test_util.h"

namespace berth {
namespace {

using ::testing::ElementsAre;

Pod Defaulted(const std::string& spec) { return Decode<DecodedPod>(PodYaml(spec)).pod; }

TEST(DefaultsTest, RequestsComeFromLimitsWhereTheyAreMissing) {
  const Pod pod = Defaulted(
      "  containers: [{name: c, image: i, resources: {requests: {cpu: 1}, limits: {cpu: 2, memory: 1Gi}}}]\n"
      "  initContainers: [{name: d, image: i, resources: {limits: {cpu: 3}}}]");
  EXPECT_EQ(pod.containers[0].requests, Amounts({{"cpu", "1"}, {"memory", "1Gi"}}));
  EXPECT_EQ(pod.init_containers[0].requests, Amounts({{"cpu", "3"}}));
}

TEST(DefaultsTest, PodLevelRequestsComeFromContainersThenFromPodLimits) {
  const char* containers =
      "  containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}, {name: d, image: i, resources: {requests: "
      "{cpu: 2}}}]\n";
  EXPECT_EQ(Defaulted(std::string(containers) + "  resources: {limits: {cpu: 8, memory: 4Gi}}").pod_requests,
            Amounts({{"cpu", "3"}, {"memory", "4Gi"}}));
  // What is given stands.
  EXPECT_EQ(Defaulted(std::string(containers) + "  resources: {requests: {cpu: 5}, limits: {cpu: 8}}").pod_requests,
            Amounts({{"cpu", "5"}}));
  // Without pod-level limits nothing is filled in.
  EXPECT_EQ(Defaulted(std::string(containers) + "  resources: {requests: {memory: 5}}").pod_requests,
            Amounts({{"memory", "5"}}));
  EXPECT_EQ(Defaulted(std::string(containers) + "  resources: {}").pod_requests, std::nullopt);
  // Huge pages of the containers become pod-level limits, and those requests.
  EXPECT_EQ(Defaulted("  containers: [{name: c, image: i, resources: {limits: {cpu: 1, hugepages-2Mi: 4Mi}}}]\n"
                      "  resources: {limits: {cpu: 8}}")
                .pod_requests,
            Amounts({{"cpu", "1"}, {"hugepages-2Mi", "4Mi"}}));
}

TEST(DefaultsTest, PodLevelLimitsAreKeptWithThoseOfHugePages) {
  EXPECT_EQ(Defaulted("  containers: [{name: c, image: i, resources: {limits: {cpu: 1, hugepages-2Mi: 4Mi}}}]\n"
                      "  resources: {limits: {cpu: 8}}")
                .pod_limits,
            Amounts({{"cpu", "8"}, {"hugepages-2Mi", "4Mi"}}));
  EXPECT_EQ(Defaulted("  containers: [{name: c, image: i, resources: {limits: {cpu: 1}}}]").pod_limits, ResourceList());
}

TEST(DefaultsTest, HostPortsComeFromContainerPortsUnderHostNetwork) {
  const char* ports = "  containers: [{name: c, image: i, ports: [{containerPort: 80}]}]";
  EXPECT_EQ(Defaulted(ports).containers[0].ports[0].host_port, 0);
  EXPECT_EQ(Defaulted(std::string(ports) + "\n  hostNetwork: true").containers[0].ports[0].host_port, 80);
}

LoadResult LoadPod(const std::string& spec, const std::string& others = "") {
  return LoadObjectsFromText(PodYaml(spec) + "---\n" + others);
}

TEST(DefaultsTest, PriorityComesFromTheClass) {
  const std::string classes = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: polite}
value: 50
preemptionPolicy: Never
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: usual}
value: 7
globalDefault: true
)";
  const struct {
    const char* name;
    const char* spec;
    std::string classes;
    int32_t priority;
    PreemptionPolicy policy;
    const char* class_name;
  } cases[] = {
      {"class later in the file", "  priorityClassName: polite", classes, 50, PreemptionPolicy::kNever, "polite"},
      {"the class wins", "  priorityClassName: polite\n  priority: 3", classes, 50, PreemptionPolicy::kNever, "polite"},
      {"global default", "  nodeName: a", classes, 7, PreemptionPolicy::kPreemptLowerPriority, "usual"},
      {"priority without class stands", "  priority: -3", classes, -3, PreemptionPolicy::kPreemptLowerPriority, ""},
      {"policy without class stands", "  priority: 3\n  preemptionPolicy: Never", "", 3, PreemptionPolicy::kNever, ""},
      {"nothing at all", "  nodeName: a", "", 0, PreemptionPolicy::kPreemptLowerPriority, ""},
      {"system class", "  priorityClassName: system-node-critical", "", 2000001000,
       PreemptionPolicy::kPreemptLowerPriority, "system-node-critical"},
      {"system class", "  priorityClassName: system-cluster-critical", "", 2000000000,
       PreemptionPolicy::kPreemptLowerPriority, "system-cluster-critical"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const LoadResult result = LoadPod(c.spec, c.classes);
    ASSERT_THAT(Texts(result.errors), ElementsAre());
    ASSERT_EQ(result.objects.of<Pod>().size(), 1u);
    EXPECT_EQ(result.objects.of<Pod>()[0]->priority, c.priority);
    EXPECT_EQ(result.objects.of<Pod>()[0]->preemption_policy, c.policy);
    EXPECT_EQ(result.objects.of<Pod>()[0]->priority_class_name, c.class_name);
  }
}

TEST(DefaultsTest, AnUnknownClassIsAnErrorThatNamesIt) {
  const LoadResult result = LoadPod("  priorityClassName: nobody");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].Text(),
            "Pod \"default/p\": spec.priorityClassName: Invalid value: \"nobody\": no PriorityClass with name nobody "
            "was found");
  EXPECT_EQ(result.errors[0].value, "nobody");
  EXPECT_TRUE(result.objects.of<Pod>().empty());
}

TEST(DefaultsTest, AnUnknownClassIsAnErrorEvenWhenThePodHasAPriority) {
  const LoadResult result = LoadPod("  priorityClassName: nobody\n  priority: 7");
  ASSERT_EQ(result.errors.size(), 1u);
  EXPECT_EQ(result.errors[0].path, "spec.priorityClassName");
}

TEST(DefaultsTest, AmountsAreRoundedUpToThousandthsOneByOne) {
  const LoadResult result = LoadObjectsFromText(
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [
        {"name": "a", "image": "i", "resources": {"requests": {"cpu": "500u"}}},
        {"name": "b", "image": "i", "resources": {"requests": {"cpu": "1500000001n"}}}]}})");
  ASSERT_THAT(Texts(result.errors), ElementsAre());
  EXPECT_EQ(result.objects.of<Pod>().at(0)->resources.request.milli_cpu, 1 + 1501);
}

TEST(DefaultsTest, LabelKeysAreMergedOnce) {
  const std::string term = "{topologyKey: z, matchLabelKeys: [app, absent], mismatchLabelKeys: [app2], labelSelector: ";
  auto selector = [&](const std::string& text) {
    const LoadResult result = LoadPod(
        "  affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
        "podAffinityTerm: " +
        term + text + "}}]}}");
    EXPECT_THAT(Texts(result.errors), ElementsAre());
    return result.objects.of<Pod>().at(0)->affinity.pod_anti_affinity->preferred.at(0).term.selector->requirements;
  };
  const Requirement merged{"app", SelectorOp::kIn, {"web"}};
  EXPECT_THAT(selector("{matchLabels: {x: u}}"), ElementsAre(merged, Requirement{"x", SelectorOp::kIn, {"u"}}));
  EXPECT_THAT(selector("{matchLabels: {x: u}, matchExpressions: [{key: app, operator: In, values: [web]}]}"),
              ElementsAre(merged, Requirement{"x", SelectorOp::kIn, {"u"}}));
  const LoadResult mismatch = LoadPod(
      "  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, mismatchLabelKeys: "
      "[app], "
      "labelSelector: {}}]}}");
  EXPECT_THAT(mismatch.objects.of<Pod>().at(0)->affinity.pod_affinity->required.at(0).selector->requirements,
              ElementsAre(Requirement{"app", SelectorOp::kNotIn, {"web"}}));
  const LoadResult spread = LoadPod(
      "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: "
      "[app], "
      "labelSelector: {}}]");
  EXPECT_THAT(spread.objects.of<Pod>().at(0)->topology_spread.at(0).selector->requirements, ElementsAre(merged));
  EXPECT_THAT(spread.objects.of<Pod>().at(0)->topology_spread.at(0).match_label_keys, ElementsAre("app"));
}

TEST(DefaultsTest, PeersAreNotMergedAgain) {
  const Pod pod =
      Decode<DecodedPod>(PodYaml("  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                                 "[{topologyKey: z, matchLabelKeys: "
                                 "[app], labelSelector: {}}]}}"),
                         DecodeMode::kPeer)
          .pod;
  EXPECT_TRUE(pod.affinity.pod_affinity->required.at(0).selector->requirements.empty());
}

TEST(DefaultsTest, IdentityIsInventedInFileOrder) {
  const LoadResult result = LoadObjectsFromText(R"(
apiVersion: v1
kind: Node
metadata: {name: a}
---
apiVersion: v1
kind: Node
metadata: {name: b, uid: mine, creationTimestamp: "2001-01-01T00:00:00Z"}
---
apiVersion: v1
kind: Node
metadata: {name: c}
)");
  const auto& nodes = result.objects.of<Node>();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_NE(nodes[0]->meta.uid, nodes[2]->meta.uid);
  EXPECT_LT(*nodes[0]->meta.creation_time, *nodes[2]->meta.creation_time);
  EXPECT_EQ(nodes[1]->meta.uid, "mine");
  EXPECT_EQ(nodes[1]->meta.creation_time->ns, 978307200000000000);
}

}  // namespace
}  // namespace berth
