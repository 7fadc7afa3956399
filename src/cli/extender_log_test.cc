// SPDX-License-Identifier: Apache-2.0
// `berth extender` as a process whose stderr is read by nobody, by somebody slow, or not there at all.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "berth/main.h"
#include "net/http_test_util.h"
#include "util/log_pipe_test_util.h"

#if !defined(__SANITIZE_THREAD__)  // which cannot follow threads of a forked process

namespace berth::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kFilter[] =
    R"({"Pod":{"metadata":{"name":"p","namespace":"d"}},"Nodes":{"items":[{"metadata":{"name":"a"}}]},"NodeNames":null})";

class ExtenderLogTest : public ::testing::Test {
 protected:
  ExtenderLogTest() {
    ::setenv("LOG_LEVEL", "INFO", 1);
    ::unsetenv("KUBERNETES_SERVICE_HOST");
  }
  ~ExtenderLogTest() override {
    if (child_ < 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  // Runs berth in a process of its own, after `prepare` has been called there.
  template <class Fn>
  void Run(std::vector<std::string> args, Fn prepare) {
    args.insert(args.begin(), {"berth", "extender", "--preset=demo-index"});
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    child_ = ::fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) return;
    std::signal(SIGPIPE, SIG_DFL);
    prepare();
    ::_exit(Main(static_cast<int>(args.size()), argv.data()));
  }
  // Starts it on a free port with stderr on the pipe, and reads the pipe until it listens; not further.
  void Start(std::vector<std::string> args = {}) {
    args.emplace_back("--port=0");
    ASSERT_NO_FATAL_FAILURE(Run(args, [this] {
      ::dup2(pipe_.in(), STDERR_FILENO);
      pipe_.CloseReader();  // the test's alone
    }));
    pipe_.CloseWriter();
    constexpr char kPort[] = "server listening on the port : ";
    ASSERT_TRUE(pipe_.ReadUntil("serves bind at POST")) << pipe_.text();
    port_ = static_cast<uint16_t>(std::stoi(pipe_.text().substr(pipe_.text().find(kPort) + sizeof kPort - 1)));
  }
  std::string Ask(const std::string& head, const std::string& body = "") const {
    net::RawClient client(port_);
    client.Send(head + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + body);
    return client.ReadAll();
  }
  // Over one connection; every answer has this status.
  void AskOften(int times, const std::string& head, const std::string& body, int status) const {
    net::RawClient client(port_);
    const std::string request =
        head + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    for (int i = 0; i < times; ++i) {
      client.Send(request);
      const std::string answer = client.ReadUntil("\r\n\r\n");
      ASSERT_EQ(net::StatusOf(answer), status) << "request " << i << ": " << answer;
      const size_t length = answer.find("Content-Length: ");
      ASSERT_NE(length, std::string::npos) << answer;
      client.ReadBytes(std::stoul(answer.substr(length + 16)));
    }
  }
  uint64_t Metric(const std::string& name) const {
    const std::string text = Ask("GET /metrics");
    const size_t at = text.find(name + " ");
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + name.size() + 1));
  }
  // How it ended, as waitpid says it; no value: it did not within 20 seconds.
  std::optional<int> Ended() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (int status = 0; std::chrono::steady_clock::now() < deadline;) {
      if (::waitpid(child_, &status, WNOHANG) == child_) {
        child_ = -1;
        return status;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return std::nullopt;
  }
  size_t Count(const std::string& what) const {
    size_t count = 0;
    for (size_t at = 0; (at = pipe_.text().find(what, at)) != std::string::npos; ++at) ++count;
    return count;
  }

  util::TestPipe pipe_;
  pid_t child_ = -1;
  uint16_t port_ = 0;
};

TEST_F(ExtenderLogTest, AStderrThatNobodyReadsStopsNeitherCallsNorTheWayOut) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(AskOften(1'500, "POST /filter", kFilter, 200));
  EXPECT_THAT(Ask("GET /healthz"), HasSubstr("200 OK"));
  ::kill(child_, SIGTERM);
  EXPECT_EQ(Ended(), 0);
}

TEST_F(ExtenderLogTest, ASecondSignalEndsItThenAtOnce) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_NO_FATAL_FAILURE(AskOften(200, "POST /filter", kFilter, 200));
  net::RawClient unfinished(port_);  // a call that has begun keeps the server for ten seconds
  unfinished.Send("POST /filter HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n");
  ASSERT_THAT(unfinished.ReadUntil("\r\n\r\n"), HasSubstr("100 Continue"));
  EXPECT_THAT(Ask("GET /healthz"), HasSubstr("200 OK"));
  ::kill(child_, SIGTERM);
  // The first one has been taken once nobody is let in any more.
  while (net::RawClient(port_).connected()) std::this_thread::yield();
  ::kill(child_, SIGINT);
  EXPECT_EQ(Ended(), SIGINT);
}

