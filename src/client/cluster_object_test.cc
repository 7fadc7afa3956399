// SPDX-License-Identifier: Apache-2.0
#include "client/cluster_object.h"

#include <gtest/gtest.h>

#include <set>

namespace berth::client {
namespace {

TEST(ClusterObjectTest, TheKindIsThePlaceInTheVariantAndHasItsManifestName) {
  EXPECT_EQ(KindOf(std::make_shared<const Pod>()), Kind::kPod);
  EXPECT_EQ(KindOf(std::make_shared<const CsiNode>()), Kind::kCsiNode);
  EXPECT_EQ(KindOf(std::make_shared<const DeviceClass>()), Kind::kDeviceClass);
  EXPECT_EQ(ToString(Kind::kPod), "Pod");
  EXPECT_EQ(ToString(Kind::kReplicationController), "ReplicationController");
  EXPECT_EQ(ToString(Kind::kCsiNode), "CSINode");
  EXPECT_EQ(ToString(Kind::kCsiStorageCapacity), "CSIStorageCapacity");
  EXPECT_EQ(ToString(Kind::kDeviceClass), "DeviceClass");
  std::set<std::string_view> names;
  for (size_t i = 0; i < kKindCount; ++i) names.insert(ToString(static_cast<Kind>(i)));
  EXPECT_EQ(names.size(), kKindCount);
}

TEST(ClusterObjectTest, OtherMetadataMakesACopyAndLeavesTheOriginal) {
  auto pod = std::make_shared<Pod>();
  pod->meta.name = "p";
  pod->node_name = "n";
  const ClusterObject original = Ptr<Pod>(pod);
  ObjectMeta meta = pod->meta;
  meta.resource_version = "7";
  const ClusterObject copy = WithMeta(original, meta);
  EXPECT_EQ(MetaOf(copy).resource_version, "7");
  EXPECT_EQ(std::get<Ptr<Pod>>(copy)->node_name, "n");
  EXPECT_EQ(MetaOf(original).resource_version, "");
}

TEST(ClusterObjectTest, VersionsAreNumbersAndAnythingElseIsZero) {
  EXPECT_EQ(VersionNumber("42"), 42u);
  EXPECT_EQ(VersionNumber("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "18446744073709551616", "-1", "+1", " 1", "1 ", "1a", "abc", "0x10"}) {
    EXPECT_EQ(VersionNumber(text), 0u) << text;
  }
}

}  // namespace
}  // namespace berth::client
