// SPDX-License-Identifier: Apache-2.0
// Scenario files: what they say, and every way in which they can be wrong.
#include "sim/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sim/scenario_world.h"

namespace berth::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kHead[] = "apiVersion: berth.dev/v1alpha1\nkind: Scenario\n";
constexpr char kNode[] =
    "{apiVersion: v1, kind: Node, metadata: {name: a}, status: {allocatable: {cpu: '4', memory: 8Gi, pods: '110'}}}";
constexpr char kPod[] =
    "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: {requests: "
    "{cpu: '1'}}}]}}";

ScenarioLoad Read(const std::string& text, const ScenarioInput& input = {}) {
  return LoadScenarioFromText(kHead + text, "s.yaml", input);
}
const Pod& PodOf(const std::optional<ClusterObject>& object) { return *std::get<Ptr<Pod>>(*object); }
const Node& NodeOf(const std::optional<ClusterObject>& object) { return *std::get<Ptr<Node>>(*object); }

TEST(ScenarioTest, StepsBecomeTypedChangesAtTheirTimes) {
  const ScenarioLoad load =
      Read(std::string("name: demo\nseed: 7\nfaults: true\nduration: 5m\nsteps:\n- apply: [") + kNode + ", " + kPod +
           "]\n"
           "- {at: 1m30s, patch: {kind: Node, name: a, patch: {spec: {unschedulable: true}}}}\n"
           "- {at: 1m30s, delete: {kind: Pod, name: p, namespace: default}}\n"
           "expect:\n- {at: 10s, pod: p, node: a}\n- {pod: default/p, gone: true}\n");
  ASSERT_THAT(load.errors, IsEmpty());
  const Scenario& scenario = load.scenario;
  EXPECT_EQ(scenario.name, "demo");
  EXPECT_EQ(scenario.seed, 7u);
  EXPECT_TRUE(scenario.faults);
  EXPECT_EQ(scenario.duration, Duration::Seconds(300));
  ASSERT_THAT(scenario.steps, SizeIs(3));
  EXPECT_EQ(scenario.steps[0].at, Duration{});
  ASSERT_THAT(scenario.steps[0].changes, SizeIs(2));
  EXPECT_FALSE(scenario.steps[0].changes[0].before);
  EXPECT_EQ(NodeOf(scenario.steps[0].changes[0].after).allocatable.milli_cpu, 4000);
  EXPECT_EQ(PodOf(scenario.steps[0].changes[1].after).resources.request.milli_cpu, 1000);
  EXPECT_EQ(scenario.steps[1].at, Duration::Seconds(90));
  EXPECT_FALSE(NodeOf(scenario.steps[1].changes[0].before).unschedulable);
  EXPECT_TRUE(NodeOf(scenario.steps[1].changes[0].after).unschedulable);
  EXPECT_EQ(NodeOf(scenario.steps[1].changes[0].after).allocatable.milli_cpu, 4000) << "a patch keeps the rest";
  EXPECT_FALSE(scenario.steps[2].changes[0].after);
  ASSERT_THAT(scenario.expectations, SizeIs(2));
  EXPECT_EQ(scenario.expectations[0].at, Duration::Seconds(10));
  EXPECT_EQ(scenario.expectations[0].Text(), "on node a");
  EXPECT_EQ(scenario.expectations[1].at, std::nullopt);
  EXPECT_EQ(scenario.expectations[1].FullPod(), "default/p");
}

TEST(ScenarioTest, JsonIsReadAsWell) {
  const ScenarioLoad load = LoadScenarioFromText(
      R"({"apiVersion": "berth.dev/v1alpha1", "kind": "Scenario", "steps": []})", "dir/x.json", {});
  EXPECT_THAT(load.errors, IsEmpty());
  EXPECT_EQ(load.scenario.name, "x") << "the file's name stands in";
}

