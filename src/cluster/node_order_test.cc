// SPDX-License-Identifier: Apache-2.0
// kube-scheduler's node order: zones take turns.
#include "cluster/node_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Labels Zone(const std::string& zone) { return {{"topology.kubernetes.io/zone", zone}}; }

TEST(NodeOrderTest, WithoutZonesNodesStandInTheOrderTheyCame) {
  NodeOrder order;
  EXPECT_THAT(order.List(), IsEmpty());
  for (const Row row : {3u, 1u, 2u}) order.Put(row, {});
  EXPECT_THAT(order.List(), ElementsAre(3, 1, 2));
}

TEST(NodeOrderTest, ZonesTakeTurnsAndExhaustedOnesAreSkipped) {
  NodeOrder order;
  for (const Row row : {0u, 1u, 2u}) order.Put(row, Zone("a"));
  order.Put(3, Zone("b"));
  for (const Row row : {4u, 5u}) order.Put(row, Zone("c"));
  EXPECT_THAT(order.List(), ElementsAre(0, 3, 4, 1, 5, 2));
}

TEST(NodeOrderTest, ANodeThatKeepsItsZoneKeepsItsPlace) {
  NodeOrder order;
  for (const Row row : {0u, 1u}) order.Put(row, Zone("a"));
  order.Put(0, {{"topology.kubernetes.io/zone", "a"}, {"other", "label"}});
  EXPECT_THAT(order.List(), ElementsAre(0, 1));
}

TEST(NodeOrderTest, ANodeThatChangesItsZoneGoesToTheEndOfTheNewOne) {
  NodeOrder order;
  for (const Row row : {0u, 1u}) order.Put(row, Zone("a"));
  for (const Row row : {2u, 3u}) order.Put(row, Zone("b"));
  order.Put(0, Zone("b"));
  EXPECT_THAT(order.List(), ElementsAre(1, 2, 3, 0));
}

TEST(NodeOrderTest, RemovalKeepsTheOthersInOrderAndAnEmptyZoneLosesItsTurn) {
  NodeOrder order;
  order.Put(0, Zone("a"));
  order.Put(1, Zone("b"));
  order.Put(2, Zone("b"));
  order.Remove(0);
  order.Remove(7);  // unknown
  EXPECT_THAT(order.List(), ElementsAre(1, 2));
  order.Put(0, Zone("a"));
  EXPECT_THAT(order.List(), ElementsAre(1, 0, 2)) << "zone a is now the one seen last";
}

TEST(NodeOrderTest, RegionAndZoneMakeTheZoneAndTheBetaLabelsWin) {
  NodeOrder order;
  order.Put(0, {{"topology.kubernetes.io/region", "r1"}, {"topology.kubernetes.io/zone", "z"}});
  order.Put(1, {{"topology.kubernetes.io/region", "r1"}, {"topology.kubernetes.io/zone", "z"}});
  order.Put(2, {{"topology.kubernetes.io/region", "r2"}, {"topology.kubernetes.io/zone", "z"}});
  order.Put(3, {{"failure-domain.beta.kubernetes.io/region", "r2"},
                {"topology.kubernetes.io/region", "r1"},
                {"failure-domain.beta.kubernetes.io/zone", "z"}});
  EXPECT_THAT(order.List(), ElementsAre(0, 2, 1, 3));
}

}  // namespace
}  // namespace berth::cluster
