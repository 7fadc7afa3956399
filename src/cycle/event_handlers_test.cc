// SPDX-License-Identifier: Apache-2.0
// What changes of pods and nodes do to the cache and the queue.
#include "cycle/event_handlers.h"

#include "berth/resources.h"
#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EventHandlersTest : public CycleTest {
 protected:
  // Moves since the last call.
  std::vector<std::string> NewMoves() { return std::exchange(journal_.moves, {}); }
};

TEST_F(EventHandlersTest, HowLongNewsTakesIsToldByEvent) {
  Start({"n1"});
  journal_.handled.clear();
  Put(SmallNode("n2"));
  Put(MakeNode("n2").Capacity({{"cpu", "2"}, {"pods", "110"}}).Label("a", "b").Build());
  api_.Remove(Kind::kNode, "n2");
  Put(Wants("p", "2"));
  Change("p", [](Pod& pod) { pod.meta.labels = Labels({{"a", "b"}}); });
  RemovePod("p");
  Put(Wants("q", "1").OnNode("n1"));
  RemovePod("q");
  PutNamed<StorageClass>("fast");
  EXPECT_THAT(journal_.handled, ElementsAre("NodeAdd", "NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel", "NodeDelete",
                                            "UnschedulablePodAdd", "UnschedulablePodUpdate", "UnschedulablePodDelete",
                                            "AssignedPodAdd", "AssignedPodDelete", HasSubstr("StorageClassAdd")));
}

TEST_F(EventHandlersTest, AnAssignedPodThatShrinksMakesRoom) {
  Start({"n1"});
  Put(Wants("big", "1").OnNode("n1"));
  Put(Wants("p", "500m"));
  NewMoves();
  Change("big", [](Pod& pod) {
    pod.containers.Edit()[0].requests = Wants("x", "100m").Build().containers[0].requests;
    pod.resources = ComputePodResources(pod);
  });
  EXPECT_THAT(NewMoves(), Contains("p backoff AssignedPodUpdatePodScaleDown"));
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(EventHandlersTest, AnAssignedPodThatChangesOtherwiseWakesNobodyButIsKept) {
  Start({"n1"});
  Put(Wants("big", "1").OnNode("n1"));
  Put(Wants("p", "500m"));
  NewMoves();
  Change("big", [](Pod& pod) { pod.meta.labels = Labels({{"a", "b"}}); });
  EXPECT_THAT(NewMoves(), IsEmpty());
  EXPECT_EQ(scheduler_->state().FindPod("pod-default/big")->pod->meta.labels, Labels({{"a", "b"}}));
}

TEST_F(EventHandlersTest, LabelsOfAssignedPodsWakePodsThatWaitForCompany) {
  Start();
  Put(MakeNode("n1").Label("host", "n1"));
  Put(MakePod("web").OnNode("n1"));
  PodAffinityTerm near;
  near.topology_key = "host";
  near.selector = SelectLabels({{"app", "web"}});
  Put(MakePod("p").PodAffinity(near));
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("InterPodAffinity"));
  NewMoves();
  Change("web", [](Pod& pod) { pod.meta.labels = Labels({{"app", "web"}}); });
  EXPECT_THAT(NewMoves(), Contains("p backoff AssignedPodUpdatePodLabel"));
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(EventHandlersTest, AnAssignedPodThatMovesIsBelieved) {
  Start({"n1", "n2"});
  Put(Wants("big", "1").OnNode("n1"));
  Change("big", [](Pod& pod) { pod.node_name = "n2"; });
  EXPECT_EQ(NodeOf("big"), "n2");
  EXPECT_THAT(std::exchange(journal_.complaints, {}), ElementsAre(HasSubstr("updated on a different node")));
  Put(Wants("p", "1"));
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(EventHandlersTest, AnAssignedPodThatLosesItsNodeIsPendingAgain) {
  Start({"n1"});
  Put(Wants("p", "1").OnNode("n1"));
  Change("p", [](Pod& pod) { pod.node_name = ""; });
  EXPECT_THAT(journal_.attempts, ElementsAre("p -> n1"));
}

TEST_F(EventHandlersTest, PodsOnANodeNobodyKnowsYetCountWhenItAppears) {
  Start();
  Put(Wants("early", "1").OnNode("n1"));
  Put(SmallNode("n1"));
  Put(Wants("p", "500m"));
  EXPECT_THAT(journal_.attempts, ElementsAre(HasSubstr("1 Insufficient cpu")));
}

TEST_F(EventHandlersTest, APodsOwnChangeMayCureItsRejection) {
  Start();
  Put(MakeNode("n1").Taint("only", "us", TaintEffect::kNoSchedule));
  Put(MakePod("p"));
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("TaintToleration"));
  NewMoves();
  Change("p", [](Pod& pod) { pod.meta.annotations = Labels({{"note", "x"}}); });
  Change("p", [](Pod& pod) { pod.meta.labels = Labels({{"note", "x"}}); });
  EXPECT_THAT(NewMoves(), IsEmpty());
  EXPECT_THAT(journal_.attempts, SizeIs(1));
  Change("p", [](Pod& pod) {
    Toleration any;
    any.op = TolerationOp::kExists;
    pod.tolerations.push_back(any);
  });
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(EventHandlersTest, ANodeThatIsUncordonedIsUsed) {
  Start();
  Put(MakeNode("n1").Unschedulable());
  Put(MakePod("p"));
  EXPECT_THAT(RejectorsOf("p"), ElementsAre("NodeUnschedulable"));
  NewMoves();
  Put(MakeNode("n1"));
  EXPECT_THAT(NewMoves(), Contains("p backoff NodeUpdateNodeTaint"));
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(EventHandlersTest, ANodeThatGrowsIsUsed) {
  Start({"n1"});
  Put(Wants("p", "2"));
  NewMoves();
  Put(MakeNode("n1"));
  EXPECT_THAT(NewMoves(), Contains("p backoff NodeUpdateNodeAllocatable"));
  EXPECT_EQ(journal_.attempts.back(), "p -> n1");
}

TEST_F(EventHandlersTest, APodAddedTwiceIsReplacedInTheQueue) {
  Start({"n1"});
  Put(Wants("p", "2"));
  Put(Wants("p", "2").Uid("second"));
  const queue::QueuedPodInfo* info = scheduler_->queue().Find("default/p");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->pod->uid(), "second");
  EXPECT_EQ(info->attempts, 1) << "it inherits nothing";
}

TEST_F(EventHandlersTest, APodHandedOverToAnotherSchedulerIsLetGo) {
  Start({"n1"});
  Put(Wants("p", "2"));
  Change("p", [](Pod& pod) { pod.scheduler_name = "other"; });
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
  EXPECT_THAT(journal_.attempts, SizeIs(1));
}

}  // namespace
}  // namespace berth::cycle
