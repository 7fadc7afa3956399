// SPDX-License-Identifier: Apache-2.0
// Connections of a client, and how they come about. For http_client.cc alone.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/event_loop.h"
#include "net/proxy.h"
#include "net/stream.h"
#include "net/task.h"
#include "net/tls.h"
#include "net/url.h"

namespace berth::net {

// Something on its way that somebody may want to end.
//
// Thread safety: the loop's thread.
struct Cancellable {
  Watch* waiting = nullptr;
  bool cancelled = false;
  int connect_errno = 0;  // why the last address could not be reached; 0: nobody said

  void Cancel() {
    cancelled = true;
    if (waiting != nullptr) waiting->Cancel();
  }
};

// Makes a Watch the one that cancelling ends.
class Waiting {
 public:
  Waiting(Cancellable* what, Watch* watch) : what_(what) { what_->waiting = watch; }
  ~Waiting() { what_->waiting = nullptr; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Cancellable* what_;
};

struct Connection {
  Connection(EventLoop& loop, int fd) : stream(loop, fd) {}
  Stream stream;
  InputBuffer input;
  std::chrono::steady_clock::time_point idle_since;
};

// Why an operation on a stream did not end well. REQUIRES: not kOk.
Error ErrorOf(Io io, const Stream& stream);

// Through whom a server is reached.
struct ProxyRoute {
  Proxy proxy;
  std::shared_ptr<TlsContext> tls;  // of a proxy that speaks TLS
  // A connection leads to the server. If not, the proxy reads our requests and sends them on.
  bool tunnel = true;
};

// REQUIRES: loop, url and route outlive it. Thread safety: the loop's thread.
class Connector {
 public:
  // `route`: null without a proxy. `tls`: null for plain connections. `timeout`: for all of lookup, connecting and
  // handshake.
  Connector(EventLoop& loop, const Url& url, const ProxyRoute* route, std::shared_ptr<TlsContext> tls,
            Duration timeout);

  // Tries the addresses of the host one after another; none may use up the time of those behind it. `offer_http2`: the
  // server may choose HTTP/2 (TlsSession::Protocol); without TLS it is not asked.
  Task<Result<std::unique_ptr<Connection>>> Connect(Deadline deadline, Cancellable* cancellable,
                                                    bool offer_http2 = false);
  // Whether a new connection would show the same certificate: the files may have changed since.
  bool IsCurrent(Connection& connection) const { return !tls_ || tls_->IsCurrent(*connection.stream.tls()); }

 private:
  using Addresses = Result<std::vector<SocketAddress>>;
  struct Lookup;
  Task<Addresses> Find(Deadline deadline, Cancellable* cancellable);
  Task<Result<std::unique_ptr<Connection>>> ConnectTo(const SocketAddress* address, Deadline deadline,
                                                      Cancellable* cancellable, bool offer_http2);
  Task<Error> PassProxy(Stream* stream);
  Task<Error> Secure(Stream* stream, Result<std::unique_ptr<TlsSession>>* session) const;
  Error Named(const Error& error) const {
    return route_ == nullptr ? error : error.Wrap("proxy " + route_->proxy.name);
  }

  EventLoop& loop_;
  const Url& url_;
  const ProxyRoute* const route_;
  const std::string host_, port_;  // where to connect to
  const std::shared_ptr<TlsContext> tls_;
  const Duration timeout_;
  std::weak_ptr<Lookup> lookup_;  // under way; later callers wait for the same one
};

}  // namespace berth::net
