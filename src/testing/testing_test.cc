// SPDX-License-Identifier: Apache-2.0
#include "berth/testing.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(TestClusterTest, ObjectsOfEveryKindCanBeAddedAndAreSeen) {
  TestCluster cluster;
  ForEachType(KindTypes{}, [&]<class T>() {
    T object;
    object.meta.name = "one";
    object.meta.uid = "u";
    if (InfoOf<T>().namespaced()) object.meta.namespace_ = "default";
    cluster.AddObject(std::move(object));
  });
  const Snapshot snapshot = cluster.snapshot();
  EXPECT_NE(snapshot.FindRow("one"), kNoRow);
  ForEachType(KindTypes{}, [&]<class T>() {
    if constexpr (!std::is_same_v<T, Pod> && !std::is_same_v<T, Node>) {
      EXPECT_NE(snapshot.objects<T>().Find(InfoOf<T>().namespaced() ? "default" : "", "one"), nullptr)
          << InfoOf<T>().name;
    }
  });
}

TEST(TestClusterTest, APodIsPlacedOrNominatedAsItSays) {
  TestCluster cluster;
  cluster.Add(MakeNode("n")).AddObject(MakePod("placed").OnNode("n").Build()).Add(MakePod("soon").Nominated("n"));
  const Snapshot snapshot = cluster.snapshot();
  const Row row = snapshot.FindRow("n");
  ASSERT_EQ(snapshot.pods(row).size(), 1u);
  EXPECT_EQ(snapshot.pods(row)[0]->pod->name(), "placed");
  EXPECT_EQ(snapshot.nominated(row).size(), 1u);
}

TEST(PrintTest, AVerdictIsShownAsItReads) {
  constexpr Reason kHot{"rack is too hot", Remedy::kNone};
  EXPECT_EQ(::testing::PrintToString(Verdict()), "fits");
  EXPECT_EQ(::testing::PrintToString(kFits), "fits");
  EXPECT_EQ(::testing::PrintToString(Verdict(kHot)), "UnschedulableAndUnresolvable: rack is too hot");
  EXPECT_EQ(::testing::PrintToString(kHot), "UnschedulableAndUnresolvable: rack is too hot");
  EXPECT_EQ(::testing::PrintToString(Verdict::Fail("no thermometer")), "Error: no thermometer");
}

}  // namespace
}  // namespace berth
