// SPDX-License-Identifier: Apache-2.0
// The client over HTTP/2, with servers that do what they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "net/http2_test_util.h"
#include "util/inbox.h"

namespace berth::net {
namespace {

using ::testing::HasSubstr;

std::future<Result<HttpResponse>> SendTo(HttpClient& client, ClientRequest request) {
  auto answer = std::make_shared<std::promise<Result<HttpResponse>>>();
  client.Send(std::move(request), [answer](Result<HttpResponse> response) { answer->set_value(std::move(response)); });
  return answer->get_future();
}

TEST(Http2Client, SendsAndReceives) {
  Http2Server server;
  ClientOptions options = server.Options();
  options.url += "/k8s/";
  const auto client = ClientOf(0, options);
  ClientRequest request = Request("GET", "/a?b");
  request.headers.Add("Authorization", "Bearer x");
  request.headers.Add("Connection", "close");  // of HTTP/1.1 alone
  request.headers.Add("Host", "elsewhere");
  const auto first = Ask(*client, request);
  ASSERT_TRUE(first.ok()) << first.error().text();
  EXPECT_EQ(first->body, "GET /k8s/a?b ");
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->content_type, "text/plain");
  const std::string large(3'000'000, 'x');  // far beyond any window
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/a", large))), "POST /k8s/a " + large);
  EXPECT_EQ(Text(Ask(*client, Request("DELETE", "/b"))), "DELETE /k8s/b ");
  const auto seen = server.seen();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].headers.at("authorization"), "Bearer x");
  EXPECT_EQ(seen[0].headers.at(":authority"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(seen[0].headers.count("connection") + seen[0].headers.count("host"), 0u);
  EXPECT_EQ(seen[1].headers.at("content-length"), "3000000");
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Http2Client, AHeadHasNoBodyAndInformationIsNoAnswer) {
  const Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.method == "HEAD") return peer.Respond(request.stream, 200, "", {{"content-length", "5"}});
    peer.Inform(request.stream, 103);
    peer.Respond(request.stream, 201, "made", {{"x-first", "a"}, {"x-second", "b"}});
  });
  const auto client = ClientOf(0, server.Options());
  const auto head = Ask(*client, Request("HEAD", "/"));
  ASSERT_TRUE(head.ok()) << head.error().text();
  EXPECT_EQ(head->body, "");
  ClientRequest request = Request("POST", "/");
  request.facts = std::make_shared<SendFacts>();
  const auto made = Ask(*client, request);
  ASSERT_TRUE(made.ok()) << made.error().text();
  EXPECT_EQ(made->status, 201);
  EXPECT_EQ(*made->headers.Find("X-Second"), "b");
  EXPECT_EQ(made->body, "made");
  EXPECT_EQ(request.facts->status, 201);
}

TEST(Http2Client, WhoWantsFewHeadersHearsOfTheTypeAndWhenToAskAgain) {
  const Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/none") return peer.Respond(request.stream, 200, "", {{"x-first", "a"}});
    peer.Respond(request.stream, 429, "", {{"x-first", "a"}, {"content-type", "text/x"}, {"retry-after", "3"}});
  });
  const auto client = ClientOf(0, server.Options());
  const auto ask = [&](const std::string& path, std::string_view usual) {
    ClientRequest request = Request("GET", path);
    request.few_headers = true;
    request.usual_type = usual;
    auto answer = Ask(*client, request);
    EXPECT_TRUE(answer.ok());
    return std::move(answer).value();
  };
  const HttpResponse usual = ask("/", "text/x");
  EXPECT_TRUE(usual.usual_type);
  EXPECT_EQ(usual.content_type, "");
  EXPECT_EQ(usual.headers.list().size(), 1u);
  EXPECT_EQ(*usual.headers.Find("Retry-After"), "3");
  for (const std::string_view other : {"text/plain", "text/x; charset=utf-8", ""}) {
    const HttpResponse unusual = ask("/", other);
    EXPECT_FALSE(unusual.usual_type);
    EXPECT_EQ(unusual.content_type, "text/x");
  }
  EXPECT_FALSE(ask("/none", "text/x").usual_type);
}

TEST(Http2Client, AServerWithoutItIsSpokenToInHttp1) {
  Http2ServerOptions old;
  old.http2 = false;
  Http2Server server(Http2Server::EchoHttp2, old);
  const auto client = ClientOf(0, server.Options());
  std::vector<std::future<Result<HttpResponse>>> answers;
  for (int i = 0; i < 20; ++i) answers.push_back(SendTo(*client, Request("POST", "/", "")));
  for (auto& answer : answers) EXPECT_EQ(Text(answer.get()), "old");
  EXPECT_LE(server.connections(), 16u);
  Heard heard;
  const auto stream = heard.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_EQ(heard.text, "old");
}

