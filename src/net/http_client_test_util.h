// SPDX-License-Identifier: Apache-2.0
// For tests of the client: questions in a line, servers that do as they are told, ears for a stream.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "net/http_server.h"

namespace berth::net {

inline void Echo(const HttpRequest& request, const Respond& respond) {
  HttpResponse response;
  response.content_type = "text/plain";
  response.body = request.method + " " + request.path + "?" + request.query + " " + request.body;
  response.headers.Add("X-Client", request.client_name);
  respond(std::move(response));
}

inline std::unique_ptr<HttpServer> Serve(Handler handler = Echo, const ServerOptions& options = {}) {
  auto server = HttpServer::Start(options, std::move(handler));
  EXPECT_TRUE(server.ok()) << server.error().text();
  return std::move(server).value();
}

inline std::unique_ptr<HttpClient> ClientOf(uint16_t port, ClientOptions options = {}) {
  if (options.url.empty()) options.url = "http://127.0.0.1:" + std::to_string(port);
  auto client = HttpClient::Create(options);
  EXPECT_TRUE(client.ok()) << client.error().text();
  return std::move(client).value();
}

inline ClientRequest Request(const std::string& method, const std::string& path, const std::string& body = "") {
  ClientRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  return request;
}

inline Result<HttpResponse> Ask(HttpClient& client, ClientRequest request) {
  auto answer = std::make_shared<std::promise<Result<HttpResponse>>>();
  client.Send(std::move(request), [answer](Result<HttpResponse> response) { answer->set_value(std::move(response)); });
  return answer->get_future().get();
}

// The body, or the error in brackets.
inline std::string Text(const Result<HttpResponse>& response) {
  return response.ok() ? response->body : "(" + response.error().text() + ")";
}

// Takes turns of a client that has no thread until that is so; false: it is not so in 30 seconds.
inline bool TakeTurns(HttpClient& client, std::chrono::hours patience, const std::function<bool()>& done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!done() && std::chrono::steady_clock::now() < until)
    client.guest().Turn(std::chrono::milliseconds(10), patience);
  return done();
}

// One whose answer may be left unread; `answered` counts it when it is read.
inline void SendPatiently(HttpClient& client, ClientRequest request, int& answered) {
  request.patient = true;
  client.Send(std::move(request), [&answered](const Result<HttpResponse>& response) {
    EXPECT_TRUE(response.ok());
    ++answered;
  });
}

// A socket that listens on any port of this machine, and the port.
inline std::pair<int, uint16_t> ListenAnywhere() {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), length), 0);
  EXPECT_EQ(::listen(fd, 10), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), 0);
  return {fd, ntohs(address.sin_port)};
}

// A server that says what it is told, once per connection, and notes what it heard.
class Scripted {
 public:
  explicit Scripted(std::vector<std::string> answers) {
    std::tie(fd_, port_) = ListenAnywhere();
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (const std::string& answer : answers) {
        const int client = ::accept(fd_, nullptr, nullptr);
        if (client < 0) return;
        char data[4096];
        [[maybe_unused]] ssize_t heard = ::recv(client, data, sizeof(data), 0);
        ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
        ::shutdown(client, SHUT_WR);
        while (::recv(client, data, sizeof(data), 0) > 0) {
        }
        ::close(client);
      }
    });
  }
  ~Scripted() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }
  Scripted(const Scripted&) = delete;
  Scripted& operator=(const Scripted&) = delete;
  uint16_t port() const { return port_; }

 private:
  int fd_ = -1;
  uint16_t port_ = 0;
  std::thread thread_;
};

// A server that begins every answer in the same way, and goes on when the test says so.
class Holding {
 public:
  explicit Holding(std::string opening) {
    std::tie(fd_, port_) = ListenAnywhere();
    thread_ = std::thread([this, opening = std::move(opening)] {
      for (;;) {
        const int client = ::accept(fd_, nullptr, nullptr);
        if (client < 0) return;
        char data[4096];
        [[maybe_unused]] ssize_t heard = ::recv(client, data, sizeof(data), 0);
        {
          const std::lock_guard lock(mutex_);
          clients_.push_back(client);
        }
        ::send(client, opening.data(), opening.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~Holding() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
    for (const int client : clients_) ::close(client);
  }
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;
  uint16_t port() const { return port_; }

  // To the client that came first. REQUIRES: it has heard the opening.
  void Say(std::string_view text) { ::send(First(), text.data(), text.size(), MSG_NOSIGNAL); }
  void CloseSending() { ::shutdown(First(), SHUT_WR); }
  // Waits until it has closed its side; false if it does not.
  bool WaitUntilItCloses() {
    const timeval patience = {20, 0};
    ::setsockopt(First(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    char byte = 0;
    return ::recv(First(), &byte, 1, 0) == 0;
  }

 private:
  int First() {
    const std::lock_guard lock(mutex_);
    return clients_.at(0);
  }

  int fd_ = -1;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<int> clients_;
  std::thread thread_;
};

// What a stream told.
struct Heard {
  std::mutex mutex;
  std::condition_variable changed;
  int status = 0;
  std::string text;
  bool ended = false;
  std::string error;

  std::unique_ptr<ResponseStream> Start(HttpClient& client, ClientRequest request) {
    return client.Stream(
        std::move(request), [this](int code, const Headers&) { Note([&] { status = code; }); },
        [this](std::string_view piece) { Note([&] { text += piece; }); },
        [this](const Error& end) {
          Note([&] {
            ended = true;
            error = end.ok() ? "" : end.text();
          });
        });
  }
  template <class Change>
  void Note(const Change& change) {
    const std::lock_guard lock(mutex);
    change();
    changed.notify_all();
  }
  template <class Condition>
  bool WaitFor(const Condition& condition, std::chrono::milliseconds patience = std::chrono::seconds(30)) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, condition);
  }
  bool WaitForEnd() {
    return WaitFor([this] { return ended; });
  }
};

}  // namespace berth::net
