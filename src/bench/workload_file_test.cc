// SPDX-License-Identifier: Apache-2.0
#include "bench/workload_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file of one case with these ops and one workload with these parameters.
WorkloadFile Parse(const std::string& ops, const std::string& params = "{nodes: 3}") {
  return ParseWorkloads(
      "- name: C\n  workloadTemplate:\n" + ops + "  workloads:\n  - name: W\n    params: " + params + "\n",
      "folder/file.yaml");
}
std::string OnlyError(const WorkloadFile& file) {
  return file.errors.size() == 1 ? file.errors[0] : std::to_string(file.errors.size()) + " errors";
}
Result<std::vector<Operation>> Ops(const WorkloadFile& file) {
  std::vector<std::string> notes;
  return Unroll(file.cases.at(0), file.cases[0].workloads.at(0), notes);
}

TEST(WorkloadFileTest, ParametersAreFilledIn) {
  const WorkloadFile file =
      Parse("  - {opcode: createNodes, countParam: $nodes}\n  - {opcode: sleep, durationParam: $pause}\n",
            "{nodes: 3, pause: 1m30s}");
  ASSERT_THAT(file.errors, ElementsAre());
  EXPECT_EQ(file.folder, "folder/");
  const Result<std::vector<Operation>> ops = Ops(file);
  ASSERT_TRUE(ops.ok());
  EXPECT_EQ((*ops)[0].count, 3);
  EXPECT_EQ((*ops)[1].duration, Duration::Seconds(90));
}

TEST(WorkloadFileTest, PodSetsBecomeOneCreatePodsPerNamespace) {
  const WorkloadFile file = Parse(
      "  - {opcode: createPodSets, countParam: $nodes, namespacePrefix: ns, createPodsOp: {opcode: createPods, count: "
      "2}}\n");
  ASSERT_THAT(file.errors, ElementsAre());
  const Result<std::vector<Operation>> ops = Ops(file);
  ASSERT_TRUE(ops.ok());
  ASSERT_EQ(ops->size(), 3u);
  EXPECT_EQ((*ops)[2].code, OpCode::kCreatePods);
  EXPECT_EQ((*ops)[2].namespace_, "ns-2");
  EXPECT_EQ((*ops)[2].count, 2);
}

TEST(WorkloadFileTest, UnknownOpsAndFieldsAreNamed) {
  EXPECT_EQ(OnlyError(Parse("  - {opcode: explode, count: 1}\n")),
            "folder/file.yaml: [0].workloadTemplate[0].opcode: Invalid value: \"explode\": unknown op");
  EXPECT_THAT(OnlyError(Parse("  - {opcode: createNodes, count: 1, colour: red}\n")),
              HasSubstr("[0].workloadTemplate[0].colour"));
  EXPECT_THAT(OnlyError(Parse("  - {opcode: barrier, stageRequirement: Bound}\n")), HasSubstr("stageRequirement"));
  EXPECT_THAT(OnlyError(ParseWorkloads("- name: C\n  speed: 9\n  workloadTemplate: [{opcode: barrier}]\n"
                                       "  workloads: [{name: W}]\n",
                                       "f")),
              HasSubstr("[0].speed"));
}

TEST(WorkloadFileTest, OpsThatNeedWhatIsNotBuiltAreReadAllTheSame) {
  const WorkloadFile file = Parse("  - {opcode: createResourceDriver, driverName: d, nodes: scheduler-perf-dra-*}\n");
  ASSERT_THAT(file.errors, ElementsAre());
  EXPECT_EQ(file.cases[0].ops[0].code, OpCode::kNotBuilt);
}

TEST(WorkloadFileTest, AbsurdValuesAreRefused) {
  EXPECT_THAT(OnlyError(Parse("  - {opcode: createNodes, count: -1}\n")), HasSubstr("count: Invalid value: -1"));
  EXPECT_THAT(OnlyError(Parse("  - {opcode: createNodes, count: 1000000000}\n")), HasSubstr("1000000000"));
  EXPECT_THAT(OnlyError(Parse("  - {opcode: createNodes}\n")), HasSubstr("count or countParam"));
  EXPECT_THAT(OnlyError(Parse("  - {opcode: createNodes, countParam: nodes}\n")), HasSubstr("\"nodes\""));
  EXPECT_THAT(OnlyError(Parse("  - {opcode: sleep, duration: 1000h}\n")), HasSubstr("between 0s and 1h"));
  EXPECT_THAT(OnlyError(Parse("  - {opcode: churn, mode: recreate, templatePaths: [a]}\n")), HasSubstr("number"));
  EXPECT_THAT(
      OnlyError(Parse("  - {opcode: createPods, count: 1, collectMetrics: true, skipWaitToCompletion: true}\n")),
      HasSubstr("collectMetrics"));
  EXPECT_THAT(OnlyError(ParseWorkloads("a: b\n", "f")), HasSubstr("must be a list of test cases"));
  EXPECT_THAT(OnlyError(ParseWorkloads("", "f")), HasSubstr("no test case"));
}

