// SPDX-License-Identifier: Apache-2.0
// RawConnection: a connection that sends what it is told, right or wrong, half or whole. For trying how servers take
// it; who wants answers takes HttpClient.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "berth/error.h"
#include "net/event_loop.h"
#include "net/tls.h"
#include "net/url.h"

namespace berth::net {

// Everything waits, until its deadline at the latest, but for the lookup of a name: the system's resolver takes as long
// as it takes. Thread safety: none.
class RawConnection {
 public:
  // With `tls` the handshake is part of it. The Error says what the system or the peer said.
  static Result<std::unique_ptr<RawConnection>> Open(const Url& url, TlsContext* tls, Deadline deadline);
  ~RawConnection();
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  Error Send(std::string_view data, Deadline deadline);
  // What comes next, at least a byte; empty when the peer sends no more.
  Result<std::string> Receive(Deadline deadline);
  // Ends the connection as a crash does: with a reset.
  void Vanish();

 private:
  explicit RawConnection(int fd) : fd_(fd) {}
  Error Wait(short events, Deadline deadline) const;
  // Connects to one address.
  static Result<int> Connect(const SocketAddress& address, Deadline deadline);
  Error Handshake(Deadline deadline);

  int fd_;
  std::unique_ptr<TlsSession> tls_;
};

}  // namespace berth::net
