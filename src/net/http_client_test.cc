// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "net/http_client_test_util.h"
#include "net/tls_test_util.h"
#include "net/url.h"

namespace berth::net {
namespace {

TEST(HttpClient, SendsAndReceives) {
  const auto server = Serve();
  const auto client = ClientOf(server->port());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/a?b"))), "GET /a?b ");
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/a", large))), "POST /a? " + large);
  const auto head = Ask(*client, Request("HEAD", "/a"));
  ASSERT_TRUE(head.ok()) << head.error().text();
  EXPECT_EQ(head->body, "");
  EXPECT_EQ(head->content_type, "text/plain");
  EXPECT_EQ(Text(Ask(*client, Request("DELETE", "/b"))), "DELETE /b? ");
}

TEST(HttpClient, PutsThePrefixBeforeEveryPath) {
  const auto server = Serve();
  ClientOptions options;
  options.url = "http://127.0.0.1:" + std::to_string(server->port()) + "/k8s/clusters/a/";
  const auto client = ClientOf(0, options);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/api"))), "GET /k8s/clusters/a/api? ");
}

TEST(HttpClient, FindsHostsByName) {
  const auto server = Serve();
  ClientOptions options;
  options.url = "http://localhost:" + std::to_string(server->port());
  EXPECT_EQ(Text(Ask(*ClientOf(0, options), Request("GET", "/"))), "GET /? ");
}

TEST(HttpClient, KeepsConnectionsAndOpensNoMoreThanItMay) {
  // A server with room for two connections would keep a third waiting for ever.
  ServerOptions limits;
  limits.max_connections = 2;
  const auto server = Serve(Echo, limits);
  ClientOptions options;
  options.max_connections = 2;
  const auto client = ClientOf(server->port(), options);
  std::atomic<int> fine = 0;
  std::promise<void> all;
  for (int i = 0; i < 1000; ++i) {
    client->Send(Request("POST", "/" + std::to_string(i), "body"), [&, i](const Result<HttpResponse>& response) {
      EXPECT_EQ(Text(response), "POST /" + std::to_string(i) + "? body");
      if (++fine == 1000) all.set_value();
    });
  }
  EXPECT_EQ(all.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(HttpClient, ReplacesAConnectionThatTheServerHasClosed) {
  auto server = Serve();
  ServerOptions again;
  again.port = server->port();
  const auto client = ClientOf(again.port);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/1"))), "GET /1? ");
  server.reset();
  server = Serve(Echo, again);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/2"))), "GET /2? ");
  server.reset();
  server = Serve(Echo, again);
  // Seen to be closed before anything is sent, so no doubt arises.
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/3"))), "POST /3? ");
}

TEST(HttpClient, NamesRequestAndReasonInErrors) {
  uint16_t port = 0;
  {
    const auto server = Serve();
    port = server->port();
  }
  const auto client = ClientOf(port);
  const std::string where = "http://127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/x"))), "(GET " + where + "/x: connecting: Connection refused)");
  EXPECT_NE(Text(Ask(*client, Request("GET", "x"))).find("must begin with a slash"), std::string::npos);
  for (const char bad : {'\0', '\n', '\x1f', ' ', '\x7f'}) {
    for (size_t at = 1; at < 20; ++at) {
      std::string path(20, 'x');
      path[0] = '/';
      path[at] = bad;
      EXPECT_NE(Text(Ask(*client, Request("GET", path))).find("blanks or control"), std::string::npos) << at;
    }
  }
  EXPECT_NE(Text(Ask(*client, Request("GET", "/x HTTP/1.1\r\nA: b"))).find("control characters"), std::string::npos);
  EXPECT_NE(Text(Ask(*client, Request("G T", "/"))).find("method \"G T\" is none"), std::string::npos);
  ClientRequest evil = Request("GET", "/");
  evil.headers.Add("Authorization", "Bearer secret\r\nX: y");
  const std::string refused = Text(Ask(*client, evil));
  EXPECT_NE(refused.find("header \"Authorization\""), std::string::npos);
  EXPECT_EQ(refused.find("secret"), std::string::npos);
}

