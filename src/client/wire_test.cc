// SPDX-License-Identifier: Apache-2.0
// Reading what servers say, honest ones and others.
#include "client/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/source_text.h"
#include "client/fake_api_server_test_util.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<ListPage> Page(std::string body, Kind kind = Kind::kPod) { return ReadListPage(body, Encoding::kJson, kind); }
Result<WatchLine> Line(std::string line, Kind kind = Kind::kPod) { return ReadWatchLine(line, kind); }
std::string Event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}";
}

TEST(WireTest, APageHasItsObjectsItsVersionAndTheWayOn) {
  const Result<ListPage> page = Page(ListJson("PodList", "17", {PodJson("a", 3), PodJson("b", 4)}, "token=="));
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->resource_version, "17");
  EXPECT_EQ(page->next, "token==");
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(MetaOf(page->objects[1]).name, "b");
  EXPECT_EQ(MetaOf(page->objects[1]).resource_version, "4");
  EXPECT_THAT(page->warnings, ElementsAre());
}

TEST(WireTest, TheOrderOfMembersDoesNotMatter) {
  const Result<ListPage> page = Page(
      R"({"items":[{"metadata":{"name":"n1"}}],"extra":[{}],"metadata":{"resourceVersion":"5"},"kind":"NodeList"})",
      Kind::kNode);
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->resource_version, "5");
  EXPECT_EQ(page->objects.size(), 1u);
  const Result<WatchLine> line = Line(R"({"object":)" + PodJson("a", 7) + R"(,"type":"ADDED"})");
  ASSERT_TRUE(line.ok()) << line.error().text();
  ASSERT_TRUE(line->event && line->event->object);
  EXPECT_EQ(line->event->resource_version, "7");
}

TEST(WireTest, EveryKindIsRead) {
  for (size_t i = 0; i < kKindCount; ++i) {
    const Kind kind = static_cast<Kind>(i);
    const std::string name(ToString(kind));
    const Result<ListPage> page =
        Page(ListJson(name + "List", "2", {R"({"metadata":{"name":"x","resourceVersion":"1"}})"}), kind);
    ASSERT_TRUE(page.ok()) << name << ": " << page.error().text();
    ASSERT_EQ(page->objects.size(), 1u) << name;
    EXPECT_EQ(KindOf(page->objects[0]), kind);
    const Result<WatchLine> line =
        Line(Event("MODIFIED", R"({"kind":")" + name + R"(","metadata":{"name":"x","resourceVersion":"3"}})"), kind);
    ASSERT_TRUE(line.ok()) << name << ": " << line.error().text();
    ASSERT_TRUE(line->event && line->event->object) << name << ": " << line->warning;
    EXPECT_EQ(KindOf(*line->event->object), kind);
  }
}

TEST(WireTest, ObjectsThatCannotBeReadArePassedOverByName) {
  const std::string bad =
      R"({"metadata":{"name":"bad","namespace":"ns"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"x"}}}]}})";
  const Result<ListPage> page = Page(ListJson("PodList", "17", {PodJson("a", 3), bad, "17", "{}", PodJson("b", 4)}));
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->objects.size(), 2u);
  EXPECT_THAT(page->warnings,
              ElementsAre(HasSubstr("Pod \"ns/bad\": spec.containers[0].resources.requests[cpu]: Invalid value: \"x\""),
                          HasSubstr("must be an object, not a number"), HasSubstr("metadata.name: Required value")));
}

TEST(WireTest, WarningsOfAPageAreFew) {
  const Result<ListPage> page = Page(ListJson("PodList", "17", std::vector<std::string>(1000, "7")));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->warnings.size(), 6u);
  EXPECT_EQ(page->warnings[5], "and 995 more objects of kind Pod in this answer");
}

TEST(WireTest, WhatIsNoListIsAnError) {
  EXPECT_THAT(Page("").error().text(), HasSubstr("malformed JSON"));
  EXPECT_THAT(Page("<html>").error().text(), HasSubstr("malformed JSON"));
  EXPECT_THAT(Page("[]").error().text(), HasSubstr("must be a JSON object"));
  EXPECT_THAT(Page("{}").error().text(), HasSubstr("kind: Invalid value: \"\": must be PodList"));
  EXPECT_THAT(Page(ListJson("NodeList", "1", {})).error().text(), HasSubstr("must be PodList"));
  EXPECT_THAT(Page(R"({"kind":"PodList","items":{"a":1}})").error().text(), HasSubstr("items"));
  EXPECT_THAT(Page(R"({"kind":"PodList","items":[{"metadata":{"name":"a")").error().text(), HasSubstr("malformed"));
}

