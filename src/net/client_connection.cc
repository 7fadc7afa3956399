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

#include "net/proxy_tunnel.h"

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
Error WakeError(Wake wake) {
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

Connector::Connector(EventLoop& loop, const Url& url, const ProxyRoute* route, std::shared_ptr<TlsContext> tls,
                     Duration timeout)
    : loop_(loop),
      url_(url),
      route_(route),
      host_(route != nullptr ? route->proxy.host : url.host),
      port_(route != nullptr ? route->proxy.port : url.port),
      tls_(std::move(tls)),
      timeout_(timeout) {}

Task<Connector::Addresses> Connector::Find(Deadline deadline, Cancellable* cancellable) {
  if (const auto address = Numeric(host_, static_cast<in_port_t>(std::stoi(port_)))) {
    co_return std::vector<SocketAddress>{*address};
  }
  auto waiter = std::make_shared<Lookup::Waiter>(loop_);
  if (const std::shared_ptr<Lookup> under_way = lookup_.lock()) {
    under_way->waiters.push_back(waiter);
  } else {
    auto lookup = std::make_shared<Lookup>();
    lookup->waiters.push_back(waiter);
    lookup_ = lookup;
    loop_.Resolve(host_, port_, [lookup](const Addresses& found) {
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
  const Error late = WakeError(wake);
  co_return late.Wrap("looking up " + host_);
}

Task<Result<std::unique_ptr<Connection>>> Connector::Connect(Deadline deadline, Cancellable* cancellable,
                                                             bool offer_http2) {
  const EventLoop::Haste haste(loop_);
  deadline = std::min(deadline, After(timeout_));
  const Addresses addresses = co_await Find(deadline, cancellable);
  if (!addresses.ok()) co_return Named(addresses.error());
  Error failure = Named(Error("no address of " + host_));
  for (size_t i = 0; i < addresses->size() && !cancellable->cancelled; ++i) {
    const auto now = steady_clock::now();
    const Deadline until =
        deadline == kNoDeadline ? kNoDeadline : now + (deadline - now) / static_cast<int64_t>(addresses->size() - i);
    Result<std::unique_ptr<Connection>> made = co_await ConnectTo(&(*addresses)[i], until, cancellable, offer_http2);
    if (made.ok()) co_return std::move(made);
    failure = made.error();
  }
  co_return failure;
}

Task<Result<std::unique_ptr<Connection>>> Connector::ConnectTo(const SocketAddress* address, Deadline deadline,
                                                               Cancellable* cancellable, bool offer_http2) {
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
    if (wake != Wake::kReady) co_return Named(WakeError(wake).Wrap("connecting"));
    socklen_t length = sizeof(problem);
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &length);
  }
  cancellable->connect_errno = problem;
  if (problem != 0) co_return Named(Error(std::string("connecting: ") + std::strerror(problem)));
  Stream& stream = connection->stream;
  if (route_ != nullptr) {
    const Error error = co_await PassProxy(&stream);
    if (!error.ok()) co_return Named(error);
  }
  if (tls_) {
    Result<std::unique_ptr<TlsSession>> session =
        stream.tls() != nullptr ? tls_->NewSessionWithin(stream.TakeTls(), url_.host) : tls_->NewSession(fd, url_.host);
    if (session.ok() && offer_http2) (*session)->OfferHttp2();
    const Error error = co_await Secure(&stream, &session);
    if (!error.ok()) co_return error;
  }
  co_return std::move(connection);
}

// As far as requests can be sent to it, or to the server behind it.
Task<Error> Connector::PassProxy(Stream* stream) {
  if (route_->tls) {
    Result<std::unique_ptr<TlsSession>> session = route_->tls->NewSession(stream->watch().fd(), route_->proxy.host);
    const Error error = co_await Secure(stream, &session);
    if (!error.ok()) co_return error;
  }
  if (!route_->tunnel) co_return Error::Ok();
  co_return co_await OpenTunnel(stream, &route_->proxy, &url_);
}

Task<Error> Connector::Secure(Stream* stream, Result<std::unique_ptr<TlsSession>>* session) const {
  if (!session->ok()) co_return session->error();
  stream->UseTls(std::move(*session).value());
  const Io io = co_await stream->Handshake();
  if (io == Io::kOk) co_return Error::Ok();
  const Error error = ErrorOf(io, *stream);
  co_return io == Io::kFailed ? error : error.Wrap("TLS handshake");
}

}  // namespace berth::net
