// SPDX-License-Identifier: Apache-2.0
// The three scoring strategies, and the arguments that choose them.
#include <gtest/gtest.h>

#include "berth/testing.h"
#include "plugins/node_resources_fit.h"

namespace berth::plugins {
namespace {

using Amounts = std::vector<std::pair<std::string, std::string>>;
using Scores = std::map<std::string, int64_t>;
using Strategy = NodeResourcesFit::Strategy;

NodeResourcesFit::Args Use(Strategy strategy, std::vector<ResourceSpec> resources = DefaultResourceSpecs(),
                           std::vector<ShapePoint> shape = {}) {
  NodeResourcesFit::Args args;
  args.strategy = strategy;
  args.resources = std::move(resources);
  args.shape = std::move(shape);
  return args;
}

struct Case {
  const char* name;
  NodeResourcesFit::Args args;
  Pod pod;
  Amounts used_on_a;
  Scores want;
};

void Check(const std::vector<Case>& cases, const Amounts& a, const Amounts& b) {
  for (const Case& c : cases) {
    TestCluster cluster;
    cluster.Add(MakeNode("a").Capacity(a)).Add(MakeNode("b").Capacity(b));
    if (!c.used_on_a.empty()) cluster.Add(MakePod("used").Request(c.used_on_a).OnNode("a"));
    const ScoreResult got = ScoreAll(NodeResourcesFit(c.args, std::vector<std::string>{}), c.pod, cluster);
    EXPECT_EQ(got.normalized, c.want) << c.name;
    EXPECT_EQ(got.error, "") << c.name;
  }
}

TEST(NodeResourcesFitScoreTest, LeastAllocatedPrefersEmptyNodes) {
  const Amounts a = {{"cpu", "4"}, {"memory", "10000Mi"}, {"pods", "9"}, {"example.com/gpu", "4"}},
                b = {{"cpu", "6"}, {"memory", "10000Mi"}, {"pods", "9"}};
  const auto least = Use(Strategy::kLeastAllocated),
             gpus = Use(Strategy::kLeastAllocated, {{"cpu", 1}, {"example.com/gpu", 3}});
  Check(
      {
          // a: cpu (4000-3000)*100/4000 = 25, memory (10000-5000)*100/10000 = 50; b: 50 and 50.
          {"by cpu and memory",
           least,
           MakePod().Request({{"cpu", "3"}, {"memory", "5000Mi"}}),
           {},
           {{"a", 37}, {"b", 50}}},
          {"what is used counts",
           least,
           MakePod().Request({{"cpu", "1"}, {"memory", "1000Mi"}}),
           {{"cpu", "2"}, {"memory", "4000Mi"}},
           {{"a", 37}, {"b", 86}}},
          // Without requests 100m and 200Mi are assumed: a 97, 98; b 98, 98.
          {"defaults for what is not requested", least, MakePod(), {}, {{"a", 97}, {"b", 98}}},
          {"more than there is scores 0",
           least,
           MakePod().Request({{"cpu", "5"}, {"memory", "5000Mi"}}),
           {},
           {{"a", 25}, {"b", 33}}},
          {"weights",
           Use(Strategy::kLeastAllocated, {{"memory", 1}, {"cpu", 2}}),
           MakePod().Request({{"cpu", "3"}, {"memory", "5000Mi"}}),
           {},
           {{"a", 33}, {"b", 50}}},
          {"a scalar counts where the node has it",
           gpus,
           MakePod().Request({{"cpu", "3"}, {"example.com/gpu", "2"}}),
           {},
           {{"a", 43}, {"b", 50}}},
          {"a scalar that is not requested does not",
           gpus,
           MakePod().Request({{"cpu", "3"}}),
           {},
           {{"a", 25}, {"b", 50}}},
          {"pods and unknown names never count",
           Use(Strategy::kLeastAllocated, {{"pods", 1}, {"nonsense", 1}}),
           MakePod().Request({{"cpu", "3"}}),
           {},
           {{"a", 0}, {"b", 0}}},
      },
      a, b);
}

TEST(NodeResourcesFitScoreTest, MostAllocatedPrefersFullNodes) {
  const Amounts a = {{"cpu", "4"}, {"memory", "10000Mi"}, {"pods", "9"}},
                b = {{"cpu", "6"}, {"memory", "10000Mi"}, {"pods", "9"}};
  const auto most = Use(Strategy::kMostAllocated);
  Check(
      {
          {"by cpu and memory",
           most,
           MakePod().Request({{"cpu", "3"}, {"memory", "5000Mi"}}),
           {},
           {{"a", 62}, {"b", 50}}},
          {"what is used counts",
           most,
           MakePod().Request({{"cpu", "1"}, {"memory", "1000Mi"}}),
           {{"cpu", "2"}, {"memory", "4000Mi"}},
           {{"a", 62}, {"b", 13}}},
          {"more than there is counts as full",
           most,
           MakePod().Request({{"cpu", "5"}, {"memory", "9000Mi"}}),
           {},
           {{"a", 95}, {"b", 86}}},
      },
      a, b);
}

TEST(NodeResourcesFitScoreTest, RequestedToCapacityRatioFollowsItsShape) {
  const Amounts a = {{"cpu", "4"}, {"memory", "10000"}, {"pods", "9"}, {"example.com/foo", "4"}},
                b = {{"cpu", "4"}, {"memory", "10000"}, {"pods", "9"}, {"example.com/foo", "4"}};
  const std::vector<ShapePoint> rising = {{0, 0}, {100, 10}}, falling = {{0, 10}, {100, 0}},
                                hill = {{20, 0}, {50, 10}, {80, 3}};
  const Pod one = MakePod().Request({{"cpu", "1"}, {"memory", "3000"}});
  const auto ratio = Strategy::kRequestedToCapacityRatio;
  Check(
      {
          // b: (25 + 30) / 2 = 27.5, rounded away from zero.
          {"rising",
           Use(ratio, DefaultResourceSpecs(), rising),
           one,
           {{"cpu", "2"}, {"memory", "5000"}},
           {{"a", 78}, {"b", 28}}},
          {"falling",
           Use(ratio, DefaultResourceSpecs(), falling),
           one,
           {{"cpu", "2"}, {"memory", "5000"}},
           {{"a", 23}, {"b", 73}}},
          // b: cpu 25 -> 0 + 100*5/30 = 16; memory 30 -> 33; 24.5 -> 25. a: 75 -> 100-70*25/30 = 42; 80 -> 30; 36.
          {"between points",
           Use(ratio, DefaultResourceSpecs(), hill),
           one,
           {{"cpu", "2"}, {"memory", "5000"}},
           {{"a", 36}, {"b", 25}}},
          // A resource that scores 0 is left out of the weights: a is over capacity in foo, f(100) = 100.
          {"zero is left out",
           Use(ratio, {{"cpu", 5}, {"example.com/foo", 1}}, {{50, 0}, {100, 10}}),
           MakePod().Request({{"cpu", "1"}, {"example.com/foo", "3"}}),
           {{"example.com/foo", "3"}},
           {{"a", 100}, {"b", 50}}},
          {"all zero", Use(ratio, {{"cpu", 1}}, {{100, 0}}), one, {}, {{"a", 0}, {"b", 0}}},
      },
      a, b);
}

TEST(NodeResourcesFitScoreTest, HugeAmountsWrapAroundInsteadOfFailing) {
  TestCluster cluster;
  cluster.Add(MakeNode("a").Capacity({{"memory", "9223372036854775807"}, {"pods", "1"}}))
      .Add(MakeNode("b").Capacity({{"memory", "9223372036854775807"}, {"pods", "1"}}));
  const NodeResourcesFit plugin(Use(Strategy::kLeastAllocated), std::vector<std::string>{});
  const ScoreResult got = ScoreAll(plugin, MakePod().Request({{"memory", "1"}}), cluster);
  // (2^63 - 2) * 100 is -200 in 64 bits; divided by 2^63 - 1 that is 0.
  EXPECT_EQ(got.raw, (Scores{{"a", 0}, {"b", 0}}));
}

std::vector<std::string> ReadFitArgs(const Value& value, NodeResourcesFit::Args& args) {
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  args.Read(reader);
  reader.Finish();
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return texts;
}

Value Strings(const char* text) { return Value::Array({Value::String(text)}); }
Value Resource(const char* name, int64_t weight) {
  return Value::Object({{"name", Value::String(name)}, {"weight", Value::Int(weight)}});
}
Value Scoring(std::vector<Value::Member> members) {
  return Value::Object({{"scoringStrategy", Value::Object(std::move(members))}});
}
Value Shape(std::vector<std::pair<int, int>> points) {
  Value list = Value::Array();
  for (const auto& [u, s] : points) {
    list.Append(Value::Object({{"utilization", Value::Int(u)}, {"score", Value::Int(s)}}));
  }
  return Value::Object({{"shape", std::move(list)}});
}

TEST(NodeResourcesFitArgsTest, DefaultsAreCompletedAsUpstreamShowsThem) {
  NodeResourcesFit::Args args;
  EXPECT_TRUE(ReadFitArgs(Value::Object(), args).empty());
  EXPECT_EQ(args.Write().ToJson(),
            R"({"kind":"NodeResourcesFitArgs","apiVersion":"kubescheduler.config.k8s.io/v1","scoringStrategy":)"
            R"({"type":"LeastAllocated","resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]}})");
}

