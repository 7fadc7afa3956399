// SPDX-License-Identifier: Apache-2.0
#include "client/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "client/reflector_test_util.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(ReflectorTest, ListsThenWatchesFromThere) {
  EXPECT_FALSE(reflector_->synced());
  EXPECT_FALSE(reflector_->watching());
  EXPECT_TRUE(reflector_->listing());
  ASSERT_EQ(api_.lists.size(), 1u);
  Listed("10", {MakeObject("a", 3), MakeObject("b", 7)});
  EXPECT_TRUE(reflector_->synced());
  EXPECT_TRUE(reflector_->watching());
  EXPECT_FALSE(reflector_->listing());
  EXPECT_THAT(diary_.Take(), ElementsAre("add a/u@3", "add b/u@7"));
  ASSERT_EQ(api_.watches.size(), 1u);
  EXPECT_EQ(api_.watches[0].from, "10");
  EXPECT_EQ(reflector_->size(), 2u);
  ASSERT_NE(reflector_->Find("ns", "a"), nullptr);
  EXPECT_EQ(VersionedName(*reflector_->Find("ns", "a")), "a/u@3");
  EXPECT_EQ(reflector_->Find("", "a"), nullptr);
  EXPECT_EQ(reflector_->Find("ns", "c"), nullptr);
}

TEST_F(ReflectorTest, EventsAreToldOnceAndInOrder) {
  Listed("10", {});
  Added(MakeObject("a", 11));
  Modified(MakeObject("a", 12));
  Deleted(MakeObject("a", 12), 13);
  EXPECT_THAT(diary_.Take(), ElementsAre("add a/u@11", "update a/u@11 a/u@12", "delete a/u@12"));
  EXPECT_EQ(reflector_->size(), 0u);
}

TEST_F(ReflectorTest, VersionsAreComparedAsNumbers) {
  Listed("8", {});
  Added(MakeObject("a", 9));
  Modified(MakeObject("a", 10));
  EXPECT_THAT(diary_.Take(), ElementsAre("add a/u@9", "update a/u@9 a/u@10"));
}

TEST_F(ReflectorTest, DuplicatesAndOldEventsArePassedOver) {
  Listed("10", {MakeObject("a", 9)});
  diary_.Take();
  Modified(MakeObject("a", 12));
  Modified(MakeObject("a", 12));
  Modified(MakeObject("a", 11));
  Added(MakeObject("b", 10));                 // not in a list of version 10: it was gone by then
  Deleted(MakeObject("a", 10), 10);           // of before the list
  Deleted(MakeObject("a", 11, "other"), 11);  // an earlier incarnation
  EXPECT_THAT(diary_.Take(), ElementsAre("update a/u@9 a/u@12"));
}

TEST_F(ReflectorTest, ALateEventDoesNotBringBackWhatWasDeleted) {
  Listed("10", {MakeObject("a", 9)});
  diary_.Take();
  Deleted(MakeObject("a", 11), 12);
  Modified(MakeObject("a", 11));
  EXPECT_THAT(diary_.Take(), ElementsAre("delete a/u@11"));
  Deleted(MakeObject("b", 13), 14);  // overtook its own beginning
  Added(MakeObject("b", 13));
  EXPECT_THAT(diary_.Take(), IsEmpty());
  Added(MakeObject("b", 15, "v"));
  EXPECT_THAT(diary_.Take(), ElementsAre("add b/v@15"));
}

TEST_F(ReflectorTest, AnotherUidIsADeletionAndAnAddition) {
  Listed("10", {MakeObject("a", 9)});
  diary_.Take();
  Added(MakeObject("a", 12, "v"));
  EXPECT_THAT(diary_.Take(), ElementsAre("delete a/u@9", "add a/v@12"));
  Deleted(MakeObject("a", 9), 11);  // the first one's deletion, late
  EXPECT_THAT(diary_.Take(), IsEmpty());
}

TEST_F(ReflectorTest, ANewerDeletionOfAnotherUidEndsTheOneKnownToo) {
  Listed("10", {MakeObject("a", 9)});
  diary_.Take();
  Deleted(MakeObject("a", 12, "v"), 13);  // a/u must have gone before a/v came
  EXPECT_THAT(diary_.Take(), ElementsAre("delete a/u@9"));
  Added(MakeObject("a", 12, "v"));
  Deleted(MakeObject("a", 9), 11);
  EXPECT_THAT(diary_.Take(), IsEmpty());
  EXPECT_EQ(reflector_->size(), 0u);
}

