// SPDX-License-Identifier: Apache-2.0
// What is sent: objects that are valid, requests that kube-scheduler could have written.
#include "conform/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_value.h"
#include "api/load.h"
#include "berth/value.h"
#include "conform/request.h"
#include "net/tls_test_util.h"

namespace berth::conform {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Value Parse(const std::string& json) {
  std::vector<FieldError> errors;
  Value value = ParseJson(json, errors);
  EXPECT_TRUE(errors.empty()) << errors.front().ToString() << " in " << json.substr(0, 200);
  return value;
}

// As a file would have it.
std::string WithKind(const std::string& kind, const std::string& json) {
  return R"({"apiVersion":"v1","kind":")" + kind + "\"," + json.substr(1);
}

TEST(SamplesTest, ObjectsThatAreMadeUpAreValid) {
  for (size_t i = 0; i < 5; ++i) {
    const LoadResult node = LoadObjectsFromText(WithKind("Node", MakeNode(i, {{"a.example/b", "7"}}).json));
    EXPECT_TRUE(node.ok()) << node.errors.front().Text();
    EXPECT_EQ(node.objects.of<Node>().size(), 1U);
  }
  const LoadResult pod = LoadObjectsFromText(WithKind("Pod", MakePod()));
  EXPECT_TRUE(pod.ok()) << pod.errors.front().Text();
  for (const Victim& victim : VictimsOn("some-node")) {
    const LoadResult loaded = LoadObjectsFromText(WithKind("Pod", victim.json));
    EXPECT_TRUE(loaded.ok()) << loaded.errors.front().Text();
  }
}

TEST(SamplesTest, NodesAreAsLargeAsRealOnesAndLabelledInPart) {
  const Labels labels = {{"team.example/rank", "7\"quoted\""}};
  EXPECT_GT(MakeNode(0, {}).json.size(), 6000U);
  EXPECT_LT(MakeNode(0, {}).json.size(), 10000U);
  EXPECT_THAT(MakeNode(0, labels).json, HasSubstr("team.example/rank"));
  EXPECT_THAT(MakeNode(1, labels).json, HasSubstr("team.example/rank"));
  EXPECT_THAT(MakeNode(2, labels).json, Not(HasSubstr("team.example/rank")));
  EXPECT_EQ(Parse(MakeNode(1, labels).json).Find("metadata")->Find("labels")->Find("team.example/rank")->text(),
            "7\"quoted\"");
}

TEST(SamplesTest, VariantsSayTheSameInOtherWords) {
  const std::string pod = MakePod();
  const Value nulls = Parse(PodWithNulls(pod));
  EXPECT_TRUE(nulls.Find("spec")->Find("affinity")->is_null());
  EXPECT_FALSE(nulls.Find("spec")->Find("tolerations")->is_null()) << "what is there stays";
  EXPECT_NE(Parse(WithUnknownFields(pod)).Find("spec")->Find("berthConformUnknown"), nullptr);
  EXPECT_TRUE(Parse(NodeWithNulls(MakeNode(0, {}).json)).Find("spec")->Find("taints")->is_null());
}

TEST(SamplesTest, NullsOfTimesAndNamesAreWrittenAsGoDoes) {
  const auto conditions = [](const std::string& pod) {
    return Parse(PodWithUnsetTime(pod)).Find("status")->Find("conditions")->ToJson();
  };
  EXPECT_THAT(conditions(MakePod()), StartsWith(R"([{"type":"PodScheduled","status":"False","lastProbeTime":null,)"));
  EXPECT_EQ(conditions(R"({"spec":{"nodeName":"a"}})"),
            R"([{"type":"PodScheduled","status":"True","lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-01-01T00:00:00Z"}])");
  EXPECT_EQ(conditions(R"({"status":{"conditions":[{"type":"PodScheduled","lastProbeTime":"x"}]}})"),
            R"([{"type":"PodScheduled","lastProbeTime":null}])")
      << "there is one condition of a type";
  const Value images = *Parse(NodeWithNamelessImage(MakeNode(0, {}).json)).Find("status")->Find("images");
  EXPECT_EQ(images.items().size(), 32U);
  EXPECT_EQ(images.items().back().ToJson(), R"({"names":null,"sizeBytes":177332929})");
  EXPECT_EQ(NodeWithNamelessImage("{}"), R"({"status":{"images":[{"names":null,"sizeBytes":177332929}]}})");
}

