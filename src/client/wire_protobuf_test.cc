// SPDX-License-Identifier: Apache-2.0
// What servers say in protobuf.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "api/proto_test_util.h"
#include "client/request_body.h"
#include "client/wire.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string PodsProto(std::string_view version, const std::vector<ProtoBytes>& pods, std::string_view next = "") {
  ProtoBytes list;
  list.Message(1, ProtoBytes().Text(1, "").Text(2, version).Text(3, next));
  for (const ProtoBytes& pod : pods) list.Message(2, pod);
  return InEnvelope("PodList", list);
}
ProtoBytes StatusProto(std::string_view status, std::string_view message, int code) {
  return ProtoBytes().Message(1, ProtoBytes()).Text(2, status).Text(3, message).Text(4, "").Number(6, code);
}
Result<ListPage> PodPage(std::string body) { return ReadListPage(body, Encoding::kProtobuf, Kind::kPod); }
Result<WatchLine> PodFrame(std::string_view type, const std::string& object) {
  return ReadWatchFrame(WatchMessage(type, object).bytes(), Kind::kPod);
}

TEST(WireProtobufTest, APageHasItsObjectsItsVersionAndTheWayOn) {
  const Result<ListPage> page = PodPage(PodsProto("17", {PodProto("a", 3), PodProto("b", 4)}, "token=="));
  ASSERT_TRUE(page.ok()) << page.error().text();
  EXPECT_EQ(page->resource_version, "17");
  EXPECT_EQ(page->next, "token==");
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(MetaOf(page->objects[1]).name, "b");
  EXPECT_EQ(MetaOf(page->objects[1]).resource_version, "4");
  EXPECT_THAT(page->warnings, ElementsAre());
}

TEST(WireProtobufTest, AnObjectThatIsWrongIsIgnoredAndThoseBehindItAreNot) {
  ProtoBytes wrong_type, cut, nameless;
  wrong_type.Message(1, ProtoBytes().Text(1, "wrong").Text(3, "ns")).Number(2, 7);
  cut.Message(1, ProtoBytes().Text(1, "cut").Text(3, "ns")).Raw("\x12\x7f");
  nameless.Message(1, ProtoBytes().Text(3, "ns"));
  const Result<ListPage> page = PodPage(PodsProto("17", {wrong_type, cut, nameless, PodProto("b", 4)}));
  ASSERT_TRUE(page.ok()) << page.error().text();
  ASSERT_EQ(page->objects.size(), 1u);
  EXPECT_EQ(MetaOf(page->objects[0]).name, "b");
  EXPECT_THAT(page->warnings,
              ElementsAre(HasSubstr("Pod \"ns/wrong\": spec: Invalid value: must be a message"),
                          HasSubstr("Pod \"ns/cut\": malformed protobuf"), HasSubstr("metadata.name: Required value")));
}

TEST(WireProtobufTest, WhatIsNoListIsRefused) {
  EXPECT_THAT(PodPage("").error().text(), HasSubstr("malformed protobuf: it does not begin with k8s"));
  EXPECT_THAT(PodPage("{}").error().text(), HasSubstr("malformed protobuf: it does not begin with k8s"));
  EXPECT_THAT(PodPage(InEnvelope("Pod", PodProto("a", 1))).error().text(),
              HasSubstr("kind: Invalid value: \"Pod\": must be PodList"));
  EXPECT_THAT(PodPage(InEnvelope("NodeList", ProtoBytes())).error().text(), HasSubstr("must be PodList"));
  std::string whole = PodsProto("17", {PodProto("a", 3)});
  whole.pop_back();
  EXPECT_THAT(PodPage(whole).error().text(), HasSubstr("malformed protobuf"));
  EXPECT_FALSE(PodPage(InEnvelope("PodList", ProtoBytes().Number(1, 5))).ok());
}

