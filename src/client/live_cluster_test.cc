// SPDX-License-Identifier: Apache-2.0
// Lists and writes over a socket.
#include "client/live_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "api/base64.h"
#include "client/live_cluster_test_util.h"
#include "net/http_server.h"
#include "net/tls_test_util.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kAlive = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&";

std::string Pods(const std::string& rest) { return "/api/v1/pods?" + std::string(kAlive) + rest; }

TEST_F(LiveClusterTest, AListIsReadPageByPageOverOneConnection) {
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.target.ends_with("continue=p%2F2"))
      return {200, ListJson("PodList", "20", {PodJson("b", 4)}, "p3"), ""};
    if (request.target.ends_with("continue=p3")) return {200, ListJson("PodList", "21", {PodJson("c", 5)}), ""};
    return {200, ListJson("PodList", "19", {PodJson("a", 3)}, "p/2"), ""};
  });
  const ListAnswer answer = List();
  EXPECT_TRUE(answer.status.ok()) << answer.status.message;
  EXPECT_EQ(answer.resource_version, "19");  // what changed since then comes with the watch
  ASSERT_EQ(answer.objects.size(), 3u);
  EXPECT_EQ(MetaOf(answer.objects[2]).name, "c");
  EXPECT_THAT(server_->targets(), ElementsAre(Pods("limit=500&resourceVersion=0"), Pods("limit=500&continue=p%2F2"),
                                              Pods("limit=500&continue=p3")));
  EXPECT_EQ(server_->connections(), 1u);
  EXPECT_TRUE(server_->requests()[0].Has("Accept: application/vnd.kubernetes.protobuf, application/json\r\n"));
}

TEST_F(LiveClusterTest, PagesThatHaveExpiredAreReplacedByAWholeList) {
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.target.find("continue=") != std::string::npos) return {410, StatusJson(410, "expired"), ""};
    if (request.target.find("limit=") != std::string::npos)
      return {200, ListJson("PodList", "19", {PodJson("a", 3), PodJson("gone", 1)}, "p2"), ""};
    return {200, ListJson("PodList", "25", {PodJson("a", 3), PodJson("b", 24)}), ""};
  });
  const ListAnswer answer = List();
  EXPECT_TRUE(answer.status.ok()) << answer.status.message;
  EXPECT_EQ(answer.resource_version, "25");
  ASSERT_EQ(answer.objects.size(), 2u);
  EXPECT_EQ(MetaOf(answer.objects[1]).name, "b");
  EXPECT_EQ(server_->targets().back(), Pods("resourceVersion=0"));
}

TEST_F(LiveClusterTest, PagesWithoutEndEnd) {
  int pages = 0;
  Serve([&](const FakeRequest&) -> FakeReply {
    return {200, ListJson("PodList", "19", {}, "p" + std::to_string(++pages)), ""};
  });
  EXPECT_THAT(List().status.message, HasSubstr("pages do not end"));
  EXPECT_LT(pages, 200);

  bool expired = false;  // also of a list that was to be whole
  Serve([&](const FakeRequest& request) -> FakeReply {
    expired = request.target.find("continue=") != std::string::npos;
    return expired ? FakeReply{410, "", ""} : FakeReply{200, ListJson("PodList", "19", {}, "p"), ""};
  });
  EXPECT_TRUE(List().status.gone());
  EXPECT_EQ(server_->requests().size(), 4u);
}

TEST_F(LiveClusterTest, LaterListsAreNotOlderThanWhatWasSeen) {
  Serve([](const FakeRequest&) -> FakeReply { return {200, ListJson("NodeList", "19", {}), ""}; });
  List(Kind::kNode);
  List(Kind::kNode);
  bool seen = false;
  const auto watch =
      api_->StartWatch(Kind::kNode, "19", {[&](const WatchEvent&) { seen = true; }, [](const ApiStatus&) {}});
  const auto peer = server_->WaitForWatch(0);
  peer->Send(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"33"}}})"
             "\n");
  Until([&] { return seen; });
  List(Kind::kNode);
  EXPECT_THAT(server_->targets(), ElementsAre("/api/v1/nodes?limit=500&resourceVersion=0",
                                              "/api/v1/nodes?resourceVersion=19", "/api/v1/nodes?resourceVersion=33"));
}

