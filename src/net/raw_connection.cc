// SPDX-License-Identifier: Apache-2.0
#include "net/raw_connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace berth::net {
namespace {

Error SystemError(int code) { return Error(std::generic_category().message(code)); }

// For poll, rounded up; -1: any.
int MillisLeft(Deadline deadline) {
  if (deadline == kNoDeadline) return -1;
  const std::chrono::nanoseconds left(util::Left(deadline).ns);
  return static_cast<int>(std::min<int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 1'000'000));
}

Error WaitFor(int fd, short events, Deadline deadline) {
  for (;;) {
    pollfd waiting = {fd, events, 0};
    const int ready = ::poll(&waiting, 1, MillisLeft(deadline));
    if (ready > 0) return Error::Ok();
    if (ready < 0 && errno != EINTR) return SystemError(errno);
    if (util::IsOver(deadline)) return Error("timed out", ErrorKind::kTimedOut);
  }
}

}  // namespace

Result<int> RawConnection::Connect(const SocketAddress& address, Deadline deadline) {
  const int fd = ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return SystemError(errno);
  const int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  Error failure = Error::Ok();
  if (::connect(fd, address.get(), address.length) != 0) {
    if (errno != EINPROGRESS) {
      failure = SystemError(errno);
    } else if (failure = WaitFor(fd, POLLOUT, deadline); failure.ok()) {
      int code = 0;
      socklen_t size = sizeof(code);
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size);
      if (code != 0) failure = SystemError(code);
    }
  }
  if (failure.ok()) return fd;
  ::close(fd);
  return failure;
}

Result<std::unique_ptr<RawConnection>> RawConnection::Open(const Url& url, TlsContext* tls, Deadline deadline) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &wanted, &found); code != 0) {
    return Error(url.host + ": " + ::gai_strerror(code));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  Result<int> fd = Error(url.host + ": no address");
  for (const addrinfo* one = found; one != nullptr && !fd.ok(); one = one->ai_next) {
    SocketAddress address;
    address.length = std::min<socklen_t>(one->ai_addrlen, sizeof(address.storage));
    std::memcpy(&address.storage, one->ai_addr, address.length);
    fd = Connect(address, deadline);
  }
  if (!fd.ok()) return fd.error().Wrap("connecting to " + url.authority);
  std::unique_ptr<RawConnection> connection(new RawConnection(*fd));
  if (tls == nullptr) return connection;
  Result<std::unique_ptr<TlsSession>> session = tls->NewSession(connection->fd_, url.host);
  if (!session.ok()) return session.error();
  connection->tls_ = std::move(session).value();
  if (const Error error = connection->Handshake(deadline); !error.ok()) return error.Wrap("TLS handshake");
  return connection;
}

RawConnection::~RawConnection() {
  tls_.reset();
  if (fd_ >= 0) ::close(fd_);
}

Error RawConnection::Wait(short events, Deadline deadline) const { return WaitFor(fd_, events, deadline); }

Error RawConnection::Handshake(Deadline deadline) {
  for (;;) {
    switch (tls_->Handshake()) {
      case TlsSession::Status::kOk:
        return Error::Ok();
      case TlsSession::Status::kWantRead:
        if (Error error = Wait(POLLIN, deadline); !error.ok()) return error;
        break;
      case TlsSession::Status::kWantWrite:
        if (Error error = Wait(POLLOUT, deadline); !error.ok()) return error;
        break;
      case TlsSession::Status::kClosed:
        return Error("the server closed the connection");
      case TlsSession::Status::kFailed:
        return Error(tls_->problem());
    }
  }
}

Error RawConnection::Send(std::string_view data, Deadline deadline) {
  while (!data.empty()) {
    size_t count = 0;
    short wanted = POLLOUT;
    if (tls_ != nullptr) {
      const TlsSession::Status status = tls_->Write(data, &count);
      if (status == TlsSession::Status::kClosed) return Error("the server closed the connection");
      if (status == TlsSession::Status::kFailed) return Error(tls_->problem());
      if (status == TlsSession::Status::kWantRead) wanted = POLLIN;
      if (status != TlsSession::Status::kOk) count = 0;
    } else {
      const ssize_t sent = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return SystemError(errno);
      count = sent < 0 ? 0 : static_cast<size_t>(sent);
    }
    data.remove_prefix(count);
    if (count > 0) continue;
    if (Error error = Wait(wanted, deadline); !error.ok()) return error;
  }
  return Error::Ok();
}

Result<std::string> RawConnection::Receive(Deadline deadline) {
  std::string data(size_t{16} << 10, '\0');
  for (;;) {
    short wanted = POLLIN;
    if (tls_ != nullptr) {
      size_t count = 0;
      const TlsSession::Status status = tls_->Read(data.data(), data.size(), &count);
      if (status == TlsSession::Status::kClosed) return std::string();
      if (status == TlsSession::Status::kFailed) return Error(tls_->problem());
      if (status == TlsSession::Status::kOk && count > 0) return data.resize(count), data;
      if (status == TlsSession::Status::kWantWrite) wanted = POLLOUT;
    } else {
      const ssize_t count = ::recv(fd_, data.data(), data.size(), 0);
      if (count >= 0) return data.resize(static_cast<size_t>(count)), data;
      if (errno != EAGAIN && errno != EINTR) return SystemError(errno);
    }
    if (Error error = Wait(wanted, deadline); !error.ok()) return error;
  }
}

void RawConnection::Vanish() {
  const linger now = {1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  tls_.reset();
  ::close(std::exchange(fd_, -1));
}

}  // namespace berth::net