TEST_F(ReflectorTest, ANewListTellsTheDifferences) {
  Listed("10", {MakeObject("gone2", 1), MakeObject("gone1", 1), MakeObject("same", 2), MakeObject("changed", 3),
                MakeObject("replaced", 4)});
  diary_.Take();
  Closed(410);
  ASSERT_EQ(api_.lists.size(), 2u);
  EXPECT_FALSE(reflector_->watching());
  Listed("20",
         {MakeObject("changed", 13), MakeObject("new", 15), MakeObject("replaced", 14, "v"), MakeObject("same", 2)});
  EXPECT_THAT(diary_.Take(), ElementsAre("delete gone1/u@1", "delete gone2/u@1", "update changed/u@3 changed/u@13",
                                         "add new/u@15", "delete replaced/u@4", "add replaced/v@14"));
  EXPECT_EQ(api_.watches.back().from, "20");
  EXPECT_EQ(reflector_->lists(), 2u);
}

TEST_F(ReflectorTest, AWatchThatWasUsefulIsResumedAtOnceWhereItEnded) {
  Listed("10", {});
  Added(MakeObject("a", 12));
  Added(MakeObject("b", 11));  // out of order: the newest counts
  Closed(200);
  ASSERT_EQ(api_.watches.size(), 2u);
  EXPECT_EQ(api_.watches.back().from, "12");
  EXPECT_TRUE(timers_.empty());
  api_.watches.back().callbacks.event({WatchEvent::Type::kBookmark, std::nullopt, "30"});
  Closed(0);
  EXPECT_EQ(api_.watches.back().from, "30");
  Opened();
  Pass(Duration::Seconds(6));  // it lived, although nothing came
  Closed(500);
  EXPECT_EQ(api_.watches.size(), 4u);
  EXPECT_EQ(reflector_->lists(), 1u);
}

TEST_F(ReflectorTest, AWatchThatDiesAtOnceIsRetriedLaterAndLater) {
  Listed("10", {});
  std::vector<int64_t> waits;
  for (int i = 0; i < 7; ++i) {
    Closed(i % 2 == 0 ? 200 : 500);
    waits.push_back(MillisToRetry());
  }
  EXPECT_THAT(waits, ElementsAre(800, 1600, 3200, 6400, 12800, 25600, 30000));
  EXPECT_EQ(reflector_->watches(), 8u);
  Added(MakeObject("a", 11));
  Closed(200);  // it was of use: all is forgiven
  Closed(200);
  EXPECT_EQ(MillisToRetry(), 800);
  EXPECT_EQ(reflector_->lists(), 1u);
}

TEST_F(ReflectorTest, WaitingForAServerThatDoesNotAnswerIsNoLife) {
  Listed("10", {});
  std::vector<int64_t> waits;
  for (const int code : {0, 504, 0}) {
    Pass(Duration::Seconds(10));  // connecting, in vain
    Closed(code);
    EXPECT_FALSE(reflector_->watching());
    waits.push_back(MillisToRetry());
  }
  EXPECT_THAT(waits, ElementsAre(800, 1600, 3200));
  Opened();
  Closed(0);  // at once
  EXPECT_EQ(MillisToRetry(), 6400);
}

TEST_F(ReflectorTest, RepeatingOldEventsDoesNotMakeAWatchUseful) {
  Listed("10", {MakeObject("a", 9)});
  Modified(MakeObject("a", 9));
  Closed(200);
  EXPECT_EQ(MillisToRetry(), 800);
}

TEST_F(ReflectorTest, WaitingHasJitter) {
  random_ = UINT64_MAX;
  ListFails(500);
  EXPECT_EQ(MillisToRetry(), 1599);
}

TEST_F(ReflectorTest, AListThatFailsIsRetried) {
  for (const int code : {429, 500, 0, 403}) {
    ListFails(code);
    EXPECT_FALSE(reflector_->synced());
    MillisToRetry();
  }
  EXPECT_EQ(reflector_->lists(), 5u);
  Listed("10", {MakeObject("a", 9)});
  EXPECT_TRUE(reflector_->synced());
}

