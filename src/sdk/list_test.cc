// SPDX-License-Identifier: Apache-2.0
// Lists that share memory: nobody sees another's changes, equal ones become one, and what nobody has any more is gone.
#include "berth/list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <type_traits>

#include "berth/host/share_lists.h"
#include "berth/testing.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Texts = List<std::string>;

TEST(ListTest, ReadsLikeAVector) {
  const Texts list = {"a", "b", "c"};
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list[1], "b");
  EXPECT_EQ(list.front(), "a");
  EXPECT_EQ(list.back(), "c");
  EXPECT_THAT(list, ElementsAre("a", "b", "c"));
  const std::vector<std::string>& items = list;
  EXPECT_EQ(items.data(), list.begin()) << "no copy";
  EXPECT_EQ(list, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(ListTest, AnEmptyListIsEqualToOneThatHadItems) {
  Texts list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.begin(), list.end());
  EXPECT_THAT(list.items(), IsEmpty());
  Texts other = {"a"};
  other.Edit().clear();
  EXPECT_EQ(list, other);
  other = {"a"};
  EXPECT_NE(list, other);
  other.clear();
  EXPECT_EQ(list, other);
}

TEST(ListTest, CopiesAreTheSameMemoryUntilOneIsChanged) {
  Texts list = {"a", "b"};
  const Texts copy = list;
  EXPECT_TRUE(copy.SharesWith(list));
  list.push_back("c");
  list.Edit()[0] = "x";
  list.Edit().front() += "y";
  list.Edit().back() += "z";
  EXPECT_THAT(list, ElementsAre("xy", "b", "cz"));
  EXPECT_THAT(copy, ElementsAre("a", "b"));
}

TEST(ListTest, ReadingAListThatMayBeChangedCopiesNothing) {
  Texts list = {"a", "b"};
  const Texts copy = list;
  EXPECT_EQ(list[0] + list.front() + list.back(), "aab");
  for (const std::string& item : list) EXPECT_FALSE(item.empty());
  EXPECT_TRUE(list.SharesWith(copy));
  static_assert(std::is_same_v<decltype(list[0]), const std::string&>);
  static_assert(std::is_same_v<decltype(list.front()), const std::string&>);
}

TEST(ListTest, AListOfItsOwnIsChangedWhereItIs) {
  Texts list = {"a", "b"};
  const std::string* const before = list.begin();
  list.Edit()[1] = "c";
  EXPECT_EQ(list.begin(), before);
  { const Texts gone = list; }
  list.Edit()[1] = "d";
  EXPECT_EQ(list.begin(), before) << "the copy has gone";
  Texts moved = std::move(list);
  EXPECT_EQ(moved.begin(), before);
  moved = *&moved;
  EXPECT_THAT(moved, ElementsAre("a", "d"));
}

// A pod with something in every list.
Pod FullPod() {
  PodAffinityTerm term;
  term.selector = SelectLabels({{"app", "web"}});
  term.topology_key = "zone";
  NodeSelectorTerm on_ssd;
  on_ssd.match_expressions = {Require("disk", SelectorOp::kIn, {"ssd"})};
  TopologySpreadConstraint spread;
  spread.max_skew = 1;
  spread.topology_key = "zone";
  spread.selector = term.selector;
  return MakePod("p")
      .Request({{"cpu", "1"}})
      .Container({{"memory", "1Gi"}}, "image")
      .InitContainer({{"cpu", "2"}})
      .HostPort(80)
      .RequireNode(on_ssd)
      .PreferNode(3, on_ssd)
      .PodAffinity(term)
      .PreferPodAffinity(1, term)
      .PodAntiAffinity(term)
      .PreferPodAntiAffinity(2, term)
      .Tolerate({"key", TolerationOp::kExists, "", TaintEffect::kNoSchedule})
      .Spread(spread)
      .Gate("example.com/gate")
      .With([](Pod& pod) {
        pod.meta.owners = {{"apps/v1", "ReplicaSet", "web", "uid", true}};
        pod.volumes = {{"data", VolumeKind::kClaim, "claim", false}};
        pod.resource_claims = {"gpu"};
        pod.conditions = {{"PodScheduled", "True", "", ""}};
        pod.container_statuses = {{"main", std::nullopt, {{ResourceId::kCpu, Quantity::FromValue(1)}}}};
        pod.init_container_statuses = {{"i1", ResourceList(), {}}};
      });
}

