// SPDX-License-Identifier: Apache-2.0
// Bindings whose answer was lost: the pod keeps its place until somebody knows.
#include "cycle/binder.h"

#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class BinderTest : public CycleTest {
 protected:
  // p is being bound to n1 and the answer is lost.
  void LoseAnswer(const ApiStatus& status = {0, ""}) {
    Start({"n1"});
    Put(Wants("p", "1"));
    AnswerBind(status);
  }
  void AnswerGet(const ApiStatus& status, const Ptr<Pod>& pod) {
    api_.AnswerGet(status, pod);
    Run();
  }
  Ptr<Pod> Seen(const std::string& node, const std::string& uid = "pod-default/p") const {
    return std::make_shared<const Pod>(Wants("p", "1").Uid(uid).OnNode(node).Build());
  }
};

TEST_F(BinderTest, APodFoundBoundIsBound) {
  LoseAnswer();
  ASSERT_THAT(api_.gets, SizeIs(1));
  EXPECT_EQ(api_.gets[0].ns + "/" + api_.gets[0].name, "default/p");
  EXPECT_TRUE(Assumed("p"));
  EXPECT_THAT(api_.events, IsEmpty());
  EXPECT_FALSE(scheduler_->idle());
  AnswerGet({}, Seen("n1"));
  EXPECT_EQ(LastEvent(), "p: Normal Scheduled Binding: Successfully assigned default/p to n1");
  EXPECT_TRUE(Assumed("p"));
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
}

TEST_F(BinderTest, APodFoundTwiceWithoutANodeIsTriedAgain) {
  LoseAnswer({500, "etcd is tired"});
  AnswerGet({}, Seen(""));
  Wait(Duration::Seconds(1));
  EXPECT_TRUE(Assumed("p"));
  AnswerGet({}, Seen(""));
  EXPECT_EQ(LastEvent(),
            "p: Warning FailedScheduling Scheduling: running Bind plugin \"DefaultBinder\": etcd is tired");
  EXPECT_EQ(NodeOf("p"), "");
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
}

TEST_F(BinderTest, ABindingThatArrivesAfterTheFirstLookCounts) {
  LoseAnswer();
  AnswerGet({}, Seen(""));
  EXPECT_TRUE(Assumed("p"));
  EXPECT_THAT(journal_.complaints, IsEmpty());
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  Wait(Duration::Seconds(1));
  EXPECT_THAT(api_.gets, IsEmpty());  // the watch has told
  EXPECT_EQ(LastEvent(), "p: Normal Scheduled Binding: Successfully assigned default/p to n1");
}

TEST_F(BinderTest, APodThatIsNotFoundIsLetGo) {
  LoseAnswer();
  api_.Remove(Kind::kPod, "default/p");
  AnswerGet({404, "not found"}, nullptr);
  EXPECT_THAT(LastEvent(), HasSubstr("no answer"));
  EXPECT_TRUE(scheduler_->idle());
}

TEST_F(BinderTest, WhileNobodyKnowsThePlaceIsKeptAndTheQuestionAskedAgainAndAgain) {
  LoseAnswer();
  Put(Wants("next", "1"));
  AcceptAll();
  for (const int seconds : {1, 2, 4, 8, 10, 10, 10}) {
    SCOPED_TRACE(seconds);
    ASSERT_THAT(api_.gets, SizeIs(1));
    AnswerGet({503, "overloaded"}, nullptr);
    EXPECT_TRUE(Assumed("p"));
    EXPECT_FALSE(scheduler_->idle());
    EXPECT_LE(scheduler_->NextWake(), clock_.Now() + Duration::Seconds(seconds));
    Wait(Duration{Duration::Seconds(seconds).ns - 1});
    EXPECT_THAT(api_.gets, IsEmpty());
    Wait({1});
  }
  EXPECT_EQ(PlaceOf("next"), Place::kUnschedulable);
  AnswerGet({}, Seen("n1"));
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
}

TEST_F(BinderTest, AServerThatNeverLetsThePodBeReadIsNotAskedForever) {
  LoseAnswer();
  AnswerGet({503, "overloaded"}, nullptr);
  Wait(Duration::Seconds(1));
  for (int i = 1; i < 10; ++i) {
    AnswerGet({403, "pods \"p\" is forbidden"}, nullptr);
    EXPECT_TRUE(Assumed("p"));
    Wait(Duration::Seconds(10));
    ASSERT_THAT(api_.gets, SizeIs(1)) << i;
  }
  EXPECT_EQ(scheduler_->bindings_under_way(), 1u);
  AnswerGet({403, "pods \"p\" is forbidden"}, nullptr);
  EXPECT_THAT(LastEvent(), HasSubstr("no answer from the API server; whether the pod was bound cannot be found out: "
                                     "pods \"p\" is forbidden"));
  EXPECT_EQ(PlaceOf("p"), Place::kErrorBackoff);
  EXPECT_EQ(scheduler_->bindings_under_way(), 0u);
}

TEST_F(BinderTest, TheWatchMayKnowFirst) {
  Start({"n1"});
  Put(Wants("p", "1"));
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  AnswerBind({0, ""});
  EXPECT_THAT(api_.gets, IsEmpty());
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
}

TEST_F(BinderTest, TheWatchMayKnowBeforeTheNextQuestion) {
  LoseAnswer();
  AnswerGet({0, ""}, nullptr);
  Change("p", [](Pod& pod) { pod.node_name = "n1"; });
  Wait(Duration::Seconds(1));
  EXPECT_THAT(api_.gets, IsEmpty());
  EXPECT_THAT(journal_.bound, ElementsAre("p -> n1"));
}

TEST_F(BinderTest, APodFoundOnAnotherNodeIsLetGo) {
  LoseAnswer();
  api_.ChangePod("p", [](Pod& pod) { pod.node_name = "n7"; });
  AnswerGet({}, Seen("n7"));
  EXPECT_THAT(journal_.failed, ElementsAre(HasSubstr("already assigned to node \"n7\"")));
  EXPECT_EQ(NodeOf("p"), "n7");
  EXPECT_THAT(std::exchange(journal_.complaints, {}),
              ElementsAre("pod default/p was added to node n7, but it was assumed on n1"));
  EXPECT_EQ(PlaceOf("p"), Place::kNone);
}

TEST_F(BinderTest, AnotherPodOfTheNameIsNoProof) {
  LoseAnswer();
  AnswerGet({}, Seen("n1", "another"));
  EXPECT_THAT(journal_.failed, ElementsAre(HasSubstr("another pod has the name now")));
  EXPECT_THAT(journal_.bound, IsEmpty());
}

}  // namespace
}  // namespace berth::cycle
