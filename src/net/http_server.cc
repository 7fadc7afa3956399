// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "net/server_connection.h"
#include "net/server_process.h"
#include "net/task.h"

namespace berth::net {
namespace {

// Between attempts to accept while there are no descriptors, or those who were evicted have not gone yet.
constexpr Duration kAcceptPause = Duration::Millis(20), kEvictionPause = Duration::Millis(2);
// So many of those who were evicted may not have gone yet before nobody else is accepted.
constexpr size_t kMostEvicted = 64;
// After this many, others on the thread have their turn.
constexpr size_t kAcceptsPerTurn = 64;
// From when memory was given back until the system gets it.
constexpr Duration kTidyAfter = Duration::Millis(500);

int OpenSocket(const addrinfo& entry, const ListeningSocket::Options& options) {
  const int fd = ::socket(entry.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1, off = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (options.share_port) ::setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
  if (options.all_families && entry.ai_family == AF_INET6)
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (::bind(fd, entry.ai_addr, entry.ai_addrlen) == 0 && ::listen(fd, SOMAXCONN) == 0) return fd;
  const int reason = errno;
  ::close(fd);
  errno = reason;
  return -1;
}

}  // namespace

Result<std::shared_ptr<ListeningSocket>> ListeningSocket::Open(const Options& options) {
  std::string address = options.address;
  // As an IPv6 address is written before a port. Nothing within them is no address, and would be all of them.
  const bool six = address.find(':') != std::string::npos;
  if (six && address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  const std::string where = (six ? "[" + address + "]" : address) + ":" + std::to_string(options.port);
  // :: is both families, where there is the newer one.
  const bool any = options.all_families && (address == "0.0.0.0" || address == "::");
  std::vector<std::string> candidates = {address};
  if (any) candidates = {"::", "0.0.0.0"};
  int fd = -1;
  int reason = 0;
  for (size_t i = 0; i < candidates.size() && fd < 0; ++i) {
    addrinfo hints = {};
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code = ::getaddrinfo(candidates[i].empty() ? nullptr : candidates[i].c_str(),
                                   std::to_string(options.port).c_str(), &hints, &found);
    if (code != 0 && i + 1 < candidates.size()) continue;
    if (code != 0) return Error("listening on " + where + ": " + ::gai_strerror(code));
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
    // "localhost" may be an address that this machine does not have, and another that it has.
    for (const addrinfo* entry = found; entry != nullptr && fd < 0; entry = entry->ai_next) {
      fd = OpenSocket(*entry, options);
      if (fd < 0) reason = errno;
    }
    // What is taken is taken, in one family as in both.
    if (fd < 0 && reason == EADDRINUSE) break;
  }
  if (fd < 0) return Error("listening on " + where + ": " + std::strerror(reason));
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length);
  char text[NI_MAXHOST] = {};
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&bound), length, text, sizeof(text), nullptr, 0, NI_NUMERICHOST);
  const bool newer = bound.ss_family == AF_INET6;
  const uint16_t number = ntohs(newer ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                      : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  const std::string host = newer ? "[" + std::string(text) + "]" : std::string(text);
  return std::shared_ptr<ListeningSocket>(new ListeningSocket(fd, number, host + ":" + std::to_string(number)));
}

ListeningSocket::~ListeningSocket() {
  if (fd_ >= 0) ::close(fd_);
}

int ListeningSocket::Release() { return std::exchange(fd_, -1); }

struct HttpServer::Impl {
  Impl(const ServerOptions& options, Handler handler) : shared(options, std::move(handler)) {}

  ServerShared shared;
  uint16_t port = 0;
  std::vector<std::unique_ptr<ServerWorker>> workers;  // the first one accepts
  // The first loop's thread only.
  Watch* listening = nullptr;
  Watch* tidying = nullptr;
  std::atomic<bool> untidy{false};

