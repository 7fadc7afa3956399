// SPDX-License-Identifier: Apache-2.0
// Events on their way to a server.
#include "client/event_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "util/log.h"
#include "util/timer_queue.h"
#include "util/virtual_clock.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr Time kEventsStart{1'700'000'000'000'000'000};

// Keeps the questions; the test answers them.
class EventDoor final : public ClusterApi {
 public:
  struct Call {
    bool patch;
    EventRecord event;
    Answer done;
  };
  std::deque<Call> calls;

  void PostEvent(const EventRecord& event, Answer done) override { calls.push_back({false, event, std::move(done)}); }
  void PatchEvent(const EventRecord& event, Answer done) override { calls.push_back({true, event, std::move(done)}); }

  void List(Kind, std::function<void(ListAnswer)>) override {}
  std::unique_ptr<Watch> StartWatch(Kind, const std::string&, WatchCallbacks) override { return nullptr; }
  void GetPod(const std::string&, const std::string&, std::function<void(const ApiStatus&, Ptr<Pod>)>) override {}
  void Bind(const ObjectName&, const std::string&, Answer) override {}
  void PatchPodStatus(const PodStatusPatch&, Answer) override {}
  void DeletePod(const ObjectName&, Answer) override {}
  void GetLease(const std::string&, const std::string&, std::function<void(const ApiStatus&, const Lease&)>) override {}
  void PutLease(const Lease&, std::function<void(const ApiStatus&, const Lease&)>) override {}
};

class EventWriterTest : public ::testing::Test {
 protected:
  EventWriter& writer() {
    if (!writer_) writer_.emplace(door_, clock_, options_);
    return *writer_;
  }
  EventRecord Failed(const std::string& pod, const std::string& note = "0/1 nodes are available") {
    EventRecord event;
    event.regarding = {"ns", pod, "uid-" + pod};
    event.resource_version = "7";
    event.type = "Warning";
    event.reason = "FailedScheduling";
    event.action = "Scheduling";
    event.note = note;
    event.reporting_controller = "default-scheduler";
    event.time = clock_.Now();
    return event;
  }
  EventRecord Scheduled(const std::string& pod) {
    EventRecord event = Failed(pod, "Successfully assigned");
    event.reason = "Scheduled";
    return event;
  }
  // Lets time pass; what is due happens when it is.
  void Wait(Duration span) {
    const Time end = clock_.Now() + span;
    for (Time next = writer().NextWake(); next <= end; next = writer().NextWake()) {
      clock_.MoveTo(next);
      if (!writer().Tick()) break;  // only the room has changed
    }
    clock_.MoveTo(end);
  }
  // Answers the oldest request.
  void Say(const ApiStatus& status = {}) {
    ASSERT_FALSE(door_.calls.empty());
    const Answer done = std::move(door_.calls.front().done);
    door_.calls.pop_front();
    done(status);
  }
  // "POST p", "PATCH p 2": what is asked of the server and not answered.
  std::vector<std::string> Asked() const {
    std::vector<std::string> lines;
    for (const EventDoor::Call& call : door_.calls) {
      lines.push_back((call.patch ? "PATCH " : "POST ") + call.event.regarding.name);
      if (call.event.series) lines.back() += " " + std::to_string(call.event.series->count);
    }
    return lines;
  }
  std::vector<std::string> Answered() {
    std::vector<std::string> lines = Asked();
    while (!door_.calls.empty()) Say();
    return lines;
  }

  util::VirtualClock clock_{kEventsStart};
  std::ostringstream text_;
  util::Log log_{text_, {.verbosity = 5}, clock_};
  EventDoor door_;
  EventWriterOptions options_ = [this] {
    EventWriterOptions options;
    options.log = Logger(log_, clock_);
    return options;
  }();
  std::optional<EventWriter> writer_;
};

