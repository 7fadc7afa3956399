// SPDX-License-Identifier: Apache-2.0
// Patches of pods' statuses: merged, in order, tried again, given up.
#include "cycle/status_writer.h"

#include "cycle/cycle_test_util.h"

namespace berth::cycle {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StatusWriterTest : public ::testing::Test {
 protected:
  static SchedulerOptions Told(Journal& journal) {
    SchedulerOptions options;
    options.observer = &journal;
    return options;
  }
  static PodCondition Condition(const std::string& message) {
    return {"PodScheduled", "False", "Unschedulable", message};
  }
  void Answer(const ApiStatus& status = {}) {
    api_.AnswerPatch(status);
    inbox_.Drain();
  }
  void Wait(Duration d) {
    clock_.Advance(d);
    while (core_.timers.RunOne(clock_.Now())) {
    }
  }
  // "message/node" of the open patches; "-" where nothing is said.
  std::vector<std::string> Open() const {
    std::vector<std::string> out;
    for (const FakeApi::PatchCall& call : api_.patches)
      out.push_back((call.patch.condition ? call.patch.condition->message : "-") + "/" +
                    call.patch.nominated_node_name.value_or("-"));
    return out;
  }

  ManualClock clock_;
  util::Inbox inbox_;
  FakeApi api_{inbox_};
  Journal journal_;
  Core core_{api_, inbox_, clock_, Told(journal_)};
  StatusWriter writer_{core_};
  const Pod pod_ = MakePod("p").Nominated("n1").With([](Pod& pod) { pod.conditions.push_back(Condition("old")); });
};

TEST_F(StatusWriterTest, WhatTheStatusSaysAlreadyIsNotSent) {
  writer_.Write(pod_, Condition("old"), std::nullopt);
  writer_.Write(pod_, Condition("old"), "n1");
  writer_.Write(pod_, std::nullopt, "n1");
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_TRUE(writer_.empty());
  writer_.Write(pod_, Condition("old"), "");
  EXPECT_THAT(Open(), ElementsAre("old/"));
}

TEST_F(StatusWriterTest, APatchIsForThePodOfItsUid) {
  writer_.Write(pod_, Condition("new"), std::nullopt);
  ASSERT_THAT(Open(), ElementsAre("new/-"));
  EXPECT_EQ(api_.patches[0].patch.pod.uid, pod_.uid());
  EXPECT_EQ(core_.requests, 1u);
  Answer();
  EXPECT_TRUE(writer_.empty());
  EXPECT_EQ(core_.requests, 0u);
}

TEST_F(StatusWriterTest, ATransitionIsAnotherStatusNotAnotherMessage) {
  const auto with = [](Pod pod, const char* status) {
    pod.conditions.Edit().clear();
    if (*status != 0) pod.conditions.push_back({"PodScheduled", status, "", ""});
    pod.meta.generation = 3;
    return pod;
  };
  const auto transition = [&](const char* before) {
    writer_.Write(with(pod_, before), Condition("new"), std::nullopt);
    const client::PodStatusPatch patch = api_.patches.at(0).patch;
    Answer();
    EXPECT_EQ(patch.generation, 3);
    return patch.transition;
  };
  EXPECT_TRUE(transition(""));
  EXPECT_TRUE(transition("True"));
  EXPECT_FALSE(transition("False"));

  // What is under way counts, if it arrives.
  for (const int code : {200, 500}) {
    writer_.Write(with(pod_, "True"), Condition("first"), std::nullopt);
    writer_.Write(with(pod_, "True"), Condition("second"), std::nullopt);
    Answer({code, ""});
    if (code == 500) Wait(Duration::Seconds(1));
    ASSERT_THAT(Open(), ElementsAre("second/-"));
    EXPECT_EQ(api_.patches[0].patch.transition, code == 500);
    Answer();
  }
  // A patch that failed is the same when it is sent again.
  writer_.Write(with(pod_, "False"), Condition("new"), std::nullopt);
  Answer({500, ""});
  Wait(Duration::Seconds(1));
  ASSERT_THAT(Open(), ElementsAre("new/-"));
  EXPECT_FALSE(api_.patches[0].patch.transition);
  EXPECT_EQ(api_.patches[0].patch.generation, 3);
}

TEST_F(StatusWriterTest, WishesDuringAPatchAreMergedAndSentAfterIt) {
  writer_.Write(pod_, Condition("one"), "n2");
  writer_.Write(pod_, std::nullopt, "n3");
  writer_.Write(pod_, Condition("two"), std::nullopt);
  writer_.Write(pod_, Condition("three"), std::nullopt);
  EXPECT_THAT(Open(), ElementsAre("one/n2"));
  Answer();
  EXPECT_THAT(Open(), ElementsAre("three/n3"));
  Answer();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_TRUE(writer_.empty());
}

TEST_F(StatusWriterTest, ARevertDuringAPatchIsSentAlthoughTheStatusWeSeeSaysSo) {
  writer_.Write(pod_, Condition("new"), std::nullopt);
  writer_.Write(pod_, Condition("old"), std::nullopt);
  Answer();
  EXPECT_THAT(Open(), ElementsAre("old/-"));
}

TEST_F(StatusWriterTest, AFailedPatchIsSentAgainWithWhatWasWishedMeanwhile) {
  for (const int code : {0, 409, 429, 500}) {
    SCOPED_TRACE(code);
    writer_.Write(pod_, Condition("one"), "n2");
    writer_.Write(pod_, Condition("two"), std::nullopt);
    Answer({code, "no"});
    EXPECT_THAT(Open(), IsEmpty());
    EXPECT_FALSE(writer_.empty());
    Wait(Duration::Millis(999));
    EXPECT_THAT(Open(), IsEmpty());
    Wait(Duration::Millis(1));
    EXPECT_THAT(Open(), ElementsAre("two/n2"));
    Answer();
    EXPECT_TRUE(writer_.empty());
  }
}

TEST_F(StatusWriterTest, TriesGetRarerAndEndWithAComplaint) {
  writer_.Write(pod_, Condition("new"), std::nullopt);
  for (const int seconds : {1, 2, 4, 8, 16}) {
    SCOPED_TRACE(seconds);
    Answer({503, "busy"});
    Wait(Duration{Duration::Seconds(seconds).ns - 1});
    EXPECT_THAT(Open(), IsEmpty());
    Wait({1});
    EXPECT_THAT(Open(), SizeIs(1));
  }
  EXPECT_THAT(journal_.complaints, IsEmpty());
  Answer({503, "busy"});
  EXPECT_THAT(journal_.complaints, ElementsAre("status of pod default/p could not be written: 503 busy"));
  EXPECT_TRUE(writer_.empty());
  EXPECT_TRUE(core_.timers.empty());
}

TEST_F(StatusWriterTest, APatchThatWillNeverBeAcceptedIsNotTriedAgain) {
  for (const int code : {400, 403, 422}) {
    writer_.Write(pod_, Condition("new"), std::nullopt);
    Answer({code, "never"});
    EXPECT_THAT(journal_.complaints.back(), HasSubstr(std::to_string(code) + " never"));
    EXPECT_TRUE(writer_.empty());
  }
}

TEST_F(StatusWriterTest, APodThatIsGoneIsDroppedWithAllWishes) {
  writer_.Write(pod_, Condition("one"), std::nullopt);
  writer_.Write(pod_, Condition("two"), std::nullopt);
  Answer({404, "not found"});
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_TRUE(writer_.empty());
  EXPECT_THAT(journal_.complaints, IsEmpty());
}

TEST_F(StatusWriterTest, AForgottenPodIsNotWrittenAgain) {
  writer_.Write(pod_, Condition("one"), std::nullopt);
  writer_.Write(pod_, Condition("two"), std::nullopt);
  writer_.Forget(pod_.uid());
  Answer();
  EXPECT_THAT(Open(), IsEmpty());
  EXPECT_TRUE(writer_.empty());
}

TEST_F(StatusWriterTest, AForgottenPodIsNotTriedAgainAndNotComplainedAbout) {
  writer_.Write(pod_, Condition("one"), std::nullopt);
  writer_.Forget(pod_.uid());
  Answer({500, "no"});
  EXPECT_TRUE(writer_.empty());
  EXPECT_THAT(journal_.complaints, IsEmpty());

  writer_.Write(pod_, Condition("one"), std::nullopt);
  Answer({500, "no"});
  writer_.Forget(pod_.uid());
  Wait(Duration::Seconds(1));
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(StatusWriterTest, AWishBetweenTriesIsSentAtOnceAndTheOldTimerDoesNoHarm) {
  writer_.Write(pod_, Condition("one"), "n2");
  Answer({500, "no"});
  Wait(Duration::Millis(500));
  writer_.Write(pod_, Condition("two"), std::nullopt);
  EXPECT_THAT(Open(), ElementsAre("two/n2"));
  Wait(Duration::Millis(500));
  EXPECT_THAT(Open(), ElementsAre("two/n2"));
  Answer();
  EXPECT_TRUE(writer_.empty());
  Wait(Duration::Seconds(10));
  EXPECT_THAT(Open(), IsEmpty());
}

TEST_F(StatusWriterTest, PodsDoNotWaitForEachOther) {
  const Pod other = MakePod("q");
  writer_.Write(pod_, Condition("p"), std::nullopt);
  writer_.Write(other, Condition("q"), std::nullopt);
  EXPECT_THAT(Open(), ElementsAre("p/-", "q/-"));
}

}  // namespace
}  // namespace berth::cycle
