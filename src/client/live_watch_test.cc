// SPDX-License-Identifier: Apache-2.0
// One watch, fed by hand.
#include "client/live_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/proto_test_util.h"
#include "client/fake_api_server_test_util.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Added(const std::string& name, uint64_t version) {
  return R"({"type":"ADDED","object":)" + PodJson(name, version) + "}\n";
}

struct Fixture {
  explicit Fixture(LiveWatchLimits limits = {}, WatchStart start = WatchStart::kVersion) {
    watch = std::make_shared<LiveWatch>(
        Kind::kPod, start, std::make_shared<const AnnotationKeys>(), inbox, handle->owner.link(),
        WatchCallbacks{.event =
                           [this](const WatchEvent& event) {
                             heard.push_back(event.object ? MetaOf(*event.object).name
                                                          : (event.initial_end ? "=" : "-") + event.resource_version);
                             if (drop_at_event) handle.reset();
                           },
                       .closed =
                           [this](const ApiStatus& status) {
                             heard.push_back("closed " + std::to_string(status.code));
                             why = status.message;
                           },
                       .opened = [this] { ++opened; }},
        limits, [this](std::string sentence) { warnings.push_back(std::move(sentence)); }, [this] { return new_token; },
        [this](const std::string& why_not) { not_protobuf.push_back(why_not); });
  }
  std::vector<std::string> Heard() {
    inbox.Drain();
    return std::exchange(heard, {});
  }

  util::Inbox inbox;
  struct Handle : Watch {
    util::Owner<Watch> owner{this};
  };
  std::unique_ptr<Handle> handle = std::make_unique<Handle>();
  std::vector<std::string> heard, warnings, not_protobuf;
  std::string why;
  bool drop_at_event = false, new_token = false;
  int opened = 0;
  std::shared_ptr<LiveWatch> watch;
};

TEST(LiveWatchTest, EventsComeInOrderThroughTheInbox) {
  Fixture f;
  f.watch->OnHead(200, Encoding::kJson);
  f.watch->OnPiece(Added("a", 1) + Added("b", 2));
  EXPECT_THAT(f.heard, IsEmpty());  // not before somebody drains
  EXPECT_EQ(f.opened, 0);
  EXPECT_THAT(f.Heard(), ElementsAre("a", "b"));
  f.watch->OnPiece("\n\r\n" + Added("c", 3));
  f.watch->OnEnd(Error::Ok());
  EXPECT_THAT(f.Heard(), ElementsAre("c", "closed 200"));
  EXPECT_EQ(f.opened, 1);
  EXPECT_THAT(f.warnings, IsEmpty());
}

TEST(LiveWatchTest, LinesMayBeCutAnywhere) {
  const std::string text = Added("a", 1) + Added("b", 2) + "\n" + Added("ä", 3);
  EXPECT_TRUE(rc::check([&] {
    Fixture f;
    f.watch->OnHead(200, Encoding::kJson);
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t size = *rc::gen::inRange<size_t>(1, 1 + rest.size());
      f.watch->OnPiece(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    RC_ASSERT(f.Heard() == (std::vector<std::string>{"a", "b", "ä"}));
  }));
}

TEST(LiveWatchTest, FramesMayBeCutAnywhere) {
  const auto frame = [](const char* name, uint64_t version) {
    return Framed(WatchMessage("ADDED", InEnvelope("Pod", PodProto(name, version))));
  };
  const std::string text = frame("a", 1) + frame("b", 2) + frame("\n", 3);
  EXPECT_TRUE(rc::check([&] {
    Fixture f;
    f.watch->OnHead(200, Encoding::kProtobuf);
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t size = *rc::gen::inRange<size_t>(1, 1 + std::min<size_t>(rest.size(), 9));
      f.watch->OnPiece(rest.substr(0, size));
      rest.remove_prefix(size);
    }
    RC_ASSERT(f.Heard() == (std::vector<std::string>{"a", "b", "\n"}));
    RC_ASSERT(f.not_protobuf.empty());
  }));
  Fixture f;
  f.watch->OnHead(200, Encoding::kProtobuf);
  f.watch->OnPiece(text);
  EXPECT_THAT(f.Heard(), ElementsAre("a", "b", "\n"));
  f.watch->OnPiece(std::string_view(text).substr(0, 20));
  f.watch->OnEnd(Error("it ends too early"));
  EXPECT_THAT(f.Heard(), ElementsAre("closed 0"));
  EXPECT_THAT(f.not_protobuf, IsEmpty());  // what is cut off is no fault of the form
}

TEST(LiveWatchTest, FramesThatAreNoneEndTheWatch) {
  const struct {
    std::string bytes;
    const char* why;
  } cases[] = {{Added("a", 1), "exceeds 16777216 bytes"},
               {std::string("\0\0\0\0", 4), "no event: "},
               {std::string("\0\0\0\2{}", 6), "no event: malformed protobuf"}};
  for (const auto& c : cases) {
    Fixture f;
    f.watch->OnHead(200, Encoding::kProtobuf);
    f.watch->OnPiece(c.bytes);
    EXPECT_THAT(f.Heard(), ElementsAre("closed 0"));
    EXPECT_THAT(f.why, HasSubstr(c.why));
    EXPECT_THAT(f.not_protobuf, ElementsAre(f.why));
  }
}

