// SPDX-License-Identifier: Apache-2.0
// What the run puts is told to watchers; what the scheduler asks is done when it is served, and answered by letter.
#include "bench/instant_cluster.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "client/reflector.h"
#include "util/timer_queue.h"
#include "util/virtual_clock.h"

namespace berth::bench {
namespace {

using client::ApiStatus;

class InstantClusterTest : public ::testing::Test, public client::ObjectHandler {
 protected:
  static Ptr<Pod> MakePod(const std::string& name, const std::string& node = "") {
    auto pod = std::make_shared<Pod>();
    pod->meta.namespace_ = "ns";
    pod->meta.name = name;
    pod->meta.uid = "uid-of-" + name;
    pod->node_name = node;
    return pod;
  }
  static Ptr<Node> MakeNode(const std::string& name, const std::string& uid) {
    auto node = std::make_shared<Node>();
    node->meta.name = name;
    node->meta.uid = uid;
    return node;
  }
  void Settle() {
    do {
      while (inbox_.Drain() > 0) {
      }
    } while (cluster_.Serve());
  }
  std::unique_ptr<client::Reflector> Follow(Kind kind) {
    auto reflector =
        std::make_unique<client::Reflector>(kind, cluster_, *this, timers_, clock_, [] { return uint64_t{0}; });
    reflector->Start();
    return reflector;
  }
  client::Answer Note() {
    return [this](const ApiStatus& status) { codes_.push_back(status.code); };
  }