TEST(Http2Client, IsSpokenOnlyWhereItIsWantedAndNotForLargeAnswers) {
  Http2Server server;
  ClientOptions options = server.Options();
  options.http2 = false;
  EXPECT_EQ(Text(Ask(*ClientOf(0, options), Request("GET", "/"))), "old");
  options.http2 = true;
  const auto client = ClientOf(0, options);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "GET / ");
  ClientRequest large = Request("GET", "/");
  large.large = true;
  EXPECT_EQ(Text(Ask(*client, large)), "old");
  Heard heard;
  const auto stream = heard.Start(*client, large);
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_EQ(heard.text, "old");
}

TEST(Http2Client, ManyRequestsShareOneConnection) {
  Http2Server server;
  const auto client = ClientOf(0, server.Options());
  std::atomic<int> fine = 0;
  std::promise<void> all;
  for (int i = 0; i < 1000; ++i) {
    client->Send(Request("POST", "/" + std::to_string(i), "body"), [&, i](const Result<HttpResponse>& response) {
      EXPECT_EQ(Text(response), "POST /" + std::to_string(i) + " body");
      if (++fine == 1000) all.set_value();
    });
  }
  EXPECT_EQ(all.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(server.connections(), 1u);
}

TEST(Http2Client, WhatIsSentTogetherIsOneRecord) {
  Http2Server server;
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "GET / ");
  const size_t before = server.records();
  std::atomic<int> left = 50;
  std::promise<void> all;
  client->Post([&] {
    for (int i = 0; i < 50; ++i) {
      client->Send(Request("POST", "/" + std::to_string(i), "body"), [&](const Result<HttpResponse>& response) {
        EXPECT_TRUE(response.ok());
        if (--left == 0) all.set_value();
      });
    }
  });
  all.get_future().wait();
  // One of the requests, and perhaps one that acknowledges the server's settings.
  EXPECT_LE(server.records() - before, 2u);
}

TEST(Http2Client, AServerThatAllowsFewStreamsGetsMoreConnections) {
  std::mutex mutex;
  std::vector<std::pair<size_t, int32_t>> held;
  Http2ServerOptions few;
  few.max_streams = 2;
  Http2Server server(
      [&](Http2Peer& peer, const SeenRequest& request) {
        const std::lock_guard lock(mutex);
        held.emplace_back(peer.number(), request.stream);
      },
      few);
  ClientOptions options = server.Options();
  options.max_connections = 6;
  const auto client = ClientOf(0, options);
  std::vector<std::future<Result<HttpResponse>>> answers;
  for (int i = 0; i < 10; ++i) answers.push_back(SendTo(*client, Request("POST", "/" + std::to_string(i))));
  ASSERT_TRUE(server.WaitForRequests(6));
  EXPECT_EQ(server.connections(), 3u);
  EXPECT_EQ(server.seen().size(), 6u) << "the others wait";
  size_t done = 0;
  while (done < 10) {
    std::vector<std::pair<size_t, int32_t>> now;
    {
      const std::lock_guard lock(mutex);
      now.swap(held);
    }
    for (const auto& [connection, stream] : now)
      server.Do(connection, [stream = stream](Http2Peer& peer) { peer.Respond(stream, 200, "ok"); });
    done += now.size();
    if (now.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  for (auto& answer : answers) EXPECT_EQ(Text(answer.get()), "ok");
  EXPECT_EQ(server.connections(), 3u);
}

TEST(Http2Client, LowerRanksGoFirstAndWhatIsWithdrawnNotAtAll) {
  std::promise<void> first;
  Http2ServerOptions one;
  one.max_streams = 1;
  Http2Server server(
      [&](Http2Peer& peer, const SeenRequest& request) {
        if (request.path == "/first") return first.set_value();
        peer.Respond(request.stream, 200, "");
      },
      one);
  ClientOptions options = server.Options();
  options.max_connections = 1;
  const auto client = ClientOf(0, options);
  const auto withdrawn = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::future<Result<HttpResponse>>> answers;
  const auto send = [&](const std::string& path, uint8_t rank, bool may_withdraw) {
    ClientRequest request = Request("POST", path);
    request.rank = rank;
    if (may_withdraw) request.withdrawn = withdrawn;
    answers.push_back(SendTo(*client, std::move(request)));
  };
  send("/first", 2, true);
  first.get_future().wait();
  send("/event", 2, false);
  send("/status", 1, false);
  send("/withdrawn", 0, true);
  send("/bind", 0, false);
  ClientRequest late = Request("POST", "/late");
  late.timeout_from_turn = true;
  late.send_by = util::After(Duration::Millis(1));
  answers.push_back(SendTo(*client, std::move(late)));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  *withdrawn = true;
  server.Do(0, [](Http2Peer& peer) { peer.Respond(1, 200, ""); });
  std::string how;
  for (auto& answer : answers) {
    const Result<HttpResponse> response = answer.get();
    how += response.ok() ? 'k' : response.error().kind() == ErrorKind::kUnsent ? 'u' : '?';
  }
  EXPECT_EQ(how, "kkkuku");
  std::string order;
  for (const SeenRequest& request : server.seen()) order += request.path;
  EXPECT_EQ(order, "/first/bind/status/event");
}

TEST(Http2Client, GivesUpWhenTimeIsOverAndTellsTheServer) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/half") peer.Respond(request.stream, 200, "begun", {}, false);
    if (request.path == "/fast") peer.Respond(request.stream, 200, "ok");
  });
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/fast"))), "ok");
  ClientRequest request = Request("POST", "/slow");
  request.timeout = Duration::Seconds(1);
  auto slow = SendTo(*client, request);
  request.path = "/half";
  auto half = SendTo(*client, request);
  const Result<HttpResponse> first = slow.get(), second = half.get();
  EXPECT_THAT(Text(first), HasSubstr("POST https://127.0.0.1"));
  EXPECT_THAT(Text(first), HasSubstr("waiting for the answer: timed out"));
  EXPECT_EQ(first.error().kind(), ErrorKind::kTimedOut);
  EXPECT_THAT(Text(second), HasSubstr("reading the answer: timed out"));
  EXPECT_TRUE(server.WaitForReset(3));
  EXPECT_TRUE(server.WaitForReset(5));
}

