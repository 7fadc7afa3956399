// SPDX-License-Identifier: Apache-2.0
// Requests as kube-scheduler sends them, as others might, and as nobody should.
#include "extender/extender_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "api/go_key.h"
#include "extender/extender_test_util.h"
#include "extender/node_cache.h"

namespace berth::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;

std::string ErrorOf(std::string body) {
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
  return args.ok() ? "" : args.error().text();
}

TEST(ExtenderArgsTest, CompleteNodesAreReadAndKeepTheirBytes) {
  std::string body =
      R"({"Pod":{"metadata":{"name":"p","namespace":"d","uid":"u"},"spec":{"containers":[{"name":"c","resources":
      {"requests":{"cpu":"2"}}}]}},"Nodes":{"metadata":{},"items":[ {"metadata":{"name":"a","managedFields":[{"x":"}"}]},
      "status":{"allocatable":{"cpu":"4"}}} , {"metadata":{"name":"b","labels":{"k":"v"}}}]},"NodeNames":null})";
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  ASSERT_TRUE(args->pod);
  EXPECT_EQ(FullName(*args->pod), "d/p");
  EXPECT_FALSE(args->node_names);
  ASSERT_TRUE(args->nodes);
  ASSERT_EQ(args->nodes->size(), 2u);
  EXPECT_EQ((*args->nodes)[0].node->name(), "a");
  EXPECT_EQ(*(*args->nodes)[1].node->meta.labels.Find("k"), "v");
  EXPECT_EQ((*args->nodes)[1].json, R"({"metadata":{"name":"b","labels":{"k":"v"}}})");
  EXPECT_TRUE((*args->nodes)[0].json.starts_with("{\"metadata\""));
  EXPECT_TRUE((*args->nodes)[0].json.ends_with("\"4\"}}}"));
  EXPECT_GE((*args->nodes)[0].json.data(), body.data());
}

TEST(ExtenderArgsTest, NullAbsentAndEmptyAreToldApart) {
  std::string body = R"({"Pod":null,"Nodes":null,"NodeNames":[]})";
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_FALSE(args->pod);
  EXPECT_FALSE(args->nodes);
  ASSERT_TRUE(args->node_names);
  EXPECT_THAT(*args->node_names, IsEmpty());

  std::string other = R"({"Nodes":{}})";
  const Result<ExtenderArgs> nodes = DecodeExtenderArgs(other);
  ASSERT_TRUE(nodes.ok()) << nodes.error().text();
  EXPECT_FALSE(nodes->node_names);
  ASSERT_TRUE(nodes->nodes);
  EXPECT_THAT(*nodes->nodes, IsEmpty());
}

TEST(ExtenderArgsTest, AnEmptyPodIsAPodWhereverItStands) {
  for (std::string body : {R"({"Pod":{}})", R"({"NodeNames":["a"],"Pod":{ } })", R"({"Pod":{},"NodeNames":["a"]})"}) {
    const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
    ASSERT_TRUE(args.ok()) << args.error().text();
    EXPECT_TRUE(args->pod);
  }
}

TEST(ExtenderArgsTest, WhatNobodyReadsMustStillBeJson) {
  for (const char* part : {"01", "tru", "{\"a\"}", "[1,]", "\"\\x\"", "\"\xff\""}) {
    const std::string field = std::string("\"managedFields\":[") + part + "]";
    EXPECT_FALSE(ErrorOf("{\"Pod\":{\"metadata\":{" + field + "}}}").empty()) << part;
    EXPECT_FALSE(ErrorOf("{\"Nodes\":{\"items\":[{\"metadata\":{" + field + "}}]}}").empty()) << part;
    EXPECT_FALSE(ErrorOf("{\"Nodes\":{\"metadata\":{" + field + "}}}").empty()) << part;
  }
}

TEST(ExtenderArgsTest, KeysAreReadInAnyCaseAndTheLastOneCounts) {
  std::string body = R"({"pod":{"metadata":{"name":"p"}},"NODENAMES":["x"],"nodeNames":["a","b"],
                         "nodes":{"Items":[{"metadata":{"name":"n"}}]},"Nodes":null})";
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_EQ(args->pod->name(), "p");
  EXPECT_THAT(*args->node_names, ElementsAre("a", "b"));
  EXPECT_FALSE(args->nodes);
}

