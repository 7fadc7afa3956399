// SPDX-License-Identifier: Apache-2.0
// Requests that are not worth sending for ever, and connections that are not worth keeping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "client/live_cluster_test_util.h"
#include "client/pod_binder.h"

namespace berth::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class LiveRequestsTest : public LiveClusterTest {
 protected:
  ApiStatus BindWithin(Duration within) {
    return Ask([&](Answer done) { api_->BindBy(util::After(within), kPod, "n1", std::move(done)); });
  }
};

TEST_F(LiveRequestsTest, ABindingWhoseTimeIsOverIsNotSent) {
  Serve([](const FakeRequest&) -> FakeReply { return {201, SuccessJson(), ""}; });
  const ApiStatus status = BindWithin(Duration{1});
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(status.unsent());
  EXPECT_FALSE(status.uncertain()) << "nothing has to be looked up";
  EXPECT_EQ(BindWithin(Duration::Seconds(600)).code, 201);
  EXPECT_EQ(server_->requests().size(), 1u);
}

TEST_F(LiveRequestsTest, ABindingThatWouldWaitForItsTurnTooLongIsNotSentAndSaysSoAtOnce) {
  options_.qps = 1e-6;
  options_.burst = 2;
  Serve([](const FakeRequest&) -> FakeReply { return {201, SuccessJson(), ""}; });
  EXPECT_EQ(BindWithin(Duration::Seconds(600)).code, 201);
  EXPECT_EQ(BindWithin(Duration::Seconds(600)).code, 201);
  const ApiStatus status = BindWithin(Duration::Seconds(600));
  EXPECT_TRUE(status.unsent());
  EXPECT_THAT(status.message, HasSubstr("too many requests wait"));
  bool got = false;
  api_->GetPodBy(util::After(Duration::Seconds(600)), "ns", "a", [&](const ApiStatus& answer, const Ptr<Pod>&) {
    got = true;
    EXPECT_TRUE(answer.unsent());
  });
  Until([&] { return got; });
  EXPECT_EQ(server_->requests().size(), 2u);
}

TEST_F(LiveRequestsTest, ABindingThatTheServerPutsOffForTooLongHasItsAnswer) {
  FakeReply reply{429, "later", "Retry-After: 100\r\n"};
  Serve([&](const FakeRequest&) { return reply; });
  const ApiStatus status = BindWithin(Duration::Seconds(50));
  EXPECT_EQ(status.code, 429);
  EXPECT_EQ(status.message, "later");
  EXPECT_EQ(server_->requests().size(), 1u);
}

TEST_F(LiveRequestsTest, AConnectionOnWhichWeAreNobodyIsNotUsedAgain) {
  FakeReply reply{401, StatusJson(401, "Unauthorized"), ""};
  Serve([&](const FakeRequest&) { return reply; });
  EXPECT_EQ(BindWithin(Duration{}).code, 401);
  EXPECT_EQ(BindWithin(Duration{}).code, 401);
  EXPECT_EQ(server_->connections(), 2u);
  reply = {201, SuccessJson(), ""};
  EXPECT_EQ(BindWithin(Duration{}).code, 201);
  EXPECT_EQ(BindWithin(Duration{}).code, 201);
  EXPECT_EQ(server_->connections(), 3u);
}

