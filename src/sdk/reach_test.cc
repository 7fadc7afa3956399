// SPDX-License-Identifier: Apache-2.0
#include "berth/host/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReachTest, NamesAndTheSetOfNodesNeedNoObjects) {
  EXPECT_EQ(ReachOf(Depends::OnRow(0)), Reach::kNames);
  EXPECT_EQ(ReachOf({row_field::kName, epoch::kNodeSet}), Reach::kNames);
  EXPECT_THAT(KindsRead({row_field::kName, epoch::kNodeSet}), IsEmpty());
}

TEST(ReachTest, WhatANodeObjectSaysNeedsNodesAlone) {
  for (const Depends depends : {Depends::OnRow(row_field::kTaints), Depends::OnRow(row_field::kAnnotations),
                                Depends{row_field::kLabels, epoch::kNodeLabels}, Depends{0, epoch::kSets}}) {
    EXPECT_EQ(ReachOf(depends), Reach::kNodes);
    EXPECT_THAT(KindsRead(depends), ElementsAre(Kind::kNode));
  }
}

TEST(ReachTest, WhateverLiesFurtherNeedsPodsAndTheObjectsOfItsEpochs) {
  EXPECT_THAT(KindsRead(Depends::OnRow(row_field::kPods)), ElementsAre(Kind::kNode, Kind::kPod));
  EXPECT_THAT(KindsRead({row_field::kImages, epoch::kImageSpread}), ElementsAre(Kind::kNode, Kind::kPod));
  EXPECT_THAT(KindsRead({0, epoch::kNamespaces}), ElementsAre(Kind::kNode, Kind::kPod, Kind::kNamespace));
  EXPECT_THAT(KindsRead({0, epoch::kDevices}),
              ElementsAre(Kind::kNode, Kind::kPod, Kind::kResourceClaim, Kind::kResourceSlice, Kind::kDeviceClass));
}

TEST(ReachTest, WhatCannotBeRememberedReadsTheObjectsThatItNamesAlone) {
  EXPECT_THAT(KindsRead({0, epoch::kUnrememberable}), ElementsAre(Kind::kNode, Kind::kPod));
  EXPECT_THAT(KindsRead({0, epoch::kUnrememberable | epoch::kBudgets}),
              ElementsAre(Kind::kNode, Kind::kPod, Kind::kPodDisruptionBudget));
}

TEST(ReachTest, APluginThatDoesNotSayReadsAllThatIsWatched) {
  const std::vector<Kind> all = KindsRead(Depends::Everything());
  for (const KindInfo& info : kKinds)
    EXPECT_EQ(std::count(all.begin(), all.end(), info.kind), IsWatched(info.kind) ? 1 : 0) << info.name;
  EXPECT_FALSE(IsWatched(Kind::kPriorityClass));
}

}  // namespace
}  // namespace berth