TEST_F(LiveClusterTest, AServerThatHasLostTheVersionIsAskedForWhatItHas) {
  const FakeReply refusals[] = {{410, StatusJson(410, "too old"), ""},
                                {504, StatusJson(504, "Too large resource version: 19, current: 5"), ""}};
  for (const FakeReply& refusal : refusals) {
    bool restored = false;
    Serve([&](const FakeRequest& request) -> FakeReply {
      if (!restored) return {200, ListJson("NodeList", "19", {}), ""};
      if (request.target.ends_with("resourceVersion=19")) return refusal;
      return {200, ListJson("NodeList", "5", {}), ""};  // restored from a backup
    });
    List(Kind::kNode);
    restored = true;
    const ListAnswer answer = List(Kind::kNode);
    EXPECT_TRUE(answer.status.ok()) << answer.status.message;
    EXPECT_EQ(answer.resource_version, "5");
    List(Kind::kNode);
    EXPECT_THAT(server_->targets(),
                ElementsAre("/api/v1/nodes?limit=500&resourceVersion=0", "/api/v1/nodes?resourceVersion=19",
                            "/api/v1/nodes?limit=500&resourceVersion=", "/api/v1/nodes?resourceVersion=5"));
  }
}

TEST_F(LiveClusterTest, ListsThatMakeNoSenseAreFailures) {
  FakeReply reply;
  Serve([&](const FakeRequest&) { return reply; });
  const auto fails = [&](int status, const std::string& body) {
    reply = {status, body, ""};
    const ListAnswer answer = List();
    EXPECT_THAT(answer.objects, IsEmpty());
    EXPECT_FALSE(answer.status.ok());
    return std::to_string(answer.status.code) + " " + answer.status.message;
  };
  EXPECT_THAT(fails(200, "garbage"), HasSubstr("0 no list of Pod: malformed JSON"));
  EXPECT_THAT(fails(200, ListJson("NodeList", "1", {})), HasSubstr("must be PodList"));
  EXPECT_THAT(fails(200, ListJson("PodList", "", {})), HasSubstr(R"(metadata.resourceVersion: "" is not a version)"));
  EXPECT_THAT(fails(200, ListJson("PodList", "v1", {}, "p2")), HasSubstr(R"(resourceVersion: "v1" is not a version)"));
  EXPECT_THAT(fails(500, "broken"), "500 broken");
  EXPECT_THAT(fails(403, StatusJson(403, "forbidden")), "403 forbidden");
  EXPECT_THAT(fails(200, ListJson("PodList", "1", {}, "again")), HasSubstr("pages do not end"));
  EXPECT_THAT(fails(0, ""), HasSubstr("0 GET http://127.0.0.1"));
}

TEST_F(LiveClusterTest, AnswersAreBounded) {
  options_.max_page_bytes = 1000;
  Serve([](const FakeRequest&) -> FakeReply { return {200, std::string(2000, ' '), ""}; });
  EXPECT_THAT(List().status.message, HasSubstr("exceeds 1000 bytes"));
}

