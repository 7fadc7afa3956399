// SPDX-License-Identifier: Apache-2.0
// A server with more clients than it has room for: whoever has something to ask is answered, and memory is bounded.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/http_server.h"
#include "net/http_test_util.h"
#include "net/server_process.h"

namespace berth::net {
namespace {

HttpResponse Said(std::string body) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = std::move(body);
  return response;
}

// Answers "ok" at once, and what asks for /held when it is told to.
class Holding {
 public:
  Handler handler() {
    return [this](const HttpRequest& request, Respond respond) {
      if (request.path != "/held") return respond(Said("ok"));
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(respond));
      changed_.notify_all();
    };
  }
  void WaitFor(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_.size() >= count; });
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    for (const Respond& respond : held_) respond(Said("released"));
    held_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Respond> held_;
};

std::unique_ptr<HttpServer> Start(const ServerOptions& options, Handler handler) {
  auto server = HttpServer::Start(options, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.error().text();
  return std::move(server).value();
}

ServerOptions Small(size_t served, size_t unserved, size_t threads = 2) {
  ServerOptions options;
  options.threads = threads;
  options.max_connections = served;
  options.max_unserved_connections = unserved;
  // None of them helps.
  options.header_timeout = options.body_timeout = options.write_timeout = options.idle_timeout = Duration::Seconds(600);
  return options;
}

std::string AskRaw(RawClient& client, const std::string& path = "/ok") {
  client.Send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
  return client.ReadUntil("\r\n\r\nok");
}

TEST(HttpServerCrowd, TheConnectionIdleForLongestMakesRoom) {
  Holding holding;
  const auto server = Start(Small(2, 1, 1), holding.handler());
  RawClient first(server->port()), second(server->port());
  EXPECT_EQ(StatusOf(AskRaw(first)), 200);
  EXPECT_EQ(StatusOf(AskRaw(second)), 200);
  RawClient third(server->port());
  EXPECT_EQ(StatusOf(AskRaw(third)), 200);
  EXPECT_EQ(first.ReadAll(), "");
  EXPECT_EQ(StatusOf(AskRaw(second)), 200);
  EXPECT_EQ(StatusOf(AskRaw(third)), 200);
}

TEST(HttpServerCrowd, ManyKeptConnectionsLockNobodyOut) {
  Holding holding;
  const auto server = Start(Small(20, 5), holding.handler());
  std::vector<RawClient> kept;
  for (int i = 0; i < 200; ++i) {
    kept.emplace_back(server->port());
    ASSERT_EQ(StatusOf(AskRaw(kept.back())), 200) << i;
  }
  RawClient client(server->port());
  EXPECT_EQ(StatusOf(AskRaw(client)), 200);
}

TEST(HttpServerCrowd, ManySilentConnectionsLockNobodyOut) {
  Holding holding;
  const auto server = Start(Small(20, 5), holding.handler());
  RawClient before(server->port());
  EXPECT_EQ(StatusOf(AskRaw(before)), 200);
  std::vector<RawClient> silent;
  for (int i = 0; i < 200; ++i) {
    silent.emplace_back(server->port());
    if (i % 2 == 0) silent.back().Send("GET /never HTTP/1.1\r\nHost:");
  }
  RawClient client(server->port());
  EXPECT_EQ(StatusOf(AskRaw(client)), 200);
  EXPECT_EQ(StatusOf(AskRaw(before)), 200) << "they do not push out who was served";
}

TEST(HttpServerCrowd, ProbesAreAnsweredWhileAllConnectionsAreBusy) {
  Holding holding;
  const auto server = Start(Small(4, 3), holding.handler());
  std::vector<RawClient> busy, silent;
  for (int i = 0; i < 4; ++i) {
    busy.emplace_back(server->port());
    busy.back().Send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  holding.WaitFor(4);
  for (int i = 0; i < 30; ++i) {
    silent.emplace_back(server->port());
    RawClient probe(server->port());
    const std::string answer = AskRaw(probe);
    ASSERT_EQ(StatusOf(answer), 200) << i;
    ASSERT_NE(answer.find("Connection: close\r\n"), std::string::npos) << answer;
  }
  RawClient post(server->port());
  post.Send("POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx");
  const std::string refused = post.ReadAll();
  EXPECT_EQ(StatusOf(refused), 503);
  EXPECT_TRUE(refused.ends_with("all 4 connections are busy\n")) << refused;
  holding.Release();
  for (RawClient& client : busy) EXPECT_EQ(StatusOf(client.ReadUntil("released")), 200);
  RawClient after(server->port());
  EXPECT_EQ(StatusOf(AskRaw(after)), 200);
}

TEST(HttpServerCrowd, WhoDoesNotSendItsBodyOrReadItsAnswerMakesRoom) {
  const auto server = Start(Small(4, 50), [](const HttpRequest& request, const Respond& respond) {
    respond(Said(request.path == "/much" ? std::string(size_t{20} << 20, 'x') : "ok"));
  });
  std::vector<RawClient> slow;
  for (int i = 0; i < 40; ++i) {
    slow.emplace_back(server->port());
    if (i % 2 == 0) {
      slow.back().Send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
    } else {
      slow.back().Send("GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
      EXPECT_EQ(StatusOf(slow.back().ReadUntil("\r\n\r\n")), 200);
    }
  }
  for (int i = 0; i < 10; ++i) {
    RawClient client(server->port());
    client.Send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(StatusOf(client.ReadUntil("\r\n\r\nok")), 200);
  }
}

TEST(HttpServerCrowd, WhoIsRefusedMakesRoom) {
  ServerOptions options = Small(1, 10);
  options.max_total_bytes = 1;  // no body has room
  const auto server = Start(options, [](const HttpRequest&, const Respond& respond) { respond(Said("ok")); });
  RawClient first(server->port()), second(server->port());
  for (RawClient* client : {&first, &second}) {
    client->Send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
    const std::string answer = client->ReadUntil("requests");
    EXPECT_EQ(StatusOf(answer), 503);
    EXPECT_NE(answer.find("too many large requests"), std::string::npos) << answer;
  }
}

// Lets the process have no descriptor more than it has, and one that the test can free.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    free_ = ::dup(0);
    rlimit less = before_;
    less.rlim_cur = static_cast<rlim_t>(free_) + 1;
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &less), 0);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) holes_.push_back(fd);
  }
  ~NoDescriptors() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
    for (const int fd : holes_) ::close(fd);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  void FreeOne() { ::close(free_); }

 private:
  rlimit before_ = {};
  int free_ = -1;
  std::vector<int> holes_;
};

