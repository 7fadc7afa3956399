// SPDX-License-Identifier: Apache-2.0
// An API server for tests, of bare sockets: the test says what it answers, byte by byte if it wants.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "client/kubeconfig.h"

namespace berth::client {

struct FakeRequest {
  std::string method, target, head, body;

  bool watch() const { return target.find("watch=true") != std::string::npos; }
  bool streamed_list() const { return target.find("sendInitialEvents=true") != std::string::npos; }
  // "name: value" in the head, as it was written.
  bool Has(std::string_view line) const { return head.find(line) != std::string::npos; }
};
struct FakeReply {
  int status = 200;
  std::string body;
  std::string headers;  // lines that end with \r\n
  std::string content_type = "application/json";
};

// The server's side of a watch. The test writes; the connection lives until End or Cut.
class FakeWatch {
 public:
  FakeWatch(int fd, FakeRequest request) : fd_(fd), request_(std::move(request)) {}
  const FakeRequest& request() const { return request_; }
  // False when the client has gone.
  bool Send(std::string_view text) {
    char size[32];
    std::snprintf(size, sizeof(size), "%zx\r\n", text.size());
    return Raw(size) && Raw(text) && Raw("\r\n");
  }
  void Event(std::string_view type, std::string_view object) {
    Send("{\"type\":\"" + std::string(type) + "\",\"object\":" + std::string(object) + "}\n");
  }
  void End() {
    Raw("0\r\n\r\n");
    Finish();
  }
  void Cut() { Finish(); }
  bool Raw(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  // Until the client has closed its side.
  bool Gone() {
    char byte = 0;
    if (!meanwhile_) return ::recv(fd_, &byte, 1, 0) <= 0;
    ssize_t count = 0;
    while ((count = ::recv(fd_, &byte, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN) meanwhile_();
    return count <= 0;
  }

 private:
  friend class FakeApiServer;
  void Finish() {
    const std::lock_guard lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_; });
  }
  const int fd_;
  const FakeRequest request_;
  std::function<void()> meanwhile_;  // the test's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

// Thread safety: `answer` is called on threads of the server, one call at a time. What it shares with the test is safe
// to touch between two calls of Settle with no request under way.
class FakeApiServer {
 public:
  using Answer = std::function<FakeReply(const FakeRequest&)>;

  explicit FakeApiServer(Answer answer) : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(listener_, 64), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { Accept(); });
  }
  ~FakeApiServer() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
      for (const auto& watch : watches_) watch->Finish();
    }
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    for (std::thread& thread : threads_) thread.join();
  }
  FakeApiServer(const FakeApiServer&) = delete;
  FakeApiServer& operator=(const FakeApiServer&) = delete;

  Kubeconfig config() const {
    Kubeconfig config;
    config.source = "test";
    config.server = "http://127.0.0.1:" + std::to_string(port_);
    return config;
  }
  // What `answer` has read and written so far happened before this, and what the caller did before this is seen by
  // later answers. Bytes on a socket order nothing as far as the memory model and ThreadSanitizer know. Waits for
  // nobody: an answer may be waiting for the test.
  void Settle() { order_.fetch_add(1, std::memory_order_acq_rel); }
  // All requests so far that were no watches.
  std::vector<FakeRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::vector<std::string> targets() const {
    std::vector<std::string> targets;
    for (const FakeRequest& request : requests()) targets.push_back(request.target);
    return targets;
  }
  size_t connections() const {
    const std::lock_guard lock(mutex_);
    return accepted_;
  }
  // The n-th watch, as soon as it is there; null if it does not come.
  std::shared_ptr<FakeWatch> WaitForWatch(size_t n) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (meanwhile_ && watches() <= n && std::chrono::steady_clock::now() < end) meanwhile_();
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, end, [&] { return watches_.size() > n; });
    EXPECT_GT(watches_.size(), n) << "the watch does not come";
    if (watches_.size() <= n) return nullptr;
    watches_[n]->meanwhile_ = meanwhile_;
    return watches_[n];
  }
  // Called again and again while the test's thread waits for something, if the client has no other.
  void set_meanwhile(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  size_t watches() const {
    const std::lock_guard lock(mutex_);
    return watches_.size();
  }
  // Streamed lists are watches as any other. Without it they are refused as by a server that does not have them.
  void StreamLists() {
    const std::lock_guard lock(mutex_);
    streams_lists_ = true;
  }
  // The Content-Type of watches from now on.
  void SetWatchType(std::string type) {
    const std::lock_guard lock(mutex_);
    watch_type_ = std::move(type);
  }
  // How many were refused.
  size_t refused_streams() const {
    const std::lock_guard lock(mutex_);
    return refused_streams_;
  }
  // Watches are refused with it, instead of being opened, if this is in their head; status 0: opened.
  void RefuseWatches(FakeReply reply, std::string with = "") {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(reply);
    refused_ = std::move(with);
  }

 private:
  static std::string NoStreamJson() {
    return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Invalid","code":422,)"
           R"("message":"sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList )"
           R"(feature gate is enabled"})";
  }
  void Accept() {
    for (;;) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      const std::lock_guard lock(mutex_);
      if (stopped_) {
        ::close(fd);
        return;
      }
      ++accepted_;
      open_.push_back(fd);
      threads_.emplace_back([this, fd] { Serve(fd); });
    }
  }
  void Serve(int fd) {
    std::string text;
    for (bool open = true; open;) {
      FakeRequest request;
      open = Read(fd, text, request) && Reply(fd, request);
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, fd);
    ::close(fd);
  }
  static bool Fill(int fd, std::string& text) {
    char data[4096];
    const ssize_t count = ::recv(fd, data, sizeof(data), 0);
    if (count > 0) text.append(data, static_cast<size_t>(count));
    return count > 0;
  }
  static bool Read(int fd, std::string& text, FakeRequest& request) {
    while (text.find("\r\n\r\n") == std::string::npos) {
      if (!Fill(fd, text)) return false;
    }
    const size_t end = text.find("\r\n\r\n") + 4;
    request.head = text.substr(0, end);
    request.method = request.head.substr(0, request.head.find(' '));
    const size_t target = request.method.size() + 1;
    request.target = request.head.substr(target, request.head.find(' ', target) - target);
    const size_t header = request.head.find("Content-Length: ");
    const size_t length = header == std::string::npos ? 0 : std::stoul(request.head.substr(header + 16));
    while (text.size() < end + length) {
      if (!Fill(fd, text)) return false;
    }
    request.body = text.substr(end, length);
    text.erase(0, end + length);
    return true;
  }
  bool Reply(int fd, const FakeRequest& request) {
    std::unique_lock lock(mutex_);
    if (stopped_) return false;
    FakeReply reply;
    const bool stream = request.streamed_list() && !streams_lists_;
    if (request.watch() && !stream && (refusal_.status == 0 || !request.Has(refused_))) {
      auto watch = std::make_shared<FakeWatch>(fd, request);
      watch->Raw("HTTP/1.1 200 OK\r\nContent-Type: " + watch_type_ + "\r\nTransfer-Encoding: chunked\r\n\r\n");
      watches_.push_back(watch);
      changed_.notify_all();
      lock.unlock();
      watch->Wait();
      return false;
    }
    if (stream) {
      ++refused_streams_;
      reply = {422, NoStreamJson(), ""};
    } else if (request.watch()) {
      reply = refusal_;
    } else {
      requests_.push_back(request);
      Settle();
      reply = answer_(request);
      Settle();
      changed_.notify_all();
    }
    lock.unlock();
    if (reply.status == 0) return false;  // closes without a word
    FakeWatch out(fd, request);
    return out.Raw("HTTP/1.1 " + std::to_string(reply.status) + " x\r\nContent-Type: " + reply.content_type + "\r\n" +
                   reply.headers + "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n" + reply.body);
  }

  const Answer answer_;
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<uint64_t> order_{0};
  std::function<void()> meanwhile_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<FakeRequest> requests_;
  std::vector<std::shared_ptr<FakeWatch>> watches_;
  FakeReply refusal_{0, "", ""};
  std::string refused_;
  std::string watch_type_ = "application/json";
  bool streams_lists_ = false;
  size_t refused_streams_ = 0;
  std::vector<int> open_;
  size_t accepted_ = 0;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

