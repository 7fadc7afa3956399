// SPDX-License-Identifier: Apache-2.0
// The door to an API server that speaks protobuf, and to some that do not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/proto_test_util.h"
#include "client/live_cluster_test_util.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kType = "application/vnd.kubernetes.protobuf";
const char kAcceptsBoth[] = "Accept: application/vnd.kubernetes.protobuf, application/json\r\n";
const char kAcceptsJson[] = "Accept: application/json\r\n";

FakeReply InProtobuf(int status, std::string body) { return {status, std::move(body), "", kType}; }
std::string ListOf(const std::string& kind, const std::vector<ProtoBytes>& items, std::string_view next = "") {
  ProtoBytes list;
  list.Message(1, ProtoBytes().Text(2, "17").Text(3, next));
  for (const ProtoBytes& item : items) list.Message(2, item);
  return InEnvelope(kind, list);
}
std::string StatusOf(std::string_view status, std::string_view message, int code) {
  return InEnvelope("Status", ProtoBytes().Text(2, status).Text(3, message).Number(6, code));
}
ProtoBytes Named(std::string_view name, std::string_view version) {
  return ProtoBytes().Message(1, ProtoBytes().Text(1, name).Text(3, "ns").Text(6, version));
}

class LiveProtobufTest : public LiveClusterTest {
 protected:
  LiveProtobufTest() { options_.encodings = {}; }

  ApiStatus Bind() {
    return Ask([&](Answer done) { api_->Bind(kPod, "n1", std::move(done)); });
  }
  ApiStatus Post() {
    EventRecord event;
    event.regarding = kPod;
    event.name = "e";
    return Ask([&](Answer done) { api_->PostEvent(event, std::move(done)); });
  }
};

TEST_F(LiveProtobufTest, ListsAreAskedForInProtobufWhereAKindHasADecoder) {
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.Has("/services")) return {200, ListJson("ServiceList", "3", {}), ""};
    if (request.Has("/nodes")) return {200, ListJson("NodeList", "3", {R"({"metadata":{"name":"n1"}})"}), ""};
    if (request.Has("continue=")) return InProtobuf(200, ListOf("PodList", {PodProto("b", 4)}));
    return InProtobuf(200, ListOf("PodList", {PodProto("a", 3)}, "more"));
  });
  const ListAnswer pods = List();
  EXPECT_TRUE(pods.status.ok()) << pods.status.message;
  ASSERT_EQ(pods.objects.size(), 2u);
  EXPECT_EQ(MetaOf(pods.objects[1]).name, "b");
  EXPECT_EQ(pods.resource_version, "17");
  // A server may answer JSON all the same.
  EXPECT_EQ(List(Kind::kNode).objects.size(), 1u);
  EXPECT_TRUE(List(Kind::kService).status.ok());
  const std::vector<FakeRequest> requests = server_->requests();
  ASSERT_EQ(requests.size(), 4u);
  for (size_t i = 0; i < 3; ++i) EXPECT_TRUE(requests[i].Has(kAcceptsBoth)) << requests[i].head;
  EXPECT_TRUE(requests[3].Has(kAcceptsJson)) << requests[3].head;
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(LiveProtobufTest, ContentTypeJsonSwitchesItOff) {
  options_.encodings = EncodingOptions::From("", "application/json");
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.method == "POST") return {201, SuccessJson(), ""};
    return {200, ListJson("PodList", "3", {PodJson("a", 3)}), ""};
  });
  EXPECT_TRUE(List().status.ok());
  EXPECT_TRUE(Bind().ok());
  for (const FakeRequest& request : server_->requests()) EXPECT_TRUE(request.Has(kAcceptsJson)) << request.head;
  EXPECT_TRUE(server_->requests().back().Has("Content-Type: application/json\r\n"));
}

TEST_F(LiveProtobufTest, AServerThatCannotOrDoesNotMeanItIsAskedForJsonWithOneLine) {
  const struct {
    FakeReply reply;
    const char* why;
  } cases[] = {
      {{406, StatusJson(406, "only JSON"), ""}, "406 only JSON"},
      {InProtobuf(200, "{}"), "malformed protobuf"},
      {InProtobuf(200, ListOf("PodList", {PodProto("a", 3)}).substr(0, 40)), "malformed protobuf"},
      {InProtobuf(200, InEnvelope("Table", ProtoBytes())), "must be PodList"},
  };
  for (const auto& c : cases) {
    warnings_.clear();
    Serve([&](const FakeRequest& request) -> FakeReply {
      return request.Has(kAcceptsBoth) ? c.reply : FakeReply{200, ListJson("PodList", "9", {PodJson("a", 3)}), ""};
    });
    EXPECT_EQ(List().objects.size(), 1u);
    EXPECT_EQ(List().objects.size(), 1u);
    Until([this] { return !warnings_.empty(); });
    EXPECT_THAT(warnings_, ElementsAre(AllOf(StartsWith("Pod objects go as JSON from now on: "), HasSubstr(c.why))));
    EXPECT_EQ(server_->requests().size(), 3u);
  }
}