TEST(HttpServerCrowd, WithoutDescriptorsTheConnectionIdleForLongestMakesRoom) {
  Holding holding;
  const auto server = Start(Small(100, 10, 1), holding.handler());
  RawClient first(server->port()), second(server->port());
  EXPECT_EQ(StatusOf(AskRaw(first)), 200);
  // The second time its thread is done with accepting, which takes a descriptor for a moment.
  for (int i = 0; i < 2; ++i) EXPECT_EQ(StatusOf(AskRaw(second)), 200);
  NoDescriptors none;
  none.FreeOne();
  RawClient client(server->port());  // takes it; none is left for the server
  EXPECT_EQ(StatusOf(AskRaw(client)), 200);
  EXPECT_EQ(first.ReadAll(), "");
  EXPECT_EQ(StatusOf(AskRaw(second)), 200);
}

TEST(HttpServerCrowd, WithoutDescriptorsAndAnythingToCloseItAcceptsLater) {
  Holding holding;
  const auto server = Start(Small(100, 10, 1), holding.handler());
  RawClient busy(server->port());
  EXPECT_EQ(StatusOf(AskRaw(busy)), 200);
  busy.Send("GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
  holding.WaitFor(1);
  {
    NoDescriptors none;
    none.FreeOne();
    RawClient client(server->port());
    client.Send("GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
    rusage begin = {}, end = {};
    ::getrusage(RUSAGE_SELF, &begin);
    pollfd waiting = {client.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&waiting, 1, 300), 0) << "there is no descriptor for it";
    ::getrusage(RUSAGE_SELF, &end);
    // Voluntary waits: one per pause, where a loop that does not pause has none, or very many.
    EXPECT_LT(end.ru_nvcsw - begin.ru_nvcsw, 300);
    holding.Release();
    EXPECT_EQ(StatusOf(busy.ReadUntil("released")), 200);
    EXPECT_EQ(StatusOf(client.ReadUntil("\r\n\r\nok")), 200);
  }
}

TEST(HttpServerCrowd, LimitsFollowTheDescriptorsOfTheProcess) {
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit less = before;
  less.rlim_cur = 200;  // half of it for connections
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &less), 0);
  Holding holding;
  const auto server = Start(Small(4096, 64), holding.handler());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<RawClient> kept;
  for (int i = 0; i < 120; ++i) {
    kept.emplace_back(server->port());
    ASSERT_EQ(StatusOf(AskRaw(kept.back())), 200);
  }
  EXPECT_EQ(kept.front().ReadAll(), "");
  EXPECT_EQ(StatusOf(AskRaw(kept.back())), 200);
}