TEST(WireProtobufTest, AKindWithoutADecoderIsSaidToBeJsonOnly) {
  ProtoBytes list;
  list.Message(1, ProtoBytes().Text(2, "1")).Message(2, ProtoBytes().Message(1, ProtoBytes().Text(1, "s")));
  std::string body = InEnvelope("ServiceList", list);
  const Result<ListPage> page = ReadListPage(body, Encoding::kProtobuf, Kind::kService);
  EXPECT_TRUE(!page.ok() || page->objects.empty());
}

TEST(WireProtobufTest, EventsOfAWatchAreRead) {
  const Result<WatchLine> added = PodFrame("ADDED", InEnvelope("Pod", PodProto("a", 7)));
  ASSERT_TRUE(added.ok()) << added.error().text();
  ASSERT_TRUE(added->event && added->event->object) << added->warning;
  EXPECT_EQ(added->event->type, WatchEvent::Type::kAdded);
  EXPECT_EQ(added->event->resource_version, "7");
  EXPECT_EQ(MetaOf(*added->event->object).name, "a");
  EXPECT_EQ(PodFrame("DELETED", InEnvelope("Pod", PodProto("a", 8)))->event->type, WatchEvent::Type::kDeleted);

  const ProtoBytes mark =
      ProtoBytes().Message(1, ProtoBytes().Text(6, "9").Entry(12, "k8s.io/initial-events-end", "true"));
  const Result<WatchLine> bookmark = PodFrame("BOOKMARK", InEnvelope("Pod", mark));
  ASSERT_TRUE(bookmark.ok()) << bookmark.error().text();
  EXPECT_TRUE(bookmark->event->initial_end);
  EXPECT_EQ(bookmark->event->resource_version, "9");

  const Result<WatchLine> error = PodFrame("ERROR", InEnvelope("Status", StatusProto("Failure", "too old", 410)));
  ASSERT_TRUE(error.ok()) << error.error().text();
  EXPECT_FALSE(error->event);
  EXPECT_EQ(error->failure.code, 410);
  EXPECT_EQ(error->failure.message, "too old");
}

TEST(WireProtobufTest, AnEventWithAnObjectThatIsWrongCountsAsABookmark) {
  const ProtoBytes wrong = ProtoBytes().Message(1, ProtoBytes().Text(1, "a").Text(6, "7")).Number(2, 7);
  const Result<WatchLine> line = PodFrame("ADDED", InEnvelope("Pod", wrong));
  ASSERT_TRUE(line.ok()) << line.error().text();
  EXPECT_EQ(line->event->type, WatchEvent::Type::kBookmark);
  EXPECT_EQ(line->event->resource_version, "7");
  EXPECT_THAT(line->warning, HasSubstr("Pod \"a\": spec: Invalid value"));
}

TEST(WireProtobufTest, WhatIsNoEventIsRefused) {
  EXPECT_THAT(PodFrame("CHANGED", InEnvelope("Pod", PodProto("a", 7))).error().text(),
              HasSubstr("type: Invalid value: \"CHANGED\""));
  EXPECT_THAT(PodFrame("ADDED", InEnvelope("Node", PodProto("a", 7))).error().text(),
              HasSubstr("object.kind: Invalid value: \"Node\": must be Pod"));
  EXPECT_THAT(PodFrame("ADDED", "{}").error().text(), HasSubstr("malformed protobuf"));
  EXPECT_FALSE(ReadWatchFrame("", Kind::kPod).ok());
  EXPECT_FALSE(ReadWatchFrame("{\"type\":\"ADDED\"}", Kind::kPod).ok());
}

TEST(WireProtobufTest, ARefusalSaysWhatTheServerSays) {
  const auto refusal = [](std::string body) { return ReadRefusal(body, Encoding::kProtobuf); };
  EXPECT_EQ(refusal(InEnvelope("Status", StatusProto("Failure", "pods is forbidden", 403))).message,
            "pods is forbidden");
  EXPECT_EQ(refusal("Unauthorized\n").message, "Unauthorized ");
  ProtoBytes status = StatusProto("Failure", "Invalid", 422);
  status.Message(5, ProtoBytes().Message(4, ProtoBytes().Text(1, "FieldValueInvalid").Text(3, "metadata.uid")));
  EXPECT_TRUE(refusal(InEnvelope("Status", status)).invalid_uid);
  EXPECT_FALSE(refusal(InEnvelope("Status", StatusProto("Failure", "Invalid", 422))).invalid_uid);
}