TEST_F(LiveProtobufTest, AnObjectThatCannotBeReadIsIgnoredAndNothingIsGivenUp) {
  Serve([](const FakeRequest&) {
    return InProtobuf(200, ListOf("PodList", {ProtoBytes().Raw("\x0a\x7f"), PodProto("b", 4)}));
  });
  EXPECT_EQ(List().objects.size(), 1u);
  EXPECT_EQ(List().objects.size(), 1u);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("list of Pod: ignored: "), HasSubstr("list of Pod: ignored: ")));
}

TEST_F(LiveProtobufTest, AStreamedListIsAWatchOfFrames) {
  Serve([](const FakeRequest&) -> FakeReply { return {500, "", ""}; });
  server_->StreamLists();
  server_->SetWatchType(kType + ";stream=watch");
  std::vector<std::string> heard;
  const std::unique_ptr<Watch> list = api_->StartStreamedList(
      Kind::kPod, {.event =
                       [&](const WatchEvent& event) {
                         heard.push_back(event.object ? MetaOf(*event.object).name : event.initial_end ? "=" : "-");
                       },
                   .closed = [&](const ApiStatus& status) { heard.push_back(status.message); }});
  const std::shared_ptr<FakeWatch> watch = server_->WaitForWatch(0);
  ASSERT_NE(watch, nullptr);
  EXPECT_TRUE(watch->request().Has(kAcceptsBoth));
  const auto send = [&](std::string_view type, const ProtoBytes& object) {
    watch->Send(Framed(WatchMessage(type, InEnvelope("Pod", object))));
  };
  send("ADDED", PodProto("a", 3));
  send("ADDED", PodProto("b", 4));
  send("BOOKMARK", ProtoBytes().Message(1, ProtoBytes().Text(6, "5").Entry(12, "k8s.io/initial-events-end", "true")));
  send("MODIFIED", PodProto("a", 6));
  Until([&] { return heard.size() == 4; });
  EXPECT_THAT(heard, ElementsAre("a", "b", "=", "a"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(LiveProtobufTest, AWatchThatIsNotAcceptedIsOpenedAsJson) {
  Serve([](const FakeRequest&) -> FakeReply { return {500, "", ""}; });
  server_->RefuseWatches({406, StatusJson(406, "only JSON"), ""}, kAcceptsBoth);
  std::vector<std::string> heard;
  const std::unique_ptr<Watch> watch =
      api_->StartWatch(Kind::kPod, "3",
                       {.event = [&](const WatchEvent& event) { heard.push_back(MetaOf(*event.object).name); },
                        .closed = [&](const ApiStatus& status) { heard.push_back(status.message); }});
  Until([&] { return server_->watches() == 1; });
  const std::shared_ptr<FakeWatch> opened = server_->WaitForWatch(0);
  EXPECT_TRUE(opened->request().Has(kAcceptsJson));
  opened->Event("ADDED", PodJson("a", 4));
  Until([&] { return !heard.empty(); });
  EXPECT_THAT(heard, ElementsAre("a"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("Pod objects go as JSON from now on: ")));
  // One that is refused whatever it asks for is told so.
  server_->RefuseWatches({406, StatusJson(406, "nothing"), ""});
  const std::unique_ptr<Watch> refused = api_->StartWatch(
      Kind::kNode, "3",
      {.event = [](const WatchEvent&) {}, .closed = [&](const ApiStatus& status) { heard.push_back(status.message); }});
  Until([&] { return heard.size() == 2; });
  EXPECT_EQ(heard.back(), "nothing");
}

TEST_F(LiveProtobufTest, AWatchThatIsNoProtobufAfterAllEndsAndTheNextIsJson) {
  Serve([](const FakeRequest&) -> FakeReply { return {500, "", ""}; });
  server_->SetWatchType(kType);
  ApiStatus why;
  const auto open = [&] {
    return api_->StartWatch(
        Kind::kPod, "3", {.event = [](const WatchEvent&) {}, .closed = [&](const ApiStatus& status) { why = status; }});
  };
  const std::unique_ptr<Watch> first = open();
  server_->WaitForWatch(0)->Event("ADDED", PodJson("a", 4));
  Until([&] { return !warnings_.empty() && !why.ok(); });
  EXPECT_TRUE(why.unreadable);
  const std::unique_ptr<Watch> second = open();
  EXPECT_TRUE(server_->WaitForWatch(1)->request().Has(kAcceptsJson));
  EXPECT_EQ(warnings_.size(), 1u);
}

TEST_F(LiveProtobufTest, BindingsEventsAndLeasesAreWrittenInProtobuf) {
  Lease lease;
  lease.namespace_ = "ns";
  lease.name = "l";
  lease.holder = "me";
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.Has("/binding")) return InProtobuf(201, StatusOf("Success", "", 201));
    if (request.Has("/events")) return InProtobuf(201, InEnvelope("Event", Named("e", "1"), "events.k8s.io/v1"));
    return InProtobuf(201, InEnvelope("Lease", Named("l", "7").Message(2, ProtoBytes().Text(1, "me"))));
  });
  EXPECT_EQ(Bind().code, 201);
  EXPECT_EQ(Post().code, 201);
  const ApiStatus put = Ask([&](const Answer& done) {
    api_->PutLease(lease, [&lease, done](const ApiStatus& status, const Lease& got) {
      lease = got;
      done(status);
    });
  });
  EXPECT_TRUE(put.ok()) << put.message;
  EXPECT_EQ(lease.resource_version, "7");
  EXPECT_TRUE(lease.protobuf);
  const std::vector<FakeRequest> requests = server_->requests();
  ASSERT_EQ(requests.size(), 3u);
  for (const FakeRequest& request : requests) {
    EXPECT_TRUE(request.Has("Content-Type: application/vnd.kubernetes.protobuf\r\n")) << request.head;
    EXPECT_TRUE(request.Has(kAcceptsBoth)) << request.head;
    EXPECT_THAT(request.body, StartsWith(std::string("k8s\0", 4)));
  }
}

