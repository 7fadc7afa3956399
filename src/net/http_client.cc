// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "net/client_connection.h"
#include "net/client_request.h"
#include "net/event_loop.h"
#include "net/http_parser.h"
#include "net/http_text.h"
#include "net/stream.h"
#include "net/task.h"
#include "net/url.h"
#include "util/owner_link.h"

namespace berth::net {
namespace {

using Progress = MessageParser::Progress;
using std::chrono::steady_clock;

constexpr size_t kSmallBody = size_t{16} << 10;

// One request on its way, and who hears of it.
struct Exchange : Cancellable {
  ClientRequest request;
  Deadline deadline = kNoDeadline;
  Deadline begin_by = kNoDeadline;  // not after `deadline`

  // Send.
  HttpClient::Done done;
  HttpResponse response;
  // Stream.
  bool streamed = false;
  HttpClient::OnHead on_head;
  HttpClient::OnChunk on_chunk;
  HttpClient::OnEnd on_end;
  util::OwnerLink<ResponseStream> stream;  // whose callbacks these are

  // The loop's thread only.
  Connection* connection = nullptr;  // while there is one
  bool outdated = false;             // it was ended because its certificates are those of yesterday
  bool heard = false;                // a byte of the response has come
  Error failure = Error::Ok();
  SendFacts facts;

  void StartTimeout() {
    deadline = std::min(After(request.timeout), request.answer_by);
    begin_by = std::min(deadline, request.send_by);
  }
  // Calls unless the stream has ended; it may end within the call.
  template <class Call>
  void Tell(const Call& call) {
    stream.Call([&call](ResponseStream&) { call(); });
  }
};

// Says which connection an exchange has, as long as it has it.
class ConnectionMark {
 public:
  ConnectionMark(Exchange* exchange, Connection* connection) : exchange_(exchange) {
    exchange_->connection = connection;
  }
  ~ConnectionMark() { exchange_->connection = nullptr; }
  ConnectionMark(const ConnectionMark&) = delete;
  ConnectionMark& operator=(const ConnectionMark&) = delete;

 private:
  Exchange* exchange_;
};

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

}  // namespace

struct HttpClient::Impl {
  ClientOptions options;
  Url url;
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>();
  std::optional<ProxyRoute> route;  // through a proxy
  std::optional<Connector> connector;

  // The loop's thread only.
  std::vector<std::unique_ptr<Connection>> idle;
  std::map<uint8_t, std::deque<std::shared_ptr<Exchange>>> waiting;  // by rank; none is empty
  std::unordered_set<Exchange*> active;
  size_t sending = 0;         // exchanges of Send among them
  Watch* sweeping = nullptr;  // while there are connections to look at
  bool closed = false;

