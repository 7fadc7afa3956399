// SPDX-License-Identifier: Apache-2.0
// HttpServer: HTTP/1.1, plain or TLS, for requests that fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/http.h"
#include "net/tls.h"

namespace berth::net {

// A socket that listens: clients can connect from when it is there, and wait until a server takes it over.
class ListeningSocket {
 public:
  struct Options {
    std::string address = "127.0.0.1";  // or a name; "::1" and "[::1]" are the same
    uint16_t port = 0;                  // 0: any that is free
    bool all_families = false;          // 0.0.0.0 and :: are both of them, where the machine has both
    bool share_port = false;            // others may listen there as well, if they share it, too (SO_REUSEPORT)
  };
  // Errors name address and port.
  static Result<std::shared_ptr<ListeningSocket>> Open(const Options& options);
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  uint16_t port() const { return port_; }
  // Where it listens, in numbers: "127.0.0.1:10259", "[::]:10259".
  const std::string& where() const { return where_; }
  // The socket is the caller's from here on; -1 if it is somebody's already.
  int Release();

 private:
  ListeningSocket(int fd, uint16_t port, std::string where) : fd_(fd), port_(port), where_(std::move(where)) {}
  int fd_;
  uint16_t port_;
  std::string where_;
};

struct ServerOptions {
  std::shared_ptr<ListeningSocket> listener;  // goes before address and port
  std::string address = "127.0.0.1";          // or a name; "::1" and "[::1]" are the same
  uint16_t port = 0;                          // 0: any that is free
  const TlsOptions* tls = nullptr;            // null: plain; read during Start
  // Threads that read, call the handler and write. A connection stays with one of them.
  size_t threads = 1;

  uint64_t max_request_bytes = uint64_t{256} << 20;  // of a body; more is 413
  size_t max_header_bytes = size_t{64} << 10;        // more is 431
  // Of all bodies together that are being read or answered, and of all answers that are not written yet; a request that
  // would exceed it, by its body or its answer, is 503.
  uint64_t max_total_bytes = uint64_t{1} << 30;
  // That have sent a request, and beyond those that have not yet; both less if there are too few descriptors
  // (RLIMIT_NOFILE) for them and everything else. Whoever comes then takes the place of the connection that has been
  // idle, or silent, for longest: connection_table.h.
  size_t max_connections = 4096;
  size_t max_unserved_connections = 64;

  // Zero: none. A header or body that is late is 408; a connection without a request is closed.
  Duration header_timeout =
      Duration::Seconds(10);  // from its first byte, of a first request from the beginning; also for TLS
  Duration body_timeout = Duration::Seconds(60);
  Duration write_timeout = Duration::Seconds(60);
  Duration idle_timeout =
      Duration::Seconds(120);  // longer than clients keep connections (Go: 90 s), so that they go first

  // Told of each request that no handler sees, on a thread of the server: what it is answered with, and why.
  std::function<void(int status, const std::string& problem)> on_refusal = nullptr;
  // Told of each TLS handshake that fails, on a thread of the server; clients can make it happen as often as they like.
  // Not of clients that come and go without a word: probes of the port do.
  std::function<void(const std::string& problem)> on_handshake_failure = nullptr;
};

// Answers by itself, closing the connection, what no handler should see: 400 (malformed, Content-Length together with
// Transfer-Encoding, a transfer coding but chunked, no Host), 408, 413, 415 (a Content-Encoding), 417, 431, 503.
// Everything else is the handler's, which also says what is 404 and 405. Answers to HEAD are sent without their body.
// Once large bodies or answers are gone, memory that the process does not use goes back to the system.
//
// Thread safety: the handler is called on the server's threads, several at a time if there are several; one that takes
// long should hand its request to a thread of its own, as Respond may be called from any.
class HttpServer {
 public:
  // Listens when it returns. Errors name address and port, or file and reason.
  static Result<std::unique_ptr<HttpServer>> Start(const ServerOptions& options, Handler handler);
  // Cuts what is under way. An answer that comes later is dropped. REQUIRES: not called by the handler.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;
  // Accepts no more, closes idle connections, lets requests that have begun be answered, and returns when that is done
  // or `patience` is over; the rest is then cut. REQUIRES: not called by the handler.
  void Drain(Duration patience);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