TEST(WireProtobufTest, ASuccessIsWhatItClaimsToBe) {
  constexpr std::array<std::string_view, 3> kKinds = {"Status", "Binding", "Pod"};
  const Success binding{kKinds, "ns", "a", "u"};
  const auto check = [&](std::string body) {
    const Error error = CheckSuccess(body, Encoding::kProtobuf, binding);
    return error.ok() ? "" : error.text();
  };
  EXPECT_EQ(check(InEnvelope("Status", StatusProto("Success", "", 201))), "");
  EXPECT_EQ(check(InEnvelope("Pod", PodProto("a", 3))), "");
  EXPECT_THAT(check(InEnvelope("Status", StatusProto("Failure", "already assigned", 409))),
              HasSubstr("status: \"Failure\": must be Success: already assigned"));
  EXPECT_THAT(check(InEnvelope("Status", ProtoBytes())), HasSubstr("status: \"\": must be Success"));
  EXPECT_THAT(check(InEnvelope("Pod", PodProto("b", 3))), HasSubstr("it is Pod \"ns/b\", not ns/a"));
  EXPECT_THAT(check(InEnvelope("Pod", PodProto("a", 3, "other"))), HasSubstr("uid \"other\""));
  EXPECT_THAT(check(InEnvelope("Node", PodProto("a", 3))), HasSubstr("must be Status or Binding or Pod"));
  EXPECT_THAT(check("<html>"), HasSubstr("malformed protobuf"));
  EXPECT_THAT(check(std::string("k8s\0", 4)), HasSubstr("kind: \"\""));
  EXPECT_THAT(check(""), HasSubstr("the answer is empty"));
}

