// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "net/http_test_util.h"

namespace berth::net {
namespace {

// Says what it heard: "METHOD path?query body".
void EchoWithPadding(HttpRequest request, const Respond& respond) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.path + "?" + request.query + " " + request.body;
  if (request.body.capacity() < request.body.size() + 64) response.body += " (no padding)";
  respond(std::move(response));
}

std::unique_ptr<HttpServer> StartOrDie(const ServerOptions& options, Handler handler = EchoWithPadding) {
  auto server = HttpServer::Start(options, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.error().text();
  return std::move(server).value();
}

// Sends `request` on a connection of its own and returns all that comes.
std::string AskOnce(const HttpServer& server, std::string_view request) {
  RawClient client(server.port());
  client.Send(request);
  return client.ReadAll();
}

std::string Get(const HttpServer& server) {
  return AskOnce(server, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
}

ServerOptions Narrow() {
  ServerOptions options;
  options.max_request_bytes = 1000;
  options.max_header_bytes = 2000;
  return options;
}

TEST(HttpServer, AnswersWithWhatTheHandlerSays) {
  const auto server = StartOrDie({}, [](const HttpRequest& request, const Respond& respond) {
    HttpResponse response;
    response.status = 404;
    response.body = "{}";
    response.headers.Add("X-Path", request.path);
    response.headers.Add("X-Evil", "a\r\nSet-Cookie: b");
    response.headers.Add("Content-Length", "77");
    respond(std::move(response));
  });
  EXPECT_EQ(Get(*server),
            "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-Path: /a\r\n"
            "Connection: close\r\n\r\n{}");
}

TEST(HttpServer, SplitsTheTargetAndKeepsItsEncoding) {
  const auto server = StartOrDie({});
  EXPECT_TRUE(AskOnce(*server, "GET /a%20b?c=%64&e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                  .ends_with("GET /a%20b?c=%64&e "));
  EXPECT_TRUE(
      AskOnce(*server, "GET http://x/y?z HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ends_with("GET /y?z "));
  EXPECT_TRUE(AskOnce(*server, "GET http://x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ends_with("GET /? "));
}

TEST(HttpServer, ReadsBodiesOfKnownLengthWithPaddingBehindThem) {
  const auto server = StartOrDie({});
  for (const size_t size : {0, 1, 7, 15, 16, 8191, 300'000, 5'000'000}) {
    const std::string body(size, 'b');
    const std::string answer =
        AskOnce(*server, "POST /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(size) +
                             "\r\n\r\n" + body);
    EXPECT_EQ(StatusOf(answer), 200);
    EXPECT_TRUE(answer.ends_with("\r\n\r\nPOST /p? " + body)) << size;
  }
}

TEST(HttpServer, ReadsChunkedBodiesHoweverTheyAreCut) {
  const auto server = StartOrDie({});
  const std::string request =
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n"
      "3;name=\"value\"\r\nabc\r\n00A\r\n0123456789\r\n0\r\nTrailer: dropped\r\n\r\n";
  EXPECT_TRUE(AskOnce(*server, request).ends_with("POST /c? abc0123456789"));
  RawClient slow(server->port());
  for (const char c : request) {
    slow.Send({&c, 1});
    if (c == '\n') std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(slow.ReadAll().ends_with("POST /c? abc0123456789"));
}

TEST(HttpServer, RefusesChunksThatAreNone) {
  const auto server = StartOrDie(Narrow());
  const std::string head = "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(StatusOf(AskOnce(*server, head + "zz\r\nabc\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, head + "3\r\nabcdef\r\n0\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, head + "-3\r\nabc\r\n0\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, head + "FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, head + "3;" + std::string(20'000, 'e'))), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, head + "3E9\r\n" + std::string(1001, 'b') + "\r\n0\r\n\r\n")), 413);
  RawClient fitting(server->port());
  fitting.Send(head + "3E8\r\n" + std::string(1000, 'b') + "\r\n0\r\n\r\n" + "x");
  EXPECT_EQ(StatusOf(fitting.ReadUntil("\r\n\r\n")), 200);
  EXPECT_EQ(StatusOf(Get(*server)), 200);
}

TEST(HttpServer, RefusesWhatCanBeReadInTwoWays) {
  const auto server = StartOrDie({});
  const auto status = [&](const std::string& lines) {
    return StatusOf(AskOnce(*server, "POST /p HTTP/1.1\r\n" + lines + "\r\n3\r\nabc\r\n0\r\n\r\n"));
  };
  EXPECT_EQ(status("Host: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nContent-Length: 3\r\nContent-Length: 3\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nContent-Length: 3, 3\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nContent-Length: -3\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nContent-Length: 3x\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nTransfer-Encoding: gzip\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nTransfer-Encoding: gzip, chunked\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(status("Content-Length: 0\r\n"), 400);
  EXPECT_EQ(status("Host: x\r\nHost: y\r\nContent-Length: 0\r\n"), 400);
  EXPECT_EQ(status("Host : x\r\nContent-Length: 0\r\n"), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, "POST /p HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")), 400);
}

TEST(HttpServer, RefusesWhatIsNoHttp) {
  const auto server = StartOrDie({});
  EXPECT_EQ(StatusOf(AskOnce(*server, "hello\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, "GET a HTTP/1.1\r\nHost: x\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, "GET / HTTP/2.0\r\nHost: x\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, "GET / HTTP/1.1\nHost: x\n\n\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, std::string("GET /") + '\0' + " HTTP/1.1\r\nHost: x\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(AskOnce(*server, "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03\r\n\r\n")), 400);
  EXPECT_EQ(StatusOf(Get(*server)), 200);
}

TEST(HttpServer, SaysWhichLimitIsExceeded) {
  const auto server = StartOrDie(Narrow());
  EXPECT_EQ(StatusOf(AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n")), 413);
  EXPECT_EQ(StatusOf(AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n")),
            400);
  EXPECT_EQ(StatusOf(AskOnce(*server, "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(2000, 'a') + "\r\n\r\n")), 431);
  EXPECT_EQ(StatusOf(AskOnce(*server, "GET /" + std::string(5000, 'a'))), 431);
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 500; ++i) many += "A: b\r\n";
  EXPECT_EQ(StatusOf(AskOnce(*server, many)), 431);
  EXPECT_EQ(
      StatusOf(AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx")),
      415);
  EXPECT_EQ(StatusOf(AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nContent-Length: 1\r\n\r\nx")), 417);
  const auto twice = [&](const std::string& name, const std::string& first, const std::string& second) {
    return StatusOf(AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + name + ": " + first +
                                         "\r\n" + name + ": " + second + "\r\nContent-Length: 1\r\n\r\nx"));
  };
  EXPECT_EQ(twice("Content-Encoding", "identity", "gzip"), 415);
  EXPECT_EQ(twice("Content-Encoding", "identity", "identity"), 200);
  EXPECT_EQ(twice("Expect", "100-continue", "tea"), 417);
  EXPECT_EQ(StatusOf(Get(*server)), 200);
}

TEST(HttpServer, GivesSlowClientsUp) {
  // The time of a first header runs from when the client connects, so it must not be too short.
  ServerOptions options;
  options.header_timeout = Duration::Seconds(1);
  const auto for_headers = StartOrDie(options);
  RawClient silent(for_headers->port()), half(for_headers->port());
  half.Send("GET / HTTP/1.1\r\nHost:");
  EXPECT_EQ(silent.ReadAll(), "");
  EXPECT_EQ(StatusOf(half.ReadAll()), 408);

  options = {};
  options.body_timeout = Duration::Millis(150);
  const auto server = StartOrDie(options);
  EXPECT_EQ(StatusOf(AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")), 408);
  EXPECT_EQ(StatusOf(AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab")), 408);
  // A byte now and then is not enough: the answer is there before they end.
  RawClient dripping(server->port());
  dripping.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n");
  pollfd answer = {dripping.fd(), POLLIN, 0};
  for (int i = 0; i < 800 && ::poll(&answer, 1, 10) == 0; ++i) dripping.Send("x");
  EXPECT_EQ(::poll(&answer, 1, 0), 1);
  EXPECT_EQ(StatusOf(dripping.ReadAll()), 408);
}

TEST(HttpServer, ClosesAConnectionThatSaysNothingMore) {
  ServerOptions options;
  options.idle_timeout = Duration::Millis(150);
  const auto server = StartOrDie(options);
  const auto begin = std::chrono::steady_clock::now();
  const std::string answer = AskOnce(*server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(answer.ends_with("GET /? ")) << answer;
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(140));
}

TEST(HttpServer, GivesUpAClientThatDoesNotReadItsAnswer) {
  std::atomic<int> calls = 0;
  ServerOptions options;
  options.write_timeout = Duration::Millis(300);
  const auto server = StartOrDie(options, [&](const HttpRequest&, const Respond& respond) {
    ++calls;
    HttpResponse response;
    response.body.assign(size_t{64} << 20, 'x');
    respond(std::move(response));
  });
  RawClient deaf(server->port());
  deaf.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  while (calls == 0) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  server->Drain(Duration::Seconds(30));  // returns when the write has timed out
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  const auto server = StartOrDie({});
  std::string requests;
  for (int i = 0; i < 200; ++i) {
    requests += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab\r\n";
  }
  RawClient client(server->port());
  client.Send(requests + "GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = client.ReadAll();
  size_t at = 0;
  for (int i = 0; i < 200; ++i) {
    at = answers.find("POST /" + std::to_string(i) + "? ab", at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_TRUE(answers.ends_with("GET /end? "));
}

TEST(HttpServer, InvitesBodiesThatWaitForIt) {
  const auto server = StartOrDie({});
  RawClient client(server->port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.ReadUntil("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("ab");
  EXPECT_TRUE(client.ReadAll().ends_with("POST /? ab"));
  // One that would be refused anyway is not invited.
  const auto narrow = StartOrDie(Narrow());
  EXPECT_EQ(
      StatusOf(AskOnce(*narrow, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n")),
      413);
}

TEST(HttpServer, SpeaksWithOldClientsAndWithoutBodies) {
  const auto server = StartOrDie({});
  EXPECT_NE(AskOnce(*server, "GET / HTTP/1.0\r\n\r\n").find("Connection: close\r\n"), std::string::npos);
  RawClient old(server->port());
  old.Send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(old.ReadUntil("GET /? ").find("Connection: keep-alive\r\n"), std::string::npos);
  const std::string head = AskOnce(*server, "HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 8\r\n"), std::string::npos) << head;
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  const std::string refused = AskOnce(*server, "HEAD / HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n\r\n");
  EXPECT_EQ(StatusOf(refused), 415);
  EXPECT_TRUE(refused.ends_with("\r\n\r\n")) << refused;
}

TEST(HttpServer, PassesOverLineBreaksBeforeARequest) {
  const auto server = StartOrDie({});
  RawClient client(server->port());
  client.Send("\r\n\r");
  client.Send("\nGET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(StatusOf(client.ReadUntil("GET /late? ")), 200);
  // But nobody keeps a connection with them.
  ServerOptions options;
  options.header_timeout = Duration::Millis(150);
  const auto hasty = StartOrDie(options);
  RawClient breaking(hasty->port());
  for (int i = 0; i < 1000 && breaking.Send("\r\n"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(breaking.Send("\r\n"));
}

TEST(HttpServer, AnswersAClientThatHasClosedItsHalf) {
  std::promise<Respond> later;
  const auto server = StartOrDie({}, [&](const HttpRequest&, Respond respond) { later.set_value(std::move(respond)); });
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  client.CloseSending();
  Respond respond = later.get_future().get();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  respond({.status = 200, .content_type = "a/b", .body = "late", .headers = {}});
  EXPECT_TRUE(client.ReadAll().ends_with("\r\n\r\nlate"));
  RawClient cut(server->port());
  cut.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  cut.CloseSending();
  EXPECT_EQ(StatusOf(cut.ReadAll()), 400);
}

TEST(HttpServer, KnowsWhetherWhoeverAskedIsGone) {
  std::promise<std::pair<std::shared_ptr<const Asker>, Respond>> first, second;
  const auto server = StartOrDie({}, [&](const HttpRequest& request, Respond respond) {
    if (request.path == "/a") return EchoWithPadding(request, respond);
    (request.path == "/first" ? first : second).set_value({request.asker, std::move(respond)});
  });
  const auto ask = [](RawClient& client, const std::string& path, auto& later) {
    client.Send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return later.get_future().get();
  };
  {
    auto client = std::make_optional<RawClient>(server->port());
    const auto [asker, respond] = ask(*client, "/first", first);
    EXPECT_FALSE(asker->Gone());
    client->Send("GET /a HTTP/1.1\r\n");  // more, but not the end
    EXPECT_FALSE(asker->Gone());
    client.reset();
    while (!asker->Gone()) std::this_thread::yield();
    respond({});
  }
  RawClient client(server->port());
  const auto [asker, respond] = ask(client, "/second", second);
  EXPECT_FALSE(asker->Gone());
  respond({.status = 200, .content_type = "", .body = "done", .headers = {}});
  EXPECT_EQ(StatusOf(client.ReadUntil("done")), 200);
  EXPECT_TRUE(asker->Gone()) << "nobody waits for what is answered";
}

TEST(HttpServer, AnswersForHandlersThatDoNot) {
  const auto server = StartOrDie({}, [](const HttpRequest& request, const Respond& respond) {
    if (request.path == "/throw") throw std::runtime_error("no");
    if (request.path == "/twice") {
      respond({.status = 201, .content_type = "", .body = "", .headers = {}});
      respond({.status = 202, .content_type = "", .body = "", .headers = {}});
    }
    if (request.path == "/odd") respond({.status = 7, .content_type = "", .body = "", .headers = {}});
  });
  const auto status = [&](const std::string& path) {
    return StatusOf(AskOnce(*server, "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  };
  EXPECT_EQ(status("/throw"), 500);
  EXPECT_EQ(status("/drop"), 500);
  EXPECT_EQ(status("/odd"), 500);
  EXPECT_EQ(status("/twice"), 201);
}

TEST(HttpServer, OutlivesClientsThatVanishAnywhere) {
  std::mutex mutex;
  std::vector<Respond> kept;
  bool keep = true;  // whoever comes later, when its reset was slow to be seen, is answered at once
  const auto server = StartOrDie({}, [&](HttpRequest request, Respond respond) {
    const std::lock_guard lock(mutex);
    if (!keep || request.path == "/a") return EchoWithPadding(std::move(request), respond);
    kept.push_back(std::move(respond));
  });
  const std::string request = "POST /kept HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde";
  for (size_t size = 0; size <= request.size(); ++size) {
    RawClient client(server->port());
    client.Send(std::string_view(request).substr(0, size));
    client.Vanish();
  }
  {
    const std::lock_guard lock(mutex);
    keep = false;
    for (const Respond& respond : kept) {
      respond({.status = 200, .content_type = "", .body = std::string(100'000, 'x'), .headers = {}});
    }
  }
  EXPECT_EQ(StatusOf(Get(*server)), 200);
  const auto begin = std::chrono::steady_clock::now();
  server->Drain(Duration::Seconds(30));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST(HttpServer, DoesNotBelieveAClaimOfLength) {
  ServerOptions options;
  options.max_total_bytes = uint64_t{8} << 20;
  const auto server = StartOrDie(options);
  // Each claims the whole allowance and more; together they hold a fraction of it.
  std::vector<RawClient> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back(server->port());
    clients.back().Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000000\r\n\r\nabc");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(StatusOf(Get(*server)), 200);
  // Whoever sends more than there is room for is told so.
  const std::string much(size_t{16} << 20, 'x');
  RawClient greedy(server->port());
  std::thread sender([&] { greedy.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000000\r\n\r\n" + much); });
  EXPECT_EQ(StatusOf(greedy.ReadUntil("\r\n\r\n")), 503);
  sender.join();
  clients.clear();
  const std::string body(size_t{4} << 20, 'x');
  std::string answer;
  for (int i = 0; i < 100 && StatusOf(answer) != 200; ++i) {  // the room comes back when the server sees them gone
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    answer = AskOnce(*server, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " +
                                  std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  EXPECT_EQ(StatusOf(answer), 200);
}

TEST(HttpServer, AnswersAThousandRequestsAtATime) {
  std::mutex mutex;
  std::vector<std::pair<std::string, Respond>> kept;
  std::promise<void> all_there;
  ServerOptions options;
  options.threads = 2;
  rlimit files = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  options.header_timeout = Duration::Seconds(60);
  const auto server = StartOrDie(options, [&](HttpRequest request, Respond respond) {
    const std::lock_guard lock(mutex);
    kept.emplace_back(std::move(request.path), std::move(respond));
    if (kept.size() == 1000) all_there.set_value();
  });
  std::vector<RawClient> clients;
  for (int i = 0; i < 1000; ++i) {
    clients.emplace_back(server->port());
    ASSERT_TRUE(clients.back().Send("GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
  }
  all_there.get_future().get();
  for (const auto& [path, respond] : kept) respond({.status = 200, .content_type = "", .body = path, .headers = {}});
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(clients[static_cast<size_t>(i)].ReadAll().ends_with("\r\n\r\n/" + std::to_string(i))) << i;
  }
}

TEST(HttpServer, DrainsWithoutLosingWhatHasBegun) {
  std::promise<Respond> later;
  const auto server = StartOrDie({}, [&](HttpRequest request, Respond respond) {
    if (request.path != "/later") return EchoWithPadding(std::move(request), respond);
    later.set_value(std::move(respond));
  });
  RawClient idle(server->port()), busy(server->port()), half(server->port());
  idle.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(StatusOf(idle.ReadUntil("GET /? ")), 200);
  half.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /half HTTP/1.1\r\n");
  EXPECT_EQ(StatusOf(half.ReadUntil("GET /? ")), 200);
  busy.Send("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
  Respond respond = later.get_future().get();
  std::thread drain([&] { server->Drain(Duration::Seconds(30)); });
  EXPECT_EQ(idle.ReadAll(), "");
  half.Send("Host: x\r\n\r\n");
  const std::string last = half.ReadAll();
  EXPECT_TRUE(last.ends_with("GET /half? ")) << last;
  EXPECT_NE(last.find("Connection: close\r\n"), std::string::npos);
  EXPECT_FALSE(RawClient(server->port()).connected());
  respond({.status = 200, .content_type = "", .body = "done", .headers = {}});
  EXPECT_TRUE(busy.ReadAll().ends_with("done"));
  drain.join();
}

TEST(HttpServer, CutsWhatIsThereWhenPatienceIsOver) {
  std::promise<Respond> later;
  auto server = StartOrDie({}, [&](const HttpRequest&, Respond respond) { later.set_value(std::move(respond)); });
  RawClient client(server->port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  Respond respond = later.get_future().get();
  server->Drain(Duration::Millis(50));
  EXPECT_EQ(client.ReadAll(), "");
  server.reset();
  respond({});  // too late, and harmless
}

TEST(HttpServer, ReadsABodyIntoTheMemoryOfAnEarlierOne) {
  const void* before = nullptr;
  std::atomic<bool> same = false;
  const auto server = StartOrDie({}, [&](HttpRequest request, const Respond& respond) {
    same = request.body.data() == before;
    before = request.body.data();
    HttpResponse response;
    response.body = std::to_string(request.body.size()) + " bytes, " +
                    std::to_string(request.body.find_first_not_of(request.body.front())) + ", room " +
                    (request.body.capacity() >= request.body.size() + 64 ? "yes" : "no");
    response.spare = std::move(request.body);
    respond(std::move(response));
  });
  const std::string none = std::to_string(std::string::npos);
  char fill = 'a';
  for (const size_t size : {3'000'000, 2'999'999, 3'100'000, 70'000, 3'000'000}) {
    const std::string head = "POST /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ";
    const std::string answer = AskOnce(*server, head + std::to_string(size) + "\r\n\r\n" + std::string(size, fill++));
    EXPECT_TRUE(answer.ends_with("\r\n\r\n" + std::to_string(size) + " bytes, " + none + ", room yes")) << answer;
    EXPECT_EQ(same, fill > 'b') << size;
  }
}

TEST(HttpServer, SaysWhyItCannotListen) {
  const auto server = StartOrDie({});
  ServerOptions options;
  options.port = server->port();
  const auto second = HttpServer::Start(options, EchoWithPadding);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().text(),
            "listening on 127.0.0.1:" + std::to_string(options.port) + ": Address already in use");
  for (const char* none : {"300.1.2.3.4", "[]", "[127.0.0.1]"}) {
    options.address = none;
    EXPECT_FALSE(HttpServer::Start(options, EchoWithPadding).ok()) << none;
  }
}

TEST(HttpServer, ListensOnAnAddressInBrackets) {
  ServerOptions options;
  options.address = "[::1]";
  const auto server = HttpServer::Start(options, EchoWithPadding);
  if (server.ok()) return;
  // A machine without IPv6 has no such address. But it is one.
  EXPECT_TRUE(server.error().text() == "listening on [::1]:0: Cannot assign requested address" ||
              server.error().text() == "listening on [::1]:0: Address family not supported by protocol")
      << server.error().text();
}

}  // namespace
}  // namespace berth::net
