// SPDX-License-Identifier: Apache-2.0
// A client of bare sockets for tests: it sends what it is told, right or wrong, and reads what comes.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace berth::net {

class RawClient {
 public:
  explicit RawClient(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  RawClient(RawClient&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  ~RawClient() {
    if (fd_ >= 0) ::close(fd_);
  }
  RawClient& operator=(RawClient&&) = delete;

  bool connected() const { return connected_; }
  int fd() const { return fd_; }
  // False when the server does not listen any more.
  bool Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }
  void CloseSending() { ::shutdown(fd_, SHUT_WR); }
  // Ends the connection as a crash does: with a reset.
  void Vanish() {
    const linger now = {1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    ::close(std::exchange(fd_, -1));
  }
  // What comes until `end` is in it, the server closes, or half a minute has passed.
  std::string ReadUntil(std::string_view end) {
    return Read([&] {
      const size_t at = end.empty() ? std::string::npos : text_.find(end);
      return at == std::string::npos ? at : at + end.size();
    });
  }
  // So many bytes, or what came before the server closed or half a minute had passed.
  std::string ReadBytes(size_t size) {
    return Read([&] { return text_.size() < size ? std::string::npos : size; });
  }
  std::string ReadAll() { return ReadUntil(""); }

 private:
  // `enough` says how much of the text is wanted, npos: more than is there.
  template <class Fn>
  std::string Read(Fn&& enough) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    size_t size = enough();
    while (size == std::string::npos) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      pollfd waiting = {fd_, POLLIN, 0};
      if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) {
        return std::exchange(text_, "") + "(nothing more for half a minute)";
      }
      char data[65536];
      const ssize_t count = ::recv(fd_, data, sizeof(data), 0);
      if (count <= 0) return std::exchange(text_, "");
      text_.append(data, static_cast<size_t>(count));
      size = enough();
    }
    std::string result = text_.substr(0, size);
    text_.erase(0, size);
    return result;
  }

  int fd_;
  bool connected_ = false;
  std::string text_;
};

inline int StatusOf(std::string_view response) {
  return response.starts_with("HTTP/1.1 ") ? std::stoi(std::string(response.substr(9, 3))) : 0;
}

}  // namespace berth::net