TEST_F(LiveClusterTest, AnswersAboutOneObjectAreBoundedMoreTightlyThanLists) {
  const std::string much(size_t{9} << 20, ' ');
  Serve([&](const FakeRequest& request) -> FakeReply {
    if (request.target.starts_with("/api/v1/pods?")) return {200, ListJson("PodList", "19", {}) + much, ""};
    return {200, PodJson("a", 3) + much, ""};
  });
  EXPECT_TRUE(List().status.ok());
  PodStatusPatch patch;
  patch.pod = kPod;
  const std::function<void(const Answer&)> questions[] = {
      [&](const Answer& done) { api_->GetPod("ns", "a", [done](const ApiStatus& status, Ptr<Pod>) { done(status); }); },
      [&](const Answer& done) { api_->Bind(kPod, "n", done); },
      [&](const Answer& done) { api_->PatchPodStatus(patch, done); },
      [&](const Answer& done) { api_->DeletePod(kPod, done); },
      [&](const Answer& done) {
        api_->GetLease("ns", "l", [done](const ApiStatus& status, const Lease&) { done(status); });
      },
  };
  for (const auto& question : questions) {
    const ApiStatus status = Ask(question);
    EXPECT_EQ(status.kind, ErrorKind::kTooLarge);
    EXPECT_THAT(status.message, HasSubstr("exceeds 8388608 bytes"));
  }
}

TEST_F(LiveClusterTest, AListThatIsTooLargeIsAskedForInPages) {
  options_.max_page_bytes = 1000;
  bool expired = false;
  Serve([&](const FakeRequest& request) -> FakeReply {
    if (request.target.find("continue=") != std::string::npos)
      return expired ? FakeReply{410, "", ""} : FakeReply{200, ListJson("PodList", "20", {PodJson("b", 4)}), ""};
    if (request.target.find("limit=") != std::string::npos && request.target.ends_with("resourceVersion="))
      return {200, ListJson("PodList", "19", {PodJson("a", 3)}, "p2"), ""};
    return {200, ListJson("PodList", "18", {PodJson("a", 3), PodJson(std::string(1000, 'b'), 4)}), ""};
  });
  const ListAnswer answer = List();
  EXPECT_TRUE(answer.status.ok()) << answer.status.message;
  EXPECT_EQ(answer.resource_version, "19");
  ASSERT_EQ(answer.objects.size(), 2u);
  EXPECT_EQ(MetaOf(answer.objects[1]).name, "b");
  EXPECT_TRUE(List().status.ok());  // without asking for the whole again
  EXPECT_THAT(server_->targets(), ElementsAre(Pods("limit=500&resourceVersion=0"), Pods("limit=500&resourceVersion="),
                                              Pods("limit=500&continue=p2"), Pods("limit=500&resourceVersion="),
                                              Pods("limit=500&continue=p2")));
  expired = true;  // the whole would be no way out
  EXPECT_TRUE(List().status.gone());
  EXPECT_EQ(server_->requests().size(), 7u);
}

TEST_F(LiveClusterTest, AListThatHasBecomeTooLargeIsAskedForInPages) {
  options_.max_page_bytes = 1000;
  std::string whole = ListJson("NodeList", "19", {});
  Serve([&](const FakeRequest& request) -> FakeReply {
    const bool pages = request.target.ends_with("resourceVersion=");
    return {200, pages ? ListJson("NodeList", "25", {}) : whole, ""};
  });
  EXPECT_EQ(List(Kind::kNode).resource_version, "19");
  whole = std::string(2000, ' ');
  EXPECT_EQ(List(Kind::kNode).resource_version, "25");
  EXPECT_THAT(server_->targets(),
              ElementsAre("/api/v1/nodes?limit=500&resourceVersion=0", "/api/v1/nodes?resourceVersion=19",
                          "/api/v1/nodes?limit=500&resourceVersion="));
}

TEST_F(LiveClusterTest, ASlowServerIsNotWaitedForForever) {
  options_.list_timeout = Duration::Millis(50);
  std::atomic<bool> over = false;
  Serve([&](const FakeRequest&) -> FakeReply {
    while (!over) std::this_thread::yield();
    return {200, ListJson("PodList", "1", {}), ""};
  });
  const ListAnswer answer = List();
  EXPECT_EQ(answer.status.code, 0);
  EXPECT_THAT(answer.status.message, HasSubstr("timed out"));
  over = true;
  server_ = nullptr;  // before what its thread looks at
}

