// SPDX-License-Identifier: Apache-2.0
// An API server that speaks HTTP/2: what shares a connection, and what is sent again when it goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "client/live_cluster_test_util.h"
#include "net/http2_test_util.h"

namespace berth::client {
namespace {

using net::Http2Peer;
using net::Http2Server;
using net::SeenRequest;

class LiveHttp2Test : public LiveClusterTest {
 protected:
  ~LiveHttp2Test() override { api_ = nullptr; }

  void ServeHttp2(Http2Server::Serve serve) {
    http2_ = std::make_unique<Http2Server>(std::move(serve));
    Kubeconfig config;
    config.source = "test";
    const net::ClientOptions options = http2_->Options();
    config.server = options.url;
    config.tls = options.tls;
    options_.http2 = Http2Settings();
    Connect(config);
  }
  static void Bound(Http2Peer& peer, const SeenRequest& request) {
    peer.Respond(request.stream, 201, SuccessJson(), {{"content-type", "application/json"}});
  }

  std::unique_ptr<Http2Server> http2_;
};

TEST_F(LiveHttp2Test, BindingsAndEventsShareAConnection) {
  ServeHttp2(Bound);
  int bound = 0;
  for (int i = 0; i < 64; ++i) {
    api_->Bind(kPod, "n1", [&](const ApiStatus& status) {
      EXPECT_EQ(status.code, 201) << status.message;
      ++bound;
    });
  }
  EventRecord event;
  event.regarding = kPod;
  event.kind = "Pod";
  event.reason = "Scheduled";
  bool written = false;
  api_->PostEvent(event, [&](const ApiStatus&) { written = true; });
  Until([&] { return bound == 64 && written; });
  EXPECT_EQ(http2_->connections(), 1u);
  const auto seen = http2_->seen();
  ASSERT_EQ(seen.size(), 65u);
  EXPECT_EQ(seen[0].method, "POST");
  EXPECT_EQ(seen[0].path, "/api/v1/namespaces/ns/pods/a/binding");
  EXPECT_EQ(seen[0].headers.at("user-agent"), "berth");
  EXPECT_EQ(seen[0].headers.at("content-type"), "application/json");
}

// However far away the server is: all that may be under way at a time are sent before any of them is answered.
TEST_F(LiveHttp2Test, NoBindingWaitsForAnothersAnswer) {
  constexpr size_t kUnderWay = 64;
  std::vector<SeenRequest> held;
  ServeHttp2([&](Http2Peer& peer, const SeenRequest& request) {
    held.push_back(request);
    if (held.size() < kUnderWay) return;
    for (const SeenRequest& one : held) Bound(peer, one);
  });
  size_t bound = 0;
  for (size_t i = 0; i < kUnderWay; ++i) {
    api_->Bind(kPod, "n1", [&](const ApiStatus& status) {
      EXPECT_EQ(status.code, 201) << status.message;
      ++bound;
    });
  }
  Until([&] { return bound == kUnderWay; });
  EXPECT_EQ(http2_->connections(), 1u);
  EXPECT_EQ(http2_->seen().size(), kUnderWay);
}

TEST_F(LiveHttp2Test, WhatWasNotProcessedIsSentAgainAndTheRestIsUncertain) {
  std::atomic<bool> fine = false;
  ServeHttp2([&](Http2Peer& peer, const SeenRequest& request) {
    if (fine) return Bound(peer, request);
    if (request.stream < 7) return;
    // The first is left without an answer, the others were never looked at.
    fine = true;
    peer.GoAway(1);
    peer.Flush();
    peer.closing = true;
  });
  std::vector<ApiStatus> answers(4);
  int done = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    api_->Bind({"ns", "pod-" + std::to_string(i), "u"}, "n1", [&, i](const ApiStatus& status) {
      answers[i] = status;
      ++done;
    });
    // One after another, so that the streams are numbered as the pods are.
    Until([&] { return http2_->seen().size() > i; });
  }
  Until([&] { return done == 4; });
  EXPECT_FALSE(answers[0].ok());
  EXPECT_TRUE(answers[0].uncertain()) << "it has to be looked up";
  for (size_t i = 1; i < answers.size(); ++i) EXPECT_EQ(answers[i].code, 201) << answers[i].message;
  int first = 0;
  for (const SeenRequest& request : http2_->seen()) first += request.path.find("pod-0/") != std::string::npos ? 1 : 0;
  EXPECT_EQ(first, 1) << "nothing is bound twice";
}

TEST_F(LiveHttp2Test, PodsAreWatchedOverHttp1AndOthersNot) {
  ServeHttp2([](Http2Peer& peer, const SeenRequest& request) { peer.Respond(request.stream, 200, "", {}, false); });
  int opened = 0;
  WatchCallbacks callbacks;
  callbacks.event = [](const WatchEvent&) {};
  callbacks.opened = [&] { ++opened; };
  callbacks.closed = [](const ApiStatus&) {};
  const auto services = api_->StartWatch(Kind::kService, "1", callbacks);
  const auto volumes = api_->StartWatch(Kind::kPersistentVolume, "1", callbacks);
  Until([&] { return opened == 2; });
  EXPECT_EQ(http2_->connections(), 1u);
  const auto pods = api_->StartWatch(Kind::kPod, "1", callbacks);
  Until([&] { return opened >= 3; });
  EXPECT_EQ(http2_->connections(), 2u);
  EXPECT_EQ(http2_->seen().size(), 2u) << "the third was asked for in HTTP/1.1";
}

}  // namespace
}  // namespace berth::client
