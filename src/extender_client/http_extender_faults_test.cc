// SPDX-License-Identifier: Apache-2.0
// One extender as a client, before servers that are away, silent, slow, huge, closing and back again; and who waits for
// whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "extender_client/http_extender_test_util.h"

namespace berth::extender_client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(HttpExtenderFaultsTest, NobodyListens) {
  const auto [fd, port] = net::ListenAnywhere();
  ::close(fd);
  const std::string at = "127.0.0.1:" + std::to_string(port);
  EXPECT_EQ(Failure(*Made(Config("http://" + at))),
            "Post \"http://" + at + "/filter\": dial tcp " + at + ": connect: connection refused");
}

TEST(HttpExtenderFaultsTest, AServerThatSaysNothingIsWaitedForAsLongAsTheConfigurationSays) {
  net::Holding silent("");
  config::Extender config = Config("http://127.0.0.1:" + std::to_string(silent.port()));
  config.http_timeout = Duration::Millis(150);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(Failure(*Made(config)), "Post \"" + config.url_prefix +
                                        "/filter\": context deadline exceeded (Client.Timeout exceeded while awaiting "
                                        "headers)");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5)) << "which is the default";
}

TEST(HttpExtenderFaultsTest, AServerThatHangsInItsAnswerIsNotWaitedForAnyLonger) {
  net::Holding slow("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"NodeNames\":");
  config::Extender config = Config("http://127.0.0.1:" + std::to_string(slow.port()));
  config.http_timeout = Duration::Seconds(1);  // enough for the head to come on a busy machine
  EXPECT_EQ(Failure(*Made(config)),
            "context deadline exceeded (Client.Timeout or context cancellation while reading body)");
}

TEST(HttpExtenderFaultsTest, AServerThatClosesBeforeOrWithinItsAnswer) {
  net::Scripted closing({"", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"NodeNames\":",
                         "HTTP/1.1 500 Oops\r\nContent-Length: 100\r\n\r\n"});
  const std::string url = "http://127.0.0.1:" + std::to_string(closing.port());
  const auto extender = Made(Config(url));
  EXPECT_EQ(Failure(*extender), "Post \"" + url + "/filter\": EOF");
  EXPECT_EQ(Failure(*extender), "unexpected EOF");
  EXPECT_EQ(Failure(*extender), "failed filter with extender at URL " + url + "/filter, code 500");
}

TEST(HttpExtenderFaultsTest, AHugeAnswerIsNotTaken) {
  Server server("{\"Error\":\"" + std::string(100'000, 'x') + "\"}");
  HttpExtenderOptions options;
  options.max_reply_bytes = 10'000;
  EXPECT_THAT(Failure(*Made(Config(server.url()), options)), HasSubstr("exceeds 10000 bytes"));
  EXPECT_THAT(Failure(*Made(Config(server.url()))), SizeIs(::testing::Le(5000u))) << "what it says is cut";
}

TEST(HttpExtenderFaultsTest, AServerThatIsStartedAgainIsFoundAtTheFirstCall) {
  const net::Handler passes = [](const net::HttpRequest&, const net::Respond& respond) {
    respond({200, "application/json", R"({"NodeNames":["n1"]})", {}});
  };
  auto server = net::Serve(passes);
  net::ServerOptions again;
  again.port = server->port();
  const std::string at = "127.0.0.1:" + std::to_string(again.port);
  const auto extender = Made(Config("http://" + at));
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(Failure(*extender), "no failure") << "also over a connection that was kept";
    server.reset();
    if (i == 1) {
      EXPECT_EQ(Failure(*extender),
                "Post \"http://" + at + "/filter\": dial tcp " + at + ": connect: connection refused");
    }
    server = net::Serve(passes, again);
    EXPECT_EQ(Failure(*extender), "no failure") << "nothing is lost by the restart itself";
  }
}

TEST(HttpExtenderFaultsTest, OneThatDiesInMidAnswerAndIsBackIsAskedAgain) {
  net::Scripted dying({"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"NodeNames\":",
                       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"Nod\r\n",
                       "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"NodeNames\":[\"n1\"]}"});
  const auto extender = Made(Config("http://127.0.0.1:" + std::to_string(dying.port())));
  EXPECT_EQ(Failure(*extender), "unexpected EOF");
  EXPECT_EQ(Failure(*extender), "unexpected EOF");
  EXPECT_EQ(Failure(*extender), "no failure");
}

TEST(HttpExtenderFaultsTest, AnAnswerAfterTheTimeoutIsNobodys) {
  Patient server;
  config::Extender config = Config(server.url());
  config.http_timeout = Duration::Seconds(1);
  std::atomic<int> answers = 0;
  std::promise<std::string> first, second;
  const auto extender = Made(config);
  extender->Filter(P(), N({"n1", "n2"}), [&](const auto& answer) {
    ++answers;
    first.set_value(answer.ok() ? "no failure" : answer.error().text());
  });
  EXPECT_THAT(first.get_future().get(), HasSubstr("Client.Timeout exceeded while awaiting headers"));
  server.Wait(1);
  server.Answer(R"({"NodeNames":["n1"]})");  // too late
  extender->Filter(P(), N({"n1", "n2"}), [&](const auto& answer) {
    ++answers;
    second.set_value(answer.ok() ? "passed " + std::to_string(answer->passed.at(0)) : answer.error().text());
  });
  server.Wait(2);
  server.Answer(R"({"NodeNames":["n2"]})");
  EXPECT_EQ(second.get_future().get(), "passed 1") << "its own answer, not the other's";
  EXPECT_EQ(answers, 2);
}

size_t ResidentMegabytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}