TEST(Http2Client, AnAnswerIsTakenTogetherWithTheNewsThatItBrings) {
  const Http2Server server(Http2Server::EchoHttp2);
  ClientOptions options = server.Options();
  options.own_thread = false;
  options.gather = Duration::Millis(200);
  const auto client = ClientOf(0, options);
  util::Inbox inbox;
  inbox.set_guest(&client->guest());
  const auto ask = [&] {
    bool done = false;
    client->Send(Request("POST", "/"), [&](const Result<HttpResponse>& response) {
      EXPECT_TRUE(response.ok());
      inbox.Post([&] { done = true; });
    });
    const auto began = std::chrono::steady_clock::now();
    while (!done && inbox.WaitFor(std::chrono::seconds(60))) inbox.Drain();
    EXPECT_TRUE(done);
    return std::chrono::steady_clock::now() - began;
  };
  ask();  // connects
  EXPECT_GE(ask(), std::chrono::milliseconds(200)) << "it was there long before";
  inbox.set_guest(nullptr);
}

TEST(Http2Client, WhatIsNotSentYetIsNotMadeToWaitForNews) {
  for (const bool narrow : {true, false}) {
    // A body that is larger than the window, or more requests than may be under way.
    Http2ServerOptions scarce;
    if (narrow) {
      scarce.window = 100;
    } else {
      scarce.max_streams = 1;
    }
    Http2Server server(Http2Server::EchoHttp2, scarce);
    ClientOptions options = server.Options();
    options.own_thread = false;
    options.gather = Duration::Millis(1);
    options.max_connections = 1;
    const auto client = ClientOf(0, options);
    util::Inbox::Guest& guest = client->guest();
    int answered = 0;
    const auto send = [&](size_t size, bool patient) {
      ClientRequest request = Request("POST", "/", std::string(size, 'x'));
      request.patient = patient;
      client->Send(std::move(request), [&](const Result<HttpResponse>& response) {
        EXPECT_TRUE(response.ok());
        ++answered;
      });
    };
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    const auto wait_for = [&](size_t seen) {
      while (server.seen().size() < seen && std::chrono::steady_clock::now() < until)
        guest.Turn(std::chrono::milliseconds(10), std::chrono::hours(1));
      EXPECT_EQ(server.seen().size(), seen);
    };
    send(1, false);
    while (answered == 0) guest.Turn(std::chrono::seconds(60), std::chrono::hours(1));
    if (narrow) {
      send(1000, true);
      wait_for(2);
    } else {
      for (int i = 0; i < 3; ++i) send(1, true);
      wait_for(4);
    }
    // The last answer may be there already, and is left alone.
    const int before = answered;
    guest.Turn(std::chrono::milliseconds(50), std::chrono::hours(1));
    EXPECT_EQ(answered, before);
    while (answered < (narrow ? 2 : 4)) guest.Turn(std::chrono::seconds(60), {});
  }
}