TEST(ScenarioTest, UnknownFieldsAreNamedWithTheirStep) {
  EXPECT_THAT(
      Read("stepps: []\nsteps:\n- {applly: {}}\n- {delete: {kind: Pod, name: p, nam: q}}\n").errors,
      ElementsAre("s.yaml: steps[0]: one of apply, patch and delete is required",
                  HasSubstr("s.yaml: steps[0].applly: unknown field"),
                  HasSubstr("s.yaml: steps[1].delete.nam: unknown field"), HasSubstr("s.yaml: stepps: unknown field"),
                  "s.yaml: steps[1].delete.name: no file, earlier step or generator creates Pod \"default/p\""));
}

TEST(ScenarioTest, TwoVerbsInOneStepAreRefused) {
  EXPECT_THAT(Read(std::string("steps: [{apply: ") + kPod + ", delete: {kind: Pod, name: p}}]").errors,
              ::testing::Contains("s.yaml: steps[0]: only one of apply, patch and delete may be given"));
}

TEST(ScenarioTest, TimeDoesNotGoBack) {
  const std::string pod = kPod;
  EXPECT_THAT(
      Read("steps:\n- {at: 10s, apply: " + pod + "}\n- {at: 9s, apply: " + pod + "}\n- {apply: " + pod + "}\n").errors,
      ElementsAre("s.yaml: steps[1].at: Invalid value: \"9s\": before steps[0].at (10s): time does not go back",
                  HasSubstr("steps[2].at: Invalid value: absent, which is 0s: before steps[0].at")));
}

TEST(ScenarioTest, TimesAreDurationsThatAreNotNegative) {
  const std::string pod = kPod;
  for (const char* bad : {"10", "soon", "-1s", "900000h", "[1s]", "true"})
    EXPECT_THAT(Read(std::string("steps: [{at: ") + bad + ", apply: " + pod + "}]").errors,
                ElementsAre(StartsWith("s.yaml: steps[0].at: Invalid value: ")))
        << bad;
  EXPECT_THAT(Read("steps: [{at: 0, apply: " + pod + "}]").errors, IsEmpty());
}

TEST(ScenarioTest, WhatCannotBeThereCannotBeChanged) {
  const std::string pod = kPod;
  EXPECT_THAT(
      Read("steps:\n- {patch: {kind: Pod, name: p, patch: {spec: {}}}}\n- {apply: " + pod +
           "}\n- {delete: {kind: Pod, name: p}}\n- {delete: {kind: Pod, name: p}}\n- {delete: {kind: Pood, name: p}}\n"
           "- {delete: {name: p}}\n- {patch: {kind: Node}}\n")
          .errors,
      ElementsAre(HasSubstr("steps[4].delete.kind: Unsupported value: \"Pood\""),
                  "s.yaml: steps[5].delete.kind: Required value", "s.yaml: steps[6].patch.name: Required value",
                  HasSubstr("steps[6].patch.patch: Required value"),
                  HasSubstr("steps[0].patch.name: no file, earlier step or generator creates Pod \"default/p\""),
                  HasSubstr("steps[3].delete.name: Pod \"default/p\" is deleted by an earlier step")));
}

TEST(ScenarioTest, ObjectsAreValidatedWhereTheyStand) {
  const ScenarioLoad load = Read(
      "steps:\n"
      "- apply: [{apiVersion: v1, kind: Pod, metadata: {name: P_}, spec: {containers: [{name: c, image: i}]}},\n"
      "          {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {priorityClassName: none, containers: "
      "[{name: c, image: i}]}}]\n"
      "- apply: {apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}\n"
      "- apply: 7\n");
  EXPECT_THAT(load.errors,
              ElementsAre(HasSubstr("s.yaml: steps[2].apply: Invalid value: 7"),
                          AllOf(StartsWith("s.yaml: steps[0].apply[0]: Pod \"default/P_\": metadata.name:")),
                          AllOf(StartsWith("s.yaml: steps[0].apply[1]: Pod \"default/q\": "), HasSubstr("none")),
                          HasSubstr("s.yaml: steps[1].apply.kind: Unsupported value: \"Deployment\"")));
}

