// SPDX-License-Identifier: Apache-2.0
// Every arrow of the pod state machine drawn in cluster_state.h, ghosts, nominations and the feeding of indexes.
#include "cluster/cluster_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "berth/host/snapshot_access.h"
#include "berth/testing.h"
#include "cluster/cluster_test_util.h"

namespace berth::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Counts what it is told, by name, and checks that the columns had changed before.
class Recorder final : public PluginIndex {
 public:
  void PodAdded(const Snapshot& snapshot, const PodRecord& pod) override {
    EXPECT_THAT(snapshot.pods(pod.row), ::testing::Contains(&pod));
    ++told;
    EXPECT_TRUE(pods.insert(pod.pod->name()).second) << pod.pod->name() << " was told twice";
  }
  void PodRemoved(const Snapshot& snapshot, const PodRecord& pod) override {
    ++told;
    if (pod.row < snapshot.rows()) {
      EXPECT_THAT(snapshot.pods(pod.row), ::testing::Not(::testing::Contains(&pod)));
    }
    EXPECT_EQ(pods.erase(pod.pod->name()), 1u) << pod.pod->name() << " was never added";
  }
  void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) override {
    if (before) {
      EXPECT_EQ(nodes.at(before->name()), before->meta.labels);
      nodes.erase(before->name());
    }
    if (after) {
      EXPECT_EQ(&snapshot.node(row), after);
      nodes[after->name()] = after->meta.labels;
    } else {
      EXPECT_FALSE(snapshot.live(row));
    }
  }
  void ObjectsChanged(const Snapshot&, const ObjectChange&) override { ++objects; }
  void ObjectAssumed(const Snapshot& snapshot, const ObjectChange& change) override {
    ASSERT_NE(change.after<PersistentVolume>(), nullptr);
    EXPECT_EQ(snapshot.Believed<PersistentVolume>("", "v"), change.after<PersistentVolume>());
    ++assumed;
  }

  std::set<std::string> pods;
  std::map<std::string, Labels> nodes;
  int objects = 0, assumed = 0;
  int told = 0;  // how often of pods
};

class ClusterStateTest : public ::testing::Test {
 protected:
  // A pod of one cpu on `node`.
  static MakePod OneCpu(const std::string& name, const std::string& node) {
    MakePod pod(name);
    pod.Uid(name).Request({{"cpu", "1"}}).OnNode(node);
    return pod;
  }
  void PutNode(const std::string& name) { state_.PutNode(Share(MakeNode(name))); }
  int64_t Cpu(const std::string& node) const {
    const Row row = state_.columns().FindAny(node);
    return row == kNoRow ? 0 : state_.snapshot().requested(ResourceId::kCpu)[row];
  }
  std::vector<std::string> Pods(const std::string& node) const {
    std::vector<std::string> names;
    const Row row = state_.columns().FindAny(node);
    if (row == kNoRow) return names;
    for (const PodRecord* pod : state_.snapshot().pods(row)) names.push_back(pod->pod->name());
    return names;
  }
  // What the change log says of `fn`.
  template <class Fn>
  std::vector<RowFields> Changes(Fn&& fn) const {
    const ChangeLog& log = SnapshotAccess::Changes(state_.snapshot());
    const uint64_t from = log.position();
    fn();
    std::vector<RowFields> fields;
    EXPECT_TRUE(log.Since(from, [&](const ChangeLog::Change& change) { fields.push_back(change.fields); }));
    return fields;
  }
  std::vector<std::string> Nominated(const std::string& node) const {
    std::vector<std::string> names;
    const Row row = state_.snapshot().FindRow(node);
    if (row == kNoRow) return names;
    for (const PodRecord* pod : state_.snapshot().nominated(row)) {
      EXPECT_EQ(pod->row, row);
      names.push_back(pod->pod->name());
    }
    return names;
  }

  ClusterState state_;
};

TEST_F(ClusterStateTest, AnAssumedPodCountsOnItsNodeAtOnce) {
  PutNode("a");
  EXPECT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_TRUE(state_.IsAssumed("p"));
  EXPECT_EQ(Cpu("a"), 1000);
  EXPECT_EQ(state_.pod_count(), 1u);
}

