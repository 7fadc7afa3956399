// SPDX-License-Identifier: Apache-2.0
// The reflector where the door streams lists: what comes before the end of the initial events, and what may come
// instead.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/reflector_test_util.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StreamedReflectorTest : public ReflectorTest {
 protected:
  StreamedReflectorTest() {
    api_.streams_lists = true;
    Again();
  }
  void Again(Kind kind = Kind::kPod) {
    complaints_.clear();
    api_.watches.clear();
    Remake(kind, &complaints_);
  }
  void Bookmark(const std::string& version, bool initial_end) {
    const auto watch = api_.watches.back();
    ASSERT_TRUE(*watch.alive);
    watch.callbacks.event({WatchEvent::Type::kBookmark, std::nullopt, version, initial_end});
  }
  // All objects have come.
  void Complete(const std::string& version) { Bookmark(version, true); }
  void ClosedWith(const ApiStatus& status) {
    const auto watch = api_.watches.back();
    ASSERT_TRUE(*watch.alive);
    watch.callbacks.closed(status);
  }
  // Where the newest watch began.
  const std::string& From() const { return api_.watches.back().from; }

  std::vector<std::string> complaints_;
};

TEST_F(StreamedReflectorTest, AllThatIsThereIsToldWhenItIsComplete) {
  EXPECT_THAT(api_.lists, IsEmpty());
  ASSERT_EQ(api_.watches.size(), 1u);
  EXPECT_EQ(From(), "everything");
  Opened();
  Added(MakeObject("b", 7));
  Added(MakeObject("a", 3));
  EXPECT_FALSE(reflector_->synced());
  EXPECT_FALSE(reflector_->watching());
  EXPECT_TRUE(reflector_->listing());
  EXPECT_FALSE(reflector_->heard());
  EXPECT_THAT(diary_.Take(), IsEmpty());
  Complete("10");
  EXPECT_TRUE(reflector_->synced());
  EXPECT_TRUE(reflector_->watching());
  EXPECT_FALSE(reflector_->listing());
  EXPECT_TRUE(reflector_->heard());
  EXPECT_TRUE(timers_.empty());
  EXPECT_THAT(diary_.Take(), ElementsAre("add b/u@7", "add a/u@3"));

  // The same stream goes on as the watch.
  Modified(MakeObject("a", 12));
  Added(MakeObject("old", 9));  // not among what was there at 10
  Deleted(MakeObject("b", 7), 13);
  EXPECT_THAT(diary_.Take(), ElementsAre("update a/u@3 a/u@12", "delete b/u@7"));
  Closed(200);
  EXPECT_EQ(From(), "13");
  EXPECT_THAT(api_.lists, IsEmpty());
  EXPECT_EQ(reflector_->lists(), 1u);
  EXPECT_EQ(reflector_->watches(), 1u);
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(StreamedReflectorTest, ALaterOneReplacesWhatIsKnown) {
  Opened();
  for (const char* name : {"gone", "same", "changed", "replaced"}) Added(MakeObject(name, 3));
  Complete("10");
  Bookmark("12", false);
  diary_.Take();
  Closed(410);
  ASSERT_EQ(api_.watches.size(), 2u);
  EXPECT_EQ(From(), "everything");
  Opened();
  EXPECT_FALSE(reflector_->watching());
  Added(MakeObject("new", 15));
  Added(MakeObject("changed", 13));
  Added(MakeObject("replaced", 14, "v"));
  Added(MakeObject("same", 3));
  EXPECT_EQ(reflector_->size(), 4u);
  Complete("20");
  EXPECT_THAT(diary_.Take(), ElementsAre("delete gone/u@3", "add new/u@15", "update changed/u@3 changed/u@13",
                                         "delete replaced/u@3", "add replaced/v@14"));
  EXPECT_THAT(api_.lists, IsEmpty());
}

TEST_F(StreamedReflectorTest, WhatChangesBeforeTheEndCountsWhateverItsOrder) {
  Opened();
  Added(MakeObject("a", 3));
  Added(MakeObject("a", 3));     // twice
  Modified(MakeObject("a", 5));  // changed meanwhile
  Added(MakeObject("a", 4));     // late
  Modified(MakeObject("b", 6));  // never added
  Added(MakeObject("c", 4));
  Deleted(MakeObject("c", 4), 7);
  Added(MakeObject("c", 4));  // late
  Deleted(MakeObject("d", 8), 8);
  Added(MakeObject("e", 4));
  Deleted(MakeObject("e", 4), 8);
  Added(MakeObject("e", 9, "v"));  // another of that name
  Added(MakeObject("f", 6));
  Deleted(MakeObject("f", 2), 5);  // of one before
  Bookmark("8", false);            // not the end
  EXPECT_FALSE(reflector_->synced());
  Complete("10");
  EXPECT_THAT(diary_.Take(), ElementsAre("add a/u@5", "add b/u@6", "add e/v@9", "add f/u@6"));
  EXPECT_EQ(reflector_->size(), 4u);
}

TEST_F(StreamedReflectorTest, ARefusalIsRememberedAndTheKindIsListed) {
  for (const int code : {400, 405, 406, 422, 501}) {
    Again();
    ClosedWith({code, "sendInitialEvents: Forbidden"});
    ASSERT_EQ(api_.lists.size(), 1u) << code;
    EXPECT_THAT(complaints_, IsEmpty());
    EXPECT_EQ(reflector_->problem(), "");
    Listed("10", {MakeObject("a", 3)});
    EXPECT_TRUE(reflector_->synced());
    EXPECT_EQ(From(), "10");
    Closed(410);
    EXPECT_EQ(api_.lists.size(), 2u) << code;
    EXPECT_EQ(api_.watches.size(), 2u) << code << ": asked again";
    EXPECT_EQ(reflector_->lists(), 2u);
  }
}

TEST_F(StreamedReflectorTest, WhatMayBeOtherwiseNextTimeIsAskedAgain) {
  for (const int code : {401, 403, 404, 407, 408, 500, 503}) {
    Again();
    ClosedWith({code, "no"});
    ASSERT_EQ(api_.lists.size(), 1u) << code;
    EXPECT_THAT(complaints_, IsEmpty());
    ListFails(code, "no");
    EXPECT_THAT(complaints_,
                ElementsAre("cannot list objects of kind Pod, will try again: " + std::to_string(code) + " no"));
    MillisToRetry();
    EXPECT_EQ(api_.watches.size(), 2u) << code;
    EXPECT_EQ(From(), "everything");
    Opened();
    Complete("10");
    EXPECT_TRUE(reflector_->synced());
    EXPECT_EQ(reflector_->problem(), "");
    EXPECT_EQ(api_.lists.size(), 1u);
  }
}

TEST_F(StreamedReflectorTest, AGroupThatTheServerDoesNotHaveHasNoObjects) {
  Again(Kind::kDeviceClass);
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(reflector_->synced());
    ClosedWith({404, "not found"});
    ListFails(404, "not found");
    Pass(Duration::Seconds(60));
  }
  EXPECT_TRUE(reflector_->synced());
  EXPECT_EQ(complaints_.size(), 3u);
  EXPECT_EQ(complaints_.back(),
            "cannot list objects of kind DeviceClass, so there are none; will ask again: 404 not found");
  // It is installed later.
  Opened();
  Complete("10");
  EXPECT_TRUE(reflector_->watching());
  EXPECT_EQ(reflector_->problem(), "");
}