TEST(NodeResourcesFitArgsTest, GivenArgumentsSurvive) {
  NodeResourcesFit::Args args;
  const Value given = Scoring({{"type", Value::String("RequestedToCapacityRatio")},
                               {"resources", Value::Array({Resource("memory", 0), Resource("example.com/x", 7)})},
                               {"requestedToCapacityRatio", Shape({{0, 0}, {100, 10}})}});
  EXPECT_EQ(ReadFitArgs(given, args), std::vector<std::string>{});
  EXPECT_EQ(args.strategy, Strategy::kRequestedToCapacityRatio);
  EXPECT_EQ(args.resources, (std::vector<ResourceSpec>{{"memory", 1}, {"example.com/x", 7}}));
  EXPECT_EQ(args.shape, (std::vector<ShapePoint>{{0, 0}, {100, 10}}));
  NodeResourcesFit::Args again;
  EXPECT_EQ(ReadFitArgs(args.Write(), again), std::vector<std::string>{});
  EXPECT_EQ(again.Write(), args.Write());
}

TEST(NodeResourcesFitArgsTest, BadArgumentsAreRefusedInUpstreamsWords) {
  const Value type = Value::String("LeastAllocated"), ratio = Value::String("RequestedToCapacityRatio");
  const struct {
    const char* name;
    Value value;
    std::vector<std::string> want;
  } cases[] = {
      {"group with a slash",
       Value::Object({{"ignoredResourceGroups", Strings("foo/bar")}}),
       {"args.ignoredResourceGroups[0]: Invalid value: \"foo/bar\": resource group name can't contain '/'"}},
      {"type",
       Scoring({{"type", Value::String("Invalid")}}),
       {"args.scoringStrategy.type: Unsupported value: \"Invalid\": supported values: \"LeastAllocated\", "
        "\"MostAllocated\", \"RequestedToCapacityRatio\""}},
      {"no type",
       Scoring({}),
       {"args.scoringStrategy.type: Unsupported value: \"\": supported values: \"LeastAllocated\", "
        "\"MostAllocated\", \"RequestedToCapacityRatio\""}},
      {"weights",
       Scoring({{"type", type}, {"resources", Value::Array({Resource("cpu", -1), Resource("memory", 101)})}}),
       {"args.scoringStrategy.resources[0].weight: Invalid value: -1: resource weight of cpu not in valid range (0, "
        "100]",
        "args.scoringStrategy.resources[1].weight: Invalid value: 101: resource weight of memory not in valid range "
        "(0, 100]"}},
      {"ratio without a block",
       Scoring({{"type", ratio}}),
       {"args.scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is "
        "RequestedToCapacityRatio"}},
      {"block without ratio",
       Scoring({{"type", type}, {"requestedToCapacityRatio", Shape({{0, 0}})}}),
       {"args.scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not "
        "RequestedToCapacityRatio"}},
      {"no points",
       Scoring({{"type", ratio}, {"requestedToCapacityRatio", Shape({})}}),
       {"args.scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified"}},
      {"points out of order and range",
       Scoring({{"type", ratio}, {"requestedToCapacityRatio", Shape({{101, 5}, {50, 11}})}}),
       {"args.scoringStrategy.requestedToCapacityRatio.shape[1].utilization: Invalid value: 50: values must be sorted "
        "in increasing order",
        "args.scoringStrategy.requestedToCapacityRatio.shape[0].utilization: Invalid value: 101: not in valid range "
        "[0, 100]",
        "args.scoringStrategy.requestedToCapacityRatio.shape[1].score: Invalid value: 11: not in valid range [0, 10]"}},
      {"unknown field", Value::Object({{"ignored", Value::Bool(true)}}), {"args.ignored: unknown field \"ignored\""}},
  };
  for (const auto& c : cases) {
    NodeResourcesFit::Args args;
    EXPECT_EQ(ReadFitArgs(c.value, args), c.want) << c.name;
  }
}

}  // namespace
}  // namespace berth::plugins