TEST_F(ClusterStateTest, AssumingAKnownPodIsRefusedAndChangesNothing) {
  PutNode("a");
  PutNode("b");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_EQ(state_.AssumePod(Share(OneCpu("p", "b"))).text(), "pod p(default/p) is in the cache, so can't be assumed");
  EXPECT_EQ(Cpu("a"), 1000);
  EXPECT_EQ(Cpu("b"), 0);
}

TEST_F(ClusterStateTest, TheWatchConfirmsAnAssumedPodOnce) {
  PutNode("a");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_TRUE(state_.AddPod(Share(OneCpu("p", "a").Label("seen", "yes"))).ok());
  EXPECT_FALSE(state_.IsAssumed("p"));
  EXPECT_EQ(Cpu("a"), 1000);
  EXPECT_TRUE(state_.FindPod("p")->pod->meta.labels.Has("seen"));
}

TEST_F(ClusterStateTest, APodConfirmedOnAnotherNodeMovesThereWithAWordForTheLog) {
  PutNode("a");
  PutNode("b");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  const Error moved = state_.AddPod(Share(OneCpu("p", "b")));
  EXPECT_EQ(moved.text(), "pod default/p was added to node b, but it was assumed on a");
  EXPECT_FALSE(state_.IsAssumed("p"));
  EXPECT_EQ(Cpu("a"), 0);
  EXPECT_EQ(Cpu("b"), 1000);
}

TEST_F(ClusterStateTest, AConfirmationOfWhatWasAssumedIsNoChange) {
  PutNode("a");
  Recorder index;
  state_.AddIndex(&index);
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  const PodRecord* const record = state_.FindPod("p");
  const auto confirmed = Share(OneCpu("p", "a").With([](Pod& pod) { pod.meta.resource_version = "7"; }));
  EXPECT_THAT(Changes([&] { EXPECT_TRUE(state_.AddPod(confirmed).ok()); }), IsEmpty());
  EXPECT_EQ(state_.FindPod("p"), record);
  EXPECT_EQ(record->pod, confirmed);
  EXPECT_FALSE(state_.IsAssumed("p"));
  EXPECT_EQ(index.told, 1) << "of the assumption only";
  EXPECT_EQ(Cpu("a"), 1000);
}

TEST_F(ClusterStateTest, ANewStatusConcernsOnlyThoseWhoLookAtPods) {
  PutNode("a");
  Recorder index;
  state_.AddIndex(&index);
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  const auto with_phase = [](const char* phase) {
    return Share(OneCpu("p", "a").With([&](Pod& pod) {
      pod.phase = phase;
      pod.conditions = {{"PodScheduled", "True", "", ""}};
    }));
  };
  EXPECT_THAT(Changes([&] { EXPECT_TRUE(state_.AddPod(with_phase("Pending")).ok()); }), ElementsAre(row_field::kPods));
  EXPECT_THAT(Changes([&] { EXPECT_TRUE(state_.UpdatePod(with_phase("Running")).ok()); }),
              ElementsAre(row_field::kPods));
  EXPECT_EQ(state_.FindPod("p")->pod->phase, "Running");
  EXPECT_EQ(index.told, 1);
}

TEST_F(ClusterStateTest, WhatPlacedPodsAreCountedByIsCountedAgain) {
  PutNode("a");
  Recorder index;
  state_.AddIndex(&index);
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  int told = index.told;
  constexpr RowFields kOfPods = row_field::kRequested | row_field::kPodCount | row_field::kPods | row_field::kPorts;
  const auto update = [&](MakePod pod) {
    EXPECT_THAT(Changes([&] {
                  EXPECT_TRUE((state_.IsAssumed("p") ? state_.AddPod(Share(pod)) : state_.UpdatePod(Share(pod))).ok());
                }),
                ElementsAre(kOfPods, kOfPods));
    EXPECT_EQ(index.told, told += 2);
  };
  update(OneCpu("p", "a").Label("k", "v").Priority(3));
  update(OneCpu("p", "a").Priority(3).Terminating());
  // The kubelet has given it more than it asks for.
  update(OneCpu("p", "a").Priority(3).Terminating().With([](Pod& pod) {
    pod.container_statuses = {{"main", ResourceList{{ResourceId::kCpu, Quantity::FromValue(2)}}, {}}};
  }));
  EXPECT_EQ(Cpu("a"), 2000);
}