TEST_F(EventWriterTest, RepeatsAreCountedAndTheCountIsWrittenAtTheTicks) {
  (void)writer();
  Wait(Duration::Seconds(100));
  writer().Record(Failed("p", "first"));
  const std::string name = door_.calls.at(0).event.name;
  EXPECT_EQ(name, "p.17979d157ea0e800");
  EXPECT_THAT(Answered(), ElementsAre("POST p"));
  Wait(Duration::Seconds(4));
  writer().Record(Failed("p", "second"));
  ASSERT_THAT(Asked(), ElementsAre("PATCH p 2"));
  EXPECT_EQ(door_.calls[0].event.name, name);
  EXPECT_EQ(door_.calls[0].event.series->last, clock_.Now());
  EXPECT_EQ(door_.calls[0].event.note, "first");
  Say();
  for (int i = 0; i < 2; ++i) {
    Wait(Duration::Seconds(23));
    writer().Record(Failed("p", "later"));
  }
  const Time last = clock_.Now();  // 150 s after the start
  EXPECT_THAT(Asked(), IsEmpty());
  Wait(Duration::Seconds(569));  // the tick at 6 minutes comes too early for it
  EXPECT_THAT(Asked(), IsEmpty());
  Wait(Duration::Seconds(1));  // the one at 12 does not
  ASSERT_THAT(Asked(), ElementsAre("PATCH p 4"));
  EXPECT_EQ(door_.calls[0].event.series->last, last);
  Say();
  EXPECT_EQ(writer().NextWake(), util::TimerQueue::kNever);
  writer().Record(Failed("p"));
  EXPECT_THAT(Answered(), ElementsAre("POST p"));
  EXPECT_EQ(writer().counts().written, 4u);
  EXPECT_EQ(writer().counts().lost(), 0u);
  EXPECT_EQ(writer().unwritten(), 0u);
}

TEST_F(EventWriterTest, ASingleEventIsForgottenAfterSixMinutesWithoutAWord) {
  writer().Record(Failed("p"));
  EXPECT_THAT(Answered(), ElementsAre("POST p"));
  Wait(Duration::Seconds(13 * 60));
  EXPECT_THAT(Asked(), IsEmpty());
  writer().Record(Failed("p"));
  EXPECT_THAT(Answered(), ElementsAre("POST p"));
}

TEST_F(EventWriterTest, ALiveSeriesIsWrittenEveryHalfHour) {
  (void)writer();
  Wait(Duration::Seconds(30));
  std::vector<std::string> asked;
  for (int minute = 0; minute < 61; ++minute) {
    writer().Record(Failed("p"));
    for (const std::string& line : Answered()) asked.push_back(std::to_string(minute) + " " + line);
    Wait(Duration::Seconds(60));
    for (const std::string& line : Answered()) asked.push_back(std::to_string(minute) + " " + line);
  }
  EXPECT_THAT(asked, ElementsAre("0 POST p", "1 PATCH p 2", "29 PATCH p 30", "59 PATCH p 60"));
}

TEST_F(EventWriterTest, WhatDiffersInMoreThanNoteAndTimeIsAnotherEvent) {
  writer().Record(Failed("p"));
  EXPECT_THAT(Answered(), ElementsAre("POST p"));
  for (const auto& change : std::vector<std::function<void(EventRecord&)>>{
           [](EventRecord& e) { e.resource_version = "8"; }, [](EventRecord& e) { e.regarding.uid = "other"; },
           [](EventRecord& e) { e.regarding.namespace_ = "other"; }, [](EventRecord& e) { e.regarding.name = "q"; },
           [](EventRecord& e) { e.type = "Normal"; }, [](EventRecord& e) { e.reason = "Preempted"; },
           [](EventRecord& e) { e.action = "Preempting"; }, [](EventRecord& e) { e.kind = "Lease"; },
           [](EventRecord& e) { e.reporting_controller = "other"; }}) {
    EventRecord event = Failed("p");
    change(event);
    writer().Record(event);
    EXPECT_FALSE(door_.calls.at(0).patch);
    Say();
  }
}