TEST_F(StreamedReflectorTest, AServerThatIsNotThereOrAsksForPatienceIsNotListed) {
  std::vector<int64_t> waits;
  const std::vector<ApiStatus> answers = {{0, "connecting: Connection refused"}, {429, "too many requests"}};
  for (const ApiStatus& status : answers) {
    ClosedWith(status);
    EXPECT_THAT(complaints_.back(), HasSubstr("cannot list objects of kind Pod, will try again: "));
    EXPECT_THAT(complaints_.back(), HasSubstr(status.message));
    waits.push_back(MillisToRetry());
  }
  EXPECT_THAT(waits, ElementsAre(800, 1600));
  EXPECT_THAT(api_.lists, IsEmpty());
  EXPECT_EQ(api_.watches.size(), 3u);
  EXPECT_EQ(From(), "everything");
}

TEST_F(StreamedReflectorTest, OneThatBreaksOffTwiceIsListed) {
  const std::vector<ApiStatus> ends = {{0, "it ends too early"},
                                       {0, "no event: malformed", ErrorKind::kOther, true},
                                       {0, "timed out", ErrorKind::kTimedOut}};
  for (const ApiStatus& status : ends) {
    Again();
    for (int i = 0; i < 2; ++i) {
      EXPECT_THAT(api_.lists, IsEmpty());
      if (status.kind != ErrorKind::kTimedOut) {
        Opened();
        Added(MakeObject("a", 3));
      }
      ClosedWith(status);
      if (i == 0) MillisToRetry();
    }
    EXPECT_EQ(complaints_.size(), 1u);
    EXPECT_THAT(diary_.Take(), IsEmpty()) << "half of it was told";
    ASSERT_EQ(api_.lists.size(), 1u);
    Listed("10", {MakeObject("b", 3)});
    EXPECT_THAT(diary_.Take(), ElementsAre("add b/u@3"));
    EXPECT_EQ(From(), "10");
    Closed(410);
    EXPECT_EQ(From(), "everything") << "it may do better by now";
  }
}