TEST(LiveWatchTest, ALineWithoutItsEndIsNoEvent) {
  Fixture f;
  f.watch->OnHead(200, Encoding::kJson);
  const std::string line = Added("a", 1);
  f.watch->OnPiece(std::string_view(line).substr(0, line.size() - 1));
  f.watch->OnEnd(Error("it ends too early"));
  EXPECT_THAT(f.Heard(), ElementsAre("closed 0"));
}

TEST(LiveWatchTest, AnErrorEventEndsTheWatch) {
  Fixture f;
  f.watch->OnHead(200, Encoding::kJson);
  f.watch->OnPiece(Added("a", 1) + R"({"type":"ERROR","object":)" + StatusJson(410, "too old") + "}\n" + Added("b", 2));
  f.watch->OnPiece(Added("c", 3));
  f.watch->OnEnd(Error::Ok());
  EXPECT_THAT(f.Heard(), ElementsAre("a", "closed 410"));
  EXPECT_EQ(f.why, "too old");
  EXPECT_THAT(f.warnings, IsEmpty());
}

TEST(LiveWatchTest, GarbageEndsTheWatch) {
  for (const std::string garbage : {"garbage\n", "{}\n", "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\"}}\n"}) {
    Fixture f;
    f.watch->OnHead(200, Encoding::kJson);
    f.watch->OnPiece(Added("a", 1) + garbage + Added("b", 2));
    EXPECT_THAT(f.Heard(), ElementsAre("a", "closed 0"));
    EXPECT_THAT(f.why, HasSubstr("no event: "));
  }
}

TEST(LiveWatchTest, AnUnreadableObjectIsPassedOverAndItsVersionKept) {
  Fixture f;
  f.watch->OnHead(200, Encoding::kJson);
  f.watch->OnPiece(
      R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"bad","resourceVersion":"7"},"spec":7}})"
      "\n" +
      Added("a", 8));
  EXPECT_THAT(f.Heard(), ElementsAre("-7", "a"));
  EXPECT_THAT(f.warnings, ElementsAre(HasSubstr("watch of Pod: ignored: Pod \"bad\": spec")));
}

TEST(LiveWatchTest, LinesThatDoNotEndAreCut) {
  Fixture f({.max_line_bytes = 1000, .max_unread_bytes = 1 << 20});
  f.watch->OnHead(200, Encoding::kJson);
  for (int i = 0; i < 100; ++i) f.watch->OnPiece(std::string(100, ' '));
  EXPECT_THAT(f.Heard(), ElementsAre("closed 0"));
  EXPECT_THAT(f.why, HasSubstr("exceeds 1000 bytes"));
  Fixture g({.max_line_bytes = 1000, .max_unread_bytes = 1 << 20});
  g.watch->OnHead(200, Encoding::kJson);
  g.watch->OnPiece(Added("a", 1) + std::string(1001, ' ') + "\n");
  EXPECT_THAT(g.Heard(), ElementsAre("a", "closed 0"));
}

TEST(LiveWatchTest, EventsThatNobodyTakesAreBounded) {
  Fixture f({.max_line_bytes = 1 << 20, .max_unread_bytes = 1000});
  f.watch->OnHead(200, Encoding::kJson);
  for (uint64_t i = 0; i < 100; ++i) f.watch->OnPiece(Added("a", i));
  const std::vector<std::string> heard = f.Heard();
  EXPECT_LT(heard.size(), 12u);
  EXPECT_EQ(heard.back(), "closed 0");

  Fixture reading({.max_line_bytes = 1 << 20, .max_unread_bytes = 1000});
  reading.watch->OnHead(200, Encoding::kJson);
  for (uint64_t i = 0; i < 100; ++i) {
    reading.watch->OnPiece(Added("a", i));
    EXPECT_THAT(reading.Heard(), ElementsAre("a"));
  }
}

TEST(LiveWatchTest, ARefusalHasItsCodeAndMessage) {
  Fixture f;
  f.watch->OnHead(403, Encoding::kJson);
  const std::string body = StatusJson(403, "pods is forbidden");
  f.watch->OnPiece(body.substr(0, 10));
  f.watch->OnPiece(body.substr(10));
  f.watch->OnEnd(Error::Ok());
  EXPECT_THAT(f.Heard(), ElementsAre("closed 403"));
  EXPECT_EQ(f.opened, 0);
  EXPECT_EQ(f.why, "pods is forbidden");

  Fixture endless;
  endless.watch->OnHead(500, Encoding::kJson);
  for (int i = 0; i < 1000; ++i) endless.watch->OnPiece(std::string(1000, 'x'));
  endless.watch->OnEnd(Error("cut"));
  EXPECT_THAT(endless.Heard(), ElementsAre("closed 500"));
  EXPECT_LT(endless.why.size(), 1100u);

  Fixture odd;
  odd.watch->OnHead(204, Encoding::kJson);
  odd.watch->OnEnd(Error::Ok());
  EXPECT_THAT(odd.Heard(), ElementsAre("closed 0"));
}