TEST(ExtenderArgsTest, KeysMatchAsInGo) {
  EXPECT_TRUE(KeyMatches("nodes", "Nodes"));
  EXPECT_TRUE(KeyMatches("Node\xc5\xbf", "Nodes"));  // U+017F folds to s
  EXPECT_TRUE(
      KeyMatches("\xe2\x84\xaa"
                 "ind",
                 "Kind"));  // U+212A folds to k
  EXPECT_FALSE(KeyMatches("node", "Nodes"));
  EXPECT_FALSE(KeyMatches("nodess", "Nodes"));
  EXPECT_FALSE(KeyMatches("n_des", "Nodes"));
  EXPECT_FALSE(KeyMatches("", "Nodes"));
}

TEST(ExtenderArgsTest, UnknownKeysArePassedOverWhateverTheyHold) {
  std::string body = R"({"Extra":{"a":[1,{"b":null}]},"Pod":{"metadata":{"name":"p"},"future":[[]]},"NodeNames":["a"],
                         "Nodes":null,"x":"\u00e4","y":-1.5e3})";
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_THAT(*args->node_names, ElementsAre("a"));
}

TEST(ExtenderArgsTest, ErrorsNameFieldAndValue) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"NodeNames":["a",7]})", "NodeNames[1]: Invalid value: 7: must be a string"},
      {R"({"NodeNames":"a"})", "NodeNames: Invalid value: \"a\": must be an array"},
      {R"({"Nodes":[]})", "Nodes: Invalid value: must be an object"},
      {R"({"Nodes":{"items":{}}})", "Nodes.items: Invalid value: must be an array"},
      {R"({"Nodes":{"items":[{},3]}})", "Nodes.items[1]: Invalid value: 3: must be an object"},
      {R"({"Nodes":{"items":[{"spec":{"unschedulable":"yes"}}]}})",
       "Nodes.items[0].spec.unschedulable: Invalid value: \"yes\": must be a boolean"},
      {R"({"Nodes":{"items":[{"status":{"allocatable":{"cpu":"4x"}}}]}})", "Nodes.items[0].status.allocatable[cpu]"},
      {R"({"Pod":"p"})", "Pod: Invalid value: \"p\": must be an object"},
      {R"({"Pod":{"spec":{"priority":1e99}}})", "Pod.spec.priority: Invalid value: 1e99"},
  };
  for (const auto& [body, want] : cases) EXPECT_THAT(ErrorOf(body), HasSubstr(want)) << body;
}

TEST(ExtenderArgsTest, WhatIsNoJsonIsRefusedWithASentence) {
  const char* const cases[] = {"",
                               "   ",
                               "{",
                               "[]",
                               "null",
                               "7",
                               "\"x\"",
                               "{]",
                               "{\"Pod\":",
                               "{\"Pod\":}",
                               "{\"Pod\" 1}",
                               "{\"Pod\":{}",
                               "{}{}",
                               "{},",
                               "{\"a\":1,}",
                               "{\"a\":tru}",
                               "{\"a\":01}",
                               "{\"a\":\"\x01\"}",
                               "{\"a\":[1,]}",
                               "{\"a\":{\"b\"}}",
                               "{\"NodeNames\":[\"\xff\"]}",
                               "{\"NodeNames\":[\"\\ud800\"]}",
                               "{\"Nodes\":{\"items\":[{]}}"};
  for (const char* body : cases) EXPECT_FALSE(ErrorOf(body).empty()) << body;
}