TEST(ScenarioTest, AnObjectThatWasRefusedIsNotCalledMissing) {
  const ScenarioLoad load = Read(
      "steps:\n"
      "- apply: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {}}\n"
      "- {patch: {kind: Pod, name: p, patch: {metadata: {labels: {a: b}}}}}\n"
      "expect: [{pod: p, pending: true}]\n");
  ASSERT_THAT(load.errors, SizeIs(1));
  EXPECT_THAT(load.errors[0], HasSubstr("spec.containers"));
}

TEST(ScenarioTest, APatchThatBreaksTheObjectIsRefused) {
  const std::string pod = kPod;
  EXPECT_THAT(
      Read("steps:\n- apply: " + pod + "\n- {patch: {kind: Pod, name: p, patch: {spec: {containers: null}}}}\n").errors,
      ElementsAre(StartsWith("s.yaml: steps[1].patch: Pod \"default/p\": spec.containers")));
  EXPECT_THAT(
      Read("steps:\n- apply: " + pod + "\n- {patch: {kind: Pod, name: p, patch: {metadata: {name: q}}}}\n").errors,
      ElementsAre(HasSubstr("steps[1].patch.patch: kind, name and namespace of Pod \"default/p\" cannot be "
                            "changed")));
}

TEST(ScenarioTest, PriorityClassesOfTheMomentCount) {
  const ScenarioLoad load = Read(
      "steps:\n"
      "- apply: {apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}\n"
      "- apply: {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priorityClassName: high, containers: [{name: "
      "c, "
      "image: i}]}}\n"
      "- delete: {kind: PriorityClass, name: high}\n"
      "- apply: {apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {priorityClassName: high, containers: [{name: "
      "c, "
      "image: i}]}}\n");
  EXPECT_THAT(load.errors, ElementsAre(HasSubstr("steps[3].apply: Pod \"default/q\": ")));
  EXPECT_EQ(PodOf(load.scenario.steps[1].changes[0].after).priority, 9);
}

TEST(ScenarioTest, ExpectationsAreAboutThingsThatExist) {
  const std::string pod = kPod, node = kNode;
  EXPECT_THAT(Read("steps:\n- apply: [" + pod + ", " + node +
                   "]\nexpect:\n- {pod: q, pending: true}\n- {pod: other/p, node: a}\n- {pod: p, node: b}\n"
                   "- {pod: p, nodeIn: [a, c]}\n- {pod: p, nodeIn: [a]}\n")
                  .errors,
              ElementsAre("s.yaml: expect[0].pod: no file, step or generator creates Pod \"default/q\"",
                          "s.yaml: expect[1].pod: no file, step or generator creates Pod \"other/p\"",
                          "s.yaml: expect[2].node: no file, step or generator creates Node \"b\"",
                          "s.yaml: expect[3].nodeIn: no file, step or generator creates Node \"c\""));
}

TEST(ScenarioTest, AMissingNodeIsNamedByTheFieldItStandsIn) {
  const ScenarioLoad load = Read(std::string("steps:\n- apply: ") + kPod + "\nexpect:\n- {pod: p, nodeIn: [zz]}\n" +
                                 "- {pod: p, node: zz}\n");
  EXPECT_THAT(load.errors, ElementsAre(HasSubstr("expect[0].nodeIn: no file"), HasSubstr("expect[1].node: no file")));
}

