// SPDX-License-Identifier: Apache-2.0
// Scores by how much a pod evens out a node.
#include "plugins/node_resources_balanced_allocation.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

using Amounts = std::vector<std::pair<std::string, std::string>>;
using Scores = std::map<std::string, int64_t>;

TEST(NodeResourcesBalancedAllocationTest, AnEvenerNodeScoresHigher) {
  const struct {
    const char* name;
    std::vector<ResourceSpec> resources;
    Pod pod;
    Amounts used_on_a;
    Scores want;
  } cases[] = {
      {"pods without requests are passed over", DefaultResourceSpecs(), MakePod(), {}, {}},
      // a: 3000/4000 against 5000/10000: deviation .125, balance 87, before 100: 50 + (50 - 13) / 2. b: .5 and .5.
      {"by cpu and memory",
       DefaultResourceSpecs(),
       MakePod().Request({{"cpu", "3"}, {"memory", "5000"}}),
       {},
       {{"a", 68}, {"b", 75}}},
      // a: used 0 and 5000: deviation .25, balance 75; with the pod .5 and .5: 100; 50 + (50 + 25) / 2. b: 83 after
      // 100.
      {"evening out",
       DefaultResourceSpecs(),
       MakePod().Request({{"cpu", "2"}}),
       {{"memory", "5000"}},
       {{"a", 87}, {"b", 66}}},
      // More than there is counts as all there is: a 1 and .5.
      {"fractions end at 1",
       DefaultResourceSpecs(),
       MakePod().Request({{"cpu", "5"}, {"memory", "5000"}}),
       {},
       {{"a", 62}, {"b", 66}}},
      // Three resources on a: .75, .5, .5, mean 7/12, deviation .1178, balance 88; b has no gpu.
      {"three resources",
       {{"cpu", 1}, {"memory", 1}, {"example.com/gpu", 1}},
       MakePod().Request({{"cpu", "3"}, {"memory", "5000"}, {"example.com/gpu", "2"}}),
       {},
       {{"a", 69}, {"b", 75}}},
      {"a scalar the pod does not ask for",
       {{"cpu", 1}, {"memory", 1}, {"example.com/gpu", 1}},
       MakePod().Request({{"cpu", "3"}, {"memory", "5000"}}),
       {},
       {{"a", 68}, {"b", 75}}},
      {"a single resource is always even", {{"cpu", 1}}, MakePod().Request({{"cpu", "3"}}), {}, {{"a", 75}, {"b", 75}}},
  };
  for (const auto& c : cases) {
    TestCluster cluster;
    cluster.Add(MakeNode("a").Capacity({{"cpu", "4"}, {"memory", "10000"}, {"pods", "9"}, {"example.com/gpu", "4"}}))
        .Add(MakeNode("b").Capacity({{"cpu", "6"}, {"memory", "10000"}, {"pods", "9"}}));
    if (!c.used_on_a.empty()) cluster.Add(MakePod("used").Request(c.used_on_a).OnNode("a"));
    NodeResourcesBalancedAllocation::Args args;
    args.resources = c.resources;
    EXPECT_EQ(ScoreAll(NodeResourcesBalancedAllocation(args), c.pod, cluster).raw, c.want) << c.name;
  }
}

TEST(NodeResourcesBalancedAllocationTest, PodLevelRequestsCount) {
  TestCluster cluster;
  cluster.Add(MakeNode("a").Capacity({{"cpu", "4"}, {"memory", "10000"}, {"pods", "9"}}))
      .Add(MakeNode("b").Capacity({{"cpu", "6"}, {"memory", "10000"}, {"pods", "9"}}));
  const Pod pod = MakePod().With([](Pod& p) {
    p.pod_requests =
        ResourceList{{ResourceId::kCpu, Quantity::FromValue(3)}, {ResourceId::kMemory, Quantity::FromValue(5000)}};
  });
  EXPECT_EQ(ScoreAll(NodeResourcesBalancedAllocation({}), pod, cluster).raw, (Scores{{"a", 68}, {"b", 75}}));
}

TEST(NodeResourcesBalancedAllocationArgsTest, NamesAreUniqueAndWeightsOne) {
  const auto resource = [](const char* name, int64_t weight) {
    return Value::Object({{"name", Value::String(name)}, {"weight", Value::Int(weight)}});
  };
  const Value value =
      Value::Object({{"resources", Value::Array({resource("cpu", 1), resource("memory", 2), resource("cpu", 0)})}});
  std::vector<FieldError> errors;
  ArgsReader reader(&value, "args", &errors);
  NodeResourcesBalancedAllocation::Args args;
  args.Read(reader);
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_EQ(errors[0].ToString(), "args.resources[1].weight: Invalid value: 2: must be 1");
  EXPECT_EQ(errors[1].ToString(), "args.resources[2].name: Duplicate value: \"cpu\"");
  EXPECT_EQ(NodeResourcesBalancedAllocation::Args().Write().ToJson(),
            R"({"kind":"NodeResourcesBalancedAllocationArgs","apiVersion":"kubescheduler.config.k8s.io/v1",)"
            R"("resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]})");
}

}  // namespace
}  // namespace berth::plugins