// A request is written when its turn comes and let go when it is over, so those that wait cost pointers.
TEST(HttpExtenderFaultsTest, OneThatNeverAnswersCostsTheMemoryOfOneRequest) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr size_t kMost = 800;  // what is freed is kept for a while
#else
  constexpr size_t kMost = 100;
#endif
  constexpr size_t kCalls = 64;
  net::Holding silent("");
  config::Extender config = Config("http://127.0.0.1:" + std::to_string(silent.port()));
  config.http_timeout = Duration::Millis(30);
  config.node_cache_capable = false;
  std::atomic<size_t> failed = 0;
  const auto extender = Made(config);
  std::vector<Ptr<Node>> list;
  for (int i = 0; i < 1000; ++i)
    list.push_back(WithSource<Node>(MakeNode("n" + std::to_string(i)), "{\"x\":\"" + std::string(20'000, 'x') + "\"}"));
  const Extender::Nodes nodes = std::move(list);
  const size_t before = ResidentMegabytes();
  for (size_t i = 0; i < kCalls; ++i) extender->Filter(P(), nodes, [&](const auto& answer) { failed += !answer.ok(); });
  size_t most = 0;
  for (int i = 0; i < 6000 && failed < kCalls; ++i) {
    most = std::max(most, ResidentMegabytes());
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(failed, kCalls) << "each gets its turn and its timeout";
  EXPECT_LT(most, before + kMost) << "64 requests of 20 MB would be 1.3 GB";
}

TEST(HttpExtenderFaultsTest, ManyCallsFromManySidesAreAnsweredOnceEach) {
  std::atomic<int> turn = 0;
  const auto server = net::Serve([&](const net::HttpRequest&, const net::Respond& respond) {
    respond({turn++ % 5 == 0 ? 500 : 200, "application/json", "null", {}});
  });
  HttpExtenderOptions options;
  options.calls_at_a_time = 4;
  std::atomic<int> reports = 0, answers = 0;
  options.on_call = [&](const CallReport&) { ++reports; };
  const auto extender = Made(Config("http://127.0.0.1:" + std::to_string(server->port())), options);
  const auto number = std::make_shared<std::atomic<uint64_t>>(0);
  constexpr int kThreads = 4, kEach = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        ++*number;  // as turns change while others read them
        extender->Filter({P(), number}, N({"n1"}), [&](const auto&) { ++answers; });
        extender->Bind(P(), "n1", [&](const Error&) { ++answers; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 3000 && answers < 2 * kThreads * kEach; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(answers, 2 * kThreads * kEach);
  EXPECT_EQ(reports, 2 * kThreads * kEach);
}

TEST(HttpExtenderFaultsTest, CallsAreMadeOneByOneAndBindingsWaitForNobody) {
  std::mutex mutex;
  std::vector<net::Respond> held;
  std::atomic<int> asked = 0, bound = 0;
  const auto server = net::Serve([&](net::HttpRequest request, const net::Respond& respond) {
    if (request.path == "/bind") {
      ++bound;
      return respond({200, "application/json", "{}", {}});
    }
    const std::lock_guard lock(mutex);
    held.push_back(respond);
    ++asked;
  });
  std::atomic<int> done = 0;
  const auto extender = Made(Config("http://127.0.0.1:" + std::to_string(server->port())));
  for (int i = 0; i < 3; ++i) extender->Filter(P(), N({"n1"}), [&](const auto&) { ++done; });
  extender->Prioritize(P(), N({"n1"}), [&](const auto&) { ++done; });
  extender->Preempt(P(), Candidates(), [&](const auto&) { ++done; });
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 500 && asked <= i; ++j) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (i == 0) {
      EXPECT_TRUE(Bind(*extender).ok());
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    ASSERT_EQ(asked, i + 1) << "one at a time";
    const std::lock_guard lock(mutex);
    held.back()({200, "application/json", "null", {}});
  }
  for (int j = 0; j < 500 && done < 5; ++j) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(done, 5);
  EXPECT_EQ(bound, 1);
}

framework::PodInTurn InTurn(const std::string& name, std::shared_ptr<std::atomic<uint64_t>> number) {
  return {WithSource(MakePod(name).Build(), R"({"metadata":{"name":")" + name + R"("}})"), std::move(number)};
}

TEST(HttpExtenderFaultsTest, OfThoseThatWaitTheLowestNumberIsNextAsItIsByThen) {
  Patient server;
  const auto extender = Made(Config(server.url()));
  std::map<std::string, std::shared_ptr<std::atomic<uint64_t>>> numbers;
  for (const auto& [name, number] : std::map<std::string, uint64_t>{{"a", 9}, {"b", 5}, {"c", 4}, {"d", 5}, {"e", 1}})
    numbers[name] = std::make_shared<std::atomic<uint64_t>>(number);
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    extender->Filter(InTurn(name, numbers[name]), N({"n1"}), [](const auto&) {});
    if (name == std::string("a")) server.Wait(1);
  }
  extender->Filter(InTurn("none", nullptr), N({"n1"}), [](const auto&) {});
  *numbers["e"] = 7;
  for (size_t i = 1; i < 6; ++i) {
    server.Answer();
    server.Wait(i + 1);
  }
  EXPECT_THAT(server.Wait(6), ElementsAre("a", "c", "b", "d", "e", "none"));
}

TEST(HttpExtenderFaultsTest, WhatNobodyWantsToKnowAnyMoreIsNotAsked) {
  Patient server;
  const auto extender = Made(Config(server.url()));
  const auto wanted = std::make_shared<std::atomic<uint64_t>>(1);
  const auto unwanted = std::make_shared<std::atomic<uint64_t>>(0);
  const auto answers = std::make_shared<std::atomic<int>>(0);
  extender->Filter(InTurn("first", wanted), N({"n1"}), [answers](const auto&) { ++*answers; });
  server.Wait(1);
  for (int i = 0; i < 1000; ++i)
    extender->Filter(InTurn("gone", unwanted), N({"n1"}), [answers](const auto&) { ++*answers; });
  EXPECT_EQ(answers.use_count(), 1002);
  *unwanted = framework::kWithdrawn;
  extender->Filter(InTurn("last", wanted), N({"n1"}), [answers](const auto&) { ++*answers; });
  EXPECT_EQ(answers.use_count(), 3) << "they cost nothing from here on";
  server.Answer();
  EXPECT_THAT(server.Wait(2), ElementsAre("first", "last"));
  server.Answer();
  for (int i = 0; i < 500 && *answers < 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(*answers, 2);
}

TEST(HttpExtenderFaultsTest, MoreCallsAtATimeOnlyIfOneSaysSo) {
  Patient server;
  HttpExtenderOptions options;
  options.calls_at_a_time = 3;
  std::atomic<int> done = 0;
  const auto extender = Made(Config(server.url()), options);
  for (int i = 0; i < 7; ++i) extender->Filter(P(), N({"n1"}), [&](const auto&) { ++done; });
  EXPECT_THAT(server.Wait(3), SizeIs(3));
  for (size_t i = 1; i <= 4; ++i) {
    server.Answer();
    EXPECT_THAT(server.Wait(3 + i), SizeIs(3 + i));
  }
  for (int i = 0; i < 3; ++i) server.Answer();
  for (int j = 0; j < 500 && done < 7; ++j) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(done, 7);
}

TEST(HttpExtenderFaultsTest, EndingItWhileCallsAreOutAnswersNobody) {
  net::Holding silent("");
  auto extender = Made(Config("http://127.0.0.1:" + std::to_string(silent.port())));
  std::atomic<int> answers = 0;
  for (int i = 0; i < 10; ++i) extender->Filter(P(), N({"n1"}), [&](const auto&) { ++answers; });
  extender->Bind(P(), "n1", [&](const Error&) { ++answers; });
  extender.reset();
  EXPECT_EQ(answers, 0);
}

}  // namespace
}  // namespace berth::extender_client