TEST(Http2Client, WhatIsSentAgainIsNotMadeToWaitForNews) {
  std::atomic<bool> refused = false;
  Http2Server server([&](Http2Peer& peer, const SeenRequest& request) {
    if (request.path != "/again") return Http2Server::EchoHttp2(peer, request);
    // The second time it has no answer before it is known to have been sent: an earlier turn might read it.
    if (!refused.exchange(true)) peer.Reset(request.stream, NGHTTP2_REFUSED_STREAM);
  });
  ClientOptions options = server.Options();
  options.own_thread = false;
  options.gather = Duration::Millis(1);
  int answered = 0;
  const auto client = ClientOf(0, options);
  SendPatiently(*client, Request("POST", "/"), answered);
  ASSERT_TRUE(TakeTurns(*client, {}, [&] { return answered == 1; }));
  SendPatiently(*client, Request("POST", "/again"), answered);
  ASSERT_TRUE(TakeTurns(*client, {}, [&] { return server.seen().size() == 3; }));
  EXPECT_EQ(answered, 1);
  const SeenRequest held = server.seen().back();
  ASSERT_TRUE(server.Do(held.connection, [held](Http2Peer& peer) { Http2Server::EchoHttp2(peer, held); }));
  EXPECT_TRUE(TakeTurns(*client, std::chrono::hours(1), [&] { return answered == 2; }));
}

TEST(Http2Client, AConnectionThatWasSilentIsNotUsedAgain) {
  Http2Server server;
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/"))), "GET / ");
  ASSERT_TRUE(server.Do(0, [](Http2Peer& peer) { peer.deaf = true; }));
  ClientRequest request = Request("POST", "/");
  request.timeout = Duration::Seconds(1);
  EXPECT_EQ(Ask(*client, request).error().kind(), ErrorKind::kTimedOut);
  request.timeout = Duration::Seconds(20);
  EXPECT_EQ(Text(Ask(*client, request)), "POST / ");
  EXPECT_EQ(server.connections(), 2u);
}

TEST(Http2Client, AnIdleConnectionEnds) {
  Http2Server server;
  ClientOptions options = server.Options();
  options.idle_timeout = Duration::Millis(1);
  const auto client = ClientOf(0, options);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/1"))), "GET /1 ");
  while (server.Do(0, [](Http2Peer&) {})) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/2"))), "POST /2 ");
}

TEST(Http2Client, WhoIsRefusedGetsAnotherConnection) {
  std::atomic<int> status = 401;
  Http2Server server([&](Http2Peer& peer, const SeenRequest& request) { peer.Respond(request.stream, status, ""); });
  const auto client = ClientOf(0, server.Options());
  EXPECT_EQ(Ask(*client, Request("POST", "/"))->status, 401);
  status = 200;
  EXPECT_EQ(Ask(*client, Request("POST", "/"))->status, 200);
  EXPECT_EQ(Ask(*client, Request("POST", "/"))->status, 200);
  EXPECT_EQ(server.connections(), 2u);
}

TEST(Http2Client, ANewIdentityIsShownAtOnceAndEndsStreamsOfTheOldOne) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/watch") return peer.Respond(request.stream, 200, "begun", {}, false);
    Http2Server::EchoHttp2(peer, request);
  });
  const TestIdentity before = MakeIdentity("before", "", &server.authority());
  const TestIdentity after = MakeIdentity("after", "", &server.authority());
  ClientOptions options = server.Options();
  options.look_every = Duration::Millis(1);
  options.tls.identity = std::make_shared<TlsIdentity>();
  options.tls.identity->Set(before.certificate_pem, before.key_pem);
  const auto client = ClientOf(0, options);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/1"))), "GET /1 ");
  Heard heard;
  const auto stream = heard.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(heard.WaitFor([&] { return heard.text == "begun"; }));
  EXPECT_EQ(server.connections(), 2u);
  options.tls.identity->Set(after.certificate_pem, after.key_pem);
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_THAT(heard.error, HasSubstr("the certificates have changed"));
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/2"))), "POST /2 ");
  EXPECT_EQ(server.connections(), 3u);
}

