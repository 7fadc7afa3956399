// SPDX-License-Identifier: Apache-2.0
// Every row of the table in applier.h, with and without somebody who listens.
#include "cluster/applier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/testing.h"
#include "cluster/cluster_test_util.h"

namespace berth::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What it is told, each with the number of nodes and placed pods that the state has by then.
class Journal final : public ChangeListener {
 public:
  explicit Journal(const ClusterState& state) : state_(state) {}
  void AssignedPodChanged(const Ptr<Pod>& before, const Ptr<Pod>& after) override { Note("pod", before, after); }
  void PendingPodChanged(const Ptr<Pod>& before, const Ptr<Pod>& after) override { Note("pending", before, after); }
  void NodeChanged(const Ptr<Node>& before, const Ptr<Node>& after) override { Note("node", before, after); }
  void ObjectChanged(Kind kind, ActionType action, const SharedObjectChange&) override {
    lines_.push_back(std::string(ToString(kind)) + " " + std::to_string(action));
  }
  std::vector<std::string> Take() { return std::exchange(lines_, {}); }

 private:
  template <class T>
  void Note(const std::string& what, const Ptr<T>& before, const Ptr<T>& after) {
    lines_.push_back(what + " " + (before ? before->name() : "-") + " " + (after ? after->name() : "-") + " " +
                     std::to_string(state_.snapshot().node_count()) + "/" + std::to_string(state_.pod_count()));
  }
  const ClusterState& state_;
  std::vector<std::string> lines_;
};

class ApplierTest : public ::testing::Test {
 protected:
  ClusterState state_;
  Journal journal_{state_};
  Applier quiet_{state_};
  Applier telling_{state_, journal_};
};

TEST_F(ApplierTest, NodesComeChangeAndGoAndAreToldOfWhileTheyAreThere) {
  EXPECT_TRUE(telling_.Add(Share(MakeNode("n"))).ok());
  EXPECT_TRUE(telling_.Update(Share(MakeNode("n")), Share(MakeNode("n").Unschedulable())).ok());
  EXPECT_TRUE(state_.snapshot().node(state_.snapshot().FindRow("n")).unschedulable);
  EXPECT_TRUE(telling_.Delete(Share(MakeNode("n"))).ok());
  EXPECT_THAT(journal_.Take(), ElementsAre("node - n 1/0", "node n n 1/0", "node n - 1/0"));
  EXPECT_EQ(state_.snapshot().node_count(), 0u);
  EXPECT_FALSE(telling_.Delete(Share(MakeNode("n"))).ok()) << "nobody knows it";
}

TEST_F(ApplierTest, PodsOnNodesComeChangeAndGo) {
  EXPECT_TRUE(telling_.Add(Share(MakePod("p").Uid("u").OnNode("n"))).ok());
  EXPECT_TRUE(
      telling_
          .Update(Share(MakePod("p").Uid("u").OnNode("n")), Share(MakePod("p").Uid("u").OnNode("n").Label("a", "b")))
          .ok());
  EXPECT_EQ(state_.FindPod("u")->pod->meta.labels, Labels({{"a", "b"}}));
  EXPECT_TRUE(telling_.Delete(Share(MakePod("p").Uid("u").OnNode("n"))).ok());
  EXPECT_THAT(journal_.Take(), ElementsAre("pod - p 0/1", "pod p p 0/1", "pod p - 0/0"));
}

TEST_F(ApplierTest, APodThatGetsItsNodeIsToldOfWithWhatItWas) {
  EXPECT_TRUE(telling_.Update(Share(MakePod("p").Uid("u")), Share(MakePod("p").Uid("u").OnNode("n"))).ok());
  EXPECT_THAT(journal_.Take(), ElementsAre("pod p p 0/1"));
}

TEST_F(ApplierTest, APodThatLosesItsNodeGoesAndWaits) {
  EXPECT_TRUE(telling_.Add(Share(MakePod("p").Uid("u").OnNode("n"))).ok());
  EXPECT_TRUE(telling_.Update(Share(MakePod("p").Uid("u").OnNode("n")), Share(MakePod("p").Uid("u"))).ok());
  EXPECT_THAT(journal_.Take(), ElementsAre("pod - p 0/1", "pod p - 0/0", "pending - p 0/0"));
}

