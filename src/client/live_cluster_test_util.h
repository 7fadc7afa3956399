// SPDX-License-Identifier: Apache-2.0
// A door to a fake API server, and time that passes when the test wants it to.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/fake_api_server_test_util.h"
#include "client/live_cluster.h"
#include "util/inbox.h"
#include "util/timer_queue.h"
#include "util/virtual_clock.h"

namespace berth::client {

inline const ObjectName kPod{"ns", "a", "u"};

// What most tests look at is readable. All of them hold on the inbox's thread, too (CMakeLists.txt runs them twice).
inline LiveOptions JsonBodies() {
  LiveOptions options;
  options.on_inbox_thread = std::getenv("BERTH_TEST_ON_INBOX_THREAD") != nullptr;
  options.encodings.bodies = Encoding::kJson;
  return options;
}

class LiveClusterTest : public ::testing::Test {
 protected:
  // A server that answers so, and the door to it. The last member to go is the server.
  void Serve(FakeApiServer::Answer answer) {
    api_ = nullptr;
    server_ = std::make_unique<FakeApiServer>(std::move(answer));
    Connect(server_->config());
  }
  void Connect(const Kubeconfig& config) {
    if (options_.on_inbox_thread && server_ != nullptr)
      server_->set_meanwhile([this] {
        if (inbox_.WaitFor(std::chrono::milliseconds(1))) inbox_.Drain();
      });
    options_.random = [] { return uint64_t{42}; };
    options_.warning = [this](const std::string& sentence) { warnings_.push_back(sentence); };
    Result<std::unique_ptr<LiveCluster>> api = LiveCluster::Connect(config, inbox_, clock_, options_);
    ASSERT_TRUE(api.ok()) << api.error().text();
    api_ = std::move(api).value();
  }
  ~LiveClusterTest() override { api_ = nullptr; }

  // Drains until `done`; timers run as if their time had come, so that no test waits for a backoff.
  // Afterwards the test may change what the server's answers are made of.
  void Until(const std::function<bool()>& done) {
    if (server_ != nullptr) server_->Settle();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < end) {
      if (inbox_.Drain() > 0) continue;
      if (timers_.Next() != util::TimerQueue::kNever) {
        clock_.MoveTo(std::max(clock_.Now(), timers_.Next()));
        timers_.RunOne(clock_.Now());
        continue;
      }
      inbox_.WaitFor(std::chrono::milliseconds(5));  // what is awaited may come without a letter
    }
    EXPECT_TRUE(done()) << "it does not come";
    if (server_ != nullptr) server_->Settle();
  }
  ListAnswer List(Kind kind = Kind::kPod) {
    if (server_) server_->Settle();  // what the test has told it to answer
    ListAnswer answer;
    bool done = false;
    api_->List(kind, [&](ListAnswer got) {
      EXPECT_FALSE(done);
      answer = std::move(got);
      done = true;
    });
    Until([&] { return done; });
    return answer;
  }
  // What one write is answered.
  ApiStatus Ask(const std::function<void(Answer)>& call) {
    if (server_) server_->Settle();
    ApiStatus status;
    bool done = false;
    call([&](const ApiStatus& got) {
      status = got;
      done = true;
    });
    EXPECT_FALSE(done);  // never within the call
    Until([&] { return done; });
    return status;
  }

  util::Inbox inbox_;
  util::TimerQueue timers_;
  util::VirtualClock clock_{Time{1'000'000'000}};
  LiveOptions options_ = JsonBodies();
  std::vector<std::string> warnings_;
  std::unique_ptr<FakeApiServer> server_;
  std::unique_ptr<LiveCluster> api_;
};

}  // namespace berth::client