TEST_F(LiveClusterTest, ObjectsThatCannotBeReadAreWarnedOf) {
  Serve([](const FakeRequest&) -> FakeReply {
    return {200, ListJson("PodList", "9", {PodJson("a", 3), R"({"metadata":{"name":"bad"},"spec":[]})"}), ""};
  });
  EXPECT_EQ(List().objects.size(), 1u);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("list of Pod: ignored: Pod \"bad\": spec")));
}

TEST_F(LiveClusterTest, WritesSayWhatTheyMean) {
  Serve([](const FakeRequest& request) -> FakeReply {
    return request.method == "POST" ? FakeReply{201, SuccessJson(), ""} : FakeReply{200, PodJson("a", 4), ""};
  });
  EXPECT_EQ(Ask([&](Answer done) { api_->Bind(kPod, "n1", std::move(done)); }).code, 201);
  PodStatusPatch patch;
  patch.pod = kPod;
  patch.nominated_node_name = "n1";
  EXPECT_TRUE(Ask([&](Answer done) { api_->PatchPodStatus(patch, std::move(done)); }).ok());
  EXPECT_TRUE(Ask([&](Answer done) { api_->DeletePod(kPod, std::move(done)); }).ok());
  EventRecord event;
  event.regarding = kPod;
  event.reporting_controller = "s";
  api_->PostEvent(event, nullptr);
  Until([this] { return server_->requests().size() == 4; });

  const std::vector<FakeRequest> requests = server_->requests();
  EXPECT_EQ(requests[0].method + " " + requests[0].target, "POST /api/v1/namespaces/ns/pods/a/binding");
  EXPECT_THAT(requests[0].body, HasSubstr(R"("target":{"kind":"Node","name":"n1"})"));
  EXPECT_TRUE(requests[0].Has("Content-Type: application/json\r\n"));
  EXPECT_EQ(requests[1].method + " " + requests[1].target, "PATCH /api/v1/namespaces/ns/pods/a/status");
  EXPECT_TRUE(requests[1].Has("Content-Type: application/strategic-merge-patch+json\r\n"));
  EXPECT_EQ(requests[2].method + " " + requests[2].target, "DELETE /api/v1/namespaces/ns/pods/a");
  EXPECT_THAT(requests[2].body, HasSubstr(R"("preconditions":{"uid":"u"})"));
  EXPECT_EQ(requests[3].method + " " + requests[3].target, "POST /apis/events.k8s.io/v1/namespaces/ns/events");
  EXPECT_THAT(requests[3].body, HasSubstr(R"("reportingInstance":"s-)"));
}

TEST_F(LiveClusterTest, AnswersOfWritesAreTold) {
  FakeReply reply;
  Serve([&](const FakeRequest&) { return reply; });
  reply = {409, StatusJson(409, "already assigned"), ""};
  ApiStatus status = Ask([&](Answer done) { api_->Bind(kPod, "n1", std::move(done)); });
  EXPECT_TRUE(status.conflict());
  EXPECT_EQ(status.message, "already assigned");
  reply = {0, "", ""};  // nobody knows whether it was heard
  EXPECT_TRUE(Ask([&](Answer done) { api_->Bind(kPod, "n1", std::move(done)); }).uncertain());
  (void)server_->requests();  // its thread has read `reply` by now
  const auto patch = [&] { return Ask([&](Answer done) { api_->PatchPodStatus({kPod, {}, "n1"}, std::move(done)); }); };
  const auto invalid = [](const std::string& field) {
    return R"({"kind":"Status","message":"Pod is invalid","code":422,"details":{"causes":[)"
           R"({"reason":"FieldValueInvalid","message":"x: field is immutable","field":")" +
           field + R"("}]}})";
  };
  reply = {422, invalid("metadata.uid"), ""};
  EXPECT_TRUE(patch().conflict());
  (void)server_->requests();
  reply = {422, invalid("metadata.name"), ""};
  EXPECT_EQ(patch().code, 422);
}