TEST(Http2Client, ItsEndEndsWhatIsUnderWay) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/watch") peer.Respond(request.stream, 200, "begun", {}, false);
  });
  auto client = ClientOf(0, server.Options());
  Heard heard;
  const auto stream = heard.Start(*client, Request("GET", "/watch"));
  auto answer = SendTo(*client, Request("POST", "/"));
  ASSERT_TRUE(server.WaitForRequests(2));
  ASSERT_TRUE(heard.WaitFor([&] { return heard.text == "begun"; }));
  client.reset();
  EXPECT_EQ(answer.get().error().kind(), ErrorKind::kCancelled);
  EXPECT_TRUE(heard.ended);
  EXPECT_THAT(heard.error, HasSubstr("cancelled"));
}

TEST(Http2Stream, WatchesShareConnectionsThatNobodyWritesOn) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.method == "GET") return peer.Respond(request.stream, 200, request.path, {}, false);
    Http2Server::EchoHttp2(peer, request);
  });
  const auto client = ClientOf(0, server.Options());
  std::vector<Heard> heard(10);
  std::vector<std::unique_ptr<ResponseStream>> streams;
  for (size_t i = 0; i < heard.size(); ++i)
    streams.push_back(heard[i].Start(*client, Request("GET", "/" + std::to_string(i))));
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/"))), "POST / ");
  for (size_t i = 0; i < heard.size(); ++i)
    EXPECT_TRUE(heard[i].WaitFor([&] { return heard[i].text == "/" + std::to_string(i); })) << heard[i].error;
  EXPECT_EQ(server.connections(), 3u);  // eight, two, and the one that writes
  std::set<size_t> watching;
  for (const SeenRequest& request : server.seen()) {
    if (request.method == "GET")
      watching.insert(request.connection);
    else
      EXPECT_EQ(watching.count(request.connection), 0u);
  }
  EXPECT_EQ(watching.size(), 2u);
}

TEST(Http2Stream, TellsPiecesAsTheyComeAndItsEnd) {
  Http2Server server(
      [](Http2Peer& peer, const SeenRequest& request) { peer.Respond(request.stream, 200, "abc", {}, false); });
  const auto client = ClientOf(0, server.Options());
  Heard heard;
  const auto stream = heard.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(heard.WaitFor([&] { return heard.text == "abc"; }));
  EXPECT_EQ(heard.status, 200);
  server.Do(0, [](Http2Peer& peer) { peer.Say(1, "de"); });
  ASSERT_TRUE(heard.WaitFor([&] { return heard.text == "abcde"; }));
  EXPECT_FALSE(heard.ended);
  server.Do(0, [](Http2Peer& peer) { peer.Say(1, "f", true); });
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_EQ(heard.text, "abcdef");
  EXPECT_EQ(heard.error, "");
}

TEST(Http2Stream, WhoDropsItTellsTheServer) {
  Http2Server server(
      [](Http2Peer& peer, const SeenRequest& request) { peer.Respond(request.stream, 200, "abc", {}, false); });
  const auto client = ClientOf(0, server.Options());
  Heard heard, other;
  auto stream = heard.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(heard.WaitFor([&] { return heard.text == "abc"; }));
  const auto second = other.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(other.WaitFor([&] { return other.text == "abc"; }));
  stream.reset();
  EXPECT_TRUE(server.WaitForReset(1));
  EXPECT_FALSE(heard.ended);
  server.Do(0, [](Http2Peer& peer) { peer.Say(3, "d"); });
  EXPECT_TRUE(other.WaitFor([&] { return other.text == "abcd"; })) << "the other one goes on";
}

TEST(Http2Stream, EndsWhenItIsSilentForTooLongOrDoesNotBegin) {
  Http2Server server([](Http2Peer& peer, const SeenRequest& request) {
    if (request.path == "/watch") peer.Respond(request.stream, 200, "abc", {}, false);
  });
  const auto client = ClientOf(0, server.Options());
  ClientRequest request = Request("GET", "/watch");
  request.read_timeout = Duration::Seconds(1);
  request.timeout = Duration::Seconds(20);
  Heard heard, never;
  const auto stream = heard.Start(*client, request);
  ASSERT_TRUE(heard.WaitFor([&] { return heard.text == "abc"; }));
  // Both wait at the same time, on the connection that is there by now.
  request.path = "/never";
  request.timeout = Duration::Seconds(1);
  const auto other = never.Start(*client, request);
  ASSERT_TRUE(heard.WaitForEnd());
  EXPECT_EQ(heard.text, "abc");
  EXPECT_THAT(heard.error, HasSubstr("reading the answer: timed out"));
  ASSERT_TRUE(never.WaitForEnd());
  EXPECT_EQ(never.status, 0);
  EXPECT_THAT(never.error, HasSubstr("waiting for the answer: timed out"));
}

}  // namespace
}  // namespace berth::net
