// SPDX-License-Identifier: Apache-2.0
// The client over HTTP/2, with servers that go away, refuse, stall or lie.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "net/http2_test_util.h"

namespace berth::net {
namespace {

using ::testing::HasSubstr;

std::future<Result<HttpResponse>> SendOff(HttpClient& client, ClientRequest request) {
  auto answer = std::make_shared<std::promise<Result<HttpResponse>>>();
  client.Send(std::move(request), [answer](Result<HttpResponse> response) { answer->set_value(std::move(response)); });
  return answer->get_future();
}

// How often a request for that path has arrived.
int64_t Arrived(const Http2Server& server, const std::string& path) {
  const auto seen = server.seen();
  return std::ranges::count_if(seen, [&](const SeenRequest& request) { return request.path == path; });
}

// Answers nothing on its first connection, and everything on later ones.
void AnswerLater(Http2Peer& peer, const SeenRequest& request) {
  if (peer.number() > 0) Http2Server::EchoHttp2(peer, request);
}

TEST(Http2Hostile, WhatAGoAwayLeavesOutIsSentAgainAndNothingElse) {
  Http2Server server(AnswerLater);
  const auto client = ClientOf(0, server.Options());
  auto taken = SendOff(*client, Request("POST", "/taken"));
  ASSERT_TRUE(server.WaitForRequests(1));
  auto left_out = SendOff(*client, Request("POST", "/left-out", "body"));
  ASSERT_TRUE(server.WaitForRequests(2));
  server.Do(0, [](Http2Peer& peer) { peer.GoAway(1); });
  EXPECT_EQ(Text(left_out.get()), "POST /left-out body");
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/new"))), "POST /new ");
  EXPECT_EQ(server.connections(), 2u);
  // The first connection is not cut off: what the server has taken it may answer.
  server.Do(0, [](Http2Peer& peer) { peer.Respond(1, 200, "late"); });
  EXPECT_EQ(Text(taken.get()), "late");
  EXPECT_EQ(Arrived(server, "/taken"), 1);
}

TEST(Http2Hostile, WhatAServerTookThatGoesAwayIsForTheCallerToFindOut) {
  Http2Server server(AnswerLater);
  const auto client = ClientOf(0, server.Options());
  ClientRequest request = Request("POST", "/taken");
  request.facts = std::make_shared<SendFacts>();
  auto taken = SendOff(*client, request);
  ASSERT_TRUE(server.WaitForRequests(1));
  auto read = SendOff(*client, Request("GET", "/read"));
  ASSERT_TRUE(server.WaitForRequests(2));
  server.Do(0, [](Http2Peer& peer) {
    peer.GoAway(3, NGHTTP2_INTERNAL_ERROR);
    peer.Flush();
    peer.closing = true;
  });
  const Result<HttpResponse> lost = taken.get();
  ASSERT_FALSE(lost.ok());
  EXPECT_THAT(Text(lost), HasSubstr("waiting for the answer: "));
  EXPECT_NE(lost.error().kind(), ErrorKind::kUnsent);
  EXPECT_EQ(request.facts->status, 0);
  EXPECT_EQ(Text(read.get()), "GET /read ") << "asking twice does no harm";
  EXPECT_EQ(Arrived(server, "/taken"), 1);
}

TEST(Http2Hostile, AServerThatComesBackIsFoundByTheNextRequest) {
  Http2Server server;
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/1"))), "POST /1 ");
  server.Restart();
  std::string answer;
  // The end of the connection may not have been seen yet; then a POST fails, once.
  for (int i = 0; i < 2 && answer != "POST /2 "; ++i) answer = Text(Ask(*client, Request("POST", "/2")));
  EXPECT_EQ(answer, "POST /2 ");
}

TEST(Http2Hostile, ARefusedStreamIsSentAgainAFewTimes) {
  std::atomic<int> refusals = 2;
  Http2Server server([&](Http2Peer& peer, const SeenRequest& request) {
    if (refusals-- > 0) return peer.Reset(request.stream, NGHTTP2_REFUSED_STREAM);
    Http2Server::EchoHttp2(peer, request);
  });
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/a", "body"))), "POST /a body");
  EXPECT_EQ(Arrived(server, "/a"), 3);
  refusals = 1000;
  const Result<HttpResponse> refused = Ask(*client, Request("POST", "/b"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kUnsent) << "it was never processed";
  EXPECT_EQ(Arrived(server, "/b"), 4);
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Http2Hostile, AStreamThatIsResetFailsAloneAndIsNotSentAgain) {
  Http2Server server([&](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/fine") return Http2Server::EchoHttp2(peer, request);
    if (request.path == "/half") {
      peer.Respond(request.stream, 200, "begun", {}, false);
      peer.Flush();
    }
    if (request.path == "/refused-late") {
      peer.Respond(request.stream, 200, "begun", {}, false);
      peer.Flush();
      return peer.Reset(request.stream, NGHTTP2_REFUSED_STREAM);
    }
    peer.Reset(request.stream, NGHTTP2_INTERNAL_ERROR);
  });
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/fine"))), "GET /fine ");
  EXPECT_THAT(Text(Ask(*client, Request("POST", "/cut"))),
              HasSubstr("waiting for the answer: the stream was reset: INTERNAL_ERROR"));
  EXPECT_THAT(Text(Ask(*client, Request("GET", "/half"))),
              HasSubstr("reading the answer: the stream was reset: INTERNAL_ERROR"));
  EXPECT_THAT(Text(Ask(*client, Request("POST", "/refused-late"))), HasSubstr("reading the answer: the stream"));
  EXPECT_EQ(Arrived(server, "/cut"), 1);
  EXPECT_EQ(Arrived(server, "/half"), 1);
  EXPECT_EQ(Arrived(server, "/refused-late"), 1);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/fine"))), "GET /fine ");
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Http2Hostile, AWindowOfZeroKeepsOnlyThoseWaitingWhoHaveSomethingToSend) {
  Http2ServerOptions shut;
  shut.window = 0;
  Http2Server server(Http2Server::EchoHttp2, shut);
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "GET / ");
  ClientRequest hasty = Request("POST", "/hasty", "body");
  hasty.timeout = Duration::Seconds(1);
  const Result<HttpResponse> late = Ask(*client, hasty);
  EXPECT_THAT(Text(late), HasSubstr("sending: timed out"));
  EXPECT_EQ(late.error().kind(), ErrorKind::kTimedOut);
  auto patient = SendOff(*client, Request("POST", "/patient", "body"));
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/fine"))), "GET /fine ");
  const size_t last = server.connections() - 1;
  server.Do(last, [](Http2Peer& peer) { peer.Set(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 100); });
  EXPECT_EQ(Text(patient.get()), "POST /patient body");
}

TEST(Http2Hostile, AnAnswerMayComeBeforeTheBodyIsSent) {
  Http2ServerOptions shut;
  shut.window = 0;  // a small one is opened again with every piece that comes
  Http2Server server(Http2Server::EchoHttp2, shut);
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "GET / ");
  auto large = SendOff(*client, Request("POST", "/large", std::string(1000, 'x')));
  // Its head has arrived when the one behind it has.
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/next"))), "GET /next ");
  server.Do(0, [](Http2Peer& peer) { peer.Respond(3, 413, "too much"); });
  const Result<HttpResponse> answer = large.get();
  ASSERT_TRUE(answer.ok()) << answer.error().text();
  EXPECT_EQ(answer->status, 413);
  EXPECT_TRUE(server.WaitForReset(3));
}

TEST(Http2Hostile, SettingsThatChangeHoldForWhatComesNext) {
  std::atomic<bool> hold = true;
  Http2Server server([&](Http2Peer& peer, const SeenRequest& request) {
    if (!hold || request.path == "/first") Http2Server::EchoHttp2(peer, request);
  });
  ClientOptions options = server.Options();
  options.max_connections = 1;
  const auto client = ClientOf(0, options);
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/first"))), "POST /first ");
  std::promise<void> set;
  server.Do(0, [&](Http2Peer& peer) {
    peer.Set(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 1);
    peer.Set(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 0);
    peer.Flush();
    set.set_value();
  });
  set.get_future().wait();
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/first"))), "POST /first ");  // by now it has been read
  auto one = SendOff(*client, Request("POST", "/one"));
  ASSERT_TRUE(server.WaitForRequests(3));
  auto two = SendOff(*client, Request("POST", "/two"));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(Arrived(server, "/two"), 0) << "one at a time";
  hold = false;
  server.Do(0, [](Http2Peer& peer) { peer.Respond(5, 200, "done"); });
  EXPECT_EQ(Text(one.get()), "done");
  EXPECT_EQ(Text(two.get()), "POST /two ");
  EXPECT_EQ(server.connections(), 1u);
  // None at all: another connection is tried.
  server.Do(0, [](Http2Peer& peer) { peer.Set(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, 0); });
  while (server.connections() == 1) EXPECT_THAT(Text(Ask(*client, Request("GET", "/three"))), HasSubstr("GET /three"));
}

TEST(Http2Hostile, AServerThatAllowsNoStreamsIsAnError) {
  Http2ServerOptions none;
  none.max_streams = 0;
  const Http2Server server(Http2Server::EchoHttp2, none);
  const auto client = ClientOf(0, server.Options());
  EXPECT_THAT(Text(Ask(*client, Request("POST", "/"))), HasSubstr("the server allows no requests"));
}

TEST(Http2Hostile, AServerThatNeverSaysItsFirstWordIsAnError) {
  Http2ServerOptions silent;
  silent.settings = false;
  const Http2Server server(Http2Server::EchoHttp2, silent);
  ClientOptions options = server.Options();
  options.connect_timeout = Duration::Seconds(1);
  const auto client = ClientOf(0, options);
  const Result<HttpResponse> answer = Ask(*client, Request("POST", "/"));
  EXPECT_THAT(Text(answer), HasSubstr("connecting: timed out"));
  EXPECT_EQ(Arrived(server, "/"), 0);
}

TEST(Http2Hostile, HeadersBeyondLimitsFailTheirOwnRequest) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/many") {
      std::vector<std::pair<std::string, std::string>> headers;
      for (int i = 0; i < 100; ++i) headers.emplace_back("x-" + std::to_string(i), std::string(20, 'x'));
      return peer.Respond(request.stream, 200, "ok", headers);
    }
    if (request.path == "/long") return peer.Respond(request.stream, 200, "ok", {{"x", std::string(5000, 'x')}});
    Http2Server::EchoHttp2(peer, request);
  });
  ClientOptions options = server.Options();
  options.max_header_bytes = 4096;
  const auto client = ClientOf(0, options);
  for (const char* path : {"/many", "/long"})
    EXPECT_THAT(Text(Ask(*client, Request("POST", path))),
                HasSubstr("the answer's header: the header exceeds 4096 bytes"));
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/fine"))), "GET /fine ");
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Http2Hostile, WhatIsNotAnAnswerOfHttpFailsItsOwnRequest) {
  struct Case {
    const char* path;
    Http2Peer::Headers headers;
    const char* body;
    const char* problem;
  };
  const std::vector<Case> cases = {
      {"/none", {{"date", "now"}}, "", "no status before its headers"},
      {"/empty", {}, "", "no status"},
      {"/late", {{"date", "now"}, {":status", "200"}}, "", "no status before its headers"},
      {"/twice", {{":status", "200"}, {":status", "200"}}, "", "status \"200\""},
      {"/short", {{":status", "20"}}, "", "status \"20\""},
      {"/low", {{":status", "099"}}, "", "status \"099\""},
      {"/text", {{":status", "2x0"}}, "", "status \"2x0\""},
      {"/minus", {{":status", "-20"}}, "", "status \"-20\""},
      {"/length", {{":status", "200"}, {"content-length", "3x"}}, "abc", "content-length \"3x\""},
      {"/lengths", {{":status", "200"}, {"content-length", "3"}, {"content-length", "3"}}, "abc", "content-length"},
      {"/more", {{":status", "200"}, {"content-length", "2"}}, "abc", "3 bytes instead of 2"},
      {"/less", {{":status", "200"}, {"content-length", "4"}}, "abc", "3 bytes instead of 4"},
      {"/value", {{":status", "200"}, {"content-type", std::string("a\0b", 3)}}, "abc", "header \"content-type\""},
      {"/name", {{":status", "200"}, {"a b", "c"}}, "abc", "header \"a b\""},
      {"/path", {{":status", "200"}, {":path", "/"}}, "", "header \":path\""},
      {"/switch", {{":status", "101"}}, "", "status \"101\""},
      {"/nothing", {{":status", "204"}}, "abc", "a body where there is none"},
      {"/inform", {{":status", "103"}}, "", "it ends before its head"},
  };
  Http2Server server([&](Http2Peer& peer, const SeenRequest& request) {
    for (const Case& one : cases)
      if (request.path == one.path) return peer.RespondWith(request.stream, one.headers, one.body);
    const auto stream = static_cast<char>(request.stream);
    if (request.path == "/body") {
      // Then a DATA frame of three bytes, the last.
      peer.Inform(request.stream, 103);
      peer.Raw(std::string({0, 0, 3, 0, 1, 0, 0, 0, stream, 'a', 'b', 'c'}));
    } else if (request.path == "/heads" || request.path == "/trailers") {
      // Then a HEADERS frame: a header, with which it does not end, or a path, with which it does.
      const bool trailers = request.path == "/trailers";
      peer.Respond(request.stream, 200, "abc", {}, false);
      peer.Raw(std::string({0, 0, 1, 1, trailers ? '\5' : '\4', 0, 0, 0, stream, trailers ? '\x84' : '\x90'}));
    } else {
      Http2Server::EchoHttp2(peer, request);
    }
  });
  const auto client = ClientOf(0, server.Options());
  for (const Case& one : cases)
    EXPECT_THAT(Text(Ask(*client, Request("POST", one.path))),
                HasSubstr(std::string("the answer is malformed: ") + one.problem))
        << one.path;
  EXPECT_THAT(Text(Ask(*client, Request("POST", "/body"))),
              HasSubstr("the answer is malformed: a body before its head"));
  EXPECT_THAT(Text(Ask(*client, Request("POST", "/trailers"))), HasSubstr("the answer is malformed: header \":path\""));
  EXPECT_THAT(Text(Ask(*client, Request("POST", "/heads"))), HasSubstr("the answer is malformed: a second head"));
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/fine"))), "GET /fine ");
  EXPECT_EQ(server.connections(), 1u);
  // What nobody keeps is not looked at.
  ClientRequest few = Request("POST", "/name");
  few.few_headers = true;
  EXPECT_EQ(Text(Ask(*client, std::move(few))), "abc");
}

