// SPDX-License-Identifier: Apache-2.0
#include "berth/host/kinds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>

namespace berth {
namespace {

TEST(KindsTest, TheTableIsInTheOrderOfTheEnumAndEndsWithIt) {
  for (size_t i = 0; i < kKindCount; ++i) EXPECT_EQ(kKinds[i].kind, static_cast<Kind>(i)) << kKinds[i].name;
  EXPECT_EQ(kKinds.back().kind, Kind::kDeviceClass);
}

TEST(KindsTest, EveryStructLeadsToItsOwnRow) {
  size_t place = 0;
  ForEachType(KindTypes{}, [&]<class T>() { EXPECT_EQ(InfoOf<T>().kind, static_cast<Kind>(place++)); });
  EXPECT_EQ(place, kKindCount);
  EXPECT_EQ(InfoOf<Pod>().name, "Pod");
  EXPECT_EQ(InfoOf<CsiStorageCapacity>().name, "CSIStorageCapacity");
  EXPECT_EQ(InfoOf<DeviceClass>().name, "DeviceClass");
}

TEST(KindsTest, NamesAndPathsTellKindsApart) {
  std::set<std::string_view> names;
  std::set<std::pair<std::string_view, std::string_view>> paths;
  std::set<EventResource> events;
  for (const KindInfo& info : kKinds) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_TRUE(paths.emplace(info.group, info.plural).second) << info.plural;
    if (info.event) {
      EXPECT_TRUE(events.insert(*info.event).second) << info.name;
    }
    EXPECT_EQ(FindKind(info.name), info.kind);
    EXPECT_EQ(ToString(info.kind), info.name);
  }
  EXPECT_EQ(FindKind("Deployment"), std::nullopt);
  EXPECT_EQ(FindKind(""), std::nullopt);
  EXPECT_EQ(FindKind("pod"), std::nullopt);
}

TEST(KindsTest, APluralIsTheNameInSmallLettersAndMore) {
  for (const KindInfo& info : kKinds) {
    std::string stem(info.name.substr(0, info.name.size() - 1));  // capacity, capacities
    std::transform(stem.begin(), stem.end(), stem.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_TRUE(info.plural.starts_with(stem)) << info.plural;
    EXPECT_TRUE(info.plural.ends_with("s")) << info.plural;
  }
}

TEST(KindsTest, EveryKindHasAPreferredVersionAndNoGapAfterIt) {
  for (const KindInfo& info : kKinds) {
    EXPECT_FALSE(info.versions[0].empty()) << info.name;
    EXPECT_TRUE(info.versions[2].empty() || !info.versions[1].empty()) << info.name;
  }
}

TEST(KindsTest, ReadsOfAKindFallUnderItsEpochsOrUnderNone) {
  EXPECT_EQ(EpochOf<Namespace>(), epoch::kNamespaces);
  EXPECT_EQ(EpochOf<StatefulSet>(), epoch::kWorkloads);
  EXPECT_EQ(EpochOf<VolumeAttachment>(), epoch::kVolumes);
  EXPECT_EQ(EpochOf<DeviceClass>(), epoch::kDevices);
  EXPECT_EQ(EpochOf<PodDisruptionBudget>(), epoch::kBudgets);
  EXPECT_EQ(EpochOf<PriorityClass>(), epoch::kUnrememberable) << "no plugin can say that it reads them";
}

}  // namespace
}  // namespace berth