TEST_F(ClusterStateTest, NewLabelsConcernThoseWhoLookAtPodsOrCountThem) {
  PutNode("a");
  Recorder index;
  state_.AddIndex(&index);
  PodAffinityTerm term;
  term.topology_key = "zone";
  for (const char* name : {"p", "q"})
    ASSERT_TRUE(state_.AssumePod(Share(OneCpu(name, "a").PodAntiAffinity(term))).ok());
  const auto in_zone = [&](const char* zone) {
    return Share(OneCpu("p", "a").PodAntiAffinity(term).Label("topology.kubernetes.io/zone", zone).With([](Pod& pod) {
      pod.conditions = {{"PodScheduled", "True", "", ""}};
    }));
  };
  const uint64_t affinity = Stamp(state_.snapshot(), epoch::kAffinityPods);
  EXPECT_THAT(Changes([&] { EXPECT_TRUE(state_.AddPod(in_zone("z1")).ok()); }), ElementsAre(row_field::kPods));
  EXPECT_THAT(Changes([&] { EXPECT_TRUE(state_.UpdatePod(in_zone("z2")).ok()); }), ElementsAre(row_field::kPods));
  EXPECT_EQ(index.told, 6) << "two assumptions, then twice a pod that goes and one that comes";
  EXPECT_FALSE(state_.IsAssumed("p"));
  EXPECT_EQ(*state_.FindPod("p")->pod->meta.labels.Find("topology.kubernetes.io/zone"), "z2");
  EXPECT_EQ(Cpu("a"), 2000);
  EXPECT_THAT(Pods("a"), ElementsAre("q", "p"));
  const Snapshot snapshot = state_.snapshot();
  const std::vector<const PodRecord*> pods(snapshot.pods(0).begin(), snapshot.pods(0).end());
  EXPECT_EQ(pods.back(), state_.FindPod("p"));
  EXPECT_THAT(snapshot.affinity_pods(0), ElementsAreArray(pods));
  EXPECT_THAT(snapshot.anti_affinity_pods(0), ElementsAreArray(pods));
  EXPECT_NE(Stamp(snapshot, epoch::kAffinityPods), affinity);
}

TEST_F(ClusterStateTest, AConfirmedPodIsTheLastOfItsRow) {
  PutNode("a");
  PodAffinityTerm term;
  term.topology_key = "zone";
  for (const char* name : {"p1", "p2", "p3"})
    ASSERT_TRUE(state_.AssumePod(Share(OneCpu(name, "a").PodAntiAffinity(term))).ok());
  EXPECT_THAT(Changes([&] { ASSERT_TRUE(state_.AddPod(Share(OneCpu("p1", "a").PodAntiAffinity(term))).ok()); }),
              ElementsAre(row_field::kPods));
  EXPECT_THAT(Pods("a"), ElementsAre("p3", "p2", "p1"));
  const Snapshot snapshot = state_.snapshot();
  const std::vector<const PodRecord*> pods(snapshot.pods(0).begin(), snapshot.pods(0).end());
  EXPECT_THAT(snapshot.affinity_pods(0), ElementsAreArray(pods));
  EXPECT_THAT(snapshot.anti_affinity_pods(0), ElementsAreArray(pods));
}

TEST_F(ClusterStateTest, APortThatAnotherPodTookAlongComesBackWithTheConfirmation) {
  PutNode("a");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a").HostPort(80))).ok());
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("q", "a").HostPort(80))).ok());
  ASSERT_TRUE(state_.RemovePod("q").ok());
  EXPECT_THAT(state_.snapshot().ports(0), IsEmpty());
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a").HostPort(80))).ok());
  EXPECT_EQ(state_.snapshot().ports(0).size(), 1u);
}

TEST_F(ClusterStateTest, ForgettingTakesAnAssumptionBack) {
  PutNode("a");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_TRUE(state_.ForgetPod("p").ok());
  EXPECT_EQ(state_.FindPod("p"), nullptr);
  EXPECT_EQ(Cpu("a"), 0);
  EXPECT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
}