TEST(Http2Hostile, BodiesBeyondLimitsFailTheirOwnRequest) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/said") return peer.Respond(request.stream, 200, "x", {{"content-length", "1001"}}, false);
    if (request.path == "/unsaid") return peer.Respond(request.stream, 200, std::string(1001, 'x'));
    peer.Respond(request.stream, 200, std::string(1000, 'x'));
  });
  ClientOptions options = server.Options();
  options.max_response_bytes = 1000;
  const auto client = ClientOf(0, options);
  for (const char* path : {"/said", "/unsaid"}) {
    const Result<HttpResponse> answer = Ask(*client, Request("GET", path));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind(), ErrorKind::kTooLarge) << answer.error().text();
  }
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/fine"))), std::string(1000, 'x'));
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Http2Hostile, AnswersTogetherAreBoundedToo) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    peer.Respond(request.stream, 200, std::string(8'000'000, 'x'), {}, false);
  });
  ClientOptions options = server.Options();
  options.max_response_bytes = uint64_t{8} << 20;
  const auto client = ClientOf(0, options);
  // Each has less than it may have, and none of them ends.
  std::vector<std::future<Result<HttpResponse>>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(SendOff(*client, Request("GET", "/")));
  const auto over = [](auto& answer) {
    return answer.wait_for(std::chrono::milliseconds(10)) == std::future_status::ready;
  };
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  size_t ended = 0;
  while (ended < 2 && std::chrono::steady_clock::now() < until)
    ended = static_cast<size_t>(std::ranges::count_if(answers, over));
  EXPECT_EQ(ended, 2u) << "64 MiB hold eight of them";
}