  void Begin(std::shared_ptr<Exchange> exchange);
  Detached Run(std::shared_ptr<Exchange> exchange);
  Task<bool> Attempt(Exchange* exchange, bool* reused);
  void Next();
  std::unique_ptr<Connection> TakeIdle();
  void Keep(std::unique_ptr<Connection> connection);
  Detached Sweep();
  bool NeedsSweep() const { return !closed && (!idle.empty() || (url.tls && active.size() > sending)); }
  void EndOutdated();
  Task<bool> Receive(Exchange* exchange, Connection* connection, bool* keep);
  Task<bool> ReceiveHead(Exchange* exchange, Connection* connection, std::unique_ptr<MessageParser>* parser);
  Task<bool> ReceiveBody(Exchange* exchange, Connection* connection, MessageParser* parser, bool* keep);
  bool Deliver(Exchange* exchange, std::string_view piece);
  void Finish(Exchange* exchange);
};

void HttpClient::Impl::Begin(std::shared_ptr<Exchange> exchange) {
  if (closed) {
    exchange->failure = Error("the client is closed", ErrorKind::kCancelled);
    return Finish(exchange.get());
  }
  if (!exchange->streamed) {
    waiting[exchange->request.rank].push_back(std::move(exchange));
    return Next();
  }
  active.insert(exchange.get());
  Run(std::move(exchange));
  if (sweeping == nullptr && options.look_every.ns > 0 && NeedsSweep()) Sweep();
}

// Of those of the lowest rank, those who have waited longest go first.
void HttpClient::Impl::Next() {
  while (!waiting.empty() && sending < std::max<size_t>(options.max_connections, 1)) {
    const auto first = waiting.begin();
    std::shared_ptr<Exchange> exchange = std::move(first->second.front());
    first->second.pop_front();
    if (first->second.empty()) waiting.erase(first);
    if (exchange->request.timeout_from_turn) exchange->StartTimeout();
    ++sending;
    active.insert(exchange.get());
    Run(std::move(exchange));
  }
}

Detached HttpClient::Impl::Run(std::shared_ptr<Exchange> exchange) {
  try {
    bool reused = false;
    bool fine = co_await Attempt(exchange.get(), &reused);
    while (!fine && reused && !exchange->heard && !exchange->cancelled && MayRepeat(exchange->request.method) &&
           !util::IsOver(exchange->deadline)) {
      exchange->failure = Error::Ok();
      fine = co_await Attempt(exchange.get(), &reused);
    }
    // A server that does not answer on one kept connection may be gone for all of them.
    if (!fine && reused && !exchange->heard) idle.clear();
  } catch (const std::exception& thrown) {
    exchange->failure = Error(thrown.what());
  }
  if (exchange->outdated && !exchange->failure.ok()) exchange->failure = Error("the certificates have changed");
  active.erase(exchange.get());
  if (!exchange->streamed) --sending;
  Finish(exchange.get());
  // Not from here: a queue of requests that all fail at once would need a stack as long as itself.
  if (!exchange->streamed && !waiting.empty()) loop->Post([this] { Next(); });
}

void HttpClient::Impl::Finish(Exchange* exchange) {
  Error failure = exchange->failure.Wrap(exchange->request.method + " " + (url.tls ? "https://" : "http://") +
                                         url.authority + url.prefix + exchange->request.path);
  if (exchange->request.facts) {
    exchange->facts.connect_errno = exchange->connect_errno;
    *exchange->request.facts = exchange->facts;
  }
  if (exchange->streamed) {
    exchange->Tell([&] { exchange->on_end(std::move(failure)); });
  } else if (!failure.ok()) {
    exchange->done(std::move(failure));
  } else {
    exchange->done(std::move(exchange->response));
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

// A stream may live for long; what it was opened with may be worth nothing by then.
void HttpClient::Impl::EndOutdated() {
  for (Exchange* exchange : active) {
    if (!exchange->streamed || exchange->connection == nullptr || exchange->outdated) continue;
    if (connector->IsCurrent(*exchange->connection)) continue;
    exchange->outdated = true;
    exchange->Cancel();
  }
}

// False with exchange->failure set.
Task<bool> HttpClient::Impl::Attempt(Exchange* exchange, bool* reused) {
  std::unique_ptr<Connection> connection = exchange->streamed ? nullptr : TakeIdle();
  *reused = connection != nullptr;
  // Time that was spent in the queue counts: nothing is sent whose answer nobody would wait for.
  const auto late = [exchange] {
    if (exchange->request.withdrawn && *exchange->request.withdrawn) {
      exchange->failure = Error("withdrawn before it was sent", ErrorKind::kUnsent);
    } else if (util::IsOver(exchange->begin_by)) {
      exchange->failure = Error("timed out before it was sent", ErrorKind::kUnsent);
    }
    return !exchange->failure.ok();
  };
  if (late()) co_return false;
  if (!connection) {
    Result<std::unique_ptr<Connection>> made = co_await connector->Connect(exchange->begin_by, exchange);
    if (!made.ok()) {
      exchange->failure = made.error();
      co_return false;
    }
    connection = std::move(made).value();
    if (late()) co_return false;
  }
  bool keep = false;
  {
    const Waiting guard(exchange, &connection->stream.watch());
    const ConnectionMark mark(exchange, connection.get());
    if (exchange->cancelled) {
      exchange->failure = Error("cancelled", ErrorKind::kCancelled);
      co_return false;
    }
    connection->stream.watch().set_deadline(exchange->deadline);
    std::string head = HeadOf(exchange->request, url, route && !route->tunnel ? &route->proxy : nullptr);
    std::string_view body = exchange->request.body;
    if (body.size() <= kSmallBody) {
      head += body;
      body = {};
    }
    const Io io = co_await connection->stream.Write(head, body);
    // A server that refuses a large body answers before it has read all of it, and then stops reading.
    if (io != Io::kOk && io != Io::kFailed) {
      exchange->failure = ErrorOf(io, connection->stream).Wrap("sending");
      co_return false;
    }
    const bool fine = co_await Receive(exchange, connection.get(), &keep);
    if (!fine) co_return false;
    // A server that does not know us may know the certificate that a new connection would show.
    keep = keep && io == Io::kOk && exchange->response.status != 401;
  }
  if (keep && !exchange->streamed) Keep(std::move(connection));
  co_return true;
}

Task<bool> HttpClient::Impl::Receive(Exchange* exchange, Connection* connection, bool* keep) {
  std::unique_ptr<MessageParser> parser;
  const bool begun = co_await ReceiveHead(exchange, connection, &parser);
  if (!begun) co_return false;
  const MessageHead& head = parser->head();
  if (exchange->streamed) {
    exchange->Tell([&] { exchange->on_head(head.status, head.headers); });
  } else {
    exchange->response.status = head.status;
    const std::string* type = head.headers.Find("Content-Type");
    exchange->response.content_type = type != nullptr ? *type : "";
    exchange->response.headers = head.headers;
    exchange->facts.status = head.status;
  }
  const bool complete = co_await ReceiveBody(exchange, connection, parser.get(), keep);
  // Bytes behind the answer belong to no question of ours.
  *keep = *keep && head.keep_alive && connection->input.empty();
  co_return complete;
}

Task<bool> HttpClient::Impl::ReceiveHead(Exchange* exchange, Connection* connection,
                                         std::unique_ptr<MessageParser>* parser) {
  InputBuffer& input = connection->input;
  for (;;) {
    *parser = std::make_unique<MessageParser>(MessageParser::Kind::kResponse, options.max_header_bytes);
    Progress progress = Progress::kMore;
    while (progress == Progress::kMore) {
      if (!input.empty()) {
        exchange->heard = true;
        size_t used = 0;
        progress = (*parser)->ReadHead(input.view(), &used);
        input.Consume(used);
        if (progress != Progress::kMore) break;
      }
      const Io io = co_await input.Fill(&connection->stream);
      if (io != Io::kOk) {
        exchange->facts.closed = io == Io::kClosed;
        exchange->failure = ErrorOf(io, connection->stream).Wrap("waiting for the answer");
        co_return false;
      }
    }
    if (progress != Progress::kDone) {
      exchange->failure = Error("the answer's header: " + (*parser)->problem());
      co_return false;
    }
    const int status = (*parser)->head().status;
    if (status >= 200) co_return true;
    if (status == 101) {
      exchange->failure = Error("the server changes the protocol, which nobody asked for");
      co_return false;
    }
  }
}

// False when the caller of Send gets more than he wants.
bool HttpClient::Impl::Deliver(Exchange* exchange, std::string_view piece) {
  if (exchange->streamed) {
    exchange->Tell([&] { exchange->on_chunk(piece); });
    return true;
  }
  std::string& body = exchange->response.body;
  if (body.size() + piece.size() > options.max_response_bytes) return false;
  GrowBody(&body, body.size() + piece.size(), body.size() * 2, nullptr);
  body.append(piece);
  return true;
}

Task<bool> HttpClient::Impl::ReceiveBody(Exchange* exchange, Connection* connection, MessageParser* parser,
                                         bool* keep) {
  const MessageHead& head = parser->head();
  net::Stream& stream = connection->stream;
  InputBuffer& input = connection->input;
  *keep = true;
  if (exchange->request.method == "HEAD" || head.status == 204 || head.status == 304) co_return true;
  const auto too_large = [this] {
    return Error("the answer exceeds " + std::to_string(options.max_response_bytes) + " bytes", ErrorKind::kTooLarge);
  };
  const auto cut_off = [&stream, exchange](Io io) {
    exchange->facts.closed = io == Io::kClosed;
    return (io == Io::kClosed ? Error("it ends too early") : ErrorOf(io, stream)).Wrap("reading the answer");
  };
  const bool known = !head.chunked && head.content_length.has_value();
  uint64_t left = head.content_length.value_or(0);
  if (known && !exchange->streamed) {
    if (left > options.max_response_bytes) {
      exchange->failure = too_large();
      co_return false;
    }
    const MayGrow may_grow;
    const BodyEnd end = co_await ReadBody(&stream, &input, left, &exchange->response.body, may_grow);
    if (end == BodyEnd::kOk) co_return true;
    const Io io = end == BodyEnd::kTimeout     ? Io::kTimeout
                  : end == BodyEnd::kClosed    ? Io::kClosed
                  : end == BodyEnd::kCancelled ? Io::kCancelled
                                               : Io::kFailed;
    exchange->failure = cut_off(io);
    co_return false;
  }
  const bool until_closed = !head.chunked && !known;
  if (until_closed) *keep = false;
  const MessageParser::Sink sink = [this, exchange](std::string_view piece) { return Deliver(exchange, piece); };
  for (;;) {
    if (head.chunked) {
      size_t used = 0;
      const Progress progress = parser->ReadChunks(input.view(), &used, sink);
      input.Consume(used);
      if (progress == Progress::kDone) co_return true;
      if (progress != Progress::kMore) {
        exchange->failure =
            progress == Progress::kTooLarge ? too_large() : Error("the answer's chunks: " + parser->problem());
        co_return false;
      }
    } else {
      const std::string_view held = input.view();
      const std::string_view piece =
          until_closed ? held : held.substr(0, static_cast<size_t>(std::min<uint64_t>(held.size(), left)));
      if (!piece.empty() && !Deliver(exchange, piece)) {
        exchange->failure = too_large();
        co_return false;
      }
      left -= until_closed ? 0 : piece.size();
      input.Consume(piece.size());
      if (known && left == 0) co_return true;
    }
    if (exchange->streamed) stream.watch().set_deadline(After(exchange->request.read_timeout));
    const Io io = co_await input.Fill(&stream);
    if (io == Io::kClosed && until_closed) co_return true;
    if (io != Io::kOk) {
      exchange->failure = cut_off(io);
      co_return false;
    }
  }
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
  impl->loop->Start();
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

HttpClient::~HttpClient() {
  impl_->loop->Post([impl = impl_.get()] {
    impl->closed = true;
    impl->idle.clear();
    if (impl->sweeping != nullptr) impl->sweeping->Cancel();
    for (Exchange* exchange : impl->active) exchange->Cancel();
    const auto waiting = std::exchange(impl->waiting, {});
    for (const auto& [rank, exchanges] : waiting) {
      for (const std::shared_ptr<Exchange>& exchange : exchanges) {
        exchange->failure = Error("the client is closed", ErrorKind::kCancelled);
        impl->Finish(exchange.get());
      }
    }
  });
  impl_->loop->Join();
}

void HttpClient::Send(ClientRequest request, Done done) {
  auto exchange = std::make_shared<Exchange>();
  exchange->failure = CheckRequest(request);
  exchange->request = std::move(request);
  exchange->StartTimeout();
  exchange->done = std::move(done);
  impl_->loop->Post([impl = impl_.get(), exchange] {
    if (exchange->failure.ok())
      impl->Begin(exchange);
    else
      impl->Finish(exchange.get());
  });
}

std::unique_ptr<ResponseStream> HttpClient::Stream(ClientRequest request, OnHead on_head, OnChunk on_chunk,
                                                   OnEnd on_end) {
  auto exchange = std::make_shared<Exchange>();
  exchange->failure = CheckRequest(request);
  exchange->deadline = exchange->begin_by = After(request.timeout);
  exchange->request = std::move(request);
  exchange->streamed = true;
  exchange->on_head = std::move(on_head);
  exchange->on_chunk = std::move(on_chunk);
  exchange->on_end = std::move(on_end);
  auto handle = std::make_unique<Handle>(impl_->loop, exchange);
  impl_->loop->Post([impl = impl_.get(), exchange] {
    if (exchange->failure.ok())
      impl->Begin(exchange);
    else
      impl->Finish(exchange.get());
  });
  return handle;
}

void HttpClient::Post(std::function<void()> call) { impl_->loop->Post(std::move(call)); }

}  // namespace berth::net