TEST_F(ReflectorTest, AServerThatForgetsAgainAndAgainIsGivenRest) {
  Listed("10", {});
  Closed(410);
  EXPECT_EQ(api_.lists.size(), 2u);
  EXPECT_TRUE(timers_.empty());
  Listed("20", {});
  Closed(410);
  EXPECT_EQ(MillisToRetry(), 800);
  Listed("30", {});
  Closed(410);
  EXPECT_EQ(MillisToRetry(), 1600);
  Listed("40", {});
  Added(MakeObject("a", 41));
  Closed(410);
  EXPECT_TRUE(timers_.empty());
  EXPECT_EQ(api_.lists.size(), 5u);
}

TEST_F(ReflectorTest, AWatchThatIsRefusedLeadsToANewList) {
  Listed("10", {});
  Closed(400);
  MillisToRetry();
  EXPECT_EQ(api_.lists.size(), 2u);
}

TEST_F(ReflectorTest, AnswersThatMakeNoSenseLeadToANewListAndChangeNothing) {
  const ClusterObject node = std::make_shared<const Node>();
  for (const char* version : {"", "abc", "0"}) {
    Listed(version, {MakeObject("a", 9)});
    MillisToRetry();
  }
  Listed("10", {MakeObject("a", 9), node});
  MillisToRetry();
  Listed("10", {MakeObject("", 9)});
  MillisToRetry();
  Listed("10", {Ptr<Pod>()});
  MillisToRetry();
  EXPECT_THAT(diary_.Take(), IsEmpty());
  EXPECT_FALSE(reflector_->synced());

  Listed("10", {MakeObject("a", 9)});
  EXPECT_THAT(diary_.Take(), ElementsAre("add a/u@9"));
  const auto nonsense = [this](std::optional<ClusterObject> object) {
    const size_t lists = api_.lists.size();
    const auto watch = api_.watches.back();
    watch.callbacks.event({WatchEvent::Type::kModified, std::move(object), "11"});
    EXPECT_FALSE(*watch.alive);
    MillisToRetry();
    EXPECT_EQ(api_.lists.size(), lists + 1);
    Listed("10", {MakeObject("a", 9)});
  };
  nonsense(node);
  nonsense(std::nullopt);
  nonsense(Ptr<Pod>());
  EXPECT_THAT(diary_.Take(), IsEmpty());
}

TEST_F(ReflectorTest, EveryFailureIsToldAndRememberedUntilSomethingSucceeds) {
  std::vector<std::string> complaints;
  Remake(Kind::kPod, &complaints);
  const std::string forbidden = "cannot list objects of kind Pod, will try again: 403 pods is forbidden";
  ListFails(403, "pods is forbidden");
  EXPECT_THAT(complaints, ElementsAre(forbidden));
  EXPECT_EQ(reflector_->problem(), forbidden);
  EXPECT_FALSE(reflector_->synced());
  Pass(Duration::Seconds(60));
  Listed("10", {MakeObject("a", 3)});
  EXPECT_EQ(reflector_->problem(), "");
  api_.watches.back().callbacks.closed({500, "etcd is slow"});
  EXPECT_EQ(reflector_->problem(), "cannot watch objects of kind Pod, will try again: 500 etcd is slow");
  EXPECT_EQ(complaints.size(), 2u);
  Pass(Duration::Seconds(60));
  api_.watches.back().callbacks.opened();
  EXPECT_EQ(reflector_->problem(), "");
}