TEST(WorkloadFileTest, NodeStrategiesOfTheWrongTypesAreNamed) {
  const auto error = [](const std::string& strategy) {
    return OnlyError(Parse("  - {opcode: createNodes, count: 1, nodeAllocatableStrategy: {" + strategy + "}}\n"));
  };
  const std::string path = "folder/file.yaml: [0].workloadTemplate[0].nodeAllocatableStrategy.";
  EXPECT_EQ(error("nodeAllocatable: [1, 2]"), path + "nodeAllocatable: Invalid value: [1,2]: must be a map");
  EXPECT_EQ(error("nodeAllocatable: {cpu: [4]}"),
            path + "nodeAllocatable[cpu]: Invalid value: [4]: must be a quantity");
  EXPECT_EQ(error("csiNodeAllocatable: 5"), path + "csiNodeAllocatable: Invalid value: 5: must be a map");
  EXPECT_EQ(error("csiNodeAllocatable: {a: 5}"), path + "csiNodeAllocatable[a]: Invalid value: 5: must have a count");
  for (const std::string wrong : {"99999999999", "-1", "1.5", "\"7\""})
    EXPECT_EQ(error("csiNodeAllocatable: {a: {count: " + wrong + "}}"),
              path + "csiNodeAllocatable[a].count: Invalid value: " + wrong +
                  ": must be a whole number between 0 and 2147483647");
  const WorkloadFile file = Parse(
      "  - {opcode: createNodes, count: 1, nodeAllocatableStrategy: {nodeAllocatable: {cpu: 4, memory: 1Gi}, "
      "csiNodeAllocatable: {a: {count: 39}, b: {count: 1e3}}}}\n");
  ASSERT_THAT(file.errors, ElementsAre());
  EXPECT_EQ(file.cases[0].ops[0].allocatable_strategy->allocatable.size(), 2u);
  EXPECT_EQ(file.cases[0].ops[0].allocatable_strategy->csi_limits.at("a"), 39);
  EXPECT_EQ(file.cases[0].ops[0].allocatable_strategy->csi_limits.at("b"), 1000);
}

TEST(WorkloadFileTest, ParametersThatAreMissingOrOfTheWrongKindAreNamed) {
  const char* op = "  - {opcode: createNodes, countParam: $nodes}\n";
  EXPECT_EQ(Ops(Parse(op, "{}")).error().text(), "[0].workloadTemplate[0]: parameter nodes is not given");
  EXPECT_THAT(Ops(Parse(op, "{nodes: many}")).error().text(), HasSubstr("got \"many\""));
  EXPECT_THAT(Ops(Parse(op, "{nodes: 9999999999}")).error().text(), HasSubstr("got 9999999999"));
}

TEST(WorkloadFileTest, AWorkloadsFeatureGatesAreKeptApartFromItsCases) {
  const WorkloadFile file = ParseWorkloads(
      "- name: C\n  featureGates: {A: false}\n  workloadTemplate: [{opcode: barrier}]\n"
      "  workloads: [{name: W, featureGates: {B: true}}, {name: X}]\n",
      "f");
  ASSERT_THAT(file.errors, ElementsAre());
  EXPECT_THAT(file.cases[0].workloads[0].feature_gates, ElementsAre("B"));
  EXPECT_THAT(file.cases[0].workloads[1].feature_gates, ElementsAre());
  EXPECT_THAT(
      OnlyError(ParseWorkloads("- name: C\n  featureGates: {A: maybe}\n  workloadTemplate: [{opcode: barrier}]\n"
                               "  workloads: [{name: W}]\n",
                               "f")),
      HasSubstr("featureGates[A]: Invalid value: \"maybe\""));
}

TEST(WorkloadFileTest, FeatureGatesAreAMap) {
  EXPECT_EQ(OnlyError(ParseWorkloads("- name: C\n  featureGates: [1]\n  workloadTemplate: [{opcode: barrier}]\n"
                                     "  workloads: [{name: W}]\n",
                                     "f")),
            "f: [0].featureGates: Invalid value: [1]: must be a map");
}

TEST(WorkloadFileTest, DeclaredFeaturesNeedNoOp) {
  const char* op = "  - {opcode: createNodes, count: 1}\n";
  const Result<std::vector<Operation>> ops = Ops(Parse(op, "{numNodeDeclaredFeatures: 7}"));
  ASSERT_TRUE(ops.ok()) << ops.error().text();
  EXPECT_EQ((*ops)[0].declared_features, 7);
  EXPECT_THAT(Ops(Parse(op, "{numNodeDeclaredFeatures: 1e9}")).error().text(), HasSubstr("between 0 and 1000"));
  EXPECT_THAT(Ops(Parse(op, "{numNodeDeclaredFeatures: many}")).error().text(), HasSubstr("got \"many\""));
}

TEST(WorkloadFileTest, TooManySetsOfPodsAreRefused) {
  const std::string op =
      "  - {opcode: createPodSets, countParam: $nodes, namespacePrefix: ns, createPodsOp: {opcode: createPods, "
      "count: 1000}}\n";
  EXPECT_THAT(Ops(Parse(op, "{nodes: 10001}")).error().text(), HasSubstr("10001 sets of pods are more than 10000"));
  EXPECT_THAT(Ops(Parse(op, "{nodes: 1001}")).error().text(),
              HasSubstr("1001 sets of 1000 pods are more than 1000000"));
}

TEST(WorkloadFileTest, WhatHasNoEffectIsNoted) {
  const WorkloadFile file = ParseWorkloads(
      "- name: C\n  featureGates: {SchedulerQueueingHints: false}\n  workloadTemplate: [{opcode: barrier}]\n"
      "  workloads: [{name: W, threshold: 7, labels: [short], params: {unused: 1}}]\n",
      "f");
  ASSERT_THAT(file.errors, ElementsAre());
  EXPECT_THAT(file.cases[0].feature_gates, ElementsAre("SchedulerQueueingHints"));
  std::vector<std::string> notes;
  ASSERT_TRUE(Unroll(file.cases[0], file.cases[0].workloads[0], notes).ok());
  EXPECT_THAT(notes, ElementsAre("[0].workloads[0]: params.unused: no op asks for it"));
}

}  // namespace
}  // namespace berth::bench