TEST(HttpClient, SendsWhatRequestsShareAndWhatTheCallerKeeps) {
  const auto server = Serve([](const HttpRequest& request, const Respond& respond) {
    HttpResponse response;
    const std::string* token = request.headers.Find("Authorization");
    response.body = request.path + " " + request.body + " " + (token != nullptr ? *token : "-") + " " +
                    *request.headers.Find("Host");
    respond(std::move(response));
  });
  const auto client = ClientOf(server->port());
  const std::string path = "/kept", body = "body";
  Headers shared;
  shared.Add("Authorization", "Bearer x");
  shared.Add("Host", "elsewhere");  // is ours
  ClientRequest request = Request("POST", "not this one", "nor this");
  request.common = std::make_shared<CommonHeaders>(shared);
  request.kept_path = &path;
  request.kept_body = &body;
  EXPECT_EQ(Text(Ask(*client, request)), "/kept body Bearer x 127.0.0.1:" + std::to_string(server->port()));
  shared.Add("Evil", "secret\r\nX: y");
  request.common = std::make_shared<CommonHeaders>(shared);
  const std::string refused = Text(Ask(*client, request));
  EXPECT_NE(refused.find("header \"Evil\""), std::string::npos) << refused;
  EXPECT_EQ(refused.find("secret"), std::string::npos);
}

TEST(HttpClient, GivesUpWhenTimeIsOver) {
  std::mutex mutex;
  std::vector<Respond> kept;
  const auto server = Serve([&](const HttpRequest&, Respond respond) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(respond));
  });
  const auto client = ClientOf(server->port());
  ClientRequest request = Request("GET", "/slow");
  request.timeout = Duration::Seconds(1);
  auto by_timeout = std::async(std::launch::async, [&client, request] { return Ask(*client, request); });
  request.timeout = Duration::Seconds(600);
  request.answer_by = util::After(Duration::Seconds(1));
  EXPECT_EQ(Ask(*client, request).error().kind(), ErrorKind::kTimedOut);
  EXPECT_EQ(Ask(*client, request).error().kind(), ErrorKind::kUnsent);
  const Result<HttpResponse> late = by_timeout.get();
  EXPECT_NE(Text(late).find("waiting for the answer: timed out"), std::string::npos) << Text(late);
  EXPECT_EQ(late.error().kind(), ErrorKind::kTimedOut);
}

TEST(HttpClient, SendsNothingThatNobodyWaitsForAnyMore) {
  std::promise<Respond> first;
  std::atomic<int> calls = 0;
  const auto server = Serve([&](const HttpRequest&, const Respond& respond) {
    if (++calls == 1) return first.set_value(respond);
    respond({});
  });
  ClientOptions options;
  options.max_connections = 1;
  const auto client = ClientOf(server->port(), options);
  // The first is answered when the time of the others, which wait for its connection, is over.
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 5; ++i) {
    auto answer = std::make_shared<std::promise<std::string>>();
    answers.push_back(answer->get_future());
    ClientRequest request = Request("POST", "/" + std::to_string(i));
    if (i > 0) request.timeout = Duration::Millis(10);
    client->Send(std::move(request),
                 [answer](const Result<HttpResponse>& response) { answer->set_value(Text(response)); });
  }
  const Respond respond = first.get_future().get();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  respond({.status = 200, .content_type = "", .body = "first", .headers = {}});
  EXPECT_EQ(answers[0].get(), "first");
  for (int i = 1; i < 5; ++i) {
    const std::string text = answers[static_cast<size_t>(i)].get();
    EXPECT_NE(text.find("timed out before it was sent"), std::string::npos) << text;
  }
  EXPECT_EQ(calls, 1);
}