// The same bytes are not read again, but only where they name no pod.
TEST_F(LiveClusterTest, WhatABindingIsAnsweredMayBeSaidAgainUnlessItNamesAPod) {
  FakeReply reply;
  Serve([&](const FakeRequest&) { return reply; });
  const auto bind = [&](const std::string& name) {
    (void)server_->requests();  // its thread has read `reply` by now
    return Ask([&](Answer done) { api_->Bind({"ns", name, "u"}, "n1", std::move(done)); });
  };
  reply = {201, SuccessJson(), ""};
  EXPECT_EQ(bind("a").code, 201);
  EXPECT_EQ(bind("b").code, 201);
  reply = {202, SuccessJson(), ""};
  EXPECT_EQ(bind("a").code, 202) << "the code is the answer's own";
  reply = {409, SuccessJson(), ""};
  EXPECT_TRUE(bind("a").conflict());
  reply = {201, PodJson("a", 4), ""};
  EXPECT_EQ(bind("a").code, 201);
  EXPECT_THAT(bind("b").message, HasSubstr("it is Pod \"ns/a\", not ns/b"));
  reply = {201, StatusJson(500, "no"), ""};
  EXPECT_FALSE(bind("a").ok());
  EXPECT_FALSE(bind("a").ok());
  reply = {201, SuccessJson(), ""};
  EXPECT_EQ(bind("a").code, 201);
}

TEST_F(LiveClusterTest, APodIsGotAlsoWhenItIsFinished) {
  FakeReply reply{200, PodJson("a", 3), ""};
  Serve([&](const FakeRequest&) { return reply; });
  Ptr<Pod> pod;
  const auto get = [&] {
    return Ask([&](const Answer& done) {
      api_->GetPod("ns", "a", [&pod, done](const ApiStatus& status, Ptr<Pod> got) {
        pod = std::move(got);
        done(status);
      });
    });
  };
  EXPECT_TRUE(get().ok());
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(pod->uid(), "u");
  EXPECT_EQ(server_->targets().back(), "/api/v1/namespaces/ns/pods/a");
  reply = {404, StatusJson(404, "not found"), ""};
  EXPECT_TRUE(get().not_found());
  EXPECT_EQ(pod, nullptr);
  reply = {200, "{}", ""};
  EXPECT_EQ(get().code, 0);
}

TEST_F(LiveClusterTest, LeasesAreCreatedReplacedAndRead) {
  const auto body = [](const char* version) {
    return R"({"kind":"Lease","metadata":{"name":"l","namespace":"ns","resourceVersion":")" + std::string(version) +
           R"("},"spec":{"holderIdentity":"me","leaseDurationSeconds":15,"renewTime":"2023-11-14T22:13:20.000001Z"}})";
  };
  Serve([&](const FakeRequest& request) -> FakeReply {
    if (request.method == "GET") return {404, StatusJson(404, "not found"), ""};
    if (request.method == "POST") return {201, body("7"), ""};
    return request.Has("PUT /apis/coordination.k8s.io/v1/namespaces/ns/leases/l?timeout=5s ") ? FakeReply{409, "", ""}
                                                                                              : FakeReply{500, "", ""};
  });
  Lease lease;
  lease.namespace_ = "ns";
  lease.name = "l";
  lease.holder = "me";
  const auto put = [&](bool get) {
    return Ask([&](const Answer& done) {
      const auto answer = [&lease, done](const ApiStatus& status, const Lease& got) {
        if (status.ok()) lease = got;
        done(status);
      };
      if (get) return api_->GetLease("ns", "l", answer);
      api_->PutLease(lease, answer);
    });
  };
  EXPECT_TRUE(put(true).not_found());
  EXPECT_EQ(put(false).code, 201);
  EXPECT_EQ(lease.resource_version, "7");
  EXPECT_EQ(lease.duration, Duration::Seconds(15));
  EXPECT_EQ(lease.renewed, Time{1'700'000'000'000'001'000});
  EXPECT_TRUE(put(false).conflict());
}