TEST_F(LiveProtobufTest, ABindingIsBelievedWhenTheAnswerIsASuccessInEitherForm) {
  FakeReply reply;
  Serve([&](const FakeRequest&) { return reply; });
  for (const FakeReply& good : {InProtobuf(201, StatusOf("Success", "", 201)), FakeReply{201, SuccessJson(), ""},
                                InProtobuf(201, InEnvelope("Pod", PodProto("a", 3)))}) {
    reply = good;
    EXPECT_TRUE(Bind().ok());
    (void)server_->requests();  // its thread has read `reply` by now
  }
  for (const FakeReply& bad :
       {InProtobuf(201, StatusOf("Failure", "already assigned", 409)), InProtobuf(200, SuccessJson()),
        InProtobuf(200, ""), InProtobuf(200, InEnvelope("Pod", PodProto("b", 3))),
        FakeReply{200, StatusOf("Success", "", 201), ""}}) {
    reply = bad;
    EXPECT_TRUE(Bind().uncertain());
    (void)server_->requests();
  }
  reply = InProtobuf(409, StatusOf("Failure", "already assigned", 409));
  const ApiStatus refused = Bind();
  EXPECT_TRUE(refused.conflict());
  EXPECT_EQ(refused.message, "already assigned");
}

TEST_F(LiveProtobufTest, AFormThatIsRefusedIsSentAgainAsJsonOnceAndForAll) {
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.Has("Content-Type: application/vnd")) return {415, StatusJson(415, "JSON, please"), ""};
    if (request.Has("/binding")) return {201, SuccessJson(), ""};
    if (request.Has("/events")) return {201, R"({"kind":"Event","metadata":{"name":"e","namespace":"ns"}})", ""};
    return {201,
            R"({"kind":"Lease","metadata":{"name":"l","namespace":"ns","resourceVersion":"7"},)"
            R"("spec":{"holderIdentity":"me"}})",
            ""};
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(Bind().ok());
    EXPECT_TRUE(Post().ok());
  }
  Lease lease;
  lease.namespace_ = "ns";
  lease.name = "l";
  lease.holder = "me";
  const auto put = [&] {
    return Ask([&](const Answer& done) {
      api_->PutLease(lease, [done](const ApiStatus& status, const Lease&) { done(status); });
    });
  };
  EXPECT_TRUE(put().ok());
  EXPECT_EQ(server_->requests().size(), 8u);  // three were refused
  Until([this] { return warnings_.size() >= 3; });
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("bindings go as JSON from now on: the API server does not do protobuf: "
                                               "415 JSON, please"),
                                     HasSubstr("events go as JSON"), HasSubstr("leases go as JSON")));
  // What was read as protobuf cannot be given back as JSON: whoever holds it has to read it again.
  lease.protobuf = true;
  lease.resource_version = "7";
  lease.other_metadata = ProtoBytes().Entry(11, "team", "a").bytes();
  EXPECT_TRUE(put().conflict());
  EXPECT_EQ(server_->requests().size(), 8u);
}

TEST_F(LiveProtobufTest, APodIsGotInProtobuf) {
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.Has(kAcceptsBoth)) return InProtobuf(200, InEnvelope("Pod", PodProto("a", 3)));
    return {500, "", ""};
  });
  Ptr<Pod> pod;
  const ApiStatus status = Ask([&](const Answer& done) {
    api_->GetPod("ns", "a", [&pod, done](const ApiStatus& got, Ptr<Pod> read) {
      pod = std::move(read);
      done(got);
    });
  });
  EXPECT_TRUE(status.ok()) << status.message;
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod->uid(), "u");
}

}  // namespace
}  // namespace berth::client