TEST_F(LiveRequestsTest, ABindingIsBelievedWhenTheAnswerIsASuccess) {
  FakeReply reply;
  Serve([&](const FakeRequest&) { return reply; });
  const std::string binding = R"({"kind":"Binding","metadata":{"name":"a","namespace":"ns"},"target":{"name":"n1"}})";
  for (const std::string& body : {SuccessJson(), PodJson("a", 3), binding}) {
    reply = {201, body, ""};
    EXPECT_TRUE(BindWithin(Duration::Seconds(600)).ok()) << body;
    (void)server_->requests();  // its thread has read `reply` by now
  }
  const std::vector<std::pair<FakeReply, std::string>> others = {
      {{200, "<html>please log in</html>", ""}, "answered 200, but not with what was asked for: malformed JSON"},
      {{204, "", ""}, "answered 204, but not with what was asked for: the answer is empty"},
      {{201, StatusJson(409, "already assigned"), ""}, "status: \"Failure\": must be Success: already assigned"},
      {{200, R"({"kind":"Status"})", ""}, "status: \"\": must be Success"},
      {{200, "{}", ""}, "kind: \"\": must be Status or Binding or Pod"},
      {{200, "[]", ""}, "must be a JSON object"},
      {{200, R"({"kind":"Node","metadata":{"name":"a"}})", ""}, "kind: \"Node\": must be Status or Binding or Pod"},
      {{201, PodJson("b", 3), ""}, "it is Pod \"ns/b\", not ns/a"},
      {{201, PodJson("a", 3, "other"), ""}, "it is a pod of uid \"other\", not u"},
  };
  for (const auto& [answer, problem] : others) {
    reply = answer;
    const ApiStatus status = BindWithin(Duration::Seconds(600));
    EXPECT_TRUE(status.uncertain()) << answer.body;
    EXPECT_THAT(status.message, HasSubstr(problem)) << answer.body;
    (void)server_->requests();
  }
}

TEST_F(LiveRequestsTest, ABindingWithoutASuccessIsLookedUp) {
  std::string node;
  Serve([&](const FakeRequest& request) -> FakeReply {
    if (request.method == "POST") return {204, "", ""};
    std::string pod = PodJson("a", 3);
    if (!node.empty()) pod.insert(pod.find("\"containers\""), "\"nodeName\":\"" + node + "\",");
    return {200, pod, ""};
  });
  PodBinder binder(*api_);
  const auto bind = [&] {
    std::optional<Verdict> said;
    binder.Bind(kPod, "n1", util::After(Duration::Seconds(600)), [&](Verdict verdict) { said = std::move(verdict); });
    Until([&] { return said.has_value(); });
    (void)server_->requests();  // its thread has read `node` by now
    return said->fits() ? "bound" : said->message();
  };
  EXPECT_THAT(bind(), HasSubstr("answered 204"));
  node = "n1";
  EXPECT_EQ(bind(), "bound");
  node = "n2";
  EXPECT_THAT(bind(), HasSubstr("already assigned to node \"n2\""));
  EXPECT_EQ(server_->requests().size(), 6u);
}

TEST_F(LiveRequestsTest, VolumesAndClaimsArePatchedAndTheirNewVersionTold) {
  FakeReply reply;
  Serve([&](const FakeRequest&) { return reply; });
  std::string version;
  const auto volume = [&] {
    return Ask([&](const Answer& done) {
      api_->PatchVolume({"disk", "7", {"ns", "data", "u"}, "5", true},
                        [&version, done](const ApiStatus& status, const std::string& now) {
                          version = now;
                          done(status);
                        });
    });
  };
  reply.body = R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"disk","resourceVersion":"9"}})";
  EXPECT_TRUE(volume().ok());
  EXPECT_EQ(version, "9");
  reply.body = R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"other","resourceVersion":"9"}})";
  EXPECT_TRUE(volume().uncertain());
  reply.status = 409;
  reply.body = R"({"kind":"Status","message":"the object has been modified"})";
  EXPECT_TRUE(volume().conflict());
  reply = {};
  reply.body = R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"data","namespace":"ns",)"
               R"("resourceVersion":"11"}})";
  EXPECT_TRUE(Ask([&](const Answer& done) {
                api_->PatchClaim({"ns", "data", "5", "n1"},
                                 [&version, done](const ApiStatus& status, const std::string& now) {
                                   version = now;
                                   done(status);
                                 });
              }).ok());
  EXPECT_EQ(version, "11");
  const auto requests = server_->requests();
  ASSERT_EQ(requests.size(), 4u);
  EXPECT_EQ(requests[0].method, "PATCH");
  EXPECT_EQ(requests[0].target, "/api/v1/persistentvolumes/disk");
  EXPECT_EQ(requests[3].target, "/api/v1/namespaces/ns/persistentvolumeclaims/data");
}

