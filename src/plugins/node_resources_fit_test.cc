// SPDX-License-Identifier: Apache-2.0
// Room on nodes: what fits, what lacks, and what would help.
#include "plugins/node_resources_fit.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

using Amounts = std::vector<std::pair<std::string, std::string>>;
const Amounts kNodeSize = {{"cpu", "10m"}, {"memory", "20"},         {"ephemeral-storage", "20"},
                           {"pods", "32"}, {"example.com/aaa", "5"}, {"hugepages-2Mi", "5"}};

NodeResourcesFit MakePlugin(NodeResourcesFit::Args args = {}, std::vector<std::string> extender_ignored = {}) {
  return NodeResourcesFit(args, extender_ignored);
}
Verdict Lacks(std::vector<std::string> reasons) { return Verdict(Code::kUnschedulable, std::move(reasons)); }
Verdict TooSmall(std::vector<std::string> reasons) {
  return Verdict(Code::kUnschedulableAndUnresolvable, std::move(reasons));
}

TEST(NodeResourcesFitTest, EverythingThatLacksIsNamedInOrder) {
  const struct {
    const char* name;
    Pod pod;
    Amounts used;
    Verdict want;
  } cases[] = {
      {"no requests always fit", MakePod(), {{"cpu", "10m"}, {"memory", "20"}}, {}},
      {"just fits", MakePod().Request({{"cpu", "5m"}, {"memory", "15"}}), {{"cpu", "5m"}, {"memory", "5"}}, {}},
      {"cpu lacks",
       MakePod().Request({{"cpu", "6m"}, {"memory", "15"}}),
       {{"cpu", "5m"}, {"memory", "5"}},
       Lacks({"Insufficient cpu"})},
      {"both lack",
       MakePod().Request({{"cpu", "6m"}, {"memory", "16"}}),
       {{"cpu", "5m"}, {"memory", "5"}},
       Lacks({"Insufficient cpu", "Insufficient memory"})},
      {"more than the node has",
       MakePod().Request({{"cpu", "11m"}, {"memory", "16"}}),
       {{"memory", "5"}},
       TooSmall({"Insufficient cpu", "Insufficient memory"})},
      {"a full node takes pods without requests", MakePod(), {{"cpu", "20m"}, {"memory", "30"}}, {}},
      {"request 0 does not lack on an overfull node",
       MakePod().Request({{"cpu", "0"}, {"memory", "0"}}),
       {{"cpu", "20m"}, {"memory", "30"}},
       {}},
      {"init containers count at their peak",
       MakePod().Request({{"cpu", "1m"}}).InitContainer({{"cpu", "8m"}}),
       {{"cpu", "3m"}},
       Lacks({"Insufficient cpu"})},
      {"sidecars add up",
       MakePod().Request({{"cpu", "4m"}}).InitContainer({{"cpu", "4m"}}, true),
       {{"cpu", "3m"}},
       Lacks({"Insufficient cpu"})},
      {"ephemeral storage",
       MakePod().Request({{"ephemeral-storage", "16"}}),
       {{"ephemeral-storage", "5"}},
       Lacks({"Insufficient ephemeral-storage"})},
      {"extended resource",
       MakePod().Request({{"example.com/aaa", "3"}}),
       {{"example.com/aaa", "3"}},
       Lacks({"Insufficient example.com/aaa"})},
      {"extended resource the node has not",
       MakePod().Request({{"example.com/bbb", "1"}}),
       {},
       TooSmall({"Insufficient example.com/bbb"})},
      {"extended resource 0 is not asked for", MakePod().Request({{"example.com/bbb", "0"}}), {}, {}},
      {"huge pages", MakePod().Request({{"hugepages-2Mi", "6"}}), {}, TooSmall({"Insufficient hugepages-2Mi"})},
      {"kubernetes.io resource the node has not",
       MakePod().Request({{"kubernetes.io/something", "10"}}),
       {},
       TooSmall({"Insufficient kubernetes.io/something"})},
      {"all kinds at once",
       MakePod().Request({{"cpu", "6m"}, {"memory", "16"}, {"ephemeral-storage", "16"}, {"example.com/aaa", "3"}}),
       {{"cpu", "5m"}, {"memory", "5"}, {"ephemeral-storage", "5"}, {"example.com/aaa", "3"}},
       Lacks({"Insufficient cpu", "Insufficient memory", "Insufficient ephemeral-storage",
              "Insufficient example.com/aaa"})},
  };
  const NodeResourcesFit plugin = MakePlugin();
  for (const auto& c : cases) {
    TestCluster cluster;
    cluster.Add(MakeNode("n").Capacity(kNodeSize)).Add(MakePod("used").Request(c.used).OnNode("n"));
    EXPECT_EQ(FilterAll(plugin, c.pod, cluster).at("n"), c.want) << c.name;
  }
}

