// SPDX-License-Identifier: Apache-2.0
// A server of HTTP/2 over TLS for tests, which does as it is told: well, badly, or not at all.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/http_client_test_util.h"
#include "net/tls_test_util.h"

namespace berth::net {

// A request as the server has it.
struct SeenRequest {
  size_t connection = 0;  // the first one is 0
  int32_t stream = 0;
  std::string method, path, body;
  std::map<std::string, std::string> headers;
};

// One connection, on the thread that serves it.
class Http2Peer {
 public:
  Http2Peer(SSL* ssl, size_t number) : ssl_(ssl), number_(number) {}
  Http2Peer(const Http2Peer&) = delete;
  Http2Peer& operator=(const Http2Peer&) = delete;
  ~Http2Peer() { nghttp2_session_del(session); }

  nghttp2_session* session = nullptr;
  std::map<int32_t, SeenRequest> requests;
  std::map<int32_t, std::string> unsent;  // bodies of answers
  std::vector<int32_t> reset;             // streams that the client has given up
  bool deaf = false;                      // reads no more
  bool closing = false;

  size_t number() const { return number_; }
  using Headers = std::vector<std::pair<std::string, std::string>>;
  // `ends`: false, and the rest of the body follows with Say.
  void Respond(int32_t stream, int status, const std::string& body, const Headers& headers = {}, bool ends = true) {
    Headers all = {{":status", std::to_string(status)}};
    all.insert(all.end(), headers.begin(), headers.end());
    RespondWith(stream, all, body, ends);
  }
  // The head is these headers and nothing else, whatever they are.
  void RespondWith(int32_t stream, const Headers& headers, const std::string& body, bool ends = true) {
    std::vector<nghttp2_nv> fields;
    for (const auto& [name, value] : headers) fields.push_back(Field(name, value));
    Content& content = contents_[stream];
    content.text = body;
    content.ends = ends;
    nghttp2_data_provider provider = {};
    provider.source.ptr = &content;
    provider.read_callback = Read;
    nghttp2_submit_response(session, stream, fields.data(), fields.size(), ends && body.empty() ? nullptr : &provider);
  }
  void Say(int32_t stream, std::string_view text, bool ends = false) {
    contents_[stream].text += text;
    contents_[stream].ends = ends;
    nghttp2_session_resume_data(session, stream);
  }
  // An informational head, before the answer.
  void Inform(int32_t stream, int status) {
    const std::string code = std::to_string(status);
    const nghttp2_nv fields[] = {Field(":status", code)};
    nghttp2_submit_headers(session, 0, stream, nullptr, fields, 1, nullptr);
  }
  void Reset(int32_t stream, uint32_t code) { nghttp2_submit_rst_stream(session, 0, stream, code); }
  // Streams above `last` have not been processed.
  void GoAway(int32_t last, uint32_t code = NGHTTP2_NO_ERROR) {
    nghttp2_submit_goaway(session, 0, last, code, nullptr, 0);
  }
  void Set(int32_t what, uint32_t value) {
    const nghttp2_settings_entry entry = {what, value};
    nghttp2_submit_settings(session, 0, &entry, 1);
  }
  // Bytes as they are, past nghttp2.
  void Raw(std::string_view bytes) {
    Flush();
    Write(bytes);
  }
  void Flush() {
    const uint8_t* data = nullptr;
    for (;;) {
      const ssize_t count = nghttp2_session_mem_send(session, &data);
      if (count <= 0) return;
      Write({reinterpret_cast<const char*>(data), static_cast<size_t>(count)});
    }
  }

 private:
  struct Content {
    std::string text;
    size_t said = 0;
    bool ends = true;
  };
  // What is viewed lives until it is submitted.
  static nghttp2_nv Field(std::string_view name, std::string_view value) {
    return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(), 0};
  }
  static ssize_t Read(nghttp2_session*, int32_t, uint8_t* to, size_t size, uint32_t* flags, nghttp2_data_source* source,
                      void*) {
    auto& content = *static_cast<Content*>(source->ptr);
    const size_t count = std::min(size, content.text.size() - content.said);
    std::memcpy(to, content.text.data() + content.said, count);
    content.said += count;
    if (content.said == content.text.size() && content.ends) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (count == 0 && !content.ends) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(count);
  }
  void Write(std::string_view bytes) {
    size_t count = 0;
    if (!bytes.empty() && SSL_write_ex(ssl_, bytes.data(), bytes.size(), &count) != 1) closing = true;
  }

  SSL* const ssl_;
  const size_t number_;
  std::map<int32_t, Content> contents_;  // of answers, which do not move
};

