// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "net/client_connection.h"
#include "net/client_exchange.h"
#include "net/client_request.h"
#include "net/event_loop.h"
#include "net/http1_exchange.h"
#include "net/http2_pool.h"
#include "net/stream.h"
#include "net/task.h"
#include "net/url.h"
#include "util/owner_link.h"
#include "util/recycling.h"

namespace berth::net {
namespace {

using std::chrono::steady_clock;

// Of HTTP/2, on one connection. A watch that has much to say is not to slow down all the others.
constexpr size_t kWatchesPerConnection = 8;
constexpr size_t kMaxStreams = 250;
// How often a request is sent that the server has not processed, or that can be sent twice.
constexpr int kMaxAttempts = 4;
// How many connections one request waits for, if others take their streams or the server ends them at once.
constexpr int kMaxConnects = 20;

class Handle final : public ResponseStream {
 public:
  Handle(std::shared_ptr<EventLoop> loop, std::shared_ptr<Exchange> exchange)
      : loop_(std::move(loop)), exchange_(std::move(exchange)) {
    exchange_->stream = owner_.link();
  }
  ~Handle() override {
    owner_.Leave();
    loop_->Post([exchange = exchange_] { exchange->Cancel(); });
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  std::shared_ptr<EventLoop> loop_;
  std::shared_ptr<Exchange> exchange_;
  util::Owner<ResponseStream> owner_{this};
};

Http2Limits LimitsOf(const ClientOptions& options, size_t max_streams) {
  return {max_streams,          options.max_response_bytes, options.max_header_bytes,
          options.idle_timeout, options.ping_after,         options.ping_timeout};
}

}  // namespace

struct HttpClient::Impl final : Http2Pool::Owner {
  virtual ~Impl() = default;

  ClientOptions options;
  Url url;
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>();
  std::optional<ProxyRoute> route;  // through a proxy
  std::optional<Connector> connector;
  std::optional<Http1Exchange> http1;
  Http2Limits send_limits, stream_limits;

  // Requests on their way to the loop's thread: one call for all that come before it is made.
  std::mutex mutex;
  std::vector<std::shared_ptr<Exchange>> incoming;  // under mutex

  // The loop's thread only.
  std::optional<Http2Pool> sends, streams;  // if HTTP/2 may be spoken
  std::vector<std::unique_ptr<Connection>> idle;
  std::map<uint8_t, std::deque<std::shared_ptr<Exchange>>> waiting;  // by rank; none is empty
  std::unordered_set<Exchange*> active;                              // but for those that a session has
  size_t sending = 0;                                                // exchanges of Send among them
  Watch* sweeping = nullptr;                                         // while there are connections to look at
  bool closed = false;

  enum class Way { kDone, kFailed, kHandedOver };

