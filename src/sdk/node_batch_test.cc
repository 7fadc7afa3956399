// SPDX-License-Identifier: Apache-2.0
// Batches cut the columns; an overlay shows one row as if pods were gone or there.
#include "berth/node_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth {
namespace {

using ::testing::ElementsAre;

class NodeBatchTest : public ::testing::Test {
 protected:
  NodeBatchTest() {
    for (const char* name : {"a", "b", "c"}) cluster_.Add(MakeNode(name).Label("name", name));
    cluster_.Add(MakePod("p1").OnNode("b").Request({{"cpu", "1"}, {"example.com/gpu", "2"}}).HostPort(80));
    cluster_.Add(MakePod("p2").OnNode("b").Request({{"memory", "1Gi"}}));
    cluster_.Add(MakePod("p3").OnNode("c").Request({{"cpu", "3"}}));
  }
  static std::vector<std::string> Names(std::span<const PodRecord* const> pods) {
    std::vector<std::string> names;
    for (const PodRecord* pod : pods) names.push_back(pod->pod->name());
    return names;
  }
  TestCluster cluster_;
};

TEST_F(NodeBatchTest, EveryColumnIsCutToTheRowsOfTheBatch) {
  const Snapshot snapshot = cluster_.snapshot();
  const std::vector<uint8_t> active = {1, 0};
  const NodeBatch batch(snapshot, 1, active);
  EXPECT_EQ(batch.size(), 2u);
  EXPECT_EQ(batch.row(1), 2u);
  EXPECT_THAT(batch.requested(ResourceId::kCpu), ElementsAre(1000, 3000));
  EXPECT_THAT(batch.requested(InternResource("example.com/gpu")), ElementsAre(2, 0));
  EXPECT_THAT(batch.requested(InternResource("example.com/none")), ElementsAre(0, 0));
  EXPECT_THAT(batch.pod_count(), ElementsAre(2, 1));
  const LabelColumn& names = snapshot.labels("name");
  EXPECT_EQ(names.text(batch.labels(names)[0]), "b");
  EXPECT_EQ(batch.view(1).name(), "c");
  EXPECT_THAT(Names(batch.pods(0)), ElementsAre("p1", "p2"));
  EXPECT_EQ(batch.ports(0).size(), 1u);
  EXPECT_EQ(batch.overlay(), nullptr);
}

TEST_F(NodeBatchTest, AnOverlayCanStartAgainAsAnotherRow) {
  const Snapshot snapshot = cluster_.snapshot();
  RowOverlay overlay(snapshot, 1);
  overlay.RemovePod(*snapshot.pods(1)[0]);
  overlay.Reset(snapshot, 2);
  const NodeBatch batch(snapshot, overlay);
  EXPECT_EQ(batch.row(0), 2u);
  EXPECT_THAT(batch.requested(ResourceId::kCpu), ElementsAre(3000));
  EXPECT_THAT(batch.requested(InternResource("example.com/gpu")), ElementsAre(0));
  EXPECT_THAT(batch.pod_count(), ElementsAre(1));
  EXPECT_THAT(Names(batch.pods(0)), ElementsAre("p3"));
  EXPECT_TRUE(batch.ports(0).empty());
}

TEST_F(NodeBatchTest, AnOverlayStartsAsTheRowIs) {
  const Snapshot snapshot = cluster_.snapshot();
  const RowOverlay overlay(snapshot, 1);
  const NodeBatch batch(snapshot, overlay);
  EXPECT_EQ(batch.size(), 1u);
  EXPECT_EQ(batch.row(0), 1u);
  EXPECT_EQ(batch.active()[0], 1);
  EXPECT_THAT(batch.requested(ResourceId::kCpu), ElementsAre(1000));
  EXPECT_THAT(batch.nonzero_cpu(), ElementsAre(1100));
  EXPECT_THAT(batch.pod_count(), ElementsAre(2));
  EXPECT_EQ(batch.view(0).requested(ResourceId::kMemory), int64_t{1} << 30);
}

TEST_F(NodeBatchTest, RemovingAPodThroughAnOverlayLeavesTheSnapshotAlone) {
  const Snapshot snapshot = cluster_.snapshot();
  RowOverlay overlay(snapshot, 1);
  overlay.RemovePod(*snapshot.pods(1)[0]);
  EXPECT_THAT(Names(overlay.pods()), ElementsAre("p2"));
  EXPECT_THAT(overlay.requested(ResourceId::kCpu), ElementsAre(0));
  EXPECT_THAT(overlay.requested(InternResource("example.com/gpu")), ElementsAre(0));
  EXPECT_TRUE(overlay.ports().empty());
  EXPECT_EQ(NodeBatch(snapshot, overlay).view(0).pods().size(), 1u);
  EXPECT_EQ(snapshot.pods(1).size(), 2u);
  EXPECT_EQ(snapshot.requested(ResourceId::kCpu)[1], 1000);
}

TEST_F(NodeBatchTest, RemovingAPodThatIsNotThereChangesNothing) {
  const Snapshot snapshot = cluster_.snapshot();
  RowOverlay overlay(snapshot, 1);
  overlay.RemovePod(*snapshot.pods(2)[0]);
  EXPECT_THAT(overlay.pod_count(), ElementsAre(2));
  EXPECT_THAT(overlay.requested(ResourceId::kCpu), ElementsAre(1000));
}

TEST_F(NodeBatchTest, AnAddedPodMayBringAResourceNobodyElseHas) {
  const Snapshot snapshot = cluster_.snapshot();
  RowOverlay overlay(snapshot, 0);
  const ResourceId id = InternResource("example.com/brand-new");
  EXPECT_THAT(overlay.requested(id), ElementsAre(0));
  const PodRecord record{std::make_shared<const Pod>(MakePod("new").Request({{"example.com/brand-new", "4"}}).Build()),
                         0, false};
  overlay.AddPod(record);
  EXPECT_THAT(overlay.requested(id), ElementsAre(4));
  EXPECT_THAT(Names(overlay.pods()), ElementsAre("new"));
  overlay.RemovePod(record);
  EXPECT_THAT(overlay.requested(id), ElementsAre(0));
}

}  // namespace
}  // namespace berth