// However far away the server is: all that may be under way at a time are sent before any of them is answered.
TEST_F(LiveClusterTest, NoBindingWaitsForAnothersAnswerOverHttp1) {
  std::mutex mutex;
  std::vector<net::Respond> held;  // under mutex
  auto http = net::HttpServer::Start({}, [&](const net::HttpRequest&, const net::Respond& respond) {
    const std::lock_guard lock(mutex);
    held.push_back(respond);
    if (held.size() < options_.write_connections) return;
    for (const net::Respond& one : held) {
      net::HttpResponse response;
      response.status = 201;
      response.body = SuccessJson();
      one(std::move(response));
    }
  });
  ASSERT_TRUE(http.ok()) << http.error().text();
  Kubeconfig config;
  config.server = "http://127.0.0.1:" + std::to_string(http.value()->port());
  Connect(config);
  size_t bound = 0;
  for (size_t i = 0; i < options_.write_connections; ++i) {
    api_->Bind(kPod, "n1", [&](const ApiStatus& status) {
      EXPECT_EQ(status.code, 201) << status.message;
      ++bound;
    });
  }
  Until([&] { return bound == options_.write_connections; });
  api_ = nullptr;
}

TEST_F(LiveClusterTest, LeasesHaveTheirOwnConnectionsAndLittleTime) {
  options_.lease_timeout = Duration::Millis(300);
  std::atomic<bool> over = false;
  Serve([&](const FakeRequest& request) -> FakeReply {
    while (request.method == "GET" && !over) std::this_thread::yield();
    return {200, SuccessJson(), ""};
  });
  EXPECT_TRUE(Ask([&](Answer done) { api_->Bind(kPod, "n1", std::move(done)); }).ok());
  EXPECT_EQ(server_->connections(), 1u);
  const ApiStatus status = Ask([&](const Answer& done) {
    api_->GetLease("ns", "l", [done](const ApiStatus& got, const Lease&) { done(got); });
  });
  EXPECT_THAT(status.message, HasSubstr("timed out"));
  over = true;
  Until([this] { return server_->connections() == 2; });
  server_ = nullptr;  // before what its thread looks at
}

TEST_F(LiveClusterTest, WhatTheServerPutsOffIsAskedAgain) {
  int asked = 0;
  Serve([&](const FakeRequest&) -> FakeReply {
    ++asked;
    if (asked == 1) return {429, "later", "Retry-After: 0\r\n"};
    if (asked == 2) return {503, "later", "Retry-After: 0\r\n"};
    return {200, ListJson("PodList", "9", {}), ""};
  });
  EXPECT_TRUE(List().status.ok());
  EXPECT_EQ(asked, 3);
}

TEST_F(LiveClusterTest, AServerThatPutsOffForeverIsGivenUp) {
  std::string headers = "Retry-After: 0\r\n";
  Serve([&](const FakeRequest&) -> FakeReply { return {429, "later", headers}; });
  EXPECT_EQ(List().status.code, 429);
  EXPECT_EQ(server_->requests().size(), 11u);
  headers = "Retry-After: soon\r\n";
  EXPECT_EQ(List().status.code, 429);
  EXPECT_EQ(server_->requests().size(), 12u);
}

TEST_F(LiveClusterTest, ARefusedTokenIsReadAgain) {
  const net::TestFolder folder;
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest& request) -> FakeReply {
    if (!request.Has("Authorization: Bearer t2\r\n")) return {401, StatusJson(401, "Unauthorized"), ""};
    return {200, ListJson("PodList", "9", {}), ""};
  });
  Kubeconfig config = server_->config();
  config.token_file = folder.Write("token", "t1\n");
  Connect(config);
  EXPECT_EQ(List().status.code, 401);
  EXPECT_EQ(server_->requests().size(), 1u);  // the same token again would not help
  folder.Write("token", "t2\n");
  EXPECT_TRUE(List().status.ok());
  EXPECT_EQ(server_->requests().size(), 3u);
  EXPECT_TRUE(List().status.ok());
  EXPECT_EQ(server_->requests().size(), 4u);
}