TEST_F(StreamedReflectorTest, AnErrorBeforeTheEndLeadsToAList) {
  Opened();
  Added(MakeObject("a", 3));
  ClosedWith({500, "etcd is slow"});
  ASSERT_EQ(api_.lists.size(), 1u);
  ListFails(500);
  MillisToRetry();
  EXPECT_EQ(From(), "everything");
  EXPECT_THAT(diary_.Take(), IsEmpty());
}

TEST_F(StreamedReflectorTest, AVersionThatIsTooOldIsAskedForOnceThenAnyThenWithRest) {
  Opened();
  Complete("10");
  Closed(410);  // of the watch
  EXPECT_EQ(api_.watches.size(), 2u);
  ClosedWith({410, "too old"});
  EXPECT_EQ(api_.watches.size(), 3u);
  EXPECT_TRUE(timers_.empty());
  ClosedWith({410, "too old"});
  EXPECT_EQ(MillisToRetry(), 800);
  ClosedWith({410, "too old"});
  EXPECT_EQ(MillisToRetry(), 1600);
  EXPECT_EQ(From(), "everything");
  EXPECT_THAT(api_.lists, IsEmpty());
}

TEST_F(StreamedReflectorTest, AServerThatForgetsAtOnceAgainAndAgainIsGivenRest) {
  Opened();
  Complete("10");
  Closed(410);
  Opened();
  Complete("20");
  EXPECT_TRUE(timers_.empty());
  Closed(410);
  EXPECT_EQ(MillisToRetry(), 800);
}

TEST_F(StreamedReflectorTest, AStreamThatDoesNotTellItsEndIsGivenUpForGood) {
  Opened();
  Pass(Duration::Seconds(29));
  Added(MakeObject("a", 3));
  Pass(Duration::Seconds(29));
  EXPECT_THAT(api_.lists, IsEmpty());
  Modified(MakeObject("a", 4));  // nothing new
  Bookmark("9", false);
  Pass(Duration::Seconds(1));
  ASSERT_EQ(api_.lists.size(), 1u);
  EXPECT_FALSE(*api_.watches.back().alive);
  EXPECT_THAT(complaints_, ElementsAre("the server does not tell when it has sent all objects of kind Pod; "
                                       "they are listed without streaming from now on"));
  EXPECT_THAT(diary_.Take(), IsEmpty());
  Listed("10", {MakeObject("a", 4)});
  Closed(410);
  EXPECT_EQ(api_.lists.size(), 2u);
}

TEST_F(StreamedReflectorTest, AStreamThatBringsObjectsForEverIsGivenUpForGood) {
  Opened();
  for (int i = 0; i < 23; ++i) {
    Pass(Duration::Seconds(10));
    Added(MakeObject("p" + std::to_string(i), 3));
  }
  Pass(Duration{Duration::Seconds(10).ns - 1});
  EXPECT_THAT(api_.lists, IsEmpty());
  Pass({1});
  ASSERT_EQ(api_.lists.size(), 1u);
  EXPECT_FALSE(*api_.watches.back().alive);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("does not tell when it has sent all objects of kind Pod")));
  EXPECT_THAT(diary_.Take(), IsEmpty());
  EXPECT_TRUE(timers_.empty());
  Listed("10", {MakeObject("a", 4)});
  Closed(410);
  EXPECT_EQ(api_.lists.size(), 2u);
}