TEST_F(ApplierTest, APodThatWentWithABindingNobodyHeardOfIsGone) {
  EXPECT_TRUE(quiet_.Add(Share(MakePod("p").Uid("u").Nominated("n"))).ok());
  EXPECT_TRUE(quiet_.Delete(Share(MakePod("p").Uid("u").OnNode("n"))).ok());
  EXPECT_EQ(state_.nomination_count(), 0u);
  EXPECT_EQ(state_.pod_count(), 0u);
}

TEST_F(ApplierTest, NominationsOfWaitingPodsFollowThem) {
  EXPECT_TRUE(quiet_.Add(Share(MakePod("p").Uid("u").Nominated("a"))).ok());
  EXPECT_EQ(*state_.NominationOf("u"), "a");
  EXPECT_TRUE(
      quiet_.Update(Share(MakePod("p").Uid("u").Nominated("a")), Share(MakePod("p").Uid("u").Nominated("b"))).ok());
  EXPECT_EQ(*state_.NominationOf("u"), "b");
  EXPECT_TRUE(quiet_.Update(Share(MakePod("p").Uid("u").Nominated("b")), Share(MakePod("p").Uid("u"))).ok());
  EXPECT_EQ(state_.NominationOf("u"), nullptr);
  EXPECT_TRUE(quiet_.Add(Share(MakePod("p").Uid("u").Nominated("a"))).ok());
  EXPECT_TRUE(quiet_.Delete(Share(MakePod("p").Uid("u").Nominated("a"))).ok());
  EXPECT_EQ(state_.nomination_count(), 0u);
}

TEST_F(ApplierTest, ANominationThatDoesNotCountIsNotThere) {
  Applier applier(state_, [](const Pod& pod) { return pod.name() != "theirs"; });
  EXPECT_TRUE(applier.Add(Share(MakePod("ours").Uid("u").Nominated("n"))).ok());
  EXPECT_TRUE(applier.Add(Share(MakePod("theirs").Uid("v").Nominated("n"))).ok());
  EXPECT_NE(state_.NominationOf("u"), nullptr);
  EXPECT_EQ(state_.NominationOf("v"), nullptr);
}

TEST_F(ApplierTest, WhoListensDecidesAboutNominations) {
  EXPECT_TRUE(telling_.Add(Share(MakePod("p").Uid("u").Nominated("n"))).ok());
  EXPECT_TRUE(telling_.Delete(Share(MakePod("p").Uid("u").Nominated("n"))).ok());
  EXPECT_THAT(journal_.Take(), ElementsAre("pending - p 0/0", "pending p - 0/0"));
  EXPECT_EQ(state_.nomination_count(), 0u);
}

TEST_F(ApplierTest, ObjectsOfEveryOtherKindAreKeptAndToldOf) {
  ForEachType(KindTypes{}, [&]<class T>() {
    if constexpr (!std::is_same_v<T, Pod> && !std::is_same_v<T, Node>) {
      T object;
      object.meta.name = "one";
      const Ptr<T> shared = std::make_shared<const T>(object);
      const ObjectStore<T>& store = state_.snapshot().objects<T>();
      EXPECT_TRUE(telling_.Add(shared).ok());
      EXPECT_EQ(store.Find("one"), shared.get());
      const Ptr<T> other = std::make_shared<const T>(object);
      EXPECT_TRUE(telling_.Update(shared, other).ok());
      EXPECT_EQ(store.Find("one"), other.get());
      EXPECT_TRUE(telling_.Delete(other).ok());
      EXPECT_TRUE(store.empty());
      const std::string name(InfoOf<T>().name);
      EXPECT_THAT(journal_.Take(),
                  ElementsAre(name + " " + std::to_string(action::kAdd), name + " " + std::to_string(action::kUpdate),
                              name + " " + std::to_string(action::kDelete)));
    }
  });
}

TEST_F(ApplierTest, WhatMakesNoSenseIsSaidAndBelieved) {
  EXPECT_TRUE(quiet_.Add(Share(MakePod("p").Uid("u").OnNode("a"))).ok());
  const Error moved = quiet_.Update(Share(MakePod("p").Uid("u").OnNode("a")), Share(MakePod("p").Uid("u").OnNode("b")));
  EXPECT_THAT(moved.text(), HasSubstr("updated on a different node"));
  EXPECT_EQ(state_.FindPod("u")->pod->node_name, "b");
  EXPECT_THAT(journal_.Take(), IsEmpty());
}

}  // namespace
}  // namespace berth::cluster
