// SPDX-License-Identifier: Apache-2.0
// Pods that name their node.
#include "plugins/node_name.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

TEST(NodeNameTest, OnlyTheNamedNodeFits) {
  TestCluster cluster;
  cluster.Add(MakeNode("a")).Add(MakeNode("b"));
  const NodeName plugin;
  using Verdicts = std::map<std::string, Verdict>;
  const Verdict other = NodeName::kOtherNode;
  EXPECT_EQ(FilterAll(plugin, MakePod(), cluster), (Verdicts{{"a", {}}, {"b", {}}}));
  EXPECT_EQ(FilterAll(plugin, MakePod().OnNode("b"), cluster), (Verdicts{{"a", other}, {"b", {}}}));
  EXPECT_EQ(FilterAll(plugin, MakePod().OnNode("nowhere"), cluster), (Verdicts{{"a", other}, {"b", other}}));
  EXPECT_EQ(other.code(), Code::kUnschedulableAndUnresolvable);
}

}  // namespace
}  // namespace berth::plugins