TEST_F(EventWriterTest, ARepeatBeforeTheFirstIsWrittenGoesAfterIt) {
  writer().Record(Failed("p"));
  writer().Record(Failed("p"));
  EXPECT_THAT(Asked(), ElementsAre("POST p"));
  writer().Record(Failed("p"));
  Say();
  EXPECT_THAT(Answered(), ElementsAre("PATCH p 3"));
  EXPECT_EQ(writer().unwritten(), 0u);
}

TEST_F(EventWriterTest, ARepeatOfOneThatHasNotBeenSentGoesWithIt) {
  options_.max_under_way = 1;
  writer().Record(Failed("a"));
  writer().Record(Failed("p"));
  writer().Record(Failed("p"));
  EXPECT_THAT(Asked(), ElementsAre("POST a"));
  Say();
  EXPECT_THAT(Answered(), ElementsAre("POST p 2"));
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(EventWriterTest, ASeriesWhoseEventIsGoneIsPostedAnew) {
  writer().Record(Failed("p", "first"));
  Say();
  writer().Record(Failed("p", "second"));
  EXPECT_THAT(Asked(), ElementsAre("PATCH p 2"));
  Say({404, "not found"});
  ASSERT_THAT(Asked(), ElementsAre("POST p 2"));
  EXPECT_EQ(door_.calls[0].event.note, "first");
  // Somebody was faster: then it can be patched.
  Say({409, "exists"});
  EXPECT_THAT(Asked(), IsEmpty());
  Wait(Duration::Seconds(10));
  EXPECT_THAT(Answered(), ElementsAre("PATCH p 2"));
  EXPECT_EQ(writer().counts().lost(), 0u);
}

TEST_F(EventWriterTest, ANameThatIsTakenCostsTheEventButNotAfterALostAnswer) {
  writer().Record(Failed("p"));
  Say({409, "exists"});
  EXPECT_EQ(writer().counts().rejected, 1u);
  EXPECT_THAT(text_.str(), HasSubstr(R"x("Server rejected event (will not retry!)" event="ns/p.)x"));
  writer().Record(Failed("q"));
  Say({0, "connection reset"});
  Wait(Duration::Seconds(10));
  Say({409, "exists"});
  EXPECT_EQ(writer().counts().rejected, 1u);
  EXPECT_EQ(writer().counts().written, 1u);
  EXPECT_EQ(writer().unwritten(), 0u);
}

TEST_F(EventWriterTest, WithoutAnAnswerItIsTriedTwelveTimes) {
  options_.random = [] { return UINT64_MAX; };
  writer().Record(Failed("p"));
  for (int i = 1; i < 12; ++i) {
    Say({0, "connection refused"});
    EXPECT_THAT(Asked(), IsEmpty());
    EXPECT_EQ(writer().unwritten(), 1u);
    Wait(Duration::Millis(12'499));
    EXPECT_THAT(Asked(), IsEmpty());
    Wait(Duration::Millis(2));
    ASSERT_THAT(Asked(), ElementsAre("POST p")) << i;
  }
  EXPECT_THAT(text_.str(), Not(HasSubstr("retry limit exceeded")));
  Say({0, "connection refused"});
  EXPECT_THAT(text_.str(),
              HasSubstr(R"x("Unable to write event (may retry after sleeping)" err="connection refused")x"));
  EXPECT_THAT(text_.str(), HasSubstr(R"x("Unable to write event (retry limit exceeded!)")x"));
  EXPECT_EQ(writer().counts().given_up, 1u);
  EXPECT_EQ(writer().unwritten(), 0u);
  Wait(Duration::Seconds(60));
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(EventWriterTest, WhateverTheServerAnswersIsFinal) {
  for (const int code : {400, 403, 404, 422, 429, 500, 503}) {
    const std::string pod = "p" + std::to_string(code);
    writer().Record(Failed(pod));
    Say({code, "no: " + pod});
    EXPECT_THAT(text_.str(), HasSubstr("\"Server rejected event (will not retry!)\" err=\"no: " + pod + "\""));
    EXPECT_THAT(Asked(), IsEmpty());
  }
  EXPECT_EQ(writer().counts().rejected, 7u);
  EXPECT_EQ(writer().unwritten(), 0u);
  Wait(Duration::Seconds(60));
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(EventWriterTest, NoMoreThanTheBoundWaitAndFewAreUnderWay) {
  options_.max_waiting = 10;
  options_.max_under_way = 3;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(writer().has_room());
    writer().Record(Scheduled("p" + std::to_string(i)));
  }
  EXPECT_FALSE(writer().has_room());
  EXPECT_THAT(Asked(), ElementsAre("POST p0", "POST p1", "POST p2"));
  EXPECT_EQ(writer().unwritten(), 10u);
  Say();
  EXPECT_TRUE(writer().has_room());
  EXPECT_THAT(Asked(), ElementsAre("POST p1", "POST p2", "POST p3"));
  // What was decided before is taken all the same, up to twice as many.
  for (int i = 10; i < 40; ++i) writer().Record(Scheduled("p" + std::to_string(i)));
  EXPECT_EQ(writer().unwritten(), 20u);
  EXPECT_EQ(writer().counts().dropped, 19u);
  EXPECT_THAT(text_.str(), HasSubstr("\"Event was dropped: too many wait for the API server\" event=\"ns/p4."));
  while (!door_.calls.empty()) Say();
  EXPECT_EQ(writer().counts().written + writer().counts().dropped, 40u);
}

TEST_F(EventWriterTest, AServerThatTakesNoneCostsTheOldest) {
  options_.max_waiting = 4;
  options_.max_under_way = 2;
  writer().Record(Scheduled("p0"));
  Wait(Duration::Seconds(20));
  Say();  // it takes them
  for (int i = 1; i <= 4; ++i) writer().Record(Scheduled("p" + std::to_string(i)));
  EXPECT_FALSE(writer().has_room());
  EXPECT_EQ(writer().NextWake(), clock_.Now() + Duration::Seconds(30));
  Wait(Duration{Duration::Seconds(30).ns - 1});
  EXPECT_FALSE(writer().has_room());
  Wait(Duration{1});
  EXPECT_TRUE(writer().has_room());
  EXPECT_EQ(writer().NextWake(), util::TimerQueue::kNever);
  writer().Record(Scheduled("p5"));
  writer().Record(Scheduled("p6"));
  EXPECT_EQ(writer().counts().dropped, 2u);  // p3 and p4; p1 and p2 are with the server
  EXPECT_EQ(writer().unwritten(), 4u);
  // It takes one: there is no room again, until it has taken more.
  Say();
  EXPECT_TRUE(writer().has_room());
  writer().Record(Scheduled("p7"));
  EXPECT_FALSE(writer().has_room());
  EXPECT_EQ(writer().counts().dropped, 2u);
  EXPECT_THAT(Asked(), ElementsAre("POST p2", "POST p5"));
}

TEST_F(EventWriterTest, ThoseThatWereTriedGoFirstWhenTheServerIsAway) {
  options_.max_waiting = 3;
  options_.max_under_way = 1;
  for (int i = 0; i < 3; ++i) writer().Record(Scheduled("p" + std::to_string(i)));
  for (int i = 0; i < 3; ++i) Say({0, "refused"});
  EXPECT_FALSE(writer().has_room());
  for (int i = 0; i < 3; ++i) {
    Wait(Duration::Seconds(10));
    while (!door_.calls.empty()) Say({0, "refused"});
  }
  EXPECT_TRUE(writer().has_room());
  writer().Record(Scheduled("p3"));
  EXPECT_EQ(writer().counts().dropped, 1u);
  EXPECT_EQ(writer().unwritten(), 3u);
}

TEST_F(EventWriterTest, CountsThatATickWritesTakeNoRoom) {
  options_.max_waiting = 10;
  options_.max_under_way = 2;
  for (int i = 0; i < 100; ++i) {
    for (int n = 0; n < 2; ++n) writer().Record(Failed("p" + std::to_string(i)));
    while (!door_.calls.empty()) Say();
  }
  Wait(Duration::Seconds(12 * 60));
  EXPECT_THAT(Asked(), ::testing::SizeIs(2));
  EXPECT_TRUE(writer().has_room());
  // An event goes before them.
  writer().Record(Scheduled("now"));
  Say();
  EXPECT_THAT(Asked(), ElementsAre(HasSubstr("PATCH"), "POST now"));
  size_t patches = 0;
  for (; !door_.calls.empty(); Say()) patches += door_.calls.front().patch;
  EXPECT_EQ(patches, 99u);
}

TEST_F(EventWriterTest, ScheduledIsNotRememberedNorIsMoreThanTheLimit) {
  writer().Record(Scheduled("p"));
  writer().Record(Scheduled("p"));
  EXPECT_THAT(Answered(), ElementsAre("POST p", "POST p"));
  EXPECT_EQ(writer().NextWake(), util::TimerQueue::kNever);
  writer_.reset();
  options_.max_remembered = 1;
  for (const char* pod : {"p", "q", "p", "q"}) {
    writer().Record(Failed(pod));
    clock_.MoveTo(clock_.Now() + Duration::Seconds(1));
  }
  EXPECT_THAT(Asked(), ElementsAre("POST p", "POST q", "POST q"));
}

TEST_F(EventWriterTest, OneThatIsGoneHearsNothing) {
  writer().Record(Failed("p"));
  writer_.reset();
  Say({404, ""});
  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(EventWriterTest, EventsThatWaitGoWithWhatIsSentAnyway) {
  options_.gather = Duration::Millis(50);
  writer().SendNow();
  EXPECT_THAT(Asked(), IsEmpty());
  writer().Record(Scheduled("a"));
  EXPECT_THAT(Asked(), IsEmpty());
  writer().SendNow();
  EXPECT_THAT(Asked(), ElementsAre("POST a"));
  // The next one waits again.
  writer().Record(Scheduled("b"));
  EXPECT_THAT(Asked(), ElementsAre("POST a"));
  Wait(Duration::Millis(50));
  EXPECT_THAT(Asked(), ElementsAre("POST a", "POST b"));
}

TEST_F(EventWriterTest, EventsWaitForEachOtherForAWhile) {
  options_.gather = Duration::Millis(50);
  options_.gather_most = 3;
  writer().Record(Scheduled("a"));
  Wait(Duration::Millis(30));
  writer().Record(Failed("b"));
  EXPECT_THAT(Asked(), IsEmpty());
  EXPECT_EQ(writer().unwritten(), 2u);
  Wait(Duration::Millis(19));
  EXPECT_THAT(Asked(), IsEmpty());
  Wait(Duration::Millis(1));
  EXPECT_THAT(Asked(), ElementsAre("POST a", "POST b"));
  // An answer does not send the next one early.
  writer().Record(Scheduled("c"));
  Say();
  EXPECT_THAT(Asked(), ElementsAre("POST b"));
  // As many as gather_most do not wait any longer.
  writer().Record(Scheduled("d"));
  writer().Record(Failed("b", "again"));
  EXPECT_THAT(Asked(), ElementsAre("POST b"));
  writer().Record(Scheduled("e"));
  EXPECT_THAT(Asked(), ElementsAre("POST b", "POST c", "POST d", "POST e"));
  Say();  // b was repeated meanwhile
  EXPECT_THAT(Answered(), ElementsAre("POST c", "POST d", "POST e", "PATCH b 2"));
  EXPECT_EQ(writer().unwritten(), 0u);
  // Nothing is left that would wake anybody soon.
  EXPECT_GE(writer().NextWake(), clock_.Now() + Duration::Seconds(60));
}

}  // namespace
}  // namespace berth::client