TEST(HttpServerCrowd, UnreadAnswersCountTowardsTheTotal) {
  constexpr size_t kAnswer = size_t{8} << 20;
  ServerOptions options = Small(100, 10);
  options.max_total_bytes = 5 * kAnswer;
  const auto server = Start(options, [](const HttpRequest& request, const Respond& respond) {
    respond(Said(request.path == "/much" ? std::string(kAnswer, 'x') : "ok"));
  });
  std::vector<RawClient> deaf;
  int answered = 0, refused = 0;
  for (int i = 0; i < 30; ++i) {
    deaf.emplace_back(server->port());
    deaf.back().Send("GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
    const int status = StatusOf(deaf.back().ReadUntil("\r\n\r\n"));
    (status == 200 ? answered : refused) += 1;
    EXPECT_TRUE(status == 200 || status == 503) << status;
  }
  EXPECT_GT(answered, 0);
  // What the sockets' buffers took is not the server's any more, if it is all of an answer.
  EXPECT_LE(answered, 5);
  EXPECT_EQ(answered + refused, 30);
  RawClient small(server->port());
  EXPECT_EQ(StatusOf(AskRaw(small)), 200);
  deaf.clear();
  int status = 0;
  for (int i = 0; i < 200 && status != 200; ++i) {  // the room comes back when the server sees them gone
    RawClient again(server->port());
    again.Send("GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
    status = StatusOf(again.ReadUntil("\r\n\r\n"));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(status, 200);
}

TEST(HttpServerCrowd, SmallAnswersHaveRoomWhereOthersTookAll) {
  ServerOptions options = Small(100, 10);
  options.max_total_bytes = 1;  // not even a word has room
  const auto server = Start(options, [](const HttpRequest& request, const Respond& respond) {
    respond(Said(std::string(request.path == "/much" ? size_t{1} << 20 : 100, 'x')));
  });
  RawClient client(server->port());
  client.Send("GET /little HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(StatusOf(client.ReadUntil("\r\n\r\n")), 200);
  RawClient other(server->port());
  other.Send("GET /much HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(StatusOf(other.ReadUntil("\r\n\r\n")), 503);
}

TEST(HttpServerCrowd, AnAnswerMadeOfItsRequestCountsOnce) {
  constexpr size_t kSize = size_t{8} << 20;
  ServerOptions options = Small(100, 10);
  options.max_total_bytes = kSize * 3 / 2;
  const auto server =
      Start(options, [](HttpRequest request, const Respond& respond) { respond(Said(std::move(request.body))); });
  RawClient client(server->port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(kSize) +
              "\r\n\r\n" + std::string(kSize, 'y'));
  const std::string answer = client.ReadAll();
  EXPECT_EQ(StatusOf(answer), 200) << answer.substr(0, 300);
  EXPECT_TRUE(answer.ends_with(std::string(1000, 'y')));
}

size_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  size_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnMalloc = false;
#else
constexpr bool kOwnMalloc = true;
#endif

TEST(HttpServerCrowd, MemoryGoesBackToTheSystem) {
  if (!kOwnMalloc) GTEST_SKIP() << "sanitizers keep what is freed";
  PrepareToServe();
  // Small pieces of which some stay while others go, as requests leave them: the C library alone would keep them all.
  std::mutex mutex;
  std::vector<std::string> gone, stays;
  const auto server = Start(Small(1000, 10), [&](const HttpRequest& request, const Respond& respond) {
    const std::lock_guard lock(mutex);
    if (request.path == "/free") {
      gone = {};
    } else {
      for (int i = 0; i < 5'000; ++i) (i % 100 == 0 ? stays : gone).emplace_back(1000, 'x');
    }
    respond(Said(std::string(size_t{3} << 20, 'x')));
  });
  const auto ask = [&](const std::string& path) {
    RawClient client(server->port());
    client.Send("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_GT(client.ReadAll().size(), size_t{3} << 20);
  };
  constexpr size_t kLittle = size_t{60} << 20;
  GiveMemoryBack();  // what earlier tests left would be taken first
  const size_t before = ResidentBytes();
  for (int i = 0; i < 40; ++i) ask("/take");
  EXPECT_GT(ResidentBytes(), before + 2 * kLittle) << before;
  ask("/free");
  size_t after = ResidentBytes();
  for (int i = 0; i < 1000 && after > before + kLittle; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    after = ResidentBytes();
  }
  EXPECT_LT(after, before + kLittle) << (after - before) / 1'000'000 << " MB stayed";
}

}  // namespace
}  // namespace berth::net