TEST_F(LiveRequestsTest, OtherWritesAreBelievedWhenTheAnswerIsWhatWasAskedFor) {
  FakeReply reply;
  Serve([&](const FakeRequest&) { return reply; });
  const auto patch = [&] { return Ask([&](Answer done) { api_->PatchPodStatus({kPod, {}, "n1"}, std::move(done)); }); };
  const auto erase = [&] { return Ask([&](Answer done) { api_->DeletePod(kPod, std::move(done)); }); };
  Lease mine;
  mine.namespace_ = "ns";
  mine.name = "l";
  mine.holder = "me";
  const auto put = [&] {
    return Ask([&](const Answer& done) {
      api_->PutLease(mine, [done](const ApiStatus& status, const Lease&) { done(status); });
    });
  };
  const auto get = [&] {
    return Ask([&](const Answer& done) {
      api_->GetLease("ns", "l", [done](const ApiStatus& status, const Lease&) { done(status); });
    });
  };
  const auto pod = [&] {
    return Ask([&](const Answer& done) {
      api_->GetPod("ns", "a", [done](const ApiStatus& status, const Ptr<Pod>&) { done(status); });
    });
  };
  const auto lease = [](const char* name, const char* holder, const char* version = "7") {
    return R"({"kind":"Lease","metadata":{"name":")" + std::string(name) + R"(","namespace":"ns","resourceVersion":")" +
           version + R"("},"spec":{"holderIdentity":")" + holder + "\"}}";
  };
  struct Case {
    std::string body;
    std::string believed;  // by whom: patch, delete, put, get, pod
  };
  for (const auto& [body, believed] : std::vector<Case>{{PodJson("a", 3), "patch delete pod"},
                                                        {SuccessJson(), "delete"},
                                                        {PodJson("a", 3, "other"), "pod"},
                                                        {PodJson("b", 3), ""},
                                                        {StatusJson(500, "tired"), ""},
                                                        {"<html>", ""},
                                                        {"", ""},
                                                        {"{}", ""},
                                                        {lease("l", "me"), "put get"},
                                                        {lease("l", "you"), "get"},
                                                        {lease("l", "me", ""), ""},
                                                        {lease("m", "me"), ""}}) {
    reply = {200, body, ""};
    std::string found;
    for (const auto& [name, status] : {std::pair("patch", patch()), std::pair("delete", erase()),
                                       std::pair("put", put()), std::pair("get", get()), std::pair("pod", pod())}) {
      EXPECT_TRUE(status.ok() || status.uncertain());
      if (status.ok()) found += (found.empty() ? "" : " ") + std::string(name);
    }
    std::string sorted;  // in the order they were asked
    for (const char* name : {"patch", "delete", "put", "get", "pod"})
      if (believed.find(name) != std::string::npos) sorted += (sorted.empty() ? "" : " ") + std::string(name);
    EXPECT_EQ(found, sorted) << body;
    (void)server_->requests();  // its thread has read `reply` by now
  }
}

TEST_F(LiveRequestsTest, AnEventWithoutASuccessIsLost) {
  Serve([](const FakeRequest&) -> FakeReply { return {200, "<html>", ""}; });
  EventRecord event;
  event.regarding = kPod;
  event.reporting_controller = "s";
  api_->PostEvent(event, nullptr);
  Until([&] { return !warnings_.empty(); });
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("event of Pod ns/a is lost")));
}

