// SPDX-License-Identifier: Apache-2.0
// Host ports in use.
#include "plugins/node_ports.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

TEST(NodePortsTest, PortsConflictByAddressProtocolAndNumber) {
  const Verdict taken = NodePorts::kPortsTaken;
  const struct {
    const char* name;
    Pod pod, placed;
    Verdict want;
  } cases[] = {
      {"no ports wanted", MakePod(), MakePod("x").HostPort(80), {}},
      {"another port", MakePod().HostPort(8080), MakePod("x").HostPort(9090), {}},
      {"same port", MakePod().HostPort(8080), MakePod("x").HostPort(8080), taken},
      {"another protocol", MakePod().HostPort(8080, "UDP"), MakePod("x").HostPort(8080, "TCP"), {}},
      {"no protocol is TCP", MakePod().HostPort(8080, ""), MakePod("x").HostPort(8080, "TCP"), taken},
      {"two addresses",
       MakePod().HostPort(8001, "TCP", "127.0.0.1"),
       MakePod("x").HostPort(8001, "TCP", "127.0.0.2"),
       {}},
      {"same address", MakePod().HostPort(8001, "TCP", "127.0.0.1"), MakePod("x").HostPort(8001, "TCP", "127.0.0.1"),
       taken},
      {"all addresses wanted", MakePod().HostPort(8001, "TCP", "0.0.0.0"),
       MakePod("x").HostPort(8001, "TCP", "127.0.0.1"), taken},
      {"all addresses in use", MakePod().HostPort(8001, "TCP", "127.0.0.1"), MakePod("x").HostPort(8001), taken},
      {"one of two ports", MakePod().HostPort(8000).HostPort(8001), MakePod("x").HostPort(8001), taken},
  };
  const NodePorts plugin;
  for (const auto& c : cases) {
    TestCluster cluster;
    Pod placed = c.placed;
    placed.node_name = "n";
    cluster.Add(MakeNode("n")).Add(MakeNode("free")).Add(placed);
    const auto verdicts = FilterAll(plugin, c.pod, cluster);
    EXPECT_EQ(verdicts.at("n"), c.want) << c.name;
    EXPECT_TRUE(verdicts.at("free").fits()) << c.name;
  }
  EXPECT_EQ(taken.code(), Code::kUnschedulable) << "evicting helps";
}

TEST(NodePortsTest, PlainInitContainersWantNoPortsAndSidecarsDo) {
  for (const bool sidecar : {false, true}) {
    const Pod pod = MakePod().InitContainer({}, sidecar).With([](Pod& p) {
      p.init_containers.Edit()[0].ports.emplace_back().host_port = 80;
    });
    TestCluster cluster;
    cluster.Add(MakeNode("n")).Add(MakePod("x").HostPort(80).OnNode("n"));
    EXPECT_EQ(FilterAll(NodePorts(), pod, cluster).at("n").fits(), !sidecar);
  }
}

TEST(NodePortsTest, ARejectedPodIsWokenByTheEndOfAPodThatHeldOneOfItsPorts) {
  const auto events = *NodePorts().EventsToRegister();
  ASSERT_EQ(events.size(), 2u);
  const auto& hint = events[0].hint;
  const Pod pod = MakePod("p").HostPort(80);
  const Pod bound = MakePod("x").HostPort(80).OnNode("n"), pending = MakePod("x").HostPort(80),
            nominated = MakePod("x").HostPort(80).Nominated("n"), elsewhere = MakePod("x").HostPort(81).OnNode("n"),
            portless = MakePod("x").OnNode("n");
  EXPECT_EQ(hint(pod, {.pod_before = &bound}), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, {.pod_before = &nominated}), QueueingHint::kQueue);
  EXPECT_EQ(hint(pod, {.pod_before = &pending}), QueueingHint::kSkip);
  EXPECT_EQ(hint(pod, {.pod_before = &elsewhere}), QueueingHint::kSkip);
  EXPECT_EQ(hint(pod, {.pod_before = &portless}), QueueingHint::kSkip);
}

}  // namespace
}  // namespace berth::plugins