TEST_F(ClusterStateTest, AConfirmedOrUnknownPodIsNotForgotten) {
  PutNode("a");
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  EXPECT_EQ(state_.ForgetPod("p").text(), "pod p wasn't assumed so cannot be forgotten");
  EXPECT_FALSE(state_.ForgetPod("nobody").ok());
  EXPECT_EQ(Cpu("a"), 1000);
}

TEST_F(ClusterStateTest, AnAssumedPodCanBeRemovedByTheWatch) {
  PutNode("a");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_TRUE(state_.RemovePod("p").ok());
  EXPECT_EQ(Cpu("a"), 0);
  EXPECT_EQ(state_.pod_count(), 0u);
}

TEST_F(ClusterStateTest, AddingAPodTwiceIsRefusedAndCountsOnce) {
  PutNode("a");
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  EXPECT_EQ(state_.AddPod(Share(OneCpu("p", "a"))).text(), "pod p(default/p) was already in added state");
  EXPECT_EQ(Cpu("a"), 1000);
}

TEST_F(ClusterStateTest, AnUpdateReplacesWhatThePodHolds) {
  PutNode("a");
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  EXPECT_TRUE(state_.UpdatePod(Share(OneCpu("p", "a").Request({{"cpu", "3"}}))).ok());
  EXPECT_EQ(Cpu("a"), 3000);
}

TEST_F(ClusterStateTest, AnUpdateOfAnUnknownPodIsRefused) {
  PutNode("a");
  EXPECT_THAT(state_.UpdatePod(Share(OneCpu("p", "a"))).text(), HasSubstr("is not added to the cache"));
  EXPECT_EQ(state_.pod_count(), 0u);
}

TEST_F(ClusterStateTest, AnUpdateOfAnAssumedPodIsRefused) {
  PutNode("a");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_THAT(state_.UpdatePod(Share(OneCpu("p", "a").Request({{"cpu", "3"}}))).text(),
              HasSubstr("should not be updated"));
  EXPECT_EQ(Cpu("a"), 1000);
  EXPECT_TRUE(state_.IsAssumed("p"));
}

TEST_F(ClusterStateTest, AnUpdateOnAnotherNodeMovesThePodWithAWordForTheLog) {
  PutNode("a");
  PutNode("b");
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  EXPECT_THAT(state_.UpdatePod(Share(OneCpu("p", "b"))).text(), HasSubstr("a before, b now"));
  EXPECT_EQ(Cpu("a"), 0);
  EXPECT_EQ(Cpu("b"), 1000);
}

TEST_F(ClusterStateTest, RemovingAnUnknownPodOrNodeIsRefused) {
  EXPECT_THAT(state_.RemovePod("p").text(), HasSubstr("pod p is not found"));
  EXPECT_THAT(state_.RemoveNode("a").text(), HasSubstr("node a is not in the cache"));
}

TEST_F(ClusterStateTest, ARemovedPodsPlaceIsTakenByTheLastOne) {
  PutNode("a");
  for (const char* name : {"p1", "p2", "p3"}) ASSERT_TRUE(state_.AddPod(Share(OneCpu(name, "a"))).ok());
  ASSERT_TRUE(state_.RemovePod("p1").ok());
  EXPECT_THAT(Pods("a"), ElementsAre("p3", "p2"));
}

TEST_F(ClusterStateTest, PodsMayComeBeforeTheirNodeAndCountOnceItIsThere) {
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "late"))).ok());
  EXPECT_EQ(state_.snapshot().FindRow("late"), kNoRow);
  EXPECT_EQ(state_.snapshot().node_count(), 0u);
  EXPECT_THAT(state_.snapshot().order(), IsEmpty());
  PutNode("late");
  ASSERT_NE(state_.snapshot().FindRow("late"), kNoRow);
  EXPECT_EQ(Cpu("late"), 1000);
  EXPECT_THAT(Pods("late"), ElementsAre("p"));
}

TEST_F(ClusterStateTest, ANodeDeletedUnderItsPodsLeavesAGhostUntilTheyAreGone) {
  PutNode("a");
  PutNode("b");
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  ASSERT_TRUE(state_.RemoveNode("a").ok());
  EXPECT_EQ(state_.snapshot().FindRow("a"), kNoRow);
  EXPECT_EQ(state_.snapshot().node_count(), 1u);
  EXPECT_FALSE(state_.RemoveNode("a").ok()) << "a ghost is no node";
  ASSERT_NE(state_.FindPod("p"), nullptr);
  EXPECT_TRUE(state_.RemovePod("p").ok());
  EXPECT_EQ(state_.columns().FindAny("a"), kNoRow);
}