TEST_F(LiveRequestsTest, WhatAPodWaitsForGoesBeforeStatuses) {
  PodStatusPatch status{kPod, PodCondition{"PodScheduled", "False", "Unschedulable", "no"}, {}};
  PodStatusPatch victim{kPod, PodCondition{"DisruptionTarget", "True", "PreemptionByScheduler", "go"}, {}};
  const Answer nobody = [](const ApiStatus&) {};
  struct Case {
    std::string name;
    std::function<void()> ask;
    bool waits_before;  // a binding that comes later
  };
  const std::vector<Case> cases = {
      {"status", [&] { api_->PatchPodStatus(status, nobody); }, false},
      {"event",
       [&] {
         api_->PostEvent({kPod, "Normal", "r", "a", "n", "", "c", Time{}}, nobody);
       },
       false},
      {"binding", [&] { api_->Bind(kPod, "n1", nobody); }, true},
      {"victim's condition", [&] { api_->PatchPodStatus(victim, nobody); }, true},
      {"victim's deletion", [&] { api_->DeletePod(kPod, nobody); }, true},
  };
  options_.qps = 1e-3;  // the next turns are 1000 s and 2000 s away
  options_.burst = 1;
  for (const Case& c : cases) {
    Serve([](const FakeRequest&) -> FakeReply { return {201, SuccessJson(), ""}; });
    EXPECT_EQ(BindWithin(Duration::Seconds(1500)).code, 201);
    c.ask();
    std::vector<std::string> unsent;
    for (const char* name : {"first", "second"}) {
      api_->BindBy(util::After(Duration::Seconds(1500)), kPod, "n1", [&unsent, name](const ApiStatus& answer) {
        EXPECT_TRUE(answer.unsent());
        unsent.emplace_back(name);
      });
    }
    // There is one turn in time: for the first, unless the other goes before it.
    Until([&] { return !unsent.empty() && unsent.back() == "second"; });
    EXPECT_EQ(unsent.size(), c.waits_before ? 2u : 1u) << c.name;
  }
}

class LiveEventsTest : public LiveRequestsTest {
 protected:
  LiveEventsTest() {
    event_.regarding = kPod;
    event_.reporting_controller = "s";
    event_.name = "e";
    event_.series = EventSeries{2, Time{}};
  }
  ApiStatus Post() {
    return Ask([&](Answer done) { api_->PostEvent(event_, std::move(done)); });
  }
  ApiStatus Patch() {
    return Ask([&](Answer done) { api_->PatchEvent(event_, std::move(done)); });
  }
  // What was asked since the last look.
  std::vector<std::string> Asked() {
    std::vector<std::string> lines;
    const std::vector<FakeRequest> all = server_->requests();
    for (; seen_ < all.size(); ++seen_) lines.push_back(all[seen_].method + " " + all[seen_].target);
    return lines;
  }
  static FakeReply Taken() { return {201, R"({"kind":"Event","metadata":{"name":"e","namespace":"ns"}})", ""}; }

  EventRecord event_;
  size_t seen_ = 0;
};

constexpr char kEvents[] = "/apis/events.k8s.io/v1/namespaces/ns/events";
constexpr char kCoreEvents[] = "/api/v1/namespaces/ns/events";

TEST_F(LiveEventsTest, AreWrittenAndPatchedAndAnswered) {
  Serve([](const FakeRequest&) { return Taken(); });
  EXPECT_TRUE(Post().ok());
  EXPECT_TRUE(Patch().ok());
  EXPECT_THAT(Asked(), ElementsAre("POST " + std::string(kEvents), "PATCH " + std::string(kEvents) + "/e"));
  const FakeRequest patch = server_->requests().back();
  EXPECT_EQ(patch.body, R"({"series":{"count":2,"lastObservedTime":"1970-01-01T00:00:00.000000Z"}})");
  EXPECT_TRUE(patch.Has("Content-Type: application/strategic-merge-patch+json\r\n"));
  EXPECT_THAT(warnings_, ::testing::IsEmpty());
}

TEST_F(LiveEventsTest, GoToCoreWhenTheServerHasNothingElse) {
  Serve([](const FakeRequest& request) -> FakeReply {
    if (request.target.starts_with("/apis/")) return {404, "404 page not found\n", ""};
    return Taken();
  });
  EXPECT_TRUE(Post().ok());
  EXPECT_THAT(Asked(), ElementsAre("POST " + std::string(kEvents), "GET /apis/events.k8s.io/v1",
                                   "POST " + std::string(kCoreEvents)));
  EXPECT_THAT(server_->requests().back().body, HasSubstr(R"("involvedObject":{"kind":"Pod")"));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("no events.k8s.io/v1")));
  EXPECT_TRUE(Post().ok());
  EXPECT_TRUE(Patch().ok());
  EXPECT_THAT(Asked(), ElementsAre("POST " + std::string(kCoreEvents), "PATCH " + std::string(kCoreEvents) + "/e"));
  EXPECT_THAT(server_->requests().back().body, HasSubstr(R"({"count":2,"lastTimestamp":)"));
}

