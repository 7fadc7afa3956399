// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/decode_test_util.h"

namespace berth {
namespace {

using ::testing::ElementsAre;

TEST(DecodeNodeTest, EveryFieldThatIsReadArrives) {
  const Node node = Decode<Node>(R"(
apiVersion: v1
kind: Node
metadata: {name: node, labels: {zone: a}, namespace: dropped}
spec:
  unschedulable: true
  taints: [{key: a, value: b, effect: NoSchedule}, {key: a, effect: NoExecute}, {key: c, effect: PreferNoSchedule}]
status:
  capacity: {cpu: 99, memory: 99Gi}
  allocatable: {cpu: 3500m, memory: 8Gi, pods: 110, example.com/gpu: "2", hugepages-2Mi: 4Mi}
  images: [{names: [a:1, b@sha256:0], sizeBytes: 500}]
  conditions: [{type: Ready, status: "True"}]
  declaredFeatures: [A, B/c]
)");
  EXPECT_EQ(node.name(), "node");
  EXPECT_EQ(node.meta.namespace_, "");
  EXPECT_TRUE(node.unschedulable);
  EXPECT_THAT(node.taints,
              ElementsAre(Taint{"a", "b", TaintEffect::kNoSchedule}, Taint{"a", "", TaintEffect::kNoExecute},
                          Taint{"c", "", TaintEffect::kPreferNoSchedule}));
  EXPECT_EQ(node.allocatable.milli_cpu, 3500);
  EXPECT_EQ(node.allocatable.memory, int64_t{8} << 30);
  EXPECT_EQ(node.allocatable.pods, 110);
  EXPECT_EQ(node.allocatable.Get(InternResource("example.com/gpu")), 2);
  EXPECT_EQ(node.allocatable.Get(InternResource("hugepages-2Mi")), 4 << 20);
  EXPECT_THAT(node.images, ElementsAre(NodeImage{{"a:1", "b@sha256:0"}, 500}));
  EXPECT_THAT(node.conditions, ElementsAre(NodeCondition{"Ready", "True"}));
  EXPECT_THAT(node.declared_features, ElementsAre("A", "B/c"));
}

TEST(DecodeNodeTest, AllocatableDefaultsToCapacityOnlyWhenAbsent) {
  auto cpu = [](const std::string& status) {
    return Decode<Node>("{apiVersion: v1, kind: Node, metadata: {name: node}, status: " + status + "}")
        .allocatable.milli_cpu;
  };
  EXPECT_EQ(cpu("{capacity: {cpu: 4}}"), 4000);
  EXPECT_EQ(cpu("{capacity: {cpu: 4}, allocatable: null}"), 4000);
  EXPECT_EQ(cpu("{capacity: {cpu: 4}, allocatable: {}}"), 0);
  EXPECT_EQ(cpu("{allocatable: {cpu: 3}, capacity: {cpu: 4}}"), 3000);
  EXPECT_EQ(cpu("{}"), 0);
}

TEST(DecodeNodeTest, FilesAreValidated) {
  EXPECT_THAT(ErrorsOf(R"(
apiVersion: v1
kind: Node
metadata: {name: Bad_Name, labels: {"a b": "-"}}
spec:
  taints: [{key: a, effect: NoSchedule}, {key: a, value: x, effect: NoSchedule}, {key: "", effect: Never}, {key: b}]
status:
  allocatable: {cpu: -1, example.com/gpu: "1.5"}
  declaredFeatures: [B, A, A]
)")
                  .size(),
              12u);
  EXPECT_THAT(
      ErrorsOf("{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: a, effect: Never}]}}"),
      ElementsAre("spec.taints[0].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", "
                  "\"PreferNoSchedule\", \"NoExecute\""));
  EXPECT_THAT(
      ErrorsOf("{apiVersion: v1, kind: Node, metadata: {name: node}, status: {capacity: {cpu: -1, pods: 0.5}}}"),
      ElementsAre("status.capacity[cpu]: Invalid value: \"-1\": must be greater than or equal to 0",
                  "status.capacity[pods]: Invalid value: \"0.5\": must be an integer"));
}

TEST(DecodeNodeTest, UnknownEffectsOfPeersNeverMatch) {
  const Node node =
      Decode<Node>("{apiVersion: v1, kind: Node, metadata: {name: node}, spec: {taints: [{key: a, effect: Never}]}}",
                   DecodeMode::kPeer);
  EXPECT_EQ(node.taints[0].effect, TaintEffect::kUnknown);
}

}  // namespace
}  // namespace berth
