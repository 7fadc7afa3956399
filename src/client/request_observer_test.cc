// SPDX-License-Identifier: Apache-2.0
// The observer of requests is told of every try, of the waiting and of the end.
#include "client/request_observer.h"

#include <gmock/gmock.h>

#include <mutex>
#include <thread>

#include "client/live_cluster_test_util.h"

namespace berth::client {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

class RequestLines final : public RequestObserver {
 public:
  void Paced(const PacedRequest& request) override {
    EXPECT_GE(request.seconds, 0);
    EXPECT_EQ(request.server, "http://" + request.host);
    Add("paced " + request.method + " " + request.path);
  }
  void Tried(const std::string& host, const std::string& method, int code, size_t bytes, bool repeated) override {
    const std::lock_guard lock(mutex_);
    host_ = host;
    lines_.push_back("tried " + method + " " + std::to_string(code) + (bytes > 0 ? " with a body" : "") +
                     (repeated ? " again" : ""));
  }
  void Finished(const std::string&, const std::string& method, double seconds, size_t bytes) override {
    EXPECT_GE(seconds, 0);
    Add("finished " + method + (bytes > 0 ? " with a body" : ""));
  }
  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::string host() const {
    const std::lock_guard lock(mutex_);
    return host_;
  }

 private:
  void Add(std::string line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::string host_;
};

class RequestObserverTest : public LiveClusterTest {
 protected:
  RequestObserverTest() { options_.observer = &seen_; }
  ~RequestObserverTest() override { api_ = nullptr; }
  RequestLines seen_;
};

TEST_F(RequestObserverTest, ARequestIsToldOfWithAllItsTries) {
  int count = 0;
  Serve([&](const FakeRequest&) -> FakeReply {
    if (++count == 1) return {429, "later", "Retry-After: 0\r\n"};
    return {201, SuccessJson(), ""};
  });
  EXPECT_EQ(Ask([&](Answer done) { api_->Bind(kPod, "n1", std::move(done)); }).code, 201);
  EXPECT_THAT(seen_.lines(),
              ElementsAre("paced POST /api/v1/namespaces/ns/pods/a/binding", "tried POST 429 with a body",
                          "tried POST 201 with a body again", "finished POST with a body"));
  EXPECT_EQ("http://" + seen_.host(), server_->config().server);
}

TEST_F(RequestObserverTest, WithoutAnAnswerTheCodeIsNone) {
  Kubeconfig config;
  {
    const FakeApiServer gone([](const FakeRequest&) -> FakeReply { return {}; });
    config = gone.config();
  }
  Connect(config);
  EXPECT_EQ(Ask([&](Answer done) { api_->Bind(kPod, "n1", std::move(done)); }).code, 0);
  EXPECT_THAT(seen_.lines(), ElementsAre("paced POST /api/v1/namespaces/ns/pods/a/binding", "tried POST 0 with a body",
                                         "finished POST"));
}

TEST_F(RequestObserverTest, WatchesCountWhenTheyAreOpened) {
  Serve([&](const FakeRequest&) -> FakeReply { return {410, StatusJson(410, "gone"), ""}; });
  bool closed = false;
  WatchCallbacks callbacks;
  callbacks.event = [](const WatchEvent&) {};
  callbacks.closed = [&](const ApiStatus&) { closed = true; };
  const std::unique_ptr<Watch> watch = api_->StartWatch(Kind::kPod, "1", std::move(callbacks));
  Until([&] { return closed || !seen_.lines().empty(); });
  EXPECT_THAT(seen_.lines(), Contains(::testing::StartsWith("tried GET ")));
  EXPECT_THAT(seen_.lines(), ::testing::Not(Contains(::testing::StartsWith("finished"))));
}

}  // namespace
}  // namespace berth::client