TEST(WireTest, EventsOfAWatch) {
  Result<WatchLine> line = Line(Event("DELETED", PodJson("a", 9)));
  ASSERT_TRUE(line.ok()) << line.error().text();
  ASSERT_TRUE(line->event);
  EXPECT_EQ(line->event->type, WatchEvent::Type::kDeleted);
  EXPECT_EQ(MetaOf(line->event->object.value()).name, "a");

  line = Line(Event("BOOKMARK", R"({"kind":"Pod","metadata":{"resourceVersion":"12","creationTimestamp":null}})"));
  ASSERT_TRUE(line.ok()) << line.error().text();
  EXPECT_EQ(line->event->type, WatchEvent::Type::kBookmark);
  EXPECT_EQ(line->event->resource_version, "12");
  EXPECT_FALSE(line->event->object);

  line = Line(Event("ERROR", StatusJson(410, "too old resource version: 1 (2)", "Expired")));
  ASSERT_TRUE(line.ok()) << line.error().text();
  EXPECT_FALSE(line->event);
  EXPECT_TRUE(line->failure.gone());
  EXPECT_EQ(line->failure.message, "too old resource version: 1 (2)");
  line = Line(Event("ERROR", "{}"));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->failure.code, 500);
}

TEST(WireTest, AnEventWithAnUnreadableObjectIsABookmarkOrADeletion) {
  const std::string bad =
      R"({"kind":"Pod","metadata":{"name":"bad","namespace":"ns","resourceVersion":"8"},"spec":{"priority":"high"}})";
  Result<WatchLine> line = Line(Event("MODIFIED", bad));
  ASSERT_TRUE(line.ok()) << line.error().text();
  EXPECT_EQ(line->event->type, WatchEvent::Type::kBookmark);
  EXPECT_EQ(line->event->resource_version, "8");
  EXPECT_THAT(line->warning, HasSubstr("Pod \"ns/bad\": spec.priority"));
  line = Line(Event("DELETED", bad));
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->event->type, WatchEvent::Type::kDeleted);
  EXPECT_EQ(MetaOf(line->event->object.value()).name, "bad");
}

TEST(WireTest, WhatIsNoEventIsAnError) {
  EXPECT_FALSE(Line("garbage").ok());
  EXPECT_FALSE(Line("{}").ok());
  EXPECT_FALSE(Line(R"({"type":"ADDED"})").ok());
  EXPECT_FALSE(Line(R"({"type":"ADDED","object":7})").ok());
  EXPECT_FALSE(Line(R"({"type":7,"object":{}})").ok());
  EXPECT_THAT(Line(Event("CHANGED", "{}")).error().text(), HasSubstr("type: Invalid value: \"CHANGED\""));
  EXPECT_THAT(Line(Event("ADDED", R"({"kind":"Node","metadata":{"name":"a"}})")).error().text(),
              HasSubstr("object.kind: Invalid value: \"Node\": must be Pod"));
}

TEST(WireTest, ARefusalSaysWhatTheServerSays) {
  const auto refusal = [](std::string body) { return ReadRefusal(body, Encoding::kJson); };
  EXPECT_EQ(refusal(StatusJson(403, "pods is forbidden")).message, "pods is forbidden");
  EXPECT_EQ(refusal("Unauthorized\n").message, "Unauthorized ");
  EXPECT_EQ(refusal("").message, "");
  EXPECT_LT(refusal(std::string(5000, 'x')).message.size(), 1100u);
  EXPECT_FALSE(refusal(StatusJson(504, "Timeout")).version_too_large);
  EXPECT_TRUE(refusal(StatusJson(504, "Too large resource version: 9, current: 3")).version_too_large);
  EXPECT_TRUE(refusal(R"({"kind":"Status","message":"Timeout","code":504,
      "details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"x"}],"retryAfterSeconds":1}})")
                  .version_too_large);
  const std::string uid = R"({"kind":"Status","message":"Invalid","code":422,
      "details":{"causes":[{"reason":"FieldValueInvalid","message":"x","field":"metadata.uid"}]}})";
  EXPECT_TRUE(refusal(uid).invalid_uid);
  EXPECT_FALSE(refusal(StatusJson(422, "metadata.uid: Invalid value")).invalid_uid);
}

TEST(WireTest, APodAloneIsReadAndAWrongOneRefused) {
  std::string body = PodJson("a", 3);
  const Result<Ptr<Pod>> pod = ReadPod(body, Encoding::kJson);
  ASSERT_TRUE(pod.ok()) << pod.error().text();
  EXPECT_EQ((*pod)->name(), "a");
  for (std::string wrong :
       {std::string("{}"), std::string(R"({"kind":"Node","metadata":{"name":"a"}})"), std::string("7")})
    EXPECT_FALSE(ReadPod(wrong, Encoding::kJson).ok()) << wrong;
}