TEST(ExtenderArgsTest, DepthHasALimit) {
  const std::string deep(100'000, '[');
  EXPECT_FALSE(ErrorOf("{\"x\":" + deep + "}").empty());
  EXPECT_FALSE(ErrorOf("{\"x\":" + deep + std::string(deep.size(), ']') + "}").empty());
  EXPECT_FALSE(ErrorOf("{\"Nodes\":{\"items\":[" + deep).empty());
}

TEST(ExtenderArgsTest, LongValuesAndManyErrorsMakeOneShortSentence) {
  std::string taints;
  for (int i = 0; i < 50'000; ++i) taints += "1,";
  const std::string many = ErrorOf(R"({"Nodes":{"items":[{"spec":{"taints":[)" + taints + "1]}}]}}");
  EXPECT_THAT(many, HasSubstr("Nodes.items[0].spec.taints[0]: Invalid value: 1"));
  std::string umlauts;
  for (int i = 0; i < 100'000; ++i) umlauts += "\xc3\xa4";
  EXPECT_LT(ErrorOf(R"({"Pod":")" + umlauts + "\"}").size(), 600u);
}

TEST(ExtenderArgsTest, AnObjectLargerThanAnyClusterStoresIsRefusedBeforeItIsRead) {
  const std::string filler(kMaxObjectBytes, ' ');
  EXPECT_THAT(ErrorOf("{\"Pod\":{" + filler + "}}"), HasSubstr("Pod: Invalid value: 4194306 bytes"));
  EXPECT_THAT(ErrorOf("{\"Nodes\":{\"items\":[{" + filler + "}]}}"), HasSubstr("Nodes.items[0]: Invalid value"));
}

TEST(ExtenderArgsTest, MoreNodesThanAnyClusterHasAreRefused) {
  std::string names = "{\"NodeNames\":[\"\"";
  for (size_t i = 0; i < kMaxNodes; ++i) names += ",\"\"";
  EXPECT_THAT(ErrorOf(names + "]}"), HasSubstr("must have at most 200000 items"));
}

TEST(ExtenderArgsTest, ListsThatWouldTakeFarMoreMemoryThanTheirTextAreRefusedTogether) {
  // 10,000 taints of three bytes a node: no list is too long, and twelve nodes are below 100,000 items and one for 16
  // bytes, thirteen are not.
  std::string taints = "{}";
  for (int i = 1; i < 10'000; ++i) taints += ",{}";
  const auto request = [&](int nodes) {
    std::string body = R"({"Nodes":{"items":[)";
    for (int i = 0; i < nodes; ++i) body += (i == 0 ? "" : ",") + (R"({"spec":{"taints":[)" + taints + "]}}");
    return body + "]}}";
  };
  EXPECT_EQ(ErrorOf(request(12)), "");
  const std::string sentence =
      "Nodes.items[12]: Invalid value: 130000: the lists of all nodes of a request of 390307 bytes must have at most "
      "124394 items together";
  EXPECT_EQ(ErrorOf(request(13)), sentence);
  NodeCache cache;
  std::string body = request(13);
  const Result<ExtenderArgs> args = DecodeExtenderArgs(body, &cache);
  ASSERT_FALSE(args.ok());
  EXPECT_EQ(args.error().text(), sentence);
}

TEST(ExtenderArgsTest, EqualRequestsAreRefusedAlikeWhateverACacheKnows) {
  std::string taints = "{}";
  for (int i = 1; i < 40; ++i) taints += ",{}";
  std::string body = R"({"Nodes":{"items":[)";
  for (int i = 0; i < 4000; ++i) {
    body += (i == 0 ? R"({"metadata":{"name":"n)" : R"(,{"metadata":{"name":"n)") + std::to_string(i) +
            R"("},"spec":{"taints":[)" + taints + "]}}";
  }
  body += "]}}";
  const std::string error = ErrorOf(body);
  EXPECT_THAT(error, HasSubstr("the lists of all nodes of a request"));
  NodeCache cache;
  for (int round = 0; round < 2; ++round) {
    std::string copy = body;
    const Result<ExtenderArgs> args = DecodeExtenderArgs(copy, &cache);
    ASSERT_FALSE(args.ok()) << round;
    EXPECT_EQ(args.error().text(), error);
  }
  EXPECT_GT(cache.size(), 0u);
}

TEST(ExtenderArgsTest, APodWhoseListsWouldTakeMinutesToCompareWithThoseOfNodesIsRefused) {
  const auto list = [](int items) {
    std::string text = "{}";
    for (int i = 1; i < items; ++i) text += ",{}";
    return text;
  };
  const std::string node = R"({"spec":{"taints":[)" + list(10'000) + "]}}";
  std::string nodes = node;
  for (int i = 1; i < 20; ++i) nodes += "," + node;
  const auto request = [&](int tolerations) {
    // Room for many items needs a long text.
    return R"({"Filler":")" + std::string(2'000'000, 'x') + R"(","Pod":{"spec":{"tolerations":[)" + list(tolerations) +
           R"(],"containers":[{}]}},"Nodes":{"items":[)" + nodes + "]}}";
  };
  EXPECT_EQ(ErrorOf(request(9'998)), "");
  EXPECT_EQ(ErrorOf(request(9'999)),
            "the lists of the pod have 10000 items, and there are 200020 nodes and items of their lists: the product "
            "must be at most 2000000000");
  NodeCache cache;
  std::string body = request(9'999);
  EXPECT_FALSE(DecodeExtenderArgs(body, &cache).ok());
}

TEST(ExtenderArgsTest, NodesWithoutListsCountToo) {
  std::string term = R"({"matchExpressions":[{"key":"k","operator":"In","values":["v"]}]})";
  std::string terms = term;
  for (int i = 1; i < 9'900; ++i) terms += "," + term;
  const std::string pod =
      R"({"Pod":{"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({"nodeSelectorTerms":[)" +
      terms + "]}}}}},";
  std::string nodes, names, victims;
  for (int i = 0; i < 200'000; ++i) {
    const std::string name = "\"n" + std::to_string(i) + "\"";
    nodes += (i > 0 ? "," : "") + (R"({"metadata":{"name":)" + name + "}}");
    names += (i > 0 ? "," : "") + name;
    victims += (i > 0 ? "," : "") + name + ":{}";
  }
  const std::string wanted = "the lists of the pod have 29700 items, and there are 200000 nodes";
  EXPECT_THAT(ErrorOf(pod + R"("Nodes":{"items":[)" + nodes + "]}}"), StartsWith(wanted));
  EXPECT_THAT(ErrorOf(pod + R"("NodeNames":[)" + names + "]}"), StartsWith(wanted));
  NodeCache cache;
  std::string body = pod + R"("Nodes":{"items":[)" + nodes + "]}}";
  EXPECT_FALSE(DecodeExtenderArgs(body, &cache).ok());
  for (const char* key : {"NodeNameToVictims", "NodeNameToMetaVictims"}) {
    body = pod + "\"" + key + "\":{" + victims + "}}";
    const Result<ExtenderPreemptionArgs> args = DecodePreemptionArgs(body);
    ASSERT_FALSE(args.ok());
    EXPECT_THAT(args.error().text(), StartsWith(wanted));
  }
}

TEST(ExtenderArgsTest, ABodyWithoutRoomForPaddingIsGivenSome) {
  std::string body = R"({"NodeNames":["a"]})";
  body.shrink_to_fit();
  EXPECT_TRUE(DecodeExtenderArgs(body).ok());
}

TEST(ExtenderPreemptionArgsTest, BothKindsOfVictimsAreRead) {
  std::string body = R"({"Pod":{"metadata":{"name":"p"}},"NodeNameToVictims":{"n":{"Pods":[{"metadata":{"uid":"a",
      "name":"x"},"spec":{}},{"metadata":{"uid":"b"}}],"NumPDBViolations":2}},"NodeNameToMetaVictims":
      {"m":{"pods":[{"uid":"c","other":1}],"numpdbviolations":1},"o":{"Pods":null},"q":{"Pods":[]}}})";
  const Result<ExtenderPreemptionArgs> args = DecodePreemptionArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_THAT(*args->victims, ElementsAre(Pair("n", Evict({"a", "b"}, 2))));
  EXPECT_THAT(*args->meta_victims, ElementsAre(Pair("m", Evict({"c"}, 1)), Pair("o", Victims{}), Pair("q", Evict({}))));
}

TEST(ExtenderPreemptionArgsTest, WhatWouldCrashKubeSchedulerOnTheWayBackIsLeftOut) {
  std::string body = R"({"NodeNameToMetaVictims":{"a":null,"b":{"Pods":[null,{"UID":"x"}]},"c":{},"c":null}})";
  const Result<ExtenderPreemptionArgs> args = DecodePreemptionArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_FALSE(args->victims);
  EXPECT_THAT(*args->meta_victims, ElementsAre(Pair("b", Evict({"x"}, 0))));
}

TEST(ExtenderPreemptionArgsTest, ErrorsNameTheNode) {
  std::string body = R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":1}]}}})";
  const Result<ExtenderPreemptionArgs> args = DecodePreemptionArgs(body);
  ASSERT_FALSE(args.ok());
  EXPECT_THAT(args.error().text(), HasSubstr("NodeNameToMetaVictims[n1].Pods[0].UID: Invalid value: 1"));
}

TEST(ExtenderBindingArgsTest, AllFieldsAreRead) {
  std::string body = R"({"PodName":"p","podNamespace":"d","PODUID":"u","Node":"n","more":{}})";
  const Result<ExtenderBindingArgs> args = DecodeBindingArgs(body);
  ASSERT_TRUE(args.ok()) << args.error().text();
  EXPECT_EQ(args->pod_name, "p");
  EXPECT_EQ(args->pod_namespace, "d");
  EXPECT_EQ(args->pod_uid, "u");
  EXPECT_EQ(args->node, "n");
}

}  // namespace
}  // namespace berth::extender