TEST(Http2Hostile, AHundredAnswersAndOneThatStalls) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/100") return peer.Respond(request.stream, 200, "begun", {}, false);
    Http2Server::EchoHttp2(peer, request);
  });
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "GET / ");
  std::vector<std::future<Result<HttpResponse>>> answers;
  for (int i = 0; i <= 100; ++i) {
    ClientRequest request = Request("POST", "/" + std::to_string(i));
    if (i == 100) {
      request.timeout = Duration::Seconds(1);
      request.timeout_from_turn = true;  // the others take all streams that the server allows
    }
    answers.push_back(SendOff(*client, std::move(request)));
  }
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(Text(answers[static_cast<size_t>(i)].get()), "POST /" + std::to_string(i) + " ");
  EXPECT_THAT(Text(answers[100].get()), HasSubstr("reading the answer: timed out"));
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/next"))), "POST /next ");
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Http2Hostile, AServerThatDoesNotAnswerAPingIsDead) {
  Http2Server server(AnswerLater);
  ClientOptions options = server.Options();
  options.ping_after = Duration::Millis(50);
  options.ping_timeout = Duration::Seconds(1);
  const auto client = ClientOf(0, options);
  auto slow = SendOff(*client, Request("POST", "/slow"));
  ASSERT_TRUE(server.WaitForRequests(1));
  // It answers pings, so it may take its time: longer than one that does not answer them has.
  EXPECT_EQ(slow.wait_for(std::chrono::milliseconds(1300)), std::future_status::timeout);
  server.Do(0, [](Http2Peer& peer) { peer.deaf = true; });
  EXPECT_THAT(Text(slow.get()), HasSubstr("waiting for the answer: the server does not answer a ping"));
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/next"))), "POST /next ");
  EXPECT_EQ(Arrived(server, "/slow"), 1);
}

