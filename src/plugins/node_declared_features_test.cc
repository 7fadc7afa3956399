// SPDX-License-Identifier: Apache-2.0
// Features that pods need without saying so.
#include "plugins/node_declared_features.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

TEST(NodeDeclaredFeaturesTest, InferredFeaturesMustBeDeclared) {
  const auto user_namespaces = [](Pod& p) {
    p.host_network = true;
    p.host_users = false;
  };
  const auto restarts_all = [](Pod& p) { p.containers.Edit()[0].restarts_all_containers = true; };
  const std::string users(kUserNamespacesHostNetworkFeature), restart(kRestartAllContainersFeature);
  const Verdict missing = NodeDeclaredFeatures::kFeatureMissing;
  const struct {
    const char* name;
    Pod pod;
    Node node;
    Verdict want;
  } cases[] = {
      {"nothing needed", MakePod(), MakeNode("n"), {}},
      {"host network alone needs nothing", MakePod().With([](Pod& p) { p.host_network = true; }), MakeNode("n"), {}},
      {"user namespaces alone need nothing", MakePod().With([](Pod& p) { p.host_users = false; }), MakeNode("n"), {}},
      {"both need the feature", MakePod().With(user_namespaces), MakeNode("n"), missing},
      {"and fit where it is", MakePod().With(user_namespaces), MakeNode("n").Feature(users), {}},
      {"another feature is no help", MakePod().With(user_namespaces), MakeNode("n").Feature(restart), missing},
      {"restarting all containers", MakePod().With(restarts_all), MakeNode("n"), missing},
      {"restarting all containers, declared", MakePod().With(restarts_all), MakeNode("n").Feature(restart), {}},
      {"two needed, one there", MakePod().With(restarts_all).With(user_namespaces), MakeNode("n").Feature(users),
       missing},
      {"two needed, both there",
       MakePod().With(restarts_all).With(user_namespaces),
       MakeNode("n").Feature(restart).Feature(users),
       {}},
  };
  const NodeDeclaredFeatures plugin;
  for (const auto& c : cases) EXPECT_EQ(FilterOne(plugin, c.pod, c.node), c.want) << c.name;
}

TEST(NodeDeclaredFeaturesTest, ARejectedPodIsWokenByChangedDeclarations) {
  const auto events = *NodeDeclaredFeatures().EventsToRegister();
  ASSERT_EQ(events.size(), 2u);
  const Pod pod = MakePod("p").Uid("1");
  const Node plain = MakeNode("n"), declared = MakeNode("n").Feature("X");
  EXPECT_EQ(events[0].hint(pod, {.node_after = &plain}), QueueingHint::kQueue);
  EXPECT_EQ(events[0].hint(pod, {.node_before = &plain, .node_after = &declared}), QueueingHint::kQueue);
  EXPECT_EQ(events[0].hint(pod, {.node_before = &plain, .node_after = &plain}), QueueingHint::kSkip);
  EXPECT_EQ(events[1].hint(pod, {.pod_before = &pod, .pod_after = &pod}), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::plugins
