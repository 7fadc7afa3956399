// SPDX-License-Identifier: Apache-2.0
// Scores by images that nodes hold. Expected numbers follow from the formula: 100 * (sum - 23Mi) / (1000Mi * n - 23Mi).
#include "plugins/image_locality.h"

#include <gtest/gtest.h>

#include "berth/testing.h"

namespace berth::plugins {
namespace {

using Scores = std::map<std::string, int64_t>;
constexpr int64_t kMiB = 1024 * 1024;

TEST(ImageLocalityTest, NamesWithoutATagMeanLatest) {
  const struct {
    const char *name, *want;
  } cases[] = {
      {"root", "root:latest"},
      {"root:tag", "root:tag"},
      {"gcr.io:5000/root", "gcr.io:5000/root:latest"},
      {"gcr.io:5000/root:tag", "gcr.io:5000/root:tag"},
      {"root@sha256:0011", "root@sha256:0011"},
      {"a/b", "a/b:latest"},
      {"", ":latest"},
  };
  for (const auto& c : cases) EXPECT_EQ(NormalizedImageName(c.name), c.want);
}

TEST(ImageLocalityTest, LargeAndSpreadImagesCountMore) {
  const Node with_40_300_2000 = MakeNode("a")
                                    .Image("gcr.io/40:latest", 40 * kMiB)
                                    .Image("gcr.io/300:latest", 300 * kMiB)
                                    .Image("gcr.io/2000:latest", 2000 * kMiB);
  const Node with_250_10 = MakeNode("b").Image("gcr.io/250:latest", 250 * kMiB).Image("gcr.io/10:latest", 10 * kMiB);
  const struct {
    const char* name;
    Pod pod;
    Scores want;
  } cases[] = {
      // a: (20 - 23) below the threshold; b: (125 - 23) of (2000 - 23).
      {"two containers", MakePod().Image("gcr.io/40").Container({}, "gcr.io/250"), {{"a", 0}, {"b", 5}}},
      // a: (20 + 150 - 23) of (2000 - 23).
      {"two on one node", MakePod().Image("gcr.io/40").Container({}, "gcr.io/300"), {{"a", 7}, {"b", 0}}},
      // a: 1000 of 2000 MiB, the most a container counts is 1000; b: 5 is below the threshold.
      {"capped by containers", MakePod().Image("gcr.io/2000"), {{"a", 100}, {"b", 0}}},
      {"below the threshold", MakePod().Image("gcr.io/10"), {{"a", 0}, {"b", 0}}},
      // 2 * 150: the same image twice counts twice.
      {"repeats", MakePod().Image("gcr.io/300").Container({}, "gcr.io/300"), {{"a", 14}, {"b", 0}}},
      {"unknown image", MakePod().Image("gcr.io/other"), {{"a", 0}, {"b", 0}}},
      {"another tag", MakePod().Image("gcr.io/300:v2"), {{"a", 0}, {"b", 0}}},
      // An image volume adds 1000 to the sum, not to the number of containers: (150 + 1000 -> 1000 - 23) of (1000 -
      // 23).
      {"image volume",
       MakePod().Image("gcr.io/300").With([](Pod& p) {
         p.volumes.push_back({.name = "v", .kind = VolumeKind::kImage, .source = "gcr.io/2000"});
       }),
       {{"a", 100}, {"b", 0}}},
  };
  const ImageLocality plugin;
  for (const auto& c : cases) {
    TestCluster cluster;
    cluster.Add(with_40_300_2000).Add(with_250_10);
    const ScoreResult got = ScoreAll(plugin, c.pod, cluster);
    EXPECT_EQ(got.normalized, c.want) << c.name;
    EXPECT_EQ(got.raw, c.want) << c.name;
  }
}

}  // namespace
}  // namespace berth::plugins