  util::VirtualClock clock_{Time{1'000'000'000}};
  util::Inbox inbox_;
  util::TimerQueue timers_;
  InstantCluster cluster_{inbox_, clock_};
  std::vector<std::string> heard_;
  std::vector<int> codes_;

 private:
  static std::string Describe(const ClusterObject& object) {
    const auto* pod = std::get_if<Ptr<Pod>>(&object);
    return MetaOf(object).name + (pod && !(*pod)->node_name.empty() ? "@" + (*pod)->node_name : "");
  }
  void OnAdd(const ClusterObject& after) override { heard_.push_back("+" + Describe(after)); }
  void OnUpdate(const ClusterObject& before, const ClusterObject& after) override {
    heard_.push_back(Describe(before) + ">" + Describe(after));
  }
  void OnDelete(const ClusterObject& before) override { heard_.push_back("-" + Describe(before)); }
};

using Texts = std::vector<std::string>;
using Codes = std::vector<int>;

TEST_F(InstantClusterTest, WatchersHearOfEveryChangeOnce) {
  cluster_.Put(MakePod("early"));
  const auto pods = Follow(Kind::kPod);
  Settle();
  cluster_.Put(MakePod("late"));
  cluster_.Put(MakePod("late"));
  EXPECT_TRUE(cluster_.Remove(Kind::kPod, "ns", "early"));
  EXPECT_FALSE(cluster_.Remove(Kind::kPod, "ns", "early"));
  EXPECT_EQ(heard_, Texts{"+early"});  // by letter, not within the call
  Settle();
  EXPECT_EQ(heard_, (Texts{"+early", "+late", "late>late", "-early"}));
  EXPECT_EQ(pods->lists(), 1u);
}

TEST_F(InstantClusterTest, AWatchFromAnOlderVersionListsAgain) {
  const auto pods = Follow(Kind::kPod);
  EXPECT_TRUE(cluster_.Serve());  // the list is made
  cluster_.Put(MakePod("between"));
  Settle();
  EXPECT_EQ(heard_, Texts{"+between"});
  EXPECT_EQ(pods->lists(), 2u);
}

TEST_F(InstantClusterTest, AWatchThatWasGivenUpHearsNothing) {
  auto pods = Follow(Kind::kPod);
  Settle();
  cluster_.Put(MakePod("a"));
  pods.reset();
  Settle();
  EXPECT_EQ(heard_, Texts{});
}

TEST_F(InstantClusterTest, AnObjectKeepsItsIdentity) {
  const auto nodes = Follow(Kind::kNode);
  Settle();
  cluster_.Put(MakeNode("n", "first"));
  clock_.MoveTo(Time{2'000'000'000});
  cluster_.Put(MakeNode("n", "second"));
  Settle();
  EXPECT_EQ(heard_, (Texts{"+n", "n>n"}));
  const ObjectMeta& meta = MetaOf(*nodes->Find("", "n"));
  EXPECT_EQ(meta.uid, "first");
  EXPECT_EQ(meta.creation_time, Time{1'000'000'000});
  EXPECT_EQ(cluster_.nodes(), 1u);
}

TEST_F(InstantClusterTest, BindingsAreDoneWhenServedAndToldToAll) {
  const auto pods = Follow(Kind::kPod);
  Settle();
  PodEntry* entry = cluster_.Put(MakePod("a"));
  Settle();
  Texts bound;
  cluster_.on_bound = [&](PodEntry& one) { bound.push_back(one.pod->node_name); };
  cluster_.Bind(client::NameOf(*entry->pod), "n", Note());
  EXPECT_EQ(entry->pod->node_name, "");
  Settle();
  EXPECT_EQ(entry->pod->node_name, "n");
  EXPECT_EQ(bound, Texts{"n"});
  EXPECT_EQ(heard_, (Texts{"+a", "a>a@n"}));
  // Bound already, another incarnation, none.
  cluster_.Bind(client::NameOf(*entry->pod), "m", Note());
  cluster_.Bind({"ns", "a", "other"}, "m", Note());
  cluster_.Bind({"ns", "b", "u"}, "m", Note());
  Settle();
  EXPECT_EQ(codes_, (Codes{201, 409, 409, 404}));
  EXPECT_EQ(bound, Texts{"n"});
}

TEST_F(InstantClusterTest, ABoundPodGetsTheZoneOfItsNode) {
  auto node = std::make_shared<Node>(*MakeNode("n", "u"));
  node->meta.labels = Labels({{"topology.kubernetes.io/zone", "z1"}, {"disk", "ssd"}});
  cluster_.Put(Ptr<Node>(node));
  PodEntry* entry = cluster_.Put(MakePod("a"));
  cluster_.Bind(client::NameOf(*entry->pod), "n", Note());
  Settle();
  EXPECT_EQ(entry->pod->meta.labels, Labels({{"topology.kubernetes.io/zone", "z1"}}));
}

TEST_F(InstantClusterTest, AnUpdateByTheRunLeavesWhatTheClusterWrote) {
  PodEntry* entry = cluster_.Put(MakePod("a"));
  client::PodStatusPatch patch;
  patch.pod = client::NameOf(*entry->pod);
  patch.condition = PodCondition{"PodScheduled", "False", "Unschedulable", "no"};
  patch.nominated_node_name = "m";
  cluster_.PatchPodStatus(patch, Note());
  Settle();
  cluster_.Put(MakePod("a"));
  EXPECT_EQ(entry->pod->nominated_node_name, "m");
  ASSERT_NE(entry->pod->FindCondition("PodScheduled"), nullptr);
  EXPECT_EQ(entry->pod->FindCondition("PodScheduled")->message, "no");
  cluster_.Bind(client::NameOf(*entry->pod), "n", Note());
  Settle();
  cluster_.Put(MakePod("a"));
  EXPECT_EQ(entry->pod->node_name, "n");
  EXPECT_EQ(entry->pod->nominated_node_name, "");
  EXPECT_EQ(entry->pod->FindCondition("PodScheduled")->status, "True");
  EXPECT_EQ(codes_, (Codes{200, 201}));
}

TEST_F(InstantClusterTest, APatchThatChangesNothingIsNoNews) {
  PodEntry* entry = cluster_.Put(MakePod("a"));
  const auto pods = Follow(Kind::kPod);
  Settle();
  client::PodStatusPatch patch;
  patch.pod = client::NameOf(*entry->pod);
  patch.nominated_node_name = "";
  cluster_.PatchPodStatus(patch, Note());
  Settle();
  EXPECT_EQ(codes_, Codes{200});
  EXPECT_EQ(heard_, Texts{"+a"});
}

TEST_F(InstantClusterTest, TheRunsDeletionWaitsForFinalizersTheSchedulersDoesNot) {
  const auto pods = Follow(Kind::kPod);
  Settle();
  PodEntry* entry = cluster_.Put(MakePod("a"));
  entry->finalizers = true;
  EXPECT_TRUE(cluster_.Remove(Kind::kPod, "ns", "a"));
  EXPECT_TRUE(cluster_.Remove(Kind::kPod, "ns", "a"));
  Settle();
  EXPECT_TRUE(entry->pod->terminating());
  EXPECT_EQ(heard_, (Texts{"+a", "a>a"}));
  cluster_.DeletePod(client::NameOf(*entry->pod), Note());
  Settle();
  EXPECT_EQ(heard_, (Texts{"+a", "a>a", "-a"}));
  EXPECT_EQ(cluster_.size(), 0u);
  EXPECT_EQ(codes_, Codes{200});
}

TEST_F(InstantClusterTest, PodsAreReadAsTheyAreWhenServed) {
  PodEntry* entry = cluster_.Put(MakePod("a"));
  std::string node;
  cluster_.Bind(client::NameOf(*entry->pod), "n", Note());
  cluster_.GetPod("ns", "a", [&](const ApiStatus& status, const Ptr<Pod>& pod) {
    codes_.push_back(status.code);
    node = pod->node_name;
  });
  cluster_.GetPod("ns", "b", [&](const ApiStatus& status, const Ptr<Pod>& pod) {
    codes_.push_back(status.code);
    EXPECT_EQ(pod, nullptr);
  });
  Settle();
  EXPECT_EQ(node, "n");
  EXPECT_EQ(codes_, (Codes{201, 200, 404}));
}

TEST_F(InstantClusterTest, PriorityClassesAreKnownAtOnce) {
  auto made = std::make_shared<PriorityClass>();
  made->meta.name = "high";
  made->value = 7;
  cluster_.Put(Ptr<PriorityClass>(made));
  ASSERT_NE(cluster_.priority_classes().Find("high"), nullptr);
  EXPECT_EQ(cluster_.priority_classes().Find("high")->value, 7);
  EXPECT_TRUE(cluster_.Remove(Kind::kPriorityClass, "", "high"));
  EXPECT_EQ(cluster_.priority_classes().Find("high"), nullptr);
}

}  // namespace
}  // namespace berth::bench