struct Http2ServerOptions {
  uint32_t max_streams = 100;  // UINT32_MAX: it does not say
  uint32_t window = 65535;     // of a request's body
  bool http2 = true;           // false: it has HTTP/1.1 alone, in which it answers everything with "old"
  bool settings = true;        // false: it never says a word
};

// Calls `serve` on the connection's thread for each request that is complete; unless that answers, nobody does.
class Http2Server {
 public:
  using Serve = std::function<void(Http2Peer& peer, const SeenRequest& request)>;

  explicit Http2Server(Serve serve = EchoHttp2, Http2ServerOptions options = {})
      : serve_(std::move(serve)), options_(options), authority_(MakeIdentity("test authority")) {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL's own sockets raise it when the client has gone
    const TestIdentity identity = MakeIdentity("server", "IP:127.0.0.1", &authority_);
    context_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context_.get(), identity.certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), identity.key.get());
    SSL_CTX_set_alpn_select_cb(context_.get(), Choose, this);
    Listen(0);
  }
  ~Http2Server() {
    Stop();
    SSL_CTX_free(context_.release());
  }
  Http2Server(const Http2Server&) = delete;
  Http2Server& operator=(const Http2Server&) = delete;

  static void EchoHttp2(Http2Peer& peer, const SeenRequest& request) {
    peer.Respond(request.stream, 200, request.method + " " + request.path + " " + request.body,
                 {{"content-type", "text/plain"}});
  }

  uint16_t port() const { return port_; }
  ClientOptions Options() const {
    ClientOptions options;
    options.url = "https://127.0.0.1:" + std::to_string(port_);
    options.http2 = true;
    options.tls.ca_data = authority_.certificate_pem;
    return options;
  }
  const TestIdentity& authority() const { return authority_; }

  // Runs on the connection's thread; false: there is no such connection (any more).
  bool Do(size_t connection, std::function<void(Http2Peer&)> what) {
    const std::lock_guard lock(mutex_);
    if (connection >= connections_.size() || connections_[connection]->over) return false;
    connections_[connection]->orders.push_back(std::move(what));
    const uint64_t one = 1;
    return ::write(connections_[connection]->wake, &one, sizeof(one)) == sizeof(one);
  }
  std::vector<SeenRequest> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  size_t connections() const {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }
  // That clients have sent, on all connections: OpenSSL gives one at a time.
  size_t records() const { return records_; }
  // So many requests have come, on all connections.
  bool WaitForRequests(size_t count) {
    return WaitUntil([&] { return seen_.size() >= count; });
  }
  bool WaitForReset(int32_t stream) {
    return WaitUntil([&] { return std::ranges::find(reset_, stream) != reset_.end(); });
  }
  // It is gone, with all connections, and comes back on the same port.
  void Restart() {
    const uint16_t port = port_;
    Stop();
    Listen(port);
  }

 private:
  struct Connection {
    int fd = -1, wake = -1;
    std::vector<std::function<void(Http2Peer&)>> orders;
    bool over = false;
    std::thread thread;
  };

  static int Choose(SSL*, const unsigned char** out, unsigned char* length, const unsigned char* in, unsigned int size,
                    void* self) {
    const bool http2 = static_cast<Http2Server*>(self)->options_.http2;
    const std::string_view wanted = http2 ? "\x02h2\x08http/1.1" : "\x08http/1.1";
    unsigned char* chosen = nullptr;
    if (SSL_select_next_proto(&chosen, length, reinterpret_cast<const unsigned char*>(wanted.data()),
                              static_cast<unsigned int>(wanted.size()), in, size) != OPENSSL_NPN_NEGOTIATED) {
      return SSL_TLSEXT_ERR_NOACK;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
  }

  template <class Condition>
  bool WaitUntil(const Condition& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), condition);
  }

  void Listen(uint16_t port) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    socklen_t length = sizeof(address);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(listener_, 100), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] {
      for (;;) {
        const int fd = ::accept(listener_, nullptr, nullptr);
        if (fd < 0) return;
        const std::lock_guard lock(mutex_);
        connections_.push_back(std::make_unique<Connection>());
        Connection* connection = connections_.back().get();
        connection->fd = fd;
        connection->wake = ::eventfd(0, EFD_CLOEXEC);
        connection->thread = std::thread([this, connection, number = connections_.size() - 1] {
          Talk(*connection, number);
          ::shutdown(connection->fd, SHUT_RDWR);
          const std::lock_guard held(mutex_);
          connection->over = true;
        });
      }
    });
  }

  void Stop() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    for (const std::unique_ptr<Connection>& connection : connections_) {
      {
        const std::lock_guard lock(mutex_);
        ::shutdown(connection->fd, SHUT_RDWR);
        connection->orders.push_back([](Http2Peer& peer) { peer.closing = true; });
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t ignored = ::write(connection->wake, &one, sizeof(one));
      }
      if (connection->thread.joinable()) connection->thread.join();
      if (connection->fd >= 0) ::close(std::exchange(connection->fd, -1));
      if (connection->wake >= 0) ::close(std::exchange(connection->wake, -1));
    }
  }

  void Talk(Connection& connection, size_t number) {
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context_.get()), SSL_free);
    SSL_set_fd(ssl.get(), connection.fd);
    if (SSL_accept(ssl.get()) != 1) return;
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(ssl.get(), &name, &size);
    if (size != 2) return TalkHttp1(ssl.get());
    if (!options_.settings) {
      char byte = 0;
      size_t count = 0;
      while (SSL_read_ex(ssl.get(), &byte, 1, &count) == 1) {
      }
      return;
    }
    Http2Peer peer(ssl.get(), number);
    Call call = {this, &peer};
    MakeSession(peer, &call);
    std::vector<char> data(size_t{64} << 10);
    while (!peer.closing) {
      peer.Flush();
      pollfd both[2] = {{connection.wake, POLLIN, 0}, {peer.deaf ? -1 : connection.fd, POLLIN, 0}};
      if (SSL_pending(ssl.get()) == 0 || peer.deaf) ::poll(both, 2, -1);
      if ((both[0].revents & POLLIN) != 0) {
        uint64_t count = 0;
        [[maybe_unused]] const ssize_t ignored = ::read(connection.wake, &count, sizeof(count));
        std::vector<std::function<void(Http2Peer&)>> orders;
        {
          const std::lock_guard lock(mutex_);
          orders.swap(connection.orders);
        }
        for (const auto& order : orders) order(peer);
      }
      if (peer.deaf || (both[1].revents == 0 && SSL_pending(ssl.get()) == 0)) continue;
      size_t count = 0;
      if (SSL_read_ex(ssl.get(), data.data(), data.size(), &count) != 1) break;
      ++records_;
      if (nghttp2_session_mem_recv(peer.session, reinterpret_cast<const uint8_t*>(data.data()), count) < 0) break;
    }
  }

  void TalkHttp1(SSL* ssl) {
    std::string heard;
    char byte = 0;
    size_t count = 0;
    while (SSL_read_ex(ssl, &byte, 1, &count) == 1) {
      heard += byte;
      if (!heard.ends_with("\r\n\r\n")) continue;
      heard.clear();
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold";
      SSL_write_ex(ssl, answer.data(), answer.size(), &count);
    }
  }

  struct Call {
    Http2Server* server;
    Http2Peer* peer;
  };

  void MakeSession(Http2Peer& peer, Call* call) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* user) {
          SeenRequest& request = static_cast<Call*>(user)->peer->requests[frame->hd.stream_id];
          const std::string key(reinterpret_cast<const char*>(name), name_size);
          const std::string text(reinterpret_cast<const char*>(value), value_size);
          if (key == ":method") request.method = text;
          if (key == ":path") request.path = text;
          request.headers[key] = text;
          return 0;
        });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size, void* user) {
          static_cast<Call*>(user)->peer->requests[stream].body.append(reinterpret_cast<const char*>(data), size);
          return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* user) {
          const Call& own = *static_cast<Call*>(user);
          if (frame->hd.type == NGHTTP2_RST_STREAM) own.server->Gave(*own.peer, frame->hd.stream_id);
          const bool message = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
          if (message && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
            own.server->Complete(*own.peer, frame->hd.stream_id);
          return 0;
        });
    nghttp2_session_server_new(&peer.session, callbacks, call);
    nghttp2_session_callbacks_del(callbacks);
    std::vector<nghttp2_settings_entry> settings = {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options_.window}};
    if (options_.max_streams != UINT32_MAX)
      settings.push_back({NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options_.max_streams});
    nghttp2_submit_settings(peer.session, 0, settings.data(), settings.size());
  }

  void Complete(Http2Peer& peer, int32_t stream) {
    SeenRequest& request = peer.requests[stream];
    request.stream = stream;
    request.connection = peer.number();
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(request);
      changed_.notify_all();
    }
    serve_(peer, request);
  }
  void Gave(Http2Peer& peer, int32_t stream) {
    peer.reset.push_back(stream);
    const std::lock_guard lock(mutex_);
    reset_.push_back(stream);
    changed_.notify_all();
  }

  const Serve serve_;
  const Http2ServerOptions options_;
  const TestIdentity authority_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{nullptr, SSL_CTX_free};
  int listener_ = -1;
  uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Connection>> connections_;  // under mutex_
  std::vector<SeenRequest> seen_;                         // under mutex_
  std::vector<int32_t> reset_;                            // under mutex_
  std::atomic<size_t> records_ = 0;
  std::thread acceptor_;
};

}  // namespace berth::net