TEST(HttpClient, ATimeoutMayCountFromTheRequestsTurn) {
  std::mutex mutex;
  std::vector<Respond> kept;
  std::atomic<int> calls = 0;
  const auto server = Serve([&](const HttpRequest&, Respond respond) {
    const std::lock_guard lock(mutex);
    ++calls;
    kept.push_back(std::move(respond));
  });
  ClientOptions options;
  options.max_connections = 1;
  const auto client = ClientOf(server->port(), options);
  // None is answered; each has its own time, however long the one before it took.
  std::vector<std::future<std::string>> answers;
  for (int i = 0; i < 2; ++i) {
    auto answer = std::make_shared<std::promise<std::string>>();
    answers.push_back(answer->get_future());
    ClientRequest request = Request("POST", "/" + std::to_string(i));
    request.timeout = Duration::Seconds(1);
    request.timeout_from_turn = true;
    client->Send(std::move(request),
                 [answer](const Result<HttpResponse>& response) { answer->set_value(Text(response)); });
  }
  for (std::future<std::string>& answer : answers) {
    const std::string text = answer.get();
    EXPECT_NE(text.find("waiting for the answer: timed out"), std::string::npos) << text;
  }
  // The server may come to read the last one when its time is over already.
  for (int i = 0; i < 2000 && calls < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(calls, 2);
}

TEST(HttpClient, LowerRanksGoFirstAndWhatIsWithdrawnNotAtAll) {
  std::mutex mutex;
  std::vector<std::string> seen;
  std::promise<Respond> first;
  const auto server = Serve([&](const HttpRequest& request, const Respond& respond) {
    const std::lock_guard lock(mutex);
    seen.push_back(request.path);
    if (seen.size() == 1) return first.set_value(respond);
    respond({});
  });
  ClientOptions options;
  options.max_connections = 1;
  const auto client = ClientOf(server->port(), options);
  const auto withdrawn = std::make_shared<std::atomic<bool>>(false);
  std::vector<std::future<std::string>> answers;
  const auto send = [&](const std::string& path, uint8_t rank, bool may_withdraw) {
    auto answer = std::make_shared<std::promise<std::string>>();
    answers.push_back(answer->get_future());
    ClientRequest request = Request("POST", path);
    request.rank = rank;
    if (may_withdraw) request.withdrawn = withdrawn;
    client->Send(std::move(request), [answer](const Result<HttpResponse>& response) {
      answer->set_value(response.ok() ? "ok" : response.error().kind() == ErrorKind::kUnsent ? "unsent" : "?");
    });
  };
  send("/first", 2, true);
  const Respond respond = first.get_future().get();
  send("/event", 2, false);
  send("/status", 1, false);
  send("/withdrawn", 0, true);
  send("/bind", 0, false);
  *withdrawn = true;  // also for the first, which is under way
  respond({});
  std::string all;
  for (std::future<std::string>& answer : answers) all += answer.get() + " ";
  EXPECT_EQ(all, "ok ok ok unsent ok ");
  const std::lock_guard lock(mutex);
  EXPECT_EQ(seen, (std::vector<std::string>{"/first", "/bind", "/status", "/event"}));
}

TEST(HttpClient, SendsNothingLaterThanItIsWorth) {
  std::atomic<int> calls = 0;
  const auto server = Serve([&](const HttpRequest&, const Respond& respond) {
    ++calls;
    respond({});
  });
  const auto client = ClientOf(server->port());
  ClientRequest request = Request("POST", "/");
  request.send_by = util::After(Duration{1});
  const auto late = Ask(*client, request);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().kind(), ErrorKind::kUnsent) << late.error().text();
  request.send_by = util::After(Duration::Seconds(600));
  EXPECT_TRUE(Ask(*client, request).ok());
  EXPECT_EQ(calls, 1);
  request.path = "none";
  EXPECT_EQ(Ask(*client, request).error().kind(), ErrorKind::kOther);
}

TEST(HttpClient, SendsFirstWhatHasWaitedLongest) {
  std::mutex mutex;
  std::string order;
  const auto server = Serve([&](const HttpRequest& request, const Respond& respond) {
    {
      const std::lock_guard lock(mutex);
      order += request.path;
    }
    respond({});
  });
  ClientOptions options;
  options.max_connections = 1;
  const auto client = ClientOf(server->port(), options);
  std::promise<void> last;
  for (int i = 0; i < 6; ++i) {
    client->Send(Request("GET", "/" + std::to_string(i)), [&, i](const Result<HttpResponse>&) {
      if (i == 5) last.set_value();
    });
  }
  last.get_future().wait();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(order, "/0/1/2/3/4/5");
}