TEST(ScenarioTest, AUidBelongsToOnePod) {
  const auto pod = [](const std::string& name, const std::string& uid) {
    return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", uid: " + uid +
           "}, spec: {containers: [{name: c, image: i}]}}";
  };
  const ScenarioLoad load =
      Read("steps:\n- apply: [" + pod("p", "u") + ", " + pod("q", "v") + ", " + pod("r", "u") +
           "]\n- apply: " + pod("p", "u") + "\n- patch: {kind: Pod, name: q, patch: {metadata: {uid: u}}}\n");
  EXPECT_THAT(load.errors, ElementsAre(AllOf(HasSubstr("steps[0].apply[2]"), HasSubstr("metadata.uid"),
                                             HasSubstr("Duplicate value: \"u\", which is also the uid of default/p")),
                                       AllOf(HasSubstr("steps[2].patch"), HasSubstr("metadata.uid"))));
}

TEST(ScenarioTest, AnExpectationSaysOneThing) {
  const std::string head = std::string("steps:\n- apply: [") + kPod + ", " + kNode + "]\nexpect:\n- ";
  auto error = [&](const std::string& text) { return Read(head + text).errors; };
  EXPECT_THAT(error("{pod: p}"),
              ElementsAre(HasSubstr("expect[0]: one of node, nodeIn, pending and gone is required")));
  EXPECT_THAT(error("{pod: p, node: a, pending: true}"), ElementsAre(HasSubstr("expect[0]: only one of")));
  EXPECT_THAT(error("{pod: p, node: a, message: x}"), ElementsAre(StartsWith("s.yaml: expect[0].message: ")));
  EXPECT_THAT(error("{node: a}"), ElementsAre(HasSubstr("expect[0].pod: Required value")));
  EXPECT_THAT(error("{pod: /p, node: a}"), ElementsAre(HasSubstr("expect[0].pod: Invalid value")));
  EXPECT_THAT(error("{pod: p, nodeIn: []}"), ElementsAre(HasSubstr("expect[0].nodeIn: Required value")));
  EXPECT_THAT(error("{pod: p, pending: yes please}"), ElementsAre(HasSubstr("expect[0].pending: Invalid value")));
  EXPECT_THAT(error("{pod: p, gone: false}"), ElementsAre(HasSubstr("expect[0].gone: Invalid value")));
  EXPECT_THAT(error("{pod: p, message: cpu}"), IsEmpty()) << "a message alone means pending";
  EXPECT_THAT(error("{pod: p, pending: false}"), IsEmpty());
}

TEST(ScenarioTest, WhatIsNoScenarioIsSaidToBeNone) {
  EXPECT_THAT(LoadScenarioFromText("", "s", {}).errors, ElementsAre("s: the file is empty; a Scenario is expected"));
  EXPECT_THAT(LoadScenarioFromText("[1]", "s", {}).errors,
              ElementsAre(HasSubstr("must be an object of kind Scenario")));
  EXPECT_THAT(LoadScenarioFromText("a: [", "s", {}).errors, ElementsAre(StartsWith("s: ")));
  EXPECT_THAT(
      LoadScenarioFromText("kind: Pod", "s", {}).errors,
      ElementsAre(HasSubstr("s: apiVersion: Required value"), HasSubstr("s: kind: Unsupported value: \"Pod\"")));
  EXPECT_THAT(Read("---\na: b\n").errors, ::testing::Contains(HasSubstr("2 documents")));
  EXPECT_THAT(LoadScenario("/nonexistent/s.yaml", {}).errors, ElementsAre(StartsWith("/nonexistent/s.yaml: ")));
}

TEST(ScenarioTest, GeneratedObjectsCanBePatchedDeletedAndExpected) {
  const ScenarioInput input{.generated = {.nodes = 3, .pods = 3}};
  const ScenarioLoad load = Read(
      "steps:\n- {patch: {kind: Node, name: node-00001, patch: {spec: {unschedulable: true}}}}\n"
      "- {delete: {kind: Pod, name: pod-000002}}\n- {delete: {kind: Pod, name: pod-000003}}\n"
      "expect: [{pod: pod-000000, nodeIn: [node-00000, node-00002]}]\n",
      input);
  EXPECT_THAT(load.errors, ElementsAre(HasSubstr("steps[2].delete.name")));
  EXPECT_TRUE(NodeOf(load.scenario.steps[0].changes[0].after).unschedulable);
}