TEST_F(ClusterStateTest, ANodeThatComesBackFindsItsPodsCounted) {
  PutNode("a");
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a").HostPort(80))).ok());
  ASSERT_TRUE(state_.RemoveNode("a").ok());
  PutNode("a");
  EXPECT_EQ(Cpu("a"), 1000);
  EXPECT_EQ(state_.snapshot().ports(state_.snapshot().FindRow("a")).size(), 1u);
}

TEST_F(ClusterStateTest, NominationsAreShownInTheOrderTheyWereMade) {
  PutNode("a");
  EXPECT_FALSE(state_.snapshot().any_nominated());
  state_.Nominate(Share(MakePod("p1")), "a");
  state_.Nominate(Share(MakePod("p2")), "a");
  EXPECT_THAT(Nominated("a"), ElementsAre("p1", "p2"));
  EXPECT_EQ(Cpu("a"), 0) << "a nominated pod holds nothing";
}

TEST_F(ClusterStateTest, ANominationMayComeBeforeItsNode) {
  state_.Nominate(Share(MakePod("p")), "late");
  EXPECT_FALSE(state_.snapshot().any_nominated());
  PutNode("late");
  EXPECT_THAT(Nominated("late"), ElementsAre("p"));
}

TEST_F(ClusterStateTest, ASecondNominationReplacesTheFirst) {
  PutNode("a");
  PutNode("b");
  state_.Nominate(Share(MakePod("p").Uid("p")), "a");
  state_.Nominate(Share(MakePod("p").Uid("p").Priority(7)), "b");
  EXPECT_THAT(Nominated("a"), IsEmpty());
  EXPECT_THAT(Nominated("b"), ElementsAre("p"));
  EXPECT_EQ(state_.snapshot().nominated(state_.snapshot().FindRow("b"))[0]->pod->priority, 7);
  state_.Nominate(Share(MakePod("p").Uid("p")), "");
  EXPECT_FALSE(state_.snapshot().any_nominated()) << "an empty node name clears it";
}

TEST_F(ClusterStateTest, ANominationEndsWhenThePodIsAssumedAddedOrCleared) {
  PutNode("a");
  for (const char* uid : {"p1", "p2", "p3"}) state_.Nominate(Share(MakePod(uid).Uid(uid)), "a");
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p1", "a"))).ok());
  EXPECT_THAT(Nominated("a"), ElementsAre("p2", "p3"));
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p2", "a"))).ok());
  EXPECT_THAT(Nominated("a"), ElementsAre("p3"));
  state_.ClearNomination("p3");
  state_.ClearNomination("nobody");
  EXPECT_FALSE(state_.snapshot().any_nominated());
}

TEST_F(ClusterStateTest, ANominationOutlivesItsNodeAndFollowsItToANewRow) {
  PutNode("a");
  PutNode("b");
  state_.Nominate(Share(MakePod("p")), "a");
  ASSERT_TRUE(state_.RemoveNode("a").ok());
  EXPECT_FALSE(state_.snapshot().any_nominated());
  PutNode("c");  // takes the row that was a's
  EXPECT_THAT(Nominated("c"), IsEmpty());
  PutNode("a");
  EXPECT_THAT(Nominated("a"), ElementsAre("p"));
}

TEST_F(ClusterStateTest, AnIndexIsFirstToldOfAllThatIsThere) {
  PutNode("a");
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("q", "a"))).ok());
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("ghost", "nowhere"))).ok());
  Recorder index;
  state_.AddIndex(&index);
  EXPECT_THAT(index.pods, ElementsAre("ghost", "p", "q"));
  EXPECT_EQ(index.nodes.size(), 1u);
  EXPECT_EQ(index.objects, 1);
}