// How many lists of `a` are `b`'s, of how many.
std::pair<int, int> SharedLists(const Pod& a, const Pod& b) {
  std::pair<int, int> out;
  const auto count = [&](const auto& one, const auto& other) {
    EXPECT_FALSE(one.empty());
    out.first += one.SharesWith(other);
    ++out.second;
  };
  count(a.meta.owners, b.meta.owners);
  count(a.affinity.node_required->terms, b.affinity.node_required->terms);
  count(a.affinity.node_preferred, b.affinity.node_preferred);
  count(a.affinity.pod_affinity->required, b.affinity.pod_affinity->required);
  count(a.affinity.pod_affinity->preferred, b.affinity.pod_affinity->preferred);
  count(a.affinity.pod_anti_affinity->required, b.affinity.pod_anti_affinity->required);
  count(a.affinity.pod_anti_affinity->preferred, b.affinity.pod_anti_affinity->preferred);
  count(a.tolerations, b.tolerations);
  count(a.topology_spread, b.topology_spread);
  count(a.containers, b.containers);
  count(a.init_containers, b.init_containers);
  count(a.scheduling_gates, b.scheduling_gates);
  count(a.volumes, b.volumes);
  count(a.resource_claims, b.resource_claims);
  count(a.conditions, b.conditions);
  count(a.container_statuses, b.container_statuses);
  count(a.init_container_statuses, b.init_container_statuses);
  return out;
}

TEST(ShareListsTest, EqualListsOfPodsBecomeOne) {
  Pod a = FullPod(), b = FullPod();
  const Pod plain = FullPod();
  EXPECT_EQ(SharedLists(a, b), std::pair(0, 17));
  ShareLists(a);
  ShareLists(b);
  EXPECT_EQ(SharedLists(a, b), std::pair(17, 17));
  EXPECT_EQ(a, plain) << "the content is what it was";
  EXPECT_EQ(plain, b);
}

TEST(ShareListsTest, WhatDiffersStaysApart) {
  Pod a = FullPod(), b = FullPod();
  b.containers.Edit()[0].image = "other";
  b.volumes.Edit()[0].read_only = true;
  ShareLists(a);
  ShareLists(b);
  EXPECT_EQ(SharedLists(a, b), std::pair(15, 17));
  EXPECT_NE(a.containers, b.containers);
  EXPECT_NE(a.volumes, b.volumes);
  EXPECT_EQ(b.containers[0].image, "other");
}

TEST(ShareListsTest, ASharedListIsNeverChangedInPlace) {
  Pod a = FullPod();
  ShareLists(a);
  Pod b = a;
  const Container* const before = a.containers.items().data();
  a = {};
  b.containers.Edit()[0].image = "other";  // nobody else has it, but somebody might find it
  EXPECT_NE(b.containers.items().data(), before);
  Pod c = FullPod();
  ShareLists(c);
  EXPECT_EQ(c, FullPod());
}

TEST(ShareListsTest, NodesShareTheirListsAndTheNamesOfImages) {
  Node a = MakeNode("a").Image("first", 1).Image("second", 2).Feature("F");
  Node b = MakeNode("b").Image("first", 1).Image("second", 2).Feature("F");
  Node other = MakeNode("c").Image("second", 2);
  a.conditions = b.conditions = {{"Ready", "True"}};
  for (Node* node : {&a, &b, &other}) ShareLists(*node);
  EXPECT_TRUE(a.images.SharesWith(b.images));
  EXPECT_TRUE(a.declared_features.SharesWith(b.declared_features));
  EXPECT_TRUE(a.conditions.SharesWith(b.conditions));
  EXPECT_FALSE(a.images.SharesWith(other.images));
  EXPECT_TRUE(a.images[1].names.SharesWith(other.images[0].names));
  EXPECT_EQ(other, MakeNode("c").Image("second", 2).Build());
}

TEST(ShareListsTest, SharingAgainChangesNothing) {
  Node node = MakeNode("a").Image("first", 1);
  ShareLists(node);
  const Node copy = node;
  ShareLists(node);
  EXPECT_TRUE(node.images.SharesWith(copy.images));
  Pod pod = FullPod();
  ShareLists(pod);
  const Pod same = pod;
  ShareLists(pod);
  EXPECT_EQ(SharedLists(pod, same), std::pair(17, 17));
}

TEST(ShareListsTest, AListThatWasEmptiedTakesNoMemory) {
  Pod pod = FullPod();
  pod.tolerations.Edit().clear();
  ShareLists(pod);
  EXPECT_TRUE(pod.tolerations.SharesWith({}));
}

TEST(ShareListsTest, ThreadsMayShareAndDropAtTheSameTime) {
  const auto work = [](int number) {
    for (int i = 0; i < 2000; ++i) {
      Pod pod = MakePod("p").Image("image-" + std::to_string((i + number) % 3));
      ShareLists(pod);
      const Pod copy = pod;
      pod.containers.Edit()[0].image += "!";
      EXPECT_EQ(copy.containers[0].image + "!", pod.containers[0].image);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace berth