// Objects and lists as a server writes them.
inline std::string PodJson(const std::string& name, uint64_t version, const std::string& uid = "u") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name + R"(","namespace":"ns","uid":")" + uid +
         R"(","resourceVersion":")" + std::to_string(version) + R"("},"spec":{"containers":[{"name":"c"}]}})";
}
inline std::string ListJson(const std::string& kind, const std::string& version, const std::vector<std::string>& items,
                            const std::string& next = "") {
  std::string text = R"({"kind":")" + kind + R"(","apiVersion":"v1","metadata":{"resourceVersion":")" + version + "\"";
  if (!next.empty()) text += R"(,"continue":")" + next + "\"";
  text += "},\"items\":[";
  for (size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : ",") + items[i];
  return text + "]}";
}
inline std::string StatusJson(int code, const std::string& message, const std::string& reason = "") {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":")" + message +
         R"(","reason":")" + reason + R"(","code":)" + std::to_string(code) + "}";
}

// The bookmark at the end of the initial events of a streamed list.
inline std::string InitialEndJson(const std::string& kind, uint64_t version) {
  return R"({"kind":")" + kind + R"(","apiVersion":"v1","metadata":{"resourceVersion":")" + std::to_string(version) +
         R"(","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}}})";
}

// As a server answers a binding.
inline std::string SuccessJson() {
  return R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})";
}

}  // namespace berth::client