TEST_F(ClusterStateTest, AnIndexIsToldOfEveryChangeUntilItIsRemoved) {
  Recorder index;
  state_.AddIndex(&index);
  PutNode("a");
  state_.PutNode(Share(MakeNode("a").Label("k", "v")));
  EXPECT_TRUE(index.nodes.at("a").Has("k"));
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_THAT(index.pods, ElementsAre("p"));
  ASSERT_TRUE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  ASSERT_TRUE(state_.UpdatePod(Share(OneCpu("p", "a"))).ok());
  EXPECT_THAT(index.pods, ElementsAre("p"));
  EXPECT_FALSE(state_.AddPod(Share(OneCpu("p", "a"))).ok());
  ASSERT_TRUE(state_.RemoveNode("a").ok());
  EXPECT_THAT(index.nodes, IsEmpty());
  EXPECT_THAT(index.pods, ElementsAre("p")) << "the pod stays on the ghost";
  ASSERT_TRUE(state_.RemovePod("p").ok());
  EXPECT_THAT(index.pods, IsEmpty());
  ASSERT_TRUE(state_.AssumePod(Share(OneCpu("q", "a"))).ok());
  ASSERT_TRUE(state_.ForgetPod("q").ok());
  EXPECT_THAT(index.pods, IsEmpty());

  state_.RemoveIndex(&index);
  PutNode("b");
  EXPECT_THAT(index.nodes, IsEmpty());
}

TEST_F(ClusterStateTest, ObjectsAreFoundByNameAndTheirChangesTold) {
  Recorder index;
  state_.AddIndex(&index);
  Service service;
  service.meta.namespace_ = "shop";
  service.meta.name = "web";
  state_.PutObject(std::make_shared<const Service>(service));
  EXPECT_EQ(index.objects, 2);
  const uint64_t epoch = state_.snapshot().objects<Service>().epoch();
  EXPECT_NE(state_.snapshot().objects<Service>().Find("shop", "web"), nullptr);
  EXPECT_EQ(state_.snapshot().objects<Service>().Find("default", "web"), nullptr);
  state_.RemoveObject<Service>("shop", "web");
  EXPECT_EQ(index.objects, 3);
  EXPECT_TRUE(state_.snapshot().objects<Service>().empty());
  EXPECT_NE(state_.snapshot().objects<Service>().epoch(), epoch);
}

TEST_F(ClusterStateTest, WhatIsAssumedOfAnObjectIsBelievedUntilThereIsNews) {
  const auto share = [](const PersistentVolume& one) { return std::make_shared<const PersistentVolume>(one); };
  Recorder index;
  state_.AddIndex(&index);
  PersistentVolume volume;
  volume.meta.name = "v";
  volume.meta.resource_version = "7";
  state_.PutObject(share(volume));
  PersistentVolume taken = volume;
  taken.claim_ref = {"ns", "claim", "uid"};
  const auto believed = [&] { return state_.snapshot().Believed<PersistentVolume>("", "v"); };
  const auto stamp = [&] { return Stamp(state_.snapshot(), epoch::kVolumes); };

  uint64_t before = stamp();
  ASSERT_TRUE(state_.AssumeObject(share(taken)).ok());
  EXPECT_TRUE(believed()->claim_ref);
  EXPECT_FALSE(state_.snapshot().objects<PersistentVolume>().Find("v")->claim_ref) << "the cluster has not said so";
  EXPECT_EQ(index.assumed, 1);
  EXPECT_NE(std::exchange(before, stamp()), stamp());
  state_.RestoreObject(volume);
  EXPECT_FALSE(believed()->claim_ref);
  EXPECT_EQ(index.assumed, 2);
  EXPECT_NE(before, stamp());
  state_.RestoreObject(volume);
  EXPECT_EQ(index.assumed, 2) << "there was nothing to restore";

  ASSERT_TRUE(state_.AssumeObject(share(taken)).ok());
  volume.meta.resource_version = "8";
  state_.PutObject(share(volume));
  EXPECT_FALSE(believed()->claim_ref) << "a newer version is believed";
  EXPECT_EQ(state_.AssumeObject(share(taken)).text(), "\"v\" is out of sync (stored: 8, assume: 7)");
  state_.RemoveObject<PersistentVolume>("", "v");
  EXPECT_EQ(believed(), nullptr);
  EXPECT_EQ(state_.AssumeObject(share(taken)).text(), "persistentvolumes \"v\" not found");
}

}  // namespace
}  // namespace berth::cluster