TEST(Http2Hostile, WhatIsNotHttp2EndsTheConnection) {
  const struct {
    const char* name;
    std::string bytes;
  } cases[] = {
      {"no frame at all", std::string(100, '\xff')},
      {"an answer on a stream that nobody opened", std::string("\0\0\1\1\4\0\0\0\x63\x88", 10)},
      {"a frame that is too long", std::string("\xff\xff\xff\0\0\0\0\0\1", 9) + std::string(100, 'x')},
      {"a push", std::string("\0\0\5\5\4\0\0\0\1\0\0\0\2\x88", 14)},
      {"a header block that is none", std::string("\0\0\4\1\4\0\0\0\1\xff\xff\xff\xff", 13)},
      {"a window that overflows", std::string("\0\0\4\10\0\0\0\0\0\x7f\xff\xff\xff", 13)},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    Http2Server server([&](Http2Peer& peer, const SeenRequest& request) {
      if (peer.number() == 0) return peer.Raw(c.bytes);
      Http2Server::EchoHttp2(peer, request);
    });
    const auto client = ClientOf(0, server.Options());
    ClientRequest request = Request("POST", "/");
    request.timeout = Duration::Seconds(5);
    const Result<HttpResponse> answer = Ask(*client, request);
    EXPECT_FALSE(answer.ok());
    EXPECT_NE(answer.error().kind(), ErrorKind::kTimedOut) << answer.error().text();
    EXPECT_EQ(Text(Ask(*client, Request("POST", "/next"))), "POST /next ");
    EXPECT_EQ(Arrived(server, "/"), 1);
  }
}

}  // namespace
}  // namespace berth::net