  void Take(std::shared_ptr<Exchange> exchange);
  void Begin(std::shared_ptr<Exchange> exchange);
  Detached Run(std::shared_ptr<Exchange> exchange);
  Task<Way> Attempt(const std::shared_ptr<Exchange>* exchange, bool* reused);
  void Next();
  void PlanNext();
  Http2Pool* PoolFor(const Exchange& exchange);
  void OnStreamEnd(std::shared_ptr<Exchange> exchange, StreamEnd end) override;
  void OnStreamRoom() override { Next(); }
  std::unique_ptr<Connection> TakeIdle();
  void Keep(std::unique_ptr<Connection> connection);
  Detached Sweep();
  bool NeedsSweep() const;
  void EndOutdated();
  void Finish(Exchange* exchange);
  void Close();
};

void HttpClient::Impl::Take(std::shared_ptr<Exchange> exchange) {
  {
    const std::lock_guard lock(mutex);
    incoming.push_back(std::move(exchange));
    if (incoming.size() > 1) return;
  }
  loop->Post([this] {
    std::vector<std::shared_ptr<Exchange>> taken;
    {
      const std::lock_guard lock(mutex);
      taken.swap(incoming);
    }
    for (std::shared_ptr<Exchange>& one : taken) {
      if (!one->failure.ok()) {
        Finish(one.get());
      } else {
        Begin(std::move(one));
      }
    }
    Next();
  });
}

// Next has to be called behind it.
void HttpClient::Impl::Begin(std::shared_ptr<Exchange> exchange) {
  if (closed) {
    exchange->failure = Error("the client is closed", ErrorKind::kCancelled);
    return Finish(exchange.get());
  }
  if (!exchange->streamed) {
    exchange->haste.emplace(*loop);
    waiting[exchange->request.rank].push_back(std::move(exchange));
    return;
  }
  active.insert(exchange.get());
  Run(std::move(exchange));
  if (sweeping == nullptr && options.look_every.ns > 0 && NeedsSweep()) Sweep();
}

// Null: it goes over HTTP/1.1.
Http2Pool* HttpClient::Impl::PoolFor(const Exchange& exchange) {
  if (!sends || exchange.request.large) return nullptr;
  return exchange.streamed ? &*streams : &*sends;
}

// Of those of the lowest rank, those who have waited longest go first.
void HttpClient::Impl::Next() {
  const size_t most = std::max<size_t>(options.max_connections, 1);
  Http2Session* session = nullptr;  // that the one before was given to
  while (!waiting.empty()) {
    const auto first = waiting.begin();
    Http2Pool* const pool = PoolFor(*first->second.front());
    if (pool == nullptr) {
      session = nullptr;
    } else if (session == nullptr || session->room() == 0) {
      session = pool->Find();
    }
    // A server that allows many streams on a connection gets one connection.
    if (session == nullptr && (sending >= most || (pool != nullptr && sending + pool->capacity() >= most))) return;
    std::shared_ptr<Exchange> exchange = std::move(first->second.front());
    first->second.pop_front();
    if (first->second.empty()) waiting.erase(first);
    if (exchange->request.timeout_from_turn && exchange->attempts == 0) exchange->StartTimeout();
    if (session != nullptr) {
      session->Submit(std::move(exchange));
      continue;
    }
    ++sending;
    active.insert(exchange.get());
    Run(std::move(exchange));
  }
}

// Not from where an exchange ends: a queue of requests that all fail at once would need a stack as long as itself.
void HttpClient::Impl::PlanNext() {
  if (!waiting.empty()) loop->Post([this] { Next(); });
}

Detached HttpClient::Impl::Run(std::shared_ptr<Exchange> exchange) {
  Way way = Way::kFailed;
  try {
    bool reused = false;
    way = co_await Attempt(&exchange, &reused);
    while (way == Way::kFailed && reused && !exchange->heard && !exchange->cancelled &&
           MayRepeat(exchange->request.method) && !util::IsOver(exchange->deadline)) {
      exchange->failure = Error::Ok();
      exchange->SentInVain(*loop);
      way = co_await Attempt(&exchange, &reused);
    }
    // A server that does not answer on one kept connection may be gone for all of them.
    if (way == Way::kFailed && reused && !exchange->heard) idle.clear();
  } catch (const std::exception& thrown) {
    exchange->failure = Error(thrown.what());
  }
  active.erase(exchange.get());
  if (!exchange->streamed) --sending;
  if (way != Way::kHandedOver) Finish(exchange.get());
  if (!exchange->streamed) PlanNext();
}

void HttpClient::Impl::OnStreamEnd(std::shared_ptr<Exchange> exchange, StreamEnd end) {
  // On a connection that others used before, a request that can be sent twice gets a second chance, as on a kept one of
  // HTTP/1.1.
  const bool again =
      end == StreamEnd::kUnprocessed || (end == StreamEnd::kLost && !exchange->http2.first && !exchange->heard &&
                                         !exchange->streamed && MayRepeat(exchange->request.method));
  if (again && !closed && !exchange->cancelled && exchange->attempts < kMaxAttempts &&
      !util::IsOver(exchange->deadline)) {
    exchange->failure = Error::Ok();
    exchange->SentInVain(*loop);
    if (exchange->streamed) {
      loop->Post([this, exchange = std::move(exchange)] { Begin(exchange); });
    } else {
      waiting[exchange->request.rank].push_front(std::move(exchange));
      PlanNext();
    }
    return;
  }
  if (end == StreamEnd::kUnprocessed && exchange->failure.ok())
    exchange->failure = Error("the server does not take it", ErrorKind::kUnsent);
  Finish(exchange.get());
}

void HttpClient::Impl::Finish(Exchange* exchange) {
  exchange->haste.reset();
  if (exchange->request.facts) {
    exchange->facts.connect_errno = exchange->connect_errno;
    *exchange->request.facts = exchange->facts;
  }
  if (!exchange->failure.ok()) {
    if (exchange->outdated) exchange->failure = Error("the certificates have changed");
    exchange->failure = exchange->failure.Wrap(exchange->request.method + " " + (url.tls ? "https://" : "http://") +
                                               url.authority + url.prefix + exchange->request.PathOf());
  }
  if (exchange->streamed) {
    exchange->Tell([&] { exchange->on_end(std::move(exchange->failure)); });
  } else if (!exchange->failure.ok()) {
    exchange->done(std::move(exchange->failure));
  } else {
    exchange->done(std::move(exchange->answer));
  }
}

std::unique_ptr<Connection> HttpClient::Impl::TakeIdle() {
  const auto oldest = steady_clock::now() - std::chrono::nanoseconds(options.idle_timeout.ns);
  while (!idle.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle.back());  // the one used last is the likeliest to be open
    idle.pop_back();
    if (connection->idle_since < oldest || !connector->IsCurrent(*connection)) continue;
    if (connection->stream.IsQuiet()) return connection;
  }
  return nullptr;
}

void HttpClient::Impl::Keep(std::unique_ptr<Connection> connection) {
  if (closed || idle.size() >= options.max_connections) return;
  connection->stream.watch().set_deadline(kNoDeadline);
  connection->idle_since = steady_clock::now();
  idle.push_back(std::move(connection));
  if (sweeping == nullptr && options.look_every.ns > 0) Sweep();
}

// Nobody may ask again for hours; until then a connection that the server has closed would stay half open.
Detached HttpClient::Impl::Sweep() {
  Watch timer(*loop, -1);
  sweeping = &timer;
  while (NeedsSweep()) {
    timer.set_deadline(After(options.look_every));
    co_await timer.Wait(Watch::For::kTime);
    EndOutdated();
    const auto oldest = steady_clock::now() - std::chrono::nanoseconds(options.idle_timeout.ns);
    std::erase_if(idle, [oldest](const std::unique_ptr<Connection>& kept) {
      return kept->idle_since < oldest || !kept->stream.IsQuiet();
    });
  }
  sweeping = nullptr;
}

bool HttpClient::Impl::NeedsSweep() const {
  if (closed) return false;
  return !idle.empty() || (url.tls && active.size() > sending) || (streams && streams->busy());
}

// A stream may live for long; what it was opened with may be worth nothing by then.
void HttpClient::Impl::EndOutdated() {
  for (Exchange* exchange : active) {
    if (!exchange->streamed || exchange->connection == nullptr || exchange->outdated) continue;
    if (connector->IsCurrent(*exchange->connection)) continue;
    exchange->outdated = true;
    exchange->Cancel();
  }
  if (streams) streams->EndOutdated();
}

// kFailed with the failure set. Of HTTP/2 it is only the beginning: what becomes of it says OnStreamEnd.
Task<HttpClient::Impl::Way> HttpClient::Impl::Attempt(const std::shared_ptr<Exchange>* shared, bool* reused) {
  Exchange* const exchange = shared->get();
  *reused = false;
  // Time that was spent in the queue counts: nothing is sent whose answer nobody would wait for.
  const auto late = [exchange] {
    exchange->failure = exchange->Late();
    return !exchange->failure.ok();
  };
  if (late()) co_return Way::kFailed;
  std::unique_ptr<Connection> connection;
  if (Http2Pool* const pool = PoolFor(*exchange)) {
    for (bool waited = false; !connection; waited = true) {
      if (exchange->cancelled) {
        exchange->failure = Error("cancelled", ErrorKind::kCancelled);
        co_return Way::kFailed;
      }
      if (Http2Session* const session = pool->Find()) {
        session->Submit(*shared);
        co_return Way::kHandedOver;
      }
      if (pool->speaks_http1()) break;
      if (waited && !exchange->streamed) {
        // Others were faster. It is still the first of those who wait.
        waiting[exchange->request.rank].push_front(*shared);
        co_return Way::kHandedOver;
      }
      if (++exchange->connects > kMaxConnects) {
        exchange->failure = Error("connecting: the server takes no requests", ErrorKind::kUnsent);
        co_return Way::kFailed;
      }
      exchange->failure = co_await pool->Connect(exchange, &connection);
      if (!exchange->failure.ok() || late()) co_return Way::kFailed;
    }
  }
  if (!connection && !exchange->streamed) {
    connection = TakeIdle();
    *reused = connection != nullptr;
  }
  if (!connection) {
    Result<std::unique_ptr<Connection>> made = co_await connector->Connect(exchange->begin_by, exchange);
    if (!made.ok()) {
      exchange->failure = made.error();
      co_return Way::kFailed;
    }
    connection = std::move(made).value();
    if (late()) co_return Way::kFailed;
  }
  bool keep = false;
  const bool fine = co_await http1->Run(exchange, connection.get(), &keep);
  if (!fine) co_return Way::kFailed;
  if (keep && !exchange->streamed) Keep(std::move(connection));
  co_return Way::kDone;
}

void HttpClient::Impl::Close() {
  closed = true;
  idle.clear();
  if (sweeping != nullptr) sweeping->Cancel();
  for (Exchange* exchange : active) exchange->Cancel();
  const auto left = std::exchange(waiting, {});
  for (const auto& [rank, exchanges] : left) {
    for (const std::shared_ptr<Exchange>& exchange : exchanges) {
      exchange->failure = Error("the client is closed", ErrorKind::kCancelled);
      Finish(exchange.get());
    }
  }
  if (!sends) return;
  sends->Close();
  streams->Close();
}

namespace {

Result<ProxyRoute> RouteThrough(const ClientOptions& options, const Url& url) {
  Result<Proxy> proxy = ParseProxy(options.proxy);
  if (!proxy.ok()) return proxy.error();
  ProxyRoute route;
  route.proxy = std::move(proxy).value();
  route.tunnel = url.tls || route.proxy.kind == ProxyKind::kSocks5;
  if (route.proxy.kind != ProxyKind::kHttps) return route;
  TlsClientOptions tls;
  tls.ca_file = options.tls.ca_file;
  tls.ca_data = options.tls.ca_data;
  tls.insecure = options.tls.insecure;
  tls.look_every = options.tls.look_every;
  tls.on_warning = options.tls.on_warning;
  Result<std::shared_ptr<TlsContext>> made = TlsContext::Client(tls);
  if (!made.ok()) return made.error();
  route.tls = std::move(made).value();
  return route;
}

}  // namespace

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HttpClient>> HttpClient::Create(const ClientOptions& options) {
  Result<Url> url = ParseUrl(options.url);
  if (!url.ok()) return url.error();
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->url = std::move(url).value();
  std::shared_ptr<TlsContext> tls;
  if (impl->url.tls) {
    Result<std::shared_ptr<TlsContext>> made = TlsContext::Client(options.tls);
    if (!made.ok()) return made.error();
    tls = std::move(made).value();
  }
  if (!options.proxy.empty()) {
    Result<ProxyRoute> route = RouteThrough(options, impl->url);
    if (!route.ok()) return route.error().Wrap("proxy");
    impl->route = std::move(route).value();
  }
  impl->connector.emplace(*impl->loop, impl->url, impl->route ? &*impl->route : nullptr, std::move(tls),
                          options.connect_timeout);
  impl->http1.emplace(impl->options, impl->url, impl->route && !impl->route->tunnel ? &impl->route->proxy : nullptr);
  if (impl->url.tls && options.http2) {
    impl->send_limits = LimitsOf(options, kMaxStreams);
    impl->stream_limits = LimitsOf(options, kWatchesPerConnection);
    const auto make = [impl = impl.get()](std::optional<Http2Pool>& pool, const Http2Limits& limits) {
      pool.emplace(*impl->loop, *impl->connector, impl->url, limits, impl->options.connect_timeout, *impl);
    };
    make(impl->sends, impl->send_limits);
    make(impl->streams, impl->stream_limits);
  }
  impl->loop->set_spacing(options.gather);
  if (options.own_thread) impl->loop->Start();
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

HttpClient::~HttpClient() {
  impl_->loop->Post([impl = impl_.get()] { impl->Close(); });
  impl_->loop->Join();
}

void HttpClient::Send(ClientRequest&& request, Done done) {
  auto exchange = std::allocate_shared<Exchange>(util::Recycling<Exchange>(), std::move(request));
  exchange->failure = CheckRequest(exchange->request);
  exchange->StartTimeout();
  exchange->done = std::move(done);
  impl_->Take(std::move(exchange));
}

std::unique_ptr<ResponseStream> HttpClient::Stream(ClientRequest request, OnHead on_head, OnChunk on_chunk,
                                                   OnEnd on_end) {
  auto exchange = std::make_shared<Exchange>(std::move(request));
  exchange->failure = CheckRequest(exchange->request);
  exchange->deadline = exchange->begin_by = After(exchange->request.timeout);
  exchange->streamed = true;
  exchange->on_head = std::move(on_head);
  exchange->on_chunk = std::move(on_chunk);
  exchange->on_end = std::move(on_end);
  auto handle = std::make_unique<Handle>(impl_->loop, exchange);
  impl_->Take(std::move(exchange));
  return handle;
}

void HttpClient::Post(std::function<void()> call) { impl_->loop->Post(std::move(call)); }

util::Inbox::Guest& HttpClient::guest() { return *impl_->loop; }

}  // namespace berth::net
