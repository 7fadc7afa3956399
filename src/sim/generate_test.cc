// SPDX-License-Identifier: Apache-2.0
// Generated objects: the same for a seed, the same as their manifests, and findable by name.
#include "sim/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/load.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class T>
T WithoutIdentity(const T& object) {
  T copy = object;
  copy.meta.uid.clear();
  copy.meta.creation_time.reset();
  return copy;
}

TEST(GenerateTest, AnObjectIsWhatItsManifestLoadsAs) {
  const Generator generator({.nodes = 100, .pods = 100, .seed = 7});
  for (int64_t i = 0; i < 100; ++i) {
    const LoadResult node = LoadObjectsFromText(generator.NodeManifest(i).ToJson());
    ASSERT_EQ(node.objects.of<Node>().size(), 1u);
    EXPECT_EQ(WithoutIdentity(*node.objects.of<Node>()[0]), *generator.MakeNode(i));
    const LoadResult pod = LoadObjectsFromText(generator.PodManifest(i).ToJson());
    ASSERT_EQ(pod.objects.of<Pod>().size(), 1u);
    EXPECT_EQ(WithoutIdentity(*pod.objects.of<Pod>()[0]), *generator.MakePod(i));
  }
}

TEST(GenerateTest, TheSeedDecidesAndNamesAreNumbers) {
  const Generator one({.nodes = 50, .pods = 50, .seed = 1}), same({.nodes = 50, .pods = 50, .seed = 1}),
      other({.nodes = 50, .pods = 50, .seed = 2});
  bool differs = false;
  for (int64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(*one.MakeNode(i), *same.MakeNode(i));
    EXPECT_EQ(*one.MakePod(i), *same.MakePod(i));
    differs |= *one.MakePod(i) != *other.MakePod(i);
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(one.MakeNode(3)->name(), "node-00003");
  EXPECT_EQ(one.MakePod(12)->name(), "pod-000012");
  EXPECT_EQ(Generator::PodName(1'234'567), "pod-1234567");
}

TEST(GenerateTest, NodesHaveZonesSizesAndSomeATaintThatSomePodsTolerate) {
  const Generator generator({.nodes = 200, .pods = 400, .seed = 3});
  std::set<std::string> zones, apps;
  std::set<int64_t> sizes;
  int tainted = 0, tolerating = 0;
  for (int64_t i = 0; i < 200; ++i) {
    const auto node = generator.MakeNode(i);
    zones.insert(*node->meta.labels.Find("topology.kubernetes.io/zone"));
    EXPECT_EQ(*node->meta.labels.Find("kubernetes.io/hostname"), node->name());
    sizes.insert(node->allocatable.milli_cpu);
    tainted += !node->taints.empty();
  }
  for (int64_t i = 0; i < 400; ++i) {
    const auto pod = generator.MakePod(i);
    apps.insert(*pod->meta.labels.Find("app"));
    tolerating += !pod->tolerations.empty();
    EXPECT_GT(pod->resources.request.milli_cpu, 0);
    EXPECT_EQ(pod->priority, 0);
  }
  EXPECT_EQ(zones.size(), 3u);
  EXPECT_EQ(sizes.size(), 3u);
  EXPECT_EQ(apps.size(), 20u);
  EXPECT_EQ(tainted, 10);
  EXPECT_GT(tolerating, 0);
}

TEST(GenerateTest, NamesAreFoundOnlyAsTheyAreWritten) {
  const Generator generator({.nodes = 10, .pods = 20});
  EXPECT_EQ(generator.FindNode("node-00009"), 9);
  EXPECT_EQ(generator.FindNode("node-00010"), std::nullopt);
  EXPECT_EQ(generator.FindNode("node-9"), std::nullopt);
  EXPECT_EQ(generator.FindPod("default", "pod-000019"), 19);
  EXPECT_EQ(generator.FindPod("other", "pod-000019"), std::nullopt);
  EXPECT_EQ(generator.FindPod("default", "pod-"), std::nullopt);
  EXPECT_EQ(generator.FindPod("default", "pod-00001x"), std::nullopt);
}

TEST(GenerateTest, AbsurdCountsAreRefusedByFlag) {
  EXPECT_THAT(Check({.nodes = 1'000'000, .pods = 10'000'000}), IsEmpty());
  EXPECT_THAT(Check({.nodes = -1, .pods = 10'000'001}),
              ElementsAre("flag --nodes: must be between 0 and 1000000, got -1",
                          HasSubstr("flag --pods: must be between 0 and 10000000, got 10000001")));
}

}  // namespace
}  // namespace berth::sim