TEST_F(StreamedReflectorTest, AStreamThatEndsWellWithoutItsEndIsGivenUpForGoodTheThirdTime) {
  for (const int wait : {800, 1600}) {
    Opened();
    Added(MakeObject("a", 3));
    Closed(200);
    EXPECT_THAT(api_.lists, IsEmpty());
    EXPECT_EQ(complaints_.back(),
              "cannot list objects of kind Pod, will try again: the stream has ended before all objects had come");
    EXPECT_EQ(MillisToRetry(), wait);
    EXPECT_EQ(From(), "everything");
  }
  Opened();
  Closed(200);
  ASSERT_EQ(api_.lists.size(), 1u);
  EXPECT_EQ(complaints_.size(), 3u);
  EXPECT_THAT(complaints_.back(), HasSubstr("they are listed without streaming from now on"));
  EXPECT_TRUE(timers_.empty());
  Listed("10", {MakeObject("a", 4)});
  Closed(410);
  EXPECT_EQ(api_.lists.size(), 2u);
}

TEST_F(StreamedReflectorTest, OneThatIsCompleteMakesUpForEarlyEnds) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) {
      Closed(200);  // a server that shuts down
      MillisToRetry();
    }
    Opened();
    Complete(std::to_string(10 + round));
    EXPECT_TRUE(reflector_->watching());
    Pass(Duration::Seconds(600));
    Closed(410);
    EXPECT_EQ(From(), "everything");
  }
  EXPECT_THAT(api_.lists, IsEmpty());
}

TEST_F(StreamedReflectorTest, ItIsTheDoorThatKnowsHowLongToWaitForAnAnswer) {
  Pass(Duration::Seconds(600));
  EXPECT_TRUE(*api_.watches.back().alive);
  EXPECT_THAT(api_.lists, IsEmpty());
}

TEST_F(StreamedReflectorTest, WhatMakesNoSenseIsNotBelieved) {
  Opened();
  const auto nonsense = [this](const WatchEvent& event) {
    Again();
    Opened();
    Added(MakeObject("a", 3));
    const auto watch = api_.watches.back();
    watch.callbacks.event(event);
    EXPECT_FALSE(*watch.alive);
    EXPECT_THAT(complaints_, ElementsAre(HasSubstr("makes no sense")));
    EXPECT_FALSE(reflector_->synced());
    MillisToRetry();
    EXPECT_EQ(From(), "everything");
  };
  const ClusterObject node = std::make_shared<const Node>();
  nonsense({WatchEvent::Type::kAdded, node, "5"});
  nonsense({WatchEvent::Type::kAdded, std::nullopt, "5"});
  nonsense({WatchEvent::Type::kAdded, MakeObject("", 4), "5"});
  for (const char* version : {"", "0", "x"}) nonsense({WatchEvent::Type::kBookmark, std::nullopt, version, true});
  EXPECT_THAT(diary_.Take(), IsEmpty());
}

TEST_F(StreamedReflectorTest, AnEndThatIsSaidTwiceIsABookmark) {
  Opened();
  Added(MakeObject("a", 3));
  Complete("10");
  Complete("12");
  EXPECT_EQ(reflector_->size(), 1u);
  Closed(200);
  EXPECT_EQ(From(), "12");
}

TEST_F(StreamedReflectorTest, NothingIsToldAfterItsEnd) {
  Opened();
  const auto watch = api_.watches.back();
  reflector_ = nullptr;
  EXPECT_FALSE(*watch.alive);
  EXPECT_TRUE(timers_.empty());
  watch.callbacks.event({WatchEvent::Type::kBookmark, std::nullopt, "10", true});
  watch.callbacks.closed({});
  EXPECT_THAT(diary_.Take(), IsEmpty());
}

}  // namespace
}  // namespace berth::client
