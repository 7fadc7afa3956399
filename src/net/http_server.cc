// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "net/event_loop.h"
#include "net/server_connection.h"
#include "net/task.h"

namespace berth::net {
namespace {

constexpr Duration kAcceptPause = Duration::Millis(20);

// A listening socket that does not block, and the port it got.
Result<std::pair<int, uint16_t>> Listen(std::string address, uint16_t port) {
  // As an IPv6 address is written before a port. Nothing within them is no address, and would be all of them.
  const bool six = address.find(':') != std::string::npos;
  if (six && address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  const std::string where = (six ? "[" + address + "]" : address) + ":" + std::to_string(port);
  addrinfo hints = {};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code =
      ::getaddrinfo(address.empty() ? nullptr : address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) return Error("listening on " + where + ": " + ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  // "localhost" may be an address that this machine does not have, and another that it has.
  int fd = -1;
  int reason = 0;
  for (const addrinfo* entry = found; entry != nullptr && fd < 0; entry = entry->ai_next) {
    fd = ::socket(entry->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (fd >= 0 && ::bind(fd, entry->ai_addr, entry->ai_addrlen) == 0 && ::listen(fd, SOMAXCONN) == 0) break;
    reason = errno;
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
  if (fd < 0) return Error("listening on " + where + ": " + std::strerror(reason));
  sockaddr_storage bound = {};
  socklen_t length = sizeof(bound);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length);
  const in_port_t number = bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                                       : reinterpret_cast<const sockaddr_in&>(bound).sin_port;
  return std::pair(fd, static_cast<uint16_t>(ntohs(number)));
}

}  // namespace

struct HttpServer::Impl {
  ServerShared shared;
  uint16_t port = 0;
  std::vector<std::unique_ptr<ServerWorker>> workers;  // the first one accepts
  Watch* listening = nullptr;                          // the first loop's thread only

  Detached Accept(int fd);
  void Adopt(size_t worker, int fd);
  void StopAccepting();
  void CutAll();
};

Detached HttpServer::Impl::Accept(int fd) {
  {
    Watch watch(*workers[0]->loop, fd);
    listening = &watch;
    size_t next = 0;
    Wake wake = Wake::kReady;
    while (!watch.cancelled() && wake != Wake::kCancelled) {
      // One of the tasks is this one.
      const bool full = shared.Tasks() > shared.options.max_connections;
      const int client = full ? -1 : ::accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (client >= 0) {
        const int on = 1;
        ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        shared.Begin();
        Adopt(next++ % workers.size(), client);
      } else if (!full && errno == EAGAIN) {
        watch.set_deadline(kNoDeadline);
        wake = co_await watch.Wait(Watch::For::kRead);
      } else if (full ||
                 (errno != EINTR && errno != ECONNABORTED)) {  // out of connections or descriptors: some will be closed
        watch.set_deadline(After(kAcceptPause));
        wake = co_await watch.Wait(Watch::For::kTime);
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
      return shared.End();
    }
    ServerConnection* connection = nullptr;
    try {
      connection = new ServerConnection(&shared, worker, fd);
    } catch (const std::exception&) {  // out of memory or descriptors: this client pays
      return shared.End();
    }
    connection->Run();
  };
  if (index == 0)
    start();
  else
    worker->loop->Post(start);
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
  auto impl = std::make_unique<Impl>();
  impl->shared.options = options;
  impl->shared.options.tls = nullptr;  // the caller's
  impl->shared.handler = std::move(handler);
  if (options.tls != nullptr) {
    Result<std::shared_ptr<TlsContext>> tls = TlsContext::Server(*options.tls);
    if (!tls.ok()) return tls.error();
    impl->shared.tls = std::move(tls).value();
  }
  const Result<std::pair<int, uint16_t>> listening = Listen(options.address, options.port);
  if (!listening.ok()) return listening.error();
  impl->port = listening->second;
  for (size_t i = 0; i < std::max<size_t>(options.threads, 1); ++i) {
    impl->workers.push_back(std::make_unique<ServerWorker>());
    impl->workers.back()->loop->Start();
  }
  impl->shared.Begin();
  impl->workers[0]->loop->Post([impl = impl.get(), fd = listening->first] { impl->Accept(fd); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::~HttpServer() {
  impl_->shared.draining = true;
  impl_->StopAccepting();
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