  Detached Accept(int fd);
  void Adopt(size_t worker, int fd);
  Detached Tidy();
  void StopAccepting();
  void StopTidying();
  void CutAll();
};

Detached HttpServer::Impl::Accept(int fd) {
  {
    Watch watch(*workers[0]->loop, fd);
    listening = &watch;
    const ConnectionLimits& limits = shared.table.limits();
    const size_t most = limits.served + limits.unserved + kMostEvicted;
    size_t accepted = 0;
    Wake wake = Wake::kReady;
    while (!watch.cancelled() && wake != Wake::kCancelled) {
      if (shared.table.open() >= most) {
        watch.set_deadline(After(kEvictionPause));
        wake = co_await watch.Wait(Watch::For::kTime);
        continue;
      }
      const int client = ::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (client >= 0) {
        const int on = 1;
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        shared.Begin();
        shared.table.Announce();
        Adopt(accepted++ % workers.size(), client);
        if (accepted % kAcceptsPerTurn == 0) wake = co_await watch.Wait(Watch::For::kTurn);
      } else if (errno == EAGAIN) {
        watch.set_deadline(kNoDeadline);
        wake = co_await watch.Wait(Watch::For::kRead);
      } else if (errno != EINTR && errno != ECONNABORTED) {
        // Out of descriptors or memory: somebody has to go, if somebody wants to come. The system does not say so; it
        // looks for a descriptor first.
        pollfd waiting = {fd, POLLIN, 0};
        const bool wanted = ::poll(&waiting, 1, 0) > 0;
        if (wanted) shared.table.EvictOne();
        watch.set_deadline(wanted ? After(kAcceptPause) : kNoDeadline);
        wake = co_await watch.Wait(wanted ? Watch::For::kTime : Watch::For::kRead);
      }
    }
    listening = nullptr;
  }
  shared.End();
}

void HttpServer::Impl::Adopt(size_t index, int fd) {
  ServerWorker* worker = workers[index].get();
  auto start = [this, worker, fd] {
    if (worker->stopping) {
      ::close(fd);
      shared.table.Forget();
      return shared.End();
    }
    ServerConnection* connection = nullptr;
    try {
      connection = new ServerConnection(&shared, worker, fd);
    } catch (const std::exception&) {  // out of memory or descriptors: this client pays
      shared.table.Forget();
      return shared.End();
    }
    connection->Run();
  };
  if (index == 0)
    start();
  else
    worker->loop->Post(start);
}

// After a while, once for all that was given back meanwhile.
Detached HttpServer::Impl::Tidy() {
  Watch timer(*workers[0]->loop, -1);
  tidying = &timer;
  timer.set_deadline(After(kTidyAfter));
  co_await timer.Wait(Watch::For::kTime);
  tidying = nullptr;
  untidy = false;
  if (!timer.cancelled()) GiveMemoryBack();
}

void HttpServer::Impl::StopTidying() {
  workers[0]->loop->Post([this] {
    untidy = true;  // nobody begins it again
    if (tidying != nullptr) tidying->Cancel();
  });
}

void HttpServer::Impl::StopAccepting() {
  workers[0]->loop->Post([this] {
    if (listening != nullptr) listening->Cancel();
  });
}

void HttpServer::Impl::CutAll() {
  for (const auto& worker : workers) {
    worker->loop->Post([worker = worker.get()] {
      worker->stopping = true;
      for (ServerConnection* connection : worker->connections) connection->Abort();
    });
  }
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const ServerOptions& options, Handler handler) {
  auto impl = std::make_unique<Impl>(options, std::move(handler));
  if (options.tls != nullptr) {
    Result<std::shared_ptr<TlsContext>> tls = TlsContext::Server(*options.tls);
    if (!tls.ok()) return tls.error();
    impl->shared.tls = std::move(tls).value();
  }
  std::shared_ptr<ListeningSocket> listener = options.listener;
  if (!listener) {
    ListeningSocket::Options where;
    where.address = options.address;
    where.port = options.port;
    Result<std::shared_ptr<ListeningSocket>> opened = ListeningSocket::Open(where);
    if (!opened.ok()) return opened.error();
    listener = std::move(opened).value();
  }
  impl->port = listener->port();
  const int listening = listener->Release();
  if (listening < 0) return Error("the listening socket is in use already");
  for (size_t i = 0; i < std::max<size_t>(options.threads, 1); ++i) {
    impl->workers.push_back(std::make_unique<ServerWorker>());
    impl->workers.back()->loop->Start();
  }
  impl->shared.on_freed = [impl = impl.get()] {
    if (impl->untidy.exchange(true)) return;
    impl->workers[0]->loop->Post([impl] {
      if (!impl->shared.draining) impl->Tidy();
    });
  };
  impl->shared.Begin();
  impl->workers[0]->loop->Post([impl = impl.get(), fd = listening] { impl->Accept(fd); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::~HttpServer() {
  impl_->shared.draining = true;
  impl_->StopAccepting();
  impl_->StopTidying();
  impl_->CutAll();
  // The first one first: it may still hand connections to the others.
  for (const auto& worker : impl_->workers) worker->loop->Join();
}

uint16_t HttpServer::port() const { return impl_->port; }

void HttpServer::Drain(Duration patience) {
  ServerShared& shared = impl_->shared;
  shared.draining = true;
  impl_->StopAccepting();
  for (const auto& worker : impl_->workers) {
    worker->loop->Post([worker = worker.get()] {
      for (ServerConnection* connection : worker->connections) connection->CloseIfIdle();
    });
  }
  std::unique_lock lock(shared.mutex);
  const auto all_done = [&] { return shared.tasks == 0; };
  if (shared.ended.wait_for(lock, std::chrono::nanoseconds(std::max<int64_t>(patience.ns, 0)), all_done)) return;
  lock.unlock();
  impl_->CutAll();
  lock.lock();
  shared.ended.wait(lock, all_done);
}

}  // namespace berth::net