TEST_F(LiveClusterTest, ATokenThatIsNotThereAnyMoreIsWarnedOfOnce) {
  const net::TestFolder folder;
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest&) -> FakeReply {
    return {200, ListJson("PodList", "9", {}), ""};
  });
  Kubeconfig config = server_->config();
  config.token_file = folder.Write("token", "t1\n");
  options_.token_look_every = Duration{0};
  Connect(config);
  EXPECT_TRUE(List().status.ok());
  EXPECT_THAT(warnings_, IsEmpty());
  folder.Write("token", "");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(List().status.ok());
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("token file " + folder.Path("token") + ": there is no token in it")));
  EXPECT_TRUE(server_->requests().back().Has("Authorization: Bearer t1\r\n"));
}

TEST_F(LiveClusterTest, EveryRequestSaysWhoIsImpersonated) {
  server_ = std::make_unique<FakeApiServer>([](const FakeRequest&) -> FakeReply {
    return {200, ListJson("PodList", "9", {}), ""};
  });
  Kubeconfig config = server_->config();
  config.impersonate = {.user = "admin", .groups = {"g"}};
  Connect(config);
  EXPECT_TRUE(List().status.ok());
  const auto watch = api_->StartWatch(Kind::kPod, "9", {[](const WatchEvent&) {}, [](const ApiStatus&) {}});
  for (const FakeRequest& request : {server_->requests().back(), server_->WaitForWatch(0)->request()}) {
    EXPECT_TRUE(request.Has("Impersonate-User: admin\r\n")) << request.head;
    EXPECT_TRUE(request.Has("Impersonate-Group: g\r\n")) << request.head;
  }
}

TEST_F(LiveClusterTest, RequestsOtherThanWatchesAreLimited) {
  options_.qps = 1e-6;
  options_.burst = 2;
  Serve([](const FakeRequest& request) -> FakeReply {
    return {200, request.method == "GET" ? ListJson("PodList", "9", {}) : "{}", ""};
  });
  List();
  List();
  int answered = 0;
  api_->Bind(kPod, "n1", [&](const ApiStatus&) { ++answered; });
  const auto watch = api_->StartWatch(Kind::kPod, "9", {[](const WatchEvent&) {}, [](const ApiStatus&) {}});
  EXPECT_NE(server_->WaitForWatch(0), nullptr);
  api_->PostEvent({kPod, "Normal", "r", "a", "n", "", "c", Time{}}, nullptr);  // events have their own limit
  bool leased = false;
  api_->GetLease("ns", "l", [&](const ApiStatus&, const Lease&) { leased = true; });
  Until([&] { return leased && server_->requests().size() == 4; });
  EXPECT_EQ(answered, 0);
  for (const FakeRequest& request : server_->requests()) EXPECT_FALSE(request.Has("/binding"));
}

TEST_F(LiveClusterTest, NothingIsAnsweredAfterTheEnd) {
  Serve([](const FakeRequest&) -> FakeReply { return {200, ListJson("PodList", "9", {}), ""}; });
  bool called = false;
  api_->List(Kind::kPod, [&](const ListAnswer&) { called = true; });
  auto watch = api_->StartWatch(Kind::kPod, "9",
                                {[&](const WatchEvent&) { called = true; }, [&](const ApiStatus&) { called = true; }});
  server_->WaitForWatch(0)->Event("ADDED", PodJson("a", 10));
  called = false;  // the list may have been answered by now
  ASSERT_TRUE(inbox_.WaitFor(std::chrono::seconds(20)));
  api_ = nullptr;
  inbox_.Drain();
  EXPECT_FALSE(called);
  watch = nullptr;  // later than the door
}