// Whatever comes, it is read or refused.
TEST(WireTest, DamagedTextNeverHurts) {
  const std::string page = ListJson("PodList", "17", {PodJson("a", 3), PodJson("b", 4)}, "t");
  const std::string line = Event("ADDED", PodJson("a", 9));
  EXPECT_TRUE(rc::check([&] {
    for (const std::string& whole : {page, line}) {
      std::string text = whole;
      const int changes = *rc::gen::inRange(1, 6);
      for (int i = 0; i < changes && !text.empty(); ++i) {
        const size_t at = *rc::gen::inRange<size_t>(0, text.size());
        switch (*rc::gen::inRange(0, 3)) {
          case 0:
            text[at] = *rc::gen::element('{', '}', '[', ']', '"', ',', ':', '\\', '0', 'n', '\0', '\xff');
            break;
          case 1:
            text.erase(at, *rc::gen::inRange<size_t>(1, 20));
            break;
          default:
            text.insert(at, text.substr(text.size() / 2, 10));
        }
      }
      std::string copy = text;
      (void)ReadListPage(copy, Encoding::kJson, Kind::kPod);
      copy = text;
      (void)ReadWatchLine(copy, Kind::kPod);
      copy = text;
      (void)ReadRefusal(copy, Encoding::kJson);
      copy = text;
      (void)ReadLease(copy, Encoding::kJson);
    }
  }));
}

TEST(WireTest, TheAnnotationsThatAreAskedForAreKept) {
  const AnnotationKeys keep{{"a"}, {"b"}};
  const std::string object =
      R"({"kind":"Node","metadata":{"name":"x","resourceVersion":"3","annotations":{"a":"1","b":"2"}}})";
  std::string list = ListJson("NodeList", "2", {object}), line = Event("MODIFIED", object);
  const Result<ListPage> page = ReadListPage(list, Encoding::kJson, Kind::kNode, keep);
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(MetaOf(page->objects.front()).annotations, Labels({{"b", "2"}}));
  const Result<WatchLine> read = ReadWatchLine(line, Kind::kNode, keep);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_EQ(MetaOf(*read->event->object).annotations, Labels({{"b", "2"}}));
  EXPECT_TRUE(MetaOf(Page(ListJson("NodeList", "2", {object}), Kind::kNode)->objects.front()).annotations.empty());
}

TEST(WireTest, TheJsonOfAnObjectIsKeptWhereItIsWanted) {
  const std::string pod =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"a","managedFields":[{}]},)"
      R"("spec":{"x":1})";
  const std::string kept = R"({"metadata":{"name":"p","namespace":"a"},"spec":{"x":1}})";
  const SourceKinds pending{.pending_pods = true}, placed{.placed_pods = true}, nodes{.nodes = true};
  const auto listed = [&](const SourceKinds& sources, const std::string& item) {
    std::string body = R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)" + item + "]}";
    const Result<ListPage> page = ReadListPage(body, Encoding::kJson, Kind::kPod, {}, sources);
    EXPECT_TRUE(page.ok());
    const std::string* source = SourceOf(std::get<Ptr<Pod>>(page->objects.at(0)));
    return source ? *source : "none";
  };
  const auto watched = [&](const SourceKinds& sources, const std::string& object) {
    std::string text = R"({"type":"ADDED","object":)" + object + "}";
    const Result<WatchLine> line = ReadWatchLine(text, Kind::kPod, {}, sources);
    EXPECT_TRUE(line.ok());
    const std::string* source = SourceOf(std::get<Ptr<Pod>>(*line->event->object));
    return source ? *source : "none";
  };
  EXPECT_EQ(listed(pending, pod + "}"), kept);
  EXPECT_EQ(watched(pending, pod + "}"), kept);
  EXPECT_EQ(listed({}, pod + "}"), "none");
  EXPECT_EQ(watched(nodes, pod + "}"), "none");
  std::string on_node = pod + "}";
  on_node.replace(on_node.find("\"x\":1"), 5, "\"nodeName\":\"n\"");
  EXPECT_EQ(listed(pending, on_node), "none");
  EXPECT_EQ(watched(placed, on_node), R"({"metadata":{"name":"p","namespace":"a"},"spec":{"nodeName":"n"}})");
  std::string text = R"({"type":"MODIFIED","object":{"kind":"Node","metadata":{"name":"n","managedFields":[1]}}})";
  const Result<WatchLine> line = ReadWatchLine(text, Kind::kNode, {}, nodes);
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(*SourceOf(std::get<Ptr<Node>>(*line->event->object)), R"({"metadata":{"name":"n","managedFields":[1]}})");
}

}  // namespace
}  // namespace berth::client