TEST(SamplesTest, RequestsHaveTheKeysOfTheProtocol) {
  const std::string pod = MakePod();
  const std::vector<SampleNode> nodes = {{"a", R"({"metadata":{"name":"a"}})"}, {"b", R"({"metadata":{"name":"b"}})"}};
  const auto write = [&](Target target, bool lower) {
    Question question;
    question.target = target;
    question.pod = "{}";
    question.nodes = nodes;
    question.lower_case = lower;
    return WriteQuestion(question);
  };
  EXPECT_EQ(write({Verb::kFilter, Shape::kNames}, false), R"({"Pod":{},"Nodes":null,"NodeNames":["a","b"]})");
  EXPECT_EQ(write({Verb::kPrioritize, Shape::kNames}, true), R"({"pod":{},"nodes":null,"nodeNames":["a","b"]})");
  EXPECT_EQ(write({Verb::kFilter, Shape::kNodes}, false),
            R"({"Pod":{},"Nodes":{"metadata":{},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]},)"
            R"("NodeNames":null})");
  EXPECT_THAT(
      write({Verb::kPreempt, Shape::kNames}, false),
      StartsWith(R"({"Pod":{},"NodeNameToVictims":null,"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":)"
                 R"("c-victim-on-a"},{"UID":"a-victim-on-a"},{"UID":"b-victim-on-a"}],"NumPDBViolations":1},)"));
  EXPECT_THAT(write({Verb::kPreempt, Shape::kNodes}, false),
              StartsWith(R"({"Pod":{},"NodeNameToMetaVictims":null,"NodeNameToVictims":{"a":{"Pods":[{"metadata":)"));
  EXPECT_EQ(WriteBinding("p", "d", "u", "n"), R"({"PodName":"p","PodNamespace":"d","PodUID":"u","Node":"n"})");
}

TEST(SamplesTest, ObjectsOfFilesAreSentAsInformersHaveThem) {
  const net::TestFolder folder;
  const std::string nodes = folder.Write("nodes.yaml", R"(apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: a, managedFields: [{manager: kubelet}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: d, managedFields: [{manager: kubectl}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: b}}
)");
  const Result<std::vector<SampleNode>> read = ReadNodes(nodes);
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].json, R"({"metadata":{"name":"a","managedFields":[{"manager":"kubelet"}]}})");
  EXPECT_EQ((*read)[1].name, "b");
  const Result<std::string> pod = ReadPod(nodes);
  ASSERT_TRUE(pod.ok()) << pod.error().text();
  EXPECT_EQ(*pod, R"({"metadata":{"name":"p","namespace":"d"}})");
}

TEST(SamplesTest, FilesThatDoNotHaveTheObjectsAreRefusedByName) {
  const net::TestFolder folder;
  EXPECT_THAT(ReadPod(folder.Path("none.yaml")).error().text(), HasSubstr("none.yaml"));
  EXPECT_THAT(ReadPod(folder.Write("x.yaml", "kind: Node\n")).error().text(), HasSubstr("x.yaml: no Pod in it"));
  EXPECT_THAT(ReadNodes(folder.Write("y.yaml", "kind: Node\n")).error().text(), HasSubstr("without metadata.name"));
  EXPECT_THAT(ReadNodes(folder.Write("z.yaml", "kind: [\n")).error().text(), HasSubstr("z.yaml"));
}

}  // namespace
}  // namespace berth::conform