TEST(LiveClusterTlsTest, AClientCertificateOutOfAKubeconfigOpensTheDoor) {
  const net::TestFolder folder;
  const net::TestIdentity ca = net::MakeIdentity("ca");
  const net::TestIdentity server = net::MakeIdentity("server", "DNS:kubernetes", &ca);
  const net::TestIdentity me = net::MakeIdentity("berth", "", &ca);
  net::TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", server.certificate_pem);
  tls.key_file = folder.Write("server.key", server.key_pem);
  tls.client_ca_file = folder.Write("ca.crt", ca.certificate_pem);
  net::ServerOptions options;
  options.tls = &tls;
  auto http = net::HttpServer::Start(options, [](net::HttpRequest request, const net::Respond& respond) {
    net::HttpResponse response;
    response.body = ListJson("PodList", "9", {PodJson(request.client_name, 3)});
    respond(std::move(response));
  });
  ASSERT_TRUE(http.ok()) << http.error().text();
  const auto list = [&](const std::string& cluster, const std::string& user) {
    const std::string text =
        "current-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n"
        "clusters: [{name: x, cluster: {server: 'https://127.0.0.1:" +
        std::to_string(http.value()->port()) + "', certificate-authority: ca.crt" + cluster +
        "}}]\nusers: [{name: x, user: {" + user + "}}]\n";
    const Result<Kubeconfig> config = LoadKubeconfig(folder.Write("config", text));
    EXPECT_TRUE(config.ok()) << config.error().text();
    util::Inbox inbox;
    const util::VirtualClock clock{Time{}};
    auto api = LiveCluster::Connect(*config, inbox, clock);
    EXPECT_TRUE(api.ok()) << api.error().text();
    std::string said;
    api.value()->List(Kind::kPod, [&](const ListAnswer& answer) {
      said = answer.status.ok() ? MetaOf(answer.objects.at(0)).name : answer.status.message;
    });
    while (said.empty() && inbox.WaitFor(std::chrono::seconds(20))) inbox.Drain();
    return said;
  };
  const std::string identity =
      "client-certificate-data: " + EncodeBase64(me.certificate_pem) + ", client-key-data: " + EncodeBase64(me.key_pem);
  EXPECT_EQ(list(", tls-server-name: kubernetes", identity), "berth");
  EXPECT_THAT(list("", identity), HasSubstr("TLS handshake"));  // the certificate is not for 127.0.0.1
  EXPECT_THAT(list(", tls-server-name: kubernetes", ""), HasSubstr("https://127.0.0.1"));
}

TEST(LiveClusterTlsTest, CertificatesThatCannotBeUsedAnyMoreAreWarnedOf) {
  const net::TestFolder folder;
  const net::TestIdentity server = net::MakeIdentity("server", "IP:127.0.0.1");
  net::TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", server.certificate_pem);
  tls.key_file = folder.Write("server.key", server.key_pem);
  net::ServerOptions serving;
  serving.tls = &tls;
  auto http = net::HttpServer::Start(serving, [](const net::HttpRequest&, const net::Respond& respond) {
    net::HttpResponse response;
    response.body = ListJson("PodList", "9", {});
    respond(std::move(response));
  });
  ASSERT_TRUE(http.ok()) << http.error().text();
  Kubeconfig config;
  config.server = "https://127.0.0.1:" + std::to_string(http.value()->port());
  config.tls.ca_file = folder.Write("ca.crt", server.certificate_pem);
  config.tls.look_every = Duration{0};
  util::Inbox inbox;
  const util::VirtualClock clock{Time{}};
  std::vector<std::string> warnings;
  LiveOptions options;
  options.warning = [&](const std::string& sentence) { warnings.push_back(sentence); };
  auto api = LiveCluster::Connect(config, inbox, clock, options);
  ASSERT_TRUE(api.ok()) << api.error().text();
  folder.Write("ca.crt", "nothing");
  bool listed = false;
  api.value()->List(Kind::kPod, [&](const ListAnswer& answer) { listed = answer.status.ok(); });
  while ((!listed || warnings.empty()) && inbox.WaitFor(std::chrono::seconds(20))) inbox.Drain();
  EXPECT_TRUE(listed);  // with what was believed before
  EXPECT_THAT(warnings, ElementsAre(HasSubstr(folder.Path("ca.crt"))));
}

}  // namespace
}  // namespace berth::client