TEST(WireProtobufTest, ALeaseComesBackAsItWentAndLosesNothingThatOthersHaveWrittenThere) {
  Lease lease;
  lease.namespace_ = "kube-system";
  lease.name = "berth";
  lease.resource_version = "17";
  lease.uid = "u-1";
  lease.holder = "me";
  lease.duration = Duration::Seconds(15);
  lease.acquired = Time{1'700'000'000'000'001'000};
  lease.renewed = Time{-1'000};
  lease.transitions = 3;
  lease.protobuf = true;
  lease.other_metadata = ProtoBytes().Entry(11, "team", "a").Number(7, 2).bytes();
  lease.other_spec = ProtoBytes().Text(6, "OldestEmulationVersion").bytes();
  std::string body = LeaseBody(lease, Encoding::kProtobuf);
  const Result<Lease> read = ReadLease(body, Encoding::kProtobuf);
  ASSERT_TRUE(read.ok()) << read.error().text();
  EXPECT_TRUE(read->protobuf);
  EXPECT_EQ(read->namespace_, lease.namespace_);
  EXPECT_EQ(read->name, lease.name);
  EXPECT_EQ(read->resource_version, lease.resource_version);
  EXPECT_EQ(read->uid, lease.uid);
  EXPECT_EQ(read->holder, lease.holder);
  EXPECT_EQ(read->duration, lease.duration);
  EXPECT_EQ(read->acquired, lease.acquired);
  EXPECT_EQ(read->renewed, lease.renewed);
  EXPECT_EQ(read->transitions, lease.transitions);
  EXPECT_EQ(read->other_metadata, lease.other_metadata);
  EXPECT_EQ(read->other_spec, lease.other_spec);
  for (std::string wrong : {InEnvelope("Pod", ProtoBytes()), InEnvelope("Lease", ProtoBytes().Number(1, 3)),
                            InEnvelope("Lease", ProtoBytes().Message(2, ProtoBytes().Text(5, "x"))), std::string("{}")})
    EXPECT_FALSE(ReadLease(wrong, Encoding::kProtobuf).ok()) << wrong;
}

// As Go reads them: k8s.io/api's messages, written by hand.
TEST(WireProtobufTest, BodiesAreTheMessagesOfKubernetes) {
  const ObjectName pod{"ns", "web", "u"};
  ProtoBytes binding;
  binding.Message(1, ProtoBytes().Text(1, "web").Text(3, "ns").Text(5, "u"));
  binding.Message(2, ProtoBytes().Text(1, "Node").Text(3, "n1"));
  ProtoBytes unknown;
  unknown.Message(1, ProtoBytes().Text(1, "v1").Text(2, "Binding")).Message(2, binding);
  EXPECT_EQ(BindingBody(pod, "n1", Encoding::kProtobuf), std::string("k8s\0", 4) + unknown.bytes());

  EventRecord record;
  record.regarding = pod;
  record.type = "Normal";
  record.reason = "Scheduled";
  record.action = "Binding";
  record.note = "Successfully assigned \xff";
  record.reporting_controller = "default-scheduler";
  record.time = Time{1'700'000'000'123'456'789};
  record.resource_version = "9";
  record.name = "web.1";
  record.series = EventSeries{3, Time{1'700'000'001'000'000'000}};
  ProtoBytes event;
  event.Message(1, ProtoBytes().Text(1, "web.1").Text(3, "ns"));
  event.Message(2, ProtoBytes().Number(1, 1'700'000'000).Number(2, 123'456'000));
  event.Message(3, ProtoBytes().Number(1, 3).Message(2, ProtoBytes().Number(1, 1'700'000'001).Number(2, 0)));
  event.Text(4, "default-scheduler").Text(5, "me").Text(6, "Binding").Text(7, "Scheduled");
  ProtoBytes regarding;
  regarding.Text(1, "Pod").Text(2, "ns").Text(3, "web").Text(4, "u").Text(5, "v1").Text(6, "9");
  event.Message(8, regarding).Text(10, "Successfully assigned ?").Text(11, "Normal");
  ProtoBytes wrapped;
  wrapped.Message(1, ProtoBytes().Text(1, "events.k8s.io/v1").Text(2, "Event")).Message(2, event);
  EXPECT_EQ(EventBody(record, "me", Encoding::kProtobuf), std::string("k8s\0", 4) + wrapped.bytes());
}

// Whatever comes, it is read or refused.
TEST(WireProtobufTest, DamagedBytesNeverHurt) {
  const std::string page = PodsProto("17", {PodProto("a", 3), PodProto("b", 4)}, "t");
  const std::string frame = WatchMessage("ADDED", InEnvelope("Pod", PodProto("a", 9))).bytes();
  const std::string status = InEnvelope("Status", StatusProto("Failure", "m", 409));
  constexpr std::array<std::string_view, 1> kStatus = {"Status"};
  EXPECT_TRUE(rc::check([&] {
    for (const std::string& whole : {page, frame, status}) {
      std::string bytes = whole;
      const int changes = *rc::gen::inRange(1, 5);
      for (int i = 0; i < changes && bytes.size() > 5; ++i) {
        const size_t at = *rc::gen::inRange<size_t>(4, bytes.size());
        if (*rc::gen::arbitrary<bool>()) {
          bytes[at] = *rc::gen::arbitrary<char>();
        } else {
          bytes.erase(at, *rc::gen::inRange<size_t>(1, 9));
        }
      }
      (void)ReadListPage(bytes, Encoding::kProtobuf, Kind::kPod);
      (void)ReadWatchFrame(bytes, Kind::kPod);
      (void)ReadRefusal(bytes, Encoding::kProtobuf);
      (void)ReadLease(bytes, Encoding::kProtobuf);
      (void)CheckSuccess(bytes, Encoding::kProtobuf, {kStatus, "ns", "a"});
    }
  }));
}

}  // namespace
}  // namespace berth::client