TEST_F(ReflectorTest, AGroupThatTheServerDoesNotHaveHasNoObjectsAndIsAskedForAgain) {
  std::vector<std::string> complaints;
  Remake(Kind::kDeviceClass, &complaints);
  // For a moment that may happen to any.
  const std::string missing = "404 the server could not find the requested resource";
  for (int i = 0; i < 2; ++i) {
    ListFails(404, missing.substr(4));
    EXPECT_FALSE(reflector_->synced());
    EXPECT_EQ(complaints.back(), "cannot list objects of kind DeviceClass, will try again: " + missing);
    Pass(Duration::Seconds(60));
  }
  ListFails(404, missing.substr(4));
  EXPECT_TRUE(reflector_->synced());
  EXPECT_EQ(reflector_->size(), 0u);
  EXPECT_EQ(complaints.back(),
            "cannot list objects of kind DeviceClass, so there are none; will ask again: " + missing);
  // Not said every time, though known.
  EXPECT_FALSE(reflector_->listing()) << "it may never be there";
  Pass(Duration::Seconds(60));
  EXPECT_TRUE(reflector_->listing());
  ListFails(404, missing.substr(4));
  EXPECT_FALSE(reflector_->listing());
  EXPECT_EQ(complaints.size(), 3u);
  EXPECT_NE(reflector_->problem(), "");
  // It is installed later.
  Pass(Duration::Seconds(60));
  auto object = std::make_shared<DeviceClass>();
  object->meta.name = "gpu";
  object->meta.resource_version = "4";
  Listed("10", {Ptr<DeviceClass>(object)});
  EXPECT_EQ(reflector_->size(), 1u);
  EXPECT_EQ(reflector_->problem(), "");
  // What has been there does not go because of a server that is confused.
  api_.watches.back().callbacks.closed({404, "not found"});
  Pass(Duration::Seconds(60));
  ListFails(404, "not found");
  EXPECT_EQ(reflector_->size(), 1u);
}

TEST_F(ReflectorTest, TheCoreGroupIsNeverMissing) {
  ListFails(404, "page not found");
  EXPECT_FALSE(reflector_->synced());
}

TEST_F(ReflectorTest, APlaceThatCannotBeReadAgainAndAgainLeadsToANewList) {
  std::vector<std::string> complaints;
  Remake(Kind::kPod, &complaints);
  const auto unreadable = [&] {
    const auto watch = api_.watches.back();
    ASSERT_TRUE(*watch.alive);
    watch.callbacks.opened();
    watch.callbacks.closed({0, "no event: malformed", ErrorKind::kOther, true});
  };
  Listed("10", {MakeObject("a", 3)});
  Added(MakeObject("b", 11));
  unreadable();
  EXPECT_EQ(api_.lists.size(), 1u);  // once may be the line's fault
  EXPECT_EQ(api_.watches.back().from, "11");
  const std::string failed = "cannot watch objects of kind Pod, will try again: no event: malformed";
  EXPECT_THAT(complaints, ElementsAre(failed));
  unreadable();
  EXPECT_THAT(complaints, ElementsAre(failed,
                                      "watch of Pod: what follows resource version 11 cannot be read: "
                                      "no event: malformed; all objects are listed anew"));
  EXPECT_EQ(api_.lists.size(), 1u);
  EXPECT_EQ(MillisToRetry(), 800);
  ASSERT_EQ(api_.lists.size(), 2u);
  Listed("12", {MakeObject("a", 3), MakeObject("c", 12)});
  EXPECT_THAT(diary_.Take(), ElementsAre("add a/u@3", "add b/u@11", "delete b/u@11", "add c/u@12"));
  EXPECT_EQ(api_.watches.back().from, "12");

  // A server that always says it is asked seldom, and one that goes on is not listed.
  unreadable();
  EXPECT_EQ(MillisToRetry(), 1600);
  unreadable();
  EXPECT_EQ(MillisToRetry(), 3200);
  EXPECT_EQ(api_.lists.size(), 3u);
  Listed("13", {MakeObject("a", 3), MakeObject("c", 12)});
  for (uint64_t version = 14; version < 20; ++version) {
    Added(MakeObject("d", version));
    unreadable();
  }
  EXPECT_EQ(api_.lists.size(), 3u);
}

TEST_F(ReflectorTest, TellsAllInTheOrderOfTheirNames) {
  std::vector<ClusterObject> objects;
  for (const char* name : {"c", "a", "e", "b", "d"}) objects.push_back(MakeObject(name, 3));
  Listed("10", objects);
  std::string names;
  reflector_->ForEach([&](const ClusterObject& object) { names += MetaOf(object).name; });
  EXPECT_EQ(names, "abcde");
}

TEST_F(ReflectorTest, ObjectsWhoseVersionIsNoNumberAreBelieved) {
  Listed("10", {});
  const auto with = [](const char* version) {
    ObjectMeta meta = MetaOf(MakeObject("a", 1));
    meta.resource_version = version;
    return WithMeta(MakeObject("a", 1), meta);
  };
  Event(WatchEvent::Type::kAdded, with("x"));
  Event(WatchEvent::Type::kModified, with("x"));
  Event(WatchEvent::Type::kModified, with("y"));
  Event(WatchEvent::Type::kDeleted, with("y"));
  EXPECT_THAT(diary_.Take(), ElementsAre("add a/u@x", "update a/u@x a/u@y", "delete a/u@y"));
}

