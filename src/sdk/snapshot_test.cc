// SPDX-License-Identifier: Apache-2.0
// Host ports, label columns and node views.
#include "berth/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(HostPortTest, EmptyFieldsMeanEveryAddressAndTcp) {
  ContainerPort port;
  port.host_port = 80;
  port.protocol = "";
  EXPECT_EQ(NormalizeHostPort(port), (HostPort{"0.0.0.0", "TCP", 80}));
  port.host_ip = "10.0.0.1";
  port.protocol = "UDP";
  EXPECT_EQ(NormalizeHostPort(port), (HostPort{"10.0.0.1", "UDP", 80}));
}

TEST(HostPortTest, PortsConflictWhenNumberProtocolAndAddressMeet) {
  const HostPort any{"0.0.0.0", "TCP", 80}, one{"10.0.0.1", "TCP", 80}, two{"10.0.0.2", "TCP", 80};
  EXPECT_TRUE(Conflicts(any, any));
  EXPECT_TRUE(Conflicts(any, one));
  EXPECT_TRUE(Conflicts(one, any));
  EXPECT_TRUE(Conflicts(one, one));
  EXPECT_FALSE(Conflicts(one, two));
  EXPECT_FALSE(Conflicts(any, {"0.0.0.0", "UDP", 80}));
  EXPECT_FALSE(Conflicts(any, {"0.0.0.0", "TCP", 81}));
}

TEST(HostPortTest, APodHoldsThePortsOfItsContainersAndSidecars) {
  Pod pod = MakePod("p").HostPort(80).InitContainer({}, true).InitContainer({});
  pod.init_containers.Edit()[0].ports = {{1, 90, "", "TCP"}};
  pod.init_containers.Edit()[1].ports = {{1, 91, "", "TCP"}};
  pod.containers.Edit()[0].ports.push_back({8080, 0, "", "TCP"});
  EXPECT_THAT(HostPortsOf(pod), ElementsAre(HostPort{"0.0.0.0", "TCP", 90}, HostPort{"0.0.0.0", "TCP", 80}));
}

TEST(LabelColumnTest, IdsNameValuesAndAreReusedWhenTheLastOneGoes) {
  LabelColumn column;
  LabelColumnWriter::Resize(column, 3);
  const std::string x = "x", y = "y", z = "z";
  LabelColumnWriter::Assign(column, 0, &x);
  LabelColumnWriter::Assign(column, 1, &x);
  LabelColumnWriter::Assign(column, 2, &y);
  EXPECT_EQ(column[0], column[1]);
  EXPECT_NE(column[0], column[2]);
  EXPECT_EQ(column.distinct(), 2u);
  const uint32_t freed = column[2];
  LabelColumnWriter::Assign(column, 2, nullptr);
  EXPECT_EQ(column.Find("y"), LabelColumn::kAbsent);
  LabelColumnWriter::Assign(column, 2, &z);
  EXPECT_EQ(column[2], freed);
  EXPECT_EQ(column.text(freed), "z");
  EXPECT_EQ(column.distinct(), 2u);
  EXPECT_EQ(column[77], LabelColumn::kAbsent) << "rows that are not there lack every label";
}

TEST(LabelColumnTest, AssigningTheSameValueAgainChangesNothing) {
  LabelColumn column;
  LabelColumnWriter::Resize(column, 1);
  const std::string x = "x";
  LabelColumnWriter::Assign(column, 0, &x);
  LabelColumnWriter::Assign(column, 0, &x);
  LabelColumnWriter::Assign(column, 0, nullptr);
  EXPECT_EQ(column.Find("x"), LabelColumn::kAbsent) << "it was counted once";
}

TEST(NodeViewTest, ShowsOneNodesColumns) {
  TestCluster cluster;
  cluster.Add(MakeNode("n").Label("rack", "7")).Add(MakePod("p").OnNode("n").Request({{"cpu", "1500m"}}));
  const Snapshot snapshot = cluster.snapshot();
  const NodeView view = snapshot.view(0);
  EXPECT_EQ(view.name(), "n");
  EXPECT_EQ(view.allocatable(ResourceId::kCpu), 4000);
  EXPECT_EQ(view.requested(ResourceId::kCpu), 1500);
  EXPECT_EQ(view.requested(InternResource("example.com/none")), 0);
  EXPECT_EQ(view.pods().size(), 1u);
  EXPECT_EQ(*view.Label("rack"), "7");
  EXPECT_EQ(view.Label("none"), nullptr);
}

TEST(NodeViewTest, AnIntLabelIsAWholeDecimalNumberOrNothing) {
  const std::vector<std::pair<std::string, std::optional<int64_t>>> cases = {
      {"42", 42},           {"-7", -7},           {"", std::nullopt},
      {"4x", std::nullopt}, {" 4", std::nullopt}, {"9223372036854775808", std::nullopt}};
  for (const auto& [text, want] : cases) {
    TestCluster cluster;
    cluster.Add(MakeNode("n").Label("k", text));
    const Snapshot snapshot = cluster.snapshot();
    EXPECT_EQ(snapshot.view(0).IntLabel("k"), want) << text;
    EXPECT_EQ(snapshot.view(0).IntLabel("absent"), std::nullopt);
  }
}

TEST(SnapshotTest, AnEmptyClusterHasNothing) {
  TestCluster cluster;
  const Snapshot snapshot = cluster.snapshot();
  EXPECT_EQ(snapshot.rows(), 0u);
  EXPECT_FALSE(snapshot.live(0));
  EXPECT_EQ(snapshot.FindRow("n"), kNoRow);
  EXPECT_THAT(snapshot.order(), IsEmpty());
  EXPECT_THAT(snapshot.requested(InternResource("example.com/none")), IsEmpty());
  EXPECT_EQ(snapshot.FindImage("i"), kNoImage);
  EXPECT_THAT(snapshot.nominated(0), IsEmpty());
}

}  // namespace
}  // namespace berth
