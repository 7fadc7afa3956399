// SPDX-License-Identifier: Apache-2.0
#include "net/client_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace berth::net {
namespace {

using std::chrono::steady_clock;

// A server that vanished says nothing, as one does that has nothing to say: a stream would wait for it for hours. The
// system asks after 30 s of silence, and gives up a minute later.
void KeepAlive(int fd) {
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof(value)); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 20);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

// `host` as an address, if it is one.
std::optional<SocketAddress> Numeric(const std::string& host, in_port_t port) {
  SocketAddress address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET, host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    address.length = sizeof(*four);
    return address;
  }
  if (::inet_pton(AF_INET6, host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    address.length = sizeof(*six);
    return address;
  }
  return std::nullopt;
}

// Of a wait that ended without what was waited for.
Error ErrorOf(Wake wake) {
  return wake == Wake::kTimeout ? Error("timed out", ErrorKind::kTimedOut) : Error("cancelled", ErrorKind::kCancelled);
}

}  // namespace

Error ErrorOf(Io io, const Stream& stream) {
  switch (io) {
    case Io::kClosed:
      return Error("the server closed the connection");
    case Io::kTimeout:
      return Error("timed out", ErrorKind::kTimedOut);
    case Io::kCancelled:
      return Error("cancelled", ErrorKind::kCancelled);
    case Io::kOk:
    case Io::kFailed:
      break;
  }
  return Error(stream.problem().empty() ? "the connection failed" : stream.problem());
}

// One question to the system's resolver, and all who wait for its answer.
struct Connector::Lookup {
  struct Waiter {
    explicit Waiter(EventLoop& loop) : watch(loop, -1) {}
    Watch watch;
    std::optional<Addresses> found;
  };
  std::vector<std::shared_ptr<Waiter>> waiters;
};

Connector::Connector(EventLoop& loop, const Url& url, std::shared_ptr<TlsContext> tls, Duration timeout)
    : loop_(loop), url_(url), tls_(std::move(tls)), timeout_(timeout) {}

Task<Connector::Addresses> Connector::Find(Deadline deadline, Cancellable* cancellable) {
  if (const auto address = Numeric(url_.host, static_cast<in_port_t>(std::stoi(url_.port)))) {
    co_return std::vector<SocketAddress>{*address};
  }
  auto waiter = std::make_shared<Lookup::Waiter>(loop_);
  if (const std::shared_ptr<Lookup> under_way = lookup_.lock()) {
    under_way->waiters.push_back(waiter);
  } else {
    auto lookup = std::make_shared<Lookup>();
    lookup->waiters.push_back(waiter);
    lookup_ = lookup;
    loop_.Resolve(url_.host, url_.port, [lookup](const Addresses& found) {
      for (const std::shared_ptr<Lookup::Waiter>& one : std::exchange(lookup->waiters, {})) {
        one->found = found;
        one->watch.Cancel();
      }
    });
  }
  const Waiting guard(cancellable, &waiter->watch);
  waiter->watch.set_deadline(deadline);
  const Wake wake = co_await waiter->watch.Wait(Watch::For::kTime);
  if (waiter->found) co_return std::move(*waiter->found);
  if (const std::shared_ptr<Lookup> under_way = lookup_.lock()) std::erase(under_way->waiters, waiter);
  const Error late = ErrorOf(wake);
  co_return late.Wrap("looking up " + url_.host);
}

Task<Result<std::unique_ptr<Connection>>> Connector::Connect(Deadline deadline, Cancellable* cancellable) {
  deadline = std::min(deadline, After(timeout_));
  const Addresses addresses = co_await Find(deadline, cancellable);
  if (!addresses.ok()) co_return addresses.error();
  Error failure("no address of " + url_.host);
  for (size_t i = 0; i < addresses->size() && !cancellable->cancelled; ++i) {
    const auto now = steady_clock::now();
    const Deadline until =
        deadline == kNoDeadline ? kNoDeadline : now + (deadline - now) / static_cast<int64_t>(addresses->size() - i);
    Result<std::unique_ptr<Connection>> made = co_await ConnectTo(&(*addresses)[i], until, cancellable);
    if (made.ok()) co_return std::move(made);
    failure = made.error();
  }
  co_return failure;
}

Task<Result<std::unique_ptr<Connection>>> Connector::ConnectTo(const SocketAddress* address, Deadline deadline,
                                                               Cancellable* cancellable) {
  const int fd = ::socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) co_return Error(std::string("connecting: ") + std::strerror(errno));
  auto connection = std::make_unique<Connection>(loop_, fd);
  Watch& watch = connection->stream.watch();
  const Waiting guard(cancellable, &watch);
  if (cancellable->cancelled) watch.Cancel();
  watch.set_deadline(deadline);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  KeepAlive(fd);
  int problem = ::connect(fd, address->get(), address->length) == 0 ? 0 : errno;
  if (problem == EINPROGRESS) {
    const Wake wake = co_await watch.Wait(Watch::For::kWrite);
    if (wake != Wake::kReady) co_return ErrorOf(wake).Wrap("connecting");
    socklen_t length = sizeof(problem);
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &length);
  }
  if (problem != 0) co_return Error(std::string("connecting: ") + std::strerror(problem));
  if (tls_) {
    Result<std::unique_ptr<TlsSession>> session = tls_->NewSession(fd, url_.host);
    if (!session.ok()) co_return session.error();
    connection->stream.UseTls(std::move(session).value());
    const Io io = co_await connection->stream.Handshake();
    if (io != Io::kOk) {
      const Error error = ErrorOf(io, connection->stream);
      co_return io == Io::kFailed ? error : error.Wrap("TLS handshake");
    }
  }
  co_return std::move(connection);
}

}  // namespace berth::net