TEST_F(LiveEventsTest, StayWhereTheyAreForAnyOtherReason) {
  FakeReply post, discovery;
  Serve([&](const FakeRequest& request) { return request.method == "POST" ? post : discovery; });
  struct Case {
    FakeReply post, discovery;
    int code;
  };
  // A namespace that is gone; a server that is not up yet; nobody there.
  for (const Case& c :
       std::vector<Case>{{{404, StatusJson(404, "namespaces \"ns\" not found"), ""}, {200, "{}", ""}, 404},
                         {{404, "", ""}, {503, "", ""}, 0},
                         {{404, "", ""}, {403, "", ""}, 0},
                         {{404, "", ""}, {0, "", ""}, 0},
                         {{500, "", ""}, {404, "", ""}, 500},
                         {{0, "", ""}, {404, "", ""}, 0}}) {
    post = c.post;
    discovery = c.discovery;
    EXPECT_EQ(Post().code, c.code);
    (void)Asked();
  }
  post = Taken();
  EXPECT_TRUE(Post().ok());
  EXPECT_THAT(Asked(), ElementsAre("POST " + std::string(kEvents)));
  // One that is gone says nothing of the API.
  discovery = {404, "", ""};
  EXPECT_EQ(Patch().code, 404);
  EXPECT_THAT(Asked(), ElementsAre("PATCH " + std::string(kEvents) + "/e"));
}

TEST_F(LiveEventsTest, OfALeaseAreAlwaysCoreOnes) {
  Serve([](const FakeRequest&) { return Taken(); });
  event_.legacy = true;
  event_.kind = "Lease";
  EXPECT_TRUE(Post().ok());
  EXPECT_THAT(Asked(), ElementsAre("POST " + std::string(kCoreEvents)));
}

TEST_F(LiveRequestsTest, AfterTheEndOfPodWritesNothingIsWrittenToPods) {
  Serve([](const FakeRequest&) -> FakeReply {
    return {200, R"({"kind":"Event","metadata":{"name":"e","namespace":"ns"}})", ""};
  });
  api_->EndPodWrites();
  EXPECT_TRUE(BindWithin(Duration::Seconds(600)).unsent());
  EXPECT_TRUE(Ask([&](Answer done) { api_->PatchPodStatus({kPod, {}, "n1"}, std::move(done)); }).unsent());
  EXPECT_TRUE(Ask([&](Answer done) { api_->DeletePod(kPod, std::move(done)); }).unsent());
  EXPECT_EQ(server_->requests().size(), 0u);
  EventRecord event;
  event.regarding = kPod;
  event.name = "e";
  EXPECT_TRUE(Ask([&](Answer done) { api_->PostEvent(event, std::move(done)); }).ok());
}

TEST_F(LiveRequestsTest, APodIsNotWaitedForLongerThanItIsWanted) {
  std::atomic<bool> over = false;
  Serve([&](const FakeRequest&) -> FakeReply {
    while (!over) std::this_thread::yield();
    return {200, PodJson("a", 3), ""};
  });
  const ApiStatus status = Ask([&](const Answer& done) {
    api_->GetPodBy(util::After(Duration::Millis(50)), "ns", "a",
                   [done](const ApiStatus& got, const Ptr<Pod>&) { done(got); });
  });
  EXPECT_EQ(status.code, 0);
  EXPECT_THAT(status.message, HasSubstr("timed out"));
  over = true;
  server_ = nullptr;  // before what its thread looks at
}

}  // namespace
}  // namespace berth::client