TEST(NodeResourcesFitTest, TheNumberOfPodsComesFirstAndIsAlwaysResolvable) {
  TestCluster cluster;
  cluster.Add(MakeNode("n").Capacity({{"cpu", "10m"}, {"memory", "20"}, {"pods", "1"}}));
  cluster.Add(MakePod("used").Request({{"cpu", "9m"}}).OnNode("n"));
  const NodeResourcesFit plugin = MakePlugin();
  EXPECT_EQ(FilterAll(plugin, MakePod(), cluster).at("n"), Lacks({"Too many pods"}));
  EXPECT_EQ(FilterAll(plugin, MakePod().Request({{"cpu", "2m"}}), cluster).at("n"),
            Lacks({"Too many pods", "Insufficient cpu"}));
  EXPECT_EQ(FilterAll(plugin, MakePod().Request({{"cpu", "11m"}}), cluster).at("n"),
            TooSmall({"Too many pods", "Insufficient cpu"}));
  EXPECT_EQ(FilterOne(plugin, MakePod(), MakeNode("n").Capacity({{"cpu", "1"}, {"pods", "0"}})),
            Lacks({"Too many pods"}));
}

TEST(NodeResourcesFitTest, HugeAmountsDoNotOverflow) {
  TestCluster cluster;
  cluster.Add(MakeNode("n").Capacity({{"memory", "9223372036854775807"}, {"pods", "10"}}));
  cluster.Add(MakePod("used").Request({{"memory", "9223372036854775806"}}).OnNode("n"));
  const NodeResourcesFit plugin = MakePlugin();
  EXPECT_TRUE(FilterAll(plugin, MakePod().Request({{"memory", "1"}}), cluster).at("n").fits());
  EXPECT_EQ(FilterAll(plugin, MakePod().Request({{"memory", "9223372036854775807"}}), cluster).at("n"),
            Lacks({"Insufficient memory"}));
}

TEST(NodeResourcesFitTest, IgnoredExtendedResourcesAreNotChecked) {
  const Pod pod = MakePod().Request({{"example.com/bbb", "1"}, {"kubernetes.io/something", "1"}});
  const Node node = MakeNode("n").Capacity(kNodeSize);
  const Verdict all = TooSmall({"Insufficient example.com/bbb", "Insufficient kubernetes.io/something"});
  const Verdict native = TooSmall({"Insufficient kubernetes.io/something"});
  NodeResourcesFit::Args by_name, by_group, native_name;
  by_name.ignored_resources = {"example.com/bbb"};
  by_group.ignored_resource_groups = {"example.com", "kubernetes.io"};
  native_name.ignored_resources = {"kubernetes.io/something"};
  const auto sorted = [](const Verdict& v) {
    std::vector<std::string> reasons = v.reasons();
    std::sort(reasons.begin(), reasons.end());
    return Verdict(v.code(), reasons);
  };
  EXPECT_EQ(sorted(FilterOne(MakePlugin(), pod, node)), all);
  EXPECT_EQ(FilterOne(MakePlugin(by_name), pod, node), native);
  EXPECT_EQ(FilterOne(MakePlugin(by_group), pod, node), native) << "kubernetes.io names are not extended resources";
  EXPECT_EQ(sorted(FilterOne(MakePlugin(native_name), pod, node)), all);
  EXPECT_EQ(FilterOne(MakePlugin({}, {"example.com/bbb"}), pod, node), native);
  EXPECT_EQ(sorted(FilterOne(MakePlugin(by_name, {"example.com/other"}), pod, node)), all)
      << "what extenders manage replaces the argument";
}

TEST(NodeResourcesFitTest, ResourcesOfDeviceClassesAreLeftAloneWhereTheNodeHasNone) {
  const NodeResourcesFit plugin = MakePlugin();
  const Pod explicit_name = MakePod().Request({{"example.com/gpu", "2"}});
  const Pod implicit_name = MakePod().Request({{"deviceclass.resource.kubernetes.io/gpus", "2"}});
  DeviceClass device_class;
  device_class.meta.name = "gpus";
  device_class.extended_resource_name = "example.com/gpu";
  TestCluster cluster;
  cluster.Add(MakeNode("none")).Add(MakeNode("one").Capacity({{"pods", "9"}, {"example.com/gpu", "1"}}));
  EXPECT_EQ(FilterAll(plugin, explicit_name, cluster).at("none"), TooSmall({"Insufficient example.com/gpu"}));
  cluster.AddObject(device_class);
  EXPECT_TRUE(FilterAll(plugin, explicit_name, cluster).at("none").fits());
  EXPECT_EQ(FilterAll(plugin, explicit_name, cluster).at("one"), TooSmall({"Insufficient example.com/gpu"}));
  EXPECT_TRUE(FilterAll(plugin, implicit_name, cluster).at("none").fits());
}