TEST(LiveWatchTest, ARefusedTokenIsNoReasonToListAgainIfThereIsANewOne) {
  Fixture f;
  f.watch->OnHead(401, Encoding::kJson);
  f.watch->OnEnd(Error::Ok());
  EXPECT_THAT(f.Heard(), ElementsAre("closed 401"));
  Fixture g;
  g.new_token = true;
  g.watch->OnHead(401, Encoding::kJson);
  g.watch->OnEnd(Error::Ok());
  EXPECT_THAT(g.Heard(), ElementsAre("closed 0"));
}

TEST(LiveWatchTest, TheInitialEventsOfAStreamedListEndWithABookmarkThatSaysSo) {
  Fixture f({.max_line_bytes = 1 << 20, .max_unread_bytes = 1000}, WatchStart::kEverything);
  f.watch->OnHead(200, Encoding::kJson);
  // However many there are: whoever asked wants all of them.
  for (uint64_t i = 0; i < 100; ++i) f.watch->OnPiece(Added("a", i));
  const auto bookmark = [](const std::string& annotation) {
    return R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7","annotations":{)" +
           annotation + "}}}}\n";
  };
  f.watch->OnPiece(bookmark(""));
  f.watch->OnPiece(bookmark(R"("k8s.io/initial-events-end":"false")"));
  f.watch->OnPiece(bookmark(R"("other":"true")"));
  f.watch->OnPiece(bookmark(R"("k8s.io/initial-events-end":"true")"));
  std::vector<std::string> heard = f.Heard();
  ASSERT_EQ(heard.size(), 104u);
  heard.erase(heard.begin(), heard.begin() + 100);
  EXPECT_THAT(heard, ElementsAre("-7", "-7", "-7", "=7"));
  // From there on it is a watch like any other.
  for (uint64_t i = 0; i < 100; ++i) f.watch->OnPiece(Added("a", i));
  EXPECT_EQ(f.Heard().back(), "closed 0");
}

TEST(LiveWatchTest, InitialEventsWithoutEndEnd) {
  Fixture f({.max_initial_events = 10}, WatchStart::kEverything);
  f.watch->OnHead(200, Encoding::kJson);
  for (uint64_t i = 0; i < 100; ++i) f.watch->OnPiece(Added("a", i));
  const std::vector<std::string> heard = f.Heard();
  EXPECT_EQ(heard.size(), 11u);
  EXPECT_EQ(heard.back(), "closed 0");
  EXPECT_THAT(f.why, HasSubstr("do not end"));
}

TEST(LiveWatchTest, OfManyInitialObjectsThatCannotBeReadAFewAreNamed) {
  Fixture f({}, WatchStart::kEverything);
  f.watch->OnHead(200, Encoding::kJson);
  for (int i = 0; i < 9; ++i) {
    f.watch->OnPiece(
        R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"bad","resourceVersion":"7"},"spec":7}})"
        "\n");
  }
  f.watch->OnPiece(R"({"type":"BOOKMARK","object":)" + InitialEndJson("Pod", 9) + "}\n");
  EXPECT_EQ(f.Heard().back(), "=9");
  ASSERT_EQ(f.warnings.size(), 6u);
  EXPECT_THAT(f.warnings[0], HasSubstr("list of Pod: ignored: Pod \"bad\": spec"));
  EXPECT_EQ(f.warnings[5], "list of Pod: ignored: and 4 more objects of kind Pod in this answer");
}

TEST(LiveWatchTest, AVersionThatTheServerDoesNotHaveYetEndsAStreamedListAsOneThatItHasNoMore) {
  const std::string status = StatusJson(504, "Too large resource version: 19, current: 5");
  for (const WatchStart start : {WatchStart::kVersion, WatchStart::kEverything}) {
    const std::string closed = start == WatchStart::kEverything ? "closed 410" : "closed 504";
    Fixture f({}, start);
    f.watch->OnHead(504, Encoding::kJson);
    f.watch->OnPiece(status);
    f.watch->OnEnd(Error::Ok());
    EXPECT_THAT(f.Heard(), ElementsAre(closed));
    Fixture g({}, start);
    g.watch->OnHead(200, Encoding::kJson);
    g.watch->OnPiece(R"({"type":"ERROR","object":)" + status + "}\n");
    EXPECT_THAT(g.Heard(), ElementsAre(closed));
  }
}

TEST(LiveWatchTest, NobodyIsCalledWhoHasGone) {
  Fixture f;
  f.watch->OnHead(200, Encoding::kJson);
  f.drop_at_event = true;
  f.watch->OnPiece(Added("a", 1) + Added("b", 2));
  f.watch->OnEnd(Error::Ok());
  EXPECT_THAT(f.Heard(), ElementsAre("a"));

  Fixture g;
  g.watch->OnHead(200, Encoding::kJson);
  g.watch->OnPiece(Added("a", 1));
  g.watch->OnEnd(Error::Ok());
  g.handle.reset();
  EXPECT_THAT(g.Heard(), IsEmpty());
}

}  // namespace
}  // namespace berth::client
