// SPDX-License-Identifier: Apache-2.0
#include "berth/host/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Pod PodWith(const Labels& annotations) {
  Pod pod;
  pod.meta.annotations = annotations;
  return pod;
}

TEST(AnnotationsTest, KeysAreKeptSortedAndOnce) {
  AnnotationKeys keys;
  AddKeys(keys, {{"b", "a"}, {"n"}});
  AddKeys(keys, {{"a", "c"}, {}});
  EXPECT_THAT(keys.pods, ElementsAre("a", "b", "c"));
  EXPECT_THAT(keys.nodes, ElementsAre("n"));
}

TEST(AnnotationsTest, OnlyThoseThatAreWantedAreShown) {
  const AnnotationKeys keys{{"a"}, {"n"}};
  const auto pod = std::make_shared<const Pod>(PodWith({{"a", "1"}, {"n", "2"}}));
  EXPECT_EQ(Shown(pod, keys)->meta.annotations, Labels({{"a", "1"}}));
  EXPECT_EQ(pod->meta.annotations.size(), 2u) << "the one that was there is left alone";
  auto node = std::make_shared<Node>();
  node->meta.annotations = Labels({{"a", "1"}, {"n", "2"}});
  EXPECT_EQ(Shown(std::shared_ptr<const Node>(node), keys)->meta.annotations, Labels({{"n", "2"}}));
}

TEST(AnnotationsTest, AnObjectWithoutOthersStaysTheOneItIs) {
  for (const Labels& annotations : {Labels(), Labels({{"a", "1"}})}) {
    const auto pod = std::make_shared<const Pod>(PodWith(annotations));
    EXPECT_EQ(Shown(pod, {{"a", "b"}, {}}), pod);
  }
}

TEST(AnnotationsTest, AWatchNotesWhatThisThreadAsksFor) {
  const Pod pod = PodWith({{"a", "1"}});
  const Node node;
  EXPECT_EQ(*pod.Annotation("a"), "1");
  const AnnotationWatch outer;
  {
    const AnnotationWatch watch;
    EXPECT_EQ(*pod.Annotation("a"), "1");
    EXPECT_EQ(pod.Annotation("b"), nullptr);
    EXPECT_EQ(node.Annotation("c"), nullptr);
    std::thread([&] { pod.Annotation("elsewhere"); }).join();
    EXPECT_THAT(watch.pods(), ElementsAre("a", "b"));
    EXPECT_THAT(watch.nodes(), ElementsAre("c"));
  }
  EXPECT_THAT(outer.pods(), IsEmpty());
  pod.Annotation("d");
  EXPECT_THAT(outer.pods(), ElementsAre("d"));
}

}  // namespace
}  // namespace berth