TEST(NodeResourcesFitTest, MoreRequestsThanAMaskHasBitsAreJudgedAllTheSame) {
  Amounts many;
  for (int i = 0; i < 70; ++i) many.push_back({"example.com/r" + std::to_string(i), "1"});
  const Verdict got = FilterOne(MakePlugin(), MakePod().Request(many), MakeNode("n"));
  EXPECT_EQ(got.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(got.reasons().size(), 70u);
}

TEST(NodeResourcesFitTest, ManyNodesAreEachJudgedByTheirOwnAmounts) {
  TestCluster cluster;
  for (int i = 0; i < 2500; ++i) {
    cluster.Add(MakeNode("n" + std::to_string(i)).Capacity({{"cpu", std::to_string(i % 7)}, {"pods", "10"}}));
  }
  const auto verdicts = FilterAll(MakePlugin(), MakePod().Request({{"cpu", "4"}}), cluster);
  for (int i = 0; i < 2500; ++i) {
    EXPECT_EQ(verdicts.at("n" + std::to_string(i)), i % 7 >= 4 ? Verdict() : TooSmall({"Insufficient cpu"})) << i;
  }
}

TEST(NodeResourcesFitTest, ARejectedPodIsWokenByRoomItCouldUse) {
  const NodeResourcesFit plugin = MakePlugin();
  const auto events = *plugin.EventsToRegister();
  ASSERT_EQ(events.size(), 3u);
  const Pod pod = MakePod("p").Uid("1").Request({{"cpu", "2"}});
  const auto& pod_hint = events[0].hint;
  const Pod bound = MakePod("x").Uid("2").OnNode("n"), pending = MakePod("x").Uid("2");
  EXPECT_EQ(pod_hint(pod, {.pod_before = &bound}), QueueingHint::kQueue);
  EXPECT_EQ(pod_hint(pod, {.pod_before = &pending}), QueueingHint::kSkip);
  const Pod big = MakePod("x").Uid("2").OnNode("n").Request({{"cpu", "2"}, {"memory", "2Gi"}}),
            less_cpu = MakePod("x").Uid("2").OnNode("n").Request({{"cpu", "1"}, {"memory", "2Gi"}}),
            less_memory = MakePod("x").Uid("2").OnNode("n").Request({{"cpu", "2"}, {"memory", "1Gi"}});
  EXPECT_EQ(pod_hint(pod, {.pod_before = &big, .pod_after = &less_cpu}), QueueingHint::kQueue);
  EXPECT_EQ(pod_hint(pod, {.pod_before = &big, .pod_after = &less_memory}), QueueingHint::kSkip);
  EXPECT_EQ(pod_hint(pod, {.pod_before = &pod, .pod_after = &pod}), QueueingHint::kQueue);

  const auto& node_hint = events[1].hint;
  const auto node = [](const char* cpu, const char* memory, const char* pods) {
    return Node(MakeNode("n").Capacity({{"cpu", cpu}, {"memory", memory}, {"pods", pods}}));
  };
  const Node small = node("1", "1Gi", "10"), fits = node("2", "1Gi", "10"), more_memory = node("2", "2Gi", "10"),
             more_pods = node("2", "1Gi", "11"), no_pods = node("2", "1Gi", "0");
  EXPECT_EQ(node_hint(pod, {.node_after = &fits}), QueueingHint::kQueue);
  EXPECT_EQ(node_hint(pod, {.node_after = &small}), QueueingHint::kSkip);
  EXPECT_EQ(node_hint(pod, {.node_after = &no_pods}), QueueingHint::kSkip);
  EXPECT_EQ(node_hint(pod, {.node_before = &small, .node_after = &fits}), QueueingHint::kQueue);
  EXPECT_EQ(node_hint(pod, {.node_before = &fits, .node_after = &more_memory}), QueueingHint::kSkip);
  EXPECT_EQ(node_hint(pod, {.node_before = &fits, .node_after = &more_pods}), QueueingHint::kQueue);
}

}  // namespace
}  // namespace berth::plugins