TEST_F(ReflectorTest, OnlySoManyDeletionsAreRemembered) {
  Listed("10", {});
  const auto name = [](uint64_t i) { return "p" + std::to_string(i); };
  for (uint64_t i = 0; i < 5000; ++i) Deleted(MakeObject(name(i), 20 + i), 20 + i);
  diary_.Take();
  Added(MakeObject(name(4999), 11));  // remembered
  Added(MakeObject(name(904), 11));
  EXPECT_THAT(diary_.Take(), IsEmpty());
  Added(MakeObject(name(903), 11));  // the 4097th last
  EXPECT_THAT(diary_.Take(), ElementsAre("add p903/u@11"));
}

TEST_F(ReflectorTest, NothingIsToldAfterItsEnd) {
  const auto list = api_.lists.back();
  reflector_ = nullptr;
  ListAnswer answer;
  answer.objects = {MakeObject("a", 9)};
  answer.resource_version = "10";
  list(answer);
  EXPECT_THAT(diary_.Take(), IsEmpty());

  Remake();
  ListFails(500);
  EXPECT_EQ(timers_.size(), 1u);
  reflector_ = nullptr;
  EXPECT_TRUE(timers_.empty());

  Remake();
  Listed("10", {});
  const auto watch = api_.watches.back();
  reflector_ = nullptr;
  EXPECT_FALSE(*watch.alive);
  watch.callbacks.event({WatchEvent::Type::kAdded, MakeObject("a", 11), "11"});
  watch.callbacks.closed({});
  EXPECT_THAT(diary_.Take(), IsEmpty());
}

TEST_F(ReflectorTest, TellsWhenTheServerLastSpoke) {
  EXPECT_FALSE(reflector_->heard());
  ListFails(500);
  EXPECT_FALSE(reflector_->heard());
  MillisToRetry();
  const auto heard = [&] { return reflector_->heard() == clock_.Now(); };
  Listed("10", {MakeObject("a", 1)});
  EXPECT_TRUE(heard());
  Pass(Duration::Seconds(5));
  EXPECT_FALSE(heard());
  Modified(MakeObject("a", 11));
  EXPECT_TRUE(heard());
  Pass(Duration::Seconds(5));
  Event(WatchEvent::Type::kBookmark, MakeObject("", 12));
  EXPECT_TRUE(heard());
}

// Keeps the annotations it is shown.
class Shown final : public ObjectHandler {
 public:
  std::vector<Labels> all;
  void OnAdd(const ClusterObject& after) override { all.push_back(MetaOf(after).annotations); }
  void OnUpdate(const ClusterObject& before, const ClusterObject& after) override {
    all.push_back(MetaOf(before).annotations);
    all.push_back(MetaOf(after).annotations);
  }
  void OnDelete(const ClusterObject& before) override { all.push_back(MetaOf(before).annotations); }
};

TEST_F(ReflectorTest, ShowsOnlyTheAnnotationsThatAreAskedFor) {
  const auto annotated = [](uint64_t version, const Labels& annotations) {
    auto pod = std::make_shared<Pod>(*std::get<Ptr<Pod>>(MakeObject("a", version)));
    pod->meta.annotations = annotations;
    return ClusterObject(Ptr<Pod>(std::move(pod)));
  };
  Shown shown;
  reflector_ = std::make_unique<Reflector>(Kind::kPod, api_, shown, timers_, clock_, [this] { return random_; });
  reflector_->ShowAnnotations({{"x"}, {}});
  reflector_->Start();
  Listed("10", {annotated(1, {{"x", "1"}, {"y", "1"}})});
  Modified(annotated(11, {{"x", "2"}, {"y", "2"}}));
  Deleted(annotated(12, {{"x", "3"}, {"y", "3"}}), 12);
  EXPECT_THAT(shown.all,
              ElementsAre(Labels({{"x", "1"}}), Labels({{"x", "1"}}), Labels({{"x", "2"}}), Labels({{"x", "3"}})));
}

}  // namespace
}  // namespace berth::client
