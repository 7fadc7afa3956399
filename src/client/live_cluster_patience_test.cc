// SPDX-License-Identifier: Apache-2.0
// Whose answers may be left unread while pods arrive in a stream, and whose are read whatever the patience is.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "client/live_cluster_test_util.h"
#include "net/tls_test_util.h"

namespace berth::client {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::hours kPatience{1};

// Everything a scheduler asks for, but for leases, which no scheduling thread reads.
struct Question {
  std::string name;
  std::function<void(LiveCluster&, Answer)> ask;
};

std::vector<Question> PatientQuestions() {
  EventRecord event;
  event.regarding = kPod;
  event.reporting_controller = "s";
  event.name = "e";
  event.series = EventSeries{2, Time{}};
  return {
      {"binding", [](LiveCluster& api, Answer done) { api.Bind(kPod, "n1", std::move(done)); }},
      {"event", [event](LiveCluster& api, Answer done) { api.PostEvent(event, std::move(done)); }},
      {"event's series", [event](LiveCluster& api, Answer done) { api.PatchEvent(event, std::move(done)); }},
  };
}

std::vector<Question> HastyQuestions() {
  const PodCondition unschedulable{"PodScheduled", "False", "Unschedulable", "no"};
  const PodCondition victim{"DisruptionTarget", "True", "PreemptionByScheduler", "go"};
  const auto no_version = [](Answer done) {
    return [done = std::move(done)](const ApiStatus& status, const std::string&) { done(status); };
  };
  return {
      {"status",
       [=](LiveCluster& api, Answer done) {
         api.PatchPodStatus({kPod, unschedulable, {}}, std::move(done));
       }},
      {"nomination",
       [](LiveCluster& api, Answer done) {
         api.PatchPodStatus({kPod, {}, "n1"}, std::move(done));
       }},
      {"victim's condition",
       [=](LiveCluster& api, Answer done) {
         api.PatchPodStatus({kPod, victim, {}}, std::move(done));
       }},
      {"victim's deletion", [](LiveCluster& api, Answer done) { api.DeletePod(kPod, std::move(done)); }},
      {"pod",
       [](LiveCluster& api, Answer done) {
         api.GetPod("ns", "a", [done = std::move(done)](const ApiStatus& status, const Ptr<Pod>&) { done(status); });
       }},
      {"volume",
       [=](LiveCluster& api, Answer done) {
         api.PatchVolume({"disk", "7", {"ns", "data", "u"}, "5", true}, no_version(std::move(done)));
       }},
      {"claim",
       [=](LiveCluster& api, Answer done) {
         api.PatchClaim({"ns", "data", "5", "n1"}, no_version(std::move(done)));
       }},
      {"list",
       [](LiveCluster& api, Answer done) {
         api.List(Kind::kPod, [done = std::move(done)](const ListAnswer& answer) { done(answer.status); });
       }},
  };
}

// The door tells in either case, so any answer will do.
FakeReply AnyAnswer(const FakeRequest&) { return {200, SuccessJson(), ""}; }

class LivePatienceTest : public LiveClusterTest {
 protected:
  LivePatienceTest() { options_.on_inbox_thread = true; }
  ~LivePatienceTest() override { Leave(); }
  // The server goes before what its threads look at.
  void Leave() {
    may_answer_ = true;
    api_ = nullptr;
    server_ = nullptr;
  }

  // The server holds back its answer to request number `last` until may_answer_: if an earlier turn could read it, the
  // test would say nothing about patience.
  void ServeHolding(int last, FakeApiServer::Answer answer, const std::string& token_file = "") {
    Leave();
    asked_ = 0;
    may_answer_ = false;
    last_ = last;
    server_ = std::make_unique<FakeApiServer>([this, last, answer = std::move(answer)](const FakeRequest& request) {
      FakeReply reply = answer(request);
      if (++asked_ != last) return reply;
      const auto end = steady_clock::now() + std::chrono::seconds(60);
      while (!may_answer_ && steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return reply;
    });
    Kubeconfig config = server_->config();
    config.token_file = token_file;
    Connect(config);
  }
  // Sends it, goes on without patience until the server has the last request, and lets its answer go.
  void Send(const Question& question) {
    answered_ = false;
    question.ask(*api_, [this](const ApiStatus&) { answered_ = true; });
    Until([this] { return asked_ == last_; });
    EXPECT_FALSE(answered_);
    may_answer_ = true;
  }
  // Waits as a scheduler does that has more patience than any test.
  bool IsReadAllTheSame() {
    const auto end = steady_clock::now() + std::chrono::seconds(20);
    while (!answered_ && steady_clock::now() < end)
      if (inbox_.WaitFor(std::chrono::milliseconds(100), kPatience)) inbox_.Drain();
    return answered_;
  }

  int last_ = 0;
  bool answered_ = false;
  std::atomic<int> asked_ = 0;
  std::atomic<bool> may_answer_ = false;
};

TEST_F(LivePatienceTest, BindingsAndEventsAreLeftUnreadAsLongAsNewsIs) {
  for (const Question& question : PatientQuestions()) {
    SCOPED_TRACE(question.name);
    ServeHolding(1, AnyAnswer);
    Send(question);
    EXPECT_FALSE(inbox_.WaitFor(std::chrono::milliseconds(50), kPatience));
    EXPECT_FALSE(answered_);
    Until([&] { return answered_; });
  }
}

TEST_F(LivePatienceTest, WhatSomebodyWaitsForIsRead) {
  for (const Question& question : HastyQuestions()) {
    SCOPED_TRACE(question.name);
    ServeHolding(1, AnyAnswer);
    Send(question);
    ASSERT_TRUE(IsReadAllTheSame());
  }
}

// An event that was not found asks for the API, and is not written anywhere before it knows.
TEST_F(LivePatienceTest, WhetherTheServerHasEventsIsRead) {
  ServeHolding(2, [](const FakeRequest& request) -> FakeReply {
    return request.method == "POST" ? FakeReply{404, "", ""} : FakeReply{200, "{}", ""};
  });
  Send(PatientQuestions()[1]);
  EXPECT_TRUE(IsReadAllTheSame());
}

TEST_F(LivePatienceTest, WhatTheServerHasPutOffIsRead) {
  for (const Question& question : PatientQuestions()) {
    SCOPED_TRACE(question.name);
    ServeHolding(2, [this](const FakeRequest& request) -> FakeReply {
      return asked_ == 0 ? FakeReply{429, "later", "Retry-After: 0\r\n"} : AnyAnswer(request);
    });
    Send(question);
    ASSERT_TRUE(IsReadAllTheSame());
  }
}

TEST_F(LivePatienceTest, WhatIsSentAgainWithAnotherTokenIsRead) {
  for (const Question& question : PatientQuestions()) {
    SCOPED_TRACE(question.name);
    const net::TestFolder folder;
    const auto refuse_old = [&](const FakeRequest& request) -> FakeReply {
      if (request.Has("Authorization: Bearer new\r\n")) return AnyAnswer(request);
      folder.Write("token", "new\n");
      return {401, StatusJson(401, "Unauthorized"), ""};
    };
    ServeHolding(2, refuse_old, folder.Write("token", "old\n"));
    Send(question);
    ASSERT_TRUE(IsReadAllTheSame());
    Leave();  // before the folder goes
  }
}

}  // namespace
}  // namespace berth::client
