// SPDX-License-Identifier: Apache-2.0
#include "berth/host/cluster_object.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(ClusterObjectTest, TheKindIsThePlaceInTheVariant) {
  EXPECT_EQ(KindOf(std::make_shared<const Pod>()), Kind::kPod);
  EXPECT_EQ(KindOf(std::make_shared<const CsiNode>()), Kind::kCsiNode);
  ForEachType(KindTypes{},
              []<class T>() { EXPECT_EQ(KindOf(std::make_shared<const T>()), InfoOf<T>().kind) << InfoOf<T>().name; });
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
  EXPECT_EQ(VersionNumber("9999999999999999999"), 9'999'999'999'999'999'999u);
  EXPECT_EQ(VersionNumber("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", "18446744073709551616", "18446744073709551617", "99999999999999999999", "-1", "+1", " 1",
                           "1 ", "1a", "abc", "0x10"}) {
    EXPECT_EQ(VersionNumber(text), 0u) << text;
  }
}

}  // namespace
}  // namespace berth