TEST_F(ExtenderLogTest, AStderrThatHasGoneEndsNothing) {
  ASSERT_NO_FATAL_FAILURE(Start());
  pipe_.CloseReader();
  ASSERT_NO_FATAL_FAILURE(AskOften(100, "POST /filter", kFilter, 200));
  EXPECT_THAT(Ask("GET /healthz"), HasSubstr("200 OK"));
  ::kill(child_, SIGTERM);
  EXPECT_EQ(Ended(), 0);
}

TEST_F(ExtenderLogTest, WhatNobodyReadInTimeIsCountedAndTold) {
  ASSERT_NO_FATAL_FAILURE(Start({"-v=4"}));
  // Bodies as long as the log shows them, until 4 MiB of them wait.
  std::string body = kFilter;
  body.insert(body.find("\"name\":\"a\""), R"("labels":{"long":")" + std::string(20'000, 'x') + "\"},");
  ASSERT_NO_FATAL_FAILURE(AskOften(400, "POST /filter", body, 200));
  const uint64_t dropped = Metric("berth_log_lines_dropped_total{reason=\"unread\"}");
  EXPECT_GT(dropped, 0u);
  EXPECT_TRUE(pipe_.ReadUntil("\"Log lines were dropped: nobody read them in time\" lines="));
  ASSERT_NO_FATAL_FAILURE(AskOften(1, "POST /filter", kFilter, 200));
  ::kill(child_, SIGTERM);
  pipe_.ReadAll();
  EXPECT_EQ(Ended(), 0);
  EXPECT_THAT(pipe_.text(), HasSubstr("] stopped\n"));
}

TEST_F(ExtenderLogTest, AClientOnAWrongPathCannotFillTheLog) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::thread reader([this] { pipe_.ReadUntil("] stopped\n"); });
  AskOften(3'000, "GET /wrong", "", 404);
  Ask("GET /fliter");
  const uint64_t rationed = Metric("berth_log_lines_dropped_total{reason=\"rationed\"}");
  EXPECT_EQ(Metric("berth_log_lines_dropped_total{reason=\"unread\"}"), 0u);
  ::kill(child_, SIGTERM);
  reader.join();
  pipe_.ReadAll();
  EXPECT_EQ(Ended(), 0);
  EXPECT_GT(rationed, 1'000u);
  EXPECT_EQ(Count("path=\"/wrong\""), 3'000 - rationed);
  EXPECT_EQ(Count("path=\"/fliter\""), 1u) << "what is new is told";
  EXPECT_THAT(pipe_.text(), HasSubstr("\"Log lines were left out: too many of their kind\" lines="));
  EXPECT_THAT(pipe_.text(), HasSubstr("saying=\"No such route\"\n"));
}

TEST_F(ExtenderLogTest, AnErrorAtStartIsTheLastLine) {
  ASSERT_NO_FATAL_FAILURE(Run({"--port=0", "--address=nowhere.invalid"}, [this] {
    ::dup2(pipe_.in(), STDERR_FILENO);
    pipe_.CloseReader();
  }));
  const std::string text = pipe_.ReadAll();
  const std::optional<int> ended = Ended();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(WEXITSTATUS(*ended), 2);
  EXPECT_THAT(text, AllOf(HasSubstr("Log level was set to INFO"), Not(HasSubstr("serves"))));
  const size_t last = text.rfind('\n', text.size() - 2) + 1;
  EXPECT_THAT(text.substr(last), AllOf(::testing::StartsWith("berth extender: "), HasSubstr("nowhere.invalid")));
}

TEST_F(ExtenderLogTest, ClosedStandardFilesAreNoSockets) {
  {  // a port that is free
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), size), 0);
    ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    ::close(fd);
  }
  ASSERT_NO_FATAL_FAILURE(Run({"--port=" + std::to_string(port_)}, [] {
    for (const int fd : {0, 1, 2}) ::close(fd);
  }));
  int status = 0;
  while (!net::RawClient(port_).connected()) {
    ASSERT_EQ(::waitpid(child_, &status, WNOHANG), 0) << "ended: " << status;
    std::this_thread::yield();
  }
  EXPECT_THAT(Ask("GET /healthz"), HasSubstr("200 OK"));
  for (const char* fd : {"0", "1", "2"}) {
    std::error_code error;
    const auto file = std::filesystem::read_symlink("/proc/" + std::to_string(child_) + "/fd/" + fd, error);
    EXPECT_EQ(file, "/dev/null") << fd << " " << error.message();
  }
  ::kill(child_, SIGTERM);
  EXPECT_EQ(Ended(), 0);
}

}  // namespace
}  // namespace berth::cli

#endif