TEST(ScenarioTest, MergePatchesAreThoseOfRfc7386) {
  auto value = [](const std::string& text) { return Value::Object({{"a", Value::String(text)}}); };
  EXPECT_EQ(MergePatch(value("b"), value("c")), value("c"));
  EXPECT_EQ(MergePatch(value("b"), Value::Object({{"a", Value()}})), Value::Object());
  EXPECT_EQ(MergePatch(value("b"), Value::Object({{"b", Value::Int(1)}})).ToJson(), R"({"a":"b","b":1})");
  EXPECT_EQ(MergePatch(Value::Array({Value::Int(1)}), value("c")), value("c"));
  EXPECT_EQ(MergePatch(value("b"), Value::Array()), Value::Array());
  EXPECT_EQ(MergePatch(Value::Object(), Value::Object({{"a", Value::Object({{"b", Value()}})}})).ToJson(),
            R"({"a":{}})");
}

class ScenarioFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = (std::filesystem::temp_directory_path() / "berth-scenario-XXXXXX").string();
    ASSERT_NE(mkdtemp(directory_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string File(const std::string& name, const std::string& text) {
    std::ofstream(directory_ + "/" + name) << text;
    return directory_ + "/" + name;
  }
  std::string directory_;
};

TEST_F(ScenarioFilesTest, FilesAreRelativeToTheScenarioAndTheirObjectsCanBePatched) {
  File("objects.yaml", std::string("apiVersion: v1\nkind: List\nitems:\n- ") + kNode + "\n- " + kPod + "\n");
  const ScenarioLoad load = LoadScenario(
      File("s.yaml", std::string(kHead) + "files: [objects.yaml]\nconfig: c.yaml\nsteps:\n"
                                          "- patch: {kind: Pod, name: p, patch: {metadata: {labels: {x: z}}}}\n"),
      {});
  ASSERT_THAT(load.errors, IsEmpty());
  EXPECT_EQ(load.scenario.config, directory_ + "/c.yaml");
  ASSERT_THAT(load.scenario.objects.of<Pod>(), SizeIs(1));
  const Change& change = load.scenario.steps[0].changes.at(0);
  EXPECT_EQ(PodOf(change.before), *load.scenario.objects.of<Pod>()[0]);
  EXPECT_EQ(PodOf(change.after).uid(), PodOf(change.before).uid());
  EXPECT_EQ(*PodOf(change.after).meta.labels.Find("x"), "z");
}

TEST_F(ScenarioFilesTest, ErrorsOfFilesAndStepsComeTogether) {
  File("bad.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n");
  const ScenarioLoad load =
      LoadScenario(File("s.yaml", std::string(kHead) + "files: [bad.yaml, none.yaml]\nsteps: [{at: x}]\n"
                                                       "expect: [{pod: p, pending: true}]\n"),
                   {});
  EXPECT_THAT(load.errors, SizeIs(4));
  EXPECT_THAT(load.errors, ::testing::Contains(HasSubstr("bad.yaml: Pod \"default/p\": spec.containers")));
  EXPECT_THAT(load.errors, ::testing::Contains(HasSubstr("none.yaml")));
}

TEST_F(ScenarioFilesTest, FilesAndGeneratorMayNotMakeTheSameObject) {
  const std::string file = File("n.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: node-00001}\n");
  EXPECT_THAT(LoadWithoutScenario({.files = {file}, .generated = {.nodes = 2}}).errors,
              ElementsAre(HasSubstr("Node \"node-00001\": metadata.name: Duplicate value")));
  EXPECT_THAT(LoadWithoutScenario({.files = {file}, .generated = {.nodes = 1}}).errors, IsEmpty());
}

}  // namespace
}  // namespace berth::sim