TEST(HttpClient, ReadsAnswersOfAllForms) {
  const Scripted server({
      "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: "
      "u\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\nuntil the end",
      "HTTP/1.0 201 Created\r\nContent-Length: 3\r\n\r\nabc",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nConnection: "
      "close\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nbusy",
  });
  const auto client = ClientOf(server.port());
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/"))), "abcde");
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/"))), "until the end");
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/"))), "abc");
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/"))), "ok");
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/"))), "");
  const auto busy = Ask(*client, Request("POST", "/"));
  ASSERT_TRUE(busy.ok());
  EXPECT_EQ(busy->status, 503);
  EXPECT_EQ(*busy->headers.Find("retry-after"), "1");
}

TEST(HttpClient, RefusesAnswersThatLie) {
  const Scripted server({
      "",
      "hello there\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n",
      "HTTP/1.1 200 OK\r\n\r\n" + std::string(2000, 'x'),
      "HTTP/1.1 200 OK\r\nA: " + std::string(5000, 'x'),
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
  });
  ClientOptions options;
  options.max_response_bytes = 1000;
  options.max_header_bytes = 4000;
  const auto client = ClientOf(server.port(), options);
  const auto expect = [&](const std::string& reason, ErrorKind kind = ErrorKind::kOther) {
    const Result<HttpResponse> answer = Ask(*client, Request("POST", "/"));
    const std::string text = Text(answer);
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind(), kind) << text;
    EXPECT_TRUE(text.starts_with("(POST http://") && text.find(reason) != std::string::npos) << text;
  };
  expect("the server closed the connection");
  expect("the answer's header: ");
  expect("it ends too early");
  expect("it ends too early");
  expect("the answer's chunks: ");
  expect("the answer's header: ");
  expect("the answer exceeds 1000 bytes", ErrorKind::kTooLarge);
  expect("the answer exceeds 1000 bytes", ErrorKind::kTooLarge);
  expect("the header exceeds 4000 bytes");
  expect("changes the protocol");
}

TEST(HttpClient, TellsPiecesAsTheyCome) {
  const Scripted server({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
                         "HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\ngone",
                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"});
  const auto client = ClientOf(server.port());
  Heard whole, gone, cut;
  const auto first = whole.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(whole.WaitForEnd());
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.text, "abcde");
  EXPECT_EQ(whole.error, "");
  const auto second = gone.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(gone.WaitForEnd());
  EXPECT_EQ(gone.status, 410);
  EXPECT_EQ(gone.text, "gone");
  const auto third = cut.Start(*client, Request("GET", "/watch"));
  ASSERT_TRUE(cut.WaitForEnd());
  EXPECT_EQ(cut.text, "abc");
  EXPECT_NE(cut.error.find("it ends too early"), std::string::npos) << cut.error;
}

TEST(HttpClient, EndsAStreamWithItsHandle) {
  std::mutex mutex;
  std::vector<Respond> kept;
  std::promise<void> there;
  const auto server = Serve([&](const HttpRequest&, Respond respond) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(respond));
    there.set_value();
  });
  const auto client = ClientOf(server->port());
  Heard heard;
  auto stream = heard.Start(*client, Request("GET", "/watch"));
  there.get_future().get();
  stream.reset();
  kept[0]({});
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const std::lock_guard lock(heard.mutex);
  EXPECT_FALSE(heard.ended);
  EXPECT_EQ(heard.status, 0);
}

