// SPDX-License-Identifier: Apache-2.0
// A cluster that is kept over requests, against one that is built for each.
#include "extender/request_cluster.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"

namespace berth::extender {
namespace {

using Nodes = std::vector<std::shared_ptr<const Node>>;

std::shared_ptr<const Node> RankedNode(const std::string& name, const std::string& value) {
  return std::make_shared<const Node>(Node(MakeNode(name).Label("v", value)));
}

Result<std::span<const Row>> TrySet(RequestCluster& cluster, const Nodes& nodes) {
  return cluster.Set(nodes.size(), [&](size_t i) -> const std::shared_ptr<const Node>& { return nodes[i]; });
}
std::span<const Row> Set(RequestCluster& cluster, const Nodes& nodes) { return TrySet(cluster, nodes).value(); }

// One node with these resources and `count` without.
Nodes WithResources(size_t first, size_t resources, size_t count) {
  Node rich;
  rich.meta.name = "rich";
  for (size_t i = 0; i < resources; ++i) {
    rich.allocatable.scalars.emplace_back(InternResource("example.com/cells" + std::to_string(first + i)), 1);
  }
  std::sort(rich.allocatable.scalars.begin(), rich.allocatable.scalars.end());
  Nodes nodes = {std::make_shared<const Node>(std::move(rich))};
  for (size_t i = 0; i < count; ++i) nodes.push_back(RankedNode("n" + std::to_string(i), ""));
  return nodes;
}

// By name, the label's value of every node there is; and that all places lead to the right rows.
void ExpectHolds(const RequestCluster& cluster, std::span<const Row> rows, const Nodes& nodes, bool in_order) {
  std::map<std::string, std::string> want, got;
  for (const auto& node : nodes) want[node->name()] = *node->meta.labels.Find("v");
  const Snapshot snapshot = cluster.snapshot();
  for (Row row = 0; row < snapshot.rows(); ++row) {
    if (snapshot.live(row)) got[snapshot.node(row).name()] = *snapshot.node(row).meta.labels.Find("v");
  }
  RC_ASSERT(got == want);
  RC_ASSERT(rows.size() == nodes.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    RC_ASSERT(snapshot.live(rows[i]));
    RC_ASSERT(snapshot.node(rows[i]).name() == nodes[i]->name());
    if (in_order && want.size() == nodes.size()) RC_ASSERT(rows[i] == i);
  }
}

TEST(RequestClusterTest, RequestsInAnyOrderSeeTheirNodesAndNoOthers) {
  const bool held = rc::check([] {
    const bool in_order = *rc::gen::arbitrary<bool>();
    RequestCluster cluster(in_order);
    std::map<std::pair<int, int>, std::shared_ptr<const Node>>
        made;  // the same object for the same text, as from a cache
    const int requests = *rc::gen::inRange(1, 8);
    for (int r = 0; r < requests; ++r) {
      const auto picks = *rc::gen::container<std::vector<std::pair<int, int>>>(
          rc::gen::pair(rc::gen::inRange(0, 12), rc::gen::inRange(0, 3)));
      Nodes nodes;
      for (const auto& pick : picks) {
        auto& node = made[pick];
        if (!node) node = RankedNode("n" + std::to_string(pick.first), std::to_string(pick.second));
        nodes.push_back(node);
      }
      ExpectHolds(cluster, Set(cluster, nodes), nodes, in_order);
    }
  });
  EXPECT_TRUE(held);
}

TEST(RequestClusterTest, NamesAloneAreNodesWithoutData) {
  RequestCluster cluster(false);
  const std::vector<std::vector<std::string>> requests = {{"a", "b", "c"}, {"a", "b", "c"}, {"a", "bc"},
                                                          {"ab", "c"},     {"c", "a"},      {},
                                                          {"a", "a"},      {"a", "a"},      {"b", "d", "a"}};
  for (const auto& names : requests) {
    const std::span<const Row> rows =
        cluster.SetNames(names.size(), [&](size_t i) -> const std::string& { return names[i]; });
    ASSERT_EQ(rows.size(), names.size());
    const Snapshot snapshot = cluster.snapshot();
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(snapshot.node(rows[i]).name(), names[i]);
    size_t live = 0;
    for (Row row = 0; row < snapshot.rows(); ++row) live += snapshot.live(row) ? 1 : 0;
    EXPECT_EQ(live, std::set<std::string>(names.begin(), names.end()).size());
  }
}

TEST(RequestClusterTest, NamesAfterNodesAreLookedAtAnew) {
  RequestCluster cluster(false);
  Set(cluster, {RankedNode("a", "1")});
  EXPECT_TRUE(cluster.SetNames(0, nullptr).empty());
  EXPECT_EQ(cluster.snapshot().rows(), 0u);
}

TEST(RequestClusterTest, ClearedItStartsAgain) {
  RequestCluster cluster(false);
  const Nodes nodes = {RankedNode("a", "1"), RankedNode("b", "2")};
  Set(cluster, nodes);
  cluster.Clear();
  EXPECT_EQ(cluster.snapshot().rows(), 0u);
  const std::span<const Row> rows = Set(cluster, nodes);
  EXPECT_EQ(cluster.snapshot().node(rows[1]).name(), "b");
}

TEST(RequestClusterTest, ANodeWithManyResourcesAmongManyNodesIsRefused) {
  RequestCluster cluster(false, 1'000);
  const auto refused = TrySet(cluster, WithResources(0, 100, 10));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().text(),
            "Nodes: 11 nodes with 100 different resources in status.allocatable: nodes times resources must be at most "
            "1000");
  EXPECT_EQ(cluster.snapshot().rows(), 0u);
  const Nodes good = WithResources(0, 100, 9);
  EXPECT_EQ(Set(cluster, good).size(), good.size());
  EXPECT_EQ(cluster.snapshot().rows(), good.size());
}

TEST(RequestClusterTest, WhatEarlierRequestsHadDoesNotCount) {
  RequestCluster cluster(false, 1'000);
  for (size_t round = 0; round < 5; ++round) {
    const Nodes nodes = WithResources(round * 60, 60, 9);
    const auto rows = TrySet(cluster, nodes);
    ASSERT_TRUE(rows.ok()) << rows.error().text();
    ASSERT_EQ(rows->size(), nodes.size());
  }
}

TEST(RequestClusterTest, AStateThatHasSeenMuchIsBuiltAnew) {
  RequestCluster cluster(false);
  for (int i = 0; i < 12'000; ++i) {
    const Nodes nodes = {RankedNode("n", std::to_string(i))};
    const std::span<const Row> rows = Set(cluster, nodes);
    ASSERT_EQ(*cluster.snapshot().node(rows[0]).meta.labels.Find("v"), std::to_string(i));
  }
}

}  // namespace
}  // namespace berth::extender