TEST(HttpClient, AnswersEverythingWhenItGoes) {
  std::mutex mutex;
  std::vector<Respond> kept;
  std::promise<void> there;
  const auto server = Serve([&](const HttpRequest&, Respond respond) {
    const std::lock_guard lock(mutex);
    kept.push_back(std::move(respond));
    if (kept.size() == 3) there.set_value();
  });
  ClientOptions options;
  options.max_connections = 2;
  auto client = ClientOf(server->port(), options);
  std::atomic<int> failed = 0;
  for (int i = 0; i < 5; ++i) {
    client->Send(Request("GET", "/"), [&](const Result<HttpResponse>& response) { failed += response.ok() ? 0 : 1; });
  }
  Heard heard;
  auto stream = heard.Start(*client, Request("GET", "/watch"));
  there.get_future().get();
  client.reset();
  EXPECT_EQ(failed, 5);
  EXPECT_TRUE(heard.ended);
  stream.reset();  // after its client: nothing happens
}

TEST(HttpClient, SpeaksTlsWithCertificatesOnBothSides) {
  const TestFolder folder;
  const TestIdentity authority = MakeIdentity("test authority");
  const TestIdentity identity = MakeIdentity("server", "DNS:localhost,IP:127.0.0.1", &authority);
  const TestIdentity user = MakeIdentity("user", "", &authority);
  TlsOptions tls;
  tls.certificate_file = folder.Write("server.crt", identity.certificate_pem);
  tls.key_file = folder.Write("server.key", identity.key_pem);
  tls.client_ca_file = folder.Write("ca.crt", authority.certificate_pem);
  ServerOptions limits;
  limits.tls = &tls;
  limits.max_request_bytes = 5'000'000;
  const auto server = Serve(Echo, limits);

  ClientOptions options;
  options.url = "https://127.0.0.1:" + std::to_string(server->port());
  options.tls.ca_data = authority.certificate_pem;
  const std::string stranger = Text(Ask(*ClientOf(0, options), Request("GET", "/")));
  EXPECT_TRUE(stranger.starts_with("(GET https://127.0.0.1:")) << stranger;
  options.tls.certificate_data = user.certificate_pem;
  options.tls.key_data = user.key_pem;
  const auto client = ClientOf(0, options);
  const auto first = Ask(*client, Request("GET", "/1"));
  ASSERT_TRUE(first.ok()) << first.error().text();
  EXPECT_EQ(*first->headers.Find("X-Client"), "user");
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(Text(Ask(*client, Request("POST", "/2", large))), "POST /2? " + large);
  const auto refused = Ask(*client, Request("POST", "/3", large + large));
  EXPECT_TRUE(refused.ok() ? refused->status == 413 : true) << refused->status;
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/4"))), "GET /4? ");
  // Plain text on a TLS port is nobody's request.
  EXPECT_FALSE(Ask(*ClientOf(server->port()), Request("GET", "/")).ok());
  EXPECT_EQ(Text(Ask(*client, Request("GET", "/5"))), "GET /5? ");
}

TEST(Url, SaysWhatIsWrong) {
  const auto error = [](std::string_view text) {
    const auto url = ParseUrl(text);
    return url.ok() ? "" : url.error().text();
  };
  EXPECT_EQ(error("ftp://x"), "URL \"ftp://x\": must begin with http:// or https://");
  EXPECT_EQ(error("http://"), "URL \"http://\": the host is missing");
  EXPECT_EQ(error("http://x:"), "URL \"http://x:\": the port must be a number from 1 to 65535");
  EXPECT_EQ(error("http://x:65536"), "URL \"http://x:65536\": the port must be a number from 1 to 65535");
  EXPECT_EQ(error("http://[::1"), "URL \"http://[::1\": ] is missing");
  EXPECT_EQ(error("http://a b"), "URL \"http://a b\": blanks and control characters are not allowed");
  EXPECT_EQ(error("http://u:secret@x"), "URL \"http://***@x\": a user's name has no place here");
  EXPECT_EQ(error("http://x?y"), "URL \"http://x?y\": a query or fragment has no place here");
  const auto url = ParseUrl("https://[::1]:6443/a/b/");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->port, "6443");
  EXPECT_EQ(url->authority, "[::1]:6443");
  EXPECT_EQ(url->prefix, "/a/b");
  EXPECT_EQ(ParseUrl("https://kubernetes.default")->port, "443");
}

}  // namespace
}  // namespace berth::net
