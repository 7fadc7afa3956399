// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "net/client_request.h"
#include "net/event_loop.h"
#include "net/http_parser.h"
#include "net/http_text.h"
#include "net/stream.h"
#include "net/task.h"
#include "net/url.h"

namespace berth::net {
namespace {

using Progress = MessageParser::Progress;
using std::chrono::steady_clock;

constexpr size_t kSmallBody = size_t{16} << 10;

// A connection between two exchanges belongs to the pool.
struct Connection {
  Connection(EventLoop& loop, int fd) : stream(loop, fd) {}
  Stream stream;
  InputBuffer input;
  steady_clock::time_point idle_since;
};

// One request on its way, and who hears of it.
struct Exchange {
  ClientRequest request;
  Deadline deadline = kNoDeadline;

  // Send.
  HttpClient::Done done;
  HttpResponse response;
  // Stream.
  bool streamed = false;
  HttpClient::OnHead on_head;
  HttpClient::OnChunk on_chunk;
  HttpClient::OnEnd on_end;
  // Held while a callback of a stream runs; a callback may end its own stream.
  std::recursive_mutex mutex;
  bool silenced = false;  // under mutex

  // The loop's thread only.
  Watch* waiting = nullptr;
  bool cancelled = false;
  bool heard = false;  // a byte of the response has come
  Error failure = Error::Ok();

  void Cancel() {
    cancelled = true;
    if (waiting != nullptr) waiting->Cancel();
  }
  // Calls unless the stream's owner has gone.
  template <class Call>
  void Tell(const Call& call) {
    const std::lock_guard lock(mutex);
    if (!silenced) call();
  }
};

class Handle final : public ResponseStream {
 public:
  Handle(std::shared_ptr<EventLoop> loop, std::shared_ptr<Exchange> exchange)
      : loop_(std::move(loop)), exchange_(std::move(exchange)) {}
  ~Handle() override {
    {
      const std::lock_guard lock(exchange_->mutex);
      exchange_->silenced = true;
    }
    loop_->Post([exchange = exchange_] { exchange->Cancel(); });
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  std::shared_ptr<EventLoop> loop_;
  std::shared_ptr<Exchange> exchange_;
};

// Makes a Watch the one that cancelling the exchange ends.
class Waiting {
 public:
  Waiting(Exchange* exchange, Watch* watch) : exchange_(exchange) { exchange_->waiting = watch; }
  ~Waiting() { exchange_->waiting = nullptr; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  Exchange* exchange_;
};

// A server that vanished says nothing, as one does that has nothing to say: a stream would wait for it for hours. The
// system asks after 30 s of silence, and gives up a minute later.
void KeepAlive(int fd) {
  const auto set = [fd](int level, int option, int value) { ::setsockopt(fd, level, option, &value, sizeof(value)); };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 30);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 20);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

std::string Describe(Io io, const Stream& stream) {
  switch (io) {
    case Io::kOk:
      return "fine";
    case Io::kClosed:
      return "the server closed the connection";
    case Io::kTimeout:
      return "timed out";
    case Io::kCancelled:
      return "cancelled";
    case Io::kFailed:
      break;
  }
  return stream.problem().empty() ? "the connection failed" : stream.problem();
}

}  // namespace

struct HttpClient::Impl {
  ClientOptions options;
  Url url;
  std::shared_ptr<TlsContext> tls;
  std::shared_ptr<EventLoop> loop = std::make_shared<EventLoop>();

  // The loop's thread only.
  std::vector<std::unique_ptr<Connection>> idle;
  std::deque<std::shared_ptr<Exchange>> waiting;
  std::unordered_set<Exchange*> active;
  size_t sending = 0;  // exchanges of Send among them
  bool closed = false;

  void Begin(std::shared_ptr<Exchange> exchange);
  Detached Run(std::shared_ptr<Exchange> exchange);
  Task<bool> Attempt(Exchange* exchange, bool* reused);
  std::unique_ptr<Connection> TakeIdle();
  Task<std::unique_ptr<Connection>> Connect(Exchange* exchange);
  Task<Result<std::vector<SocketAddress>>> Lookup(Exchange* exchange, Deadline deadline);
  Task<bool> Receive(Exchange* exchange, Connection* connection, bool* keep);
  Task<bool> ReceiveHead(Exchange* exchange, Connection* connection, std::unique_ptr<MessageParser>* parser);
  Task<bool> ReceiveBody(Exchange* exchange, Connection* connection, MessageParser* parser, bool* keep);
  bool Deliver(Exchange* exchange, std::string_view piece);
  void Finish(Exchange* exchange);
};

void HttpClient::Impl::Begin(std::shared_ptr<Exchange> exchange) {
  if (closed) {
    exchange->failure = Error("the client is closed");
    return Finish(exchange.get());
  }
  if (!exchange->streamed && sending >= std::max<size_t>(options.max_connections, 1))
    return waiting.push_back(std::move(exchange));
  if (!exchange->streamed) ++sending;
  active.insert(exchange.get());
  Run(std::move(exchange));
}

Detached HttpClient::Impl::Run(std::shared_ptr<Exchange> exchange) {
  try {
    bool reused = false;
    bool fine = co_await Attempt(exchange.get(), &reused);
    while (!fine && reused && !exchange->heard && !exchange->cancelled && MayRepeat(exchange->request.method) &&
           steady_clock::now() < exchange->deadline) {
      exchange->failure = Error::Ok();
      fine = co_await Attempt(exchange.get(), &reused);
    }
  } catch (const std::exception& thrown) {
    exchange->failure = Error(thrown.what());
  }
  active.erase(exchange.get());
  if (!exchange->streamed) --sending;
  Finish(exchange.get());
  if (!exchange->streamed && !waiting.empty()) {
    // Not from here: a queue of requests that all fail at once would need a stack as long as itself.
    loop->Post([this] {
      if (waiting.empty()) return;
      std::shared_ptr<Exchange> next = std::move(waiting.front());
      waiting.pop_front();
      Begin(std::move(next));
    });
  }
}

void HttpClient::Impl::Finish(Exchange* exchange) {
  Error failure = exchange->failure.Wrap(exchange->request.method + " " + (url.tls ? "https://" : "http://") +
                                         url.authority + url.prefix + exchange->request.path);
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
    if (connection->idle_since >= oldest && connection->stream.IsQuiet()) return connection;
  }
  return nullptr;
}

// False with exchange->failure set.
Task<bool> HttpClient::Impl::Attempt(Exchange* exchange, bool* reused) {
  std::unique_ptr<Connection> connection = exchange->streamed ? nullptr : TakeIdle();
  *reused = connection != nullptr;
  if (!connection) {
    connection = co_await Connect(exchange);
    if (!connection) co_return false;
  }
  bool keep = false;
  {
    const Waiting guard(exchange, &connection->stream.watch());
    if (exchange->cancelled) {
      exchange->failure = Error("cancelled");
      co_return false;
    }
    connection->stream.watch().set_deadline(exchange->deadline);
    std::string head = HeadOf(exchange->request, url);
    std::string_view body = exchange->request.body;
    if (body.size() <= kSmallBody) {
      head += body;
      body = {};
    }
    const Io io = co_await connection->stream.Write(head, body);
    // A server that refuses a large body answers before it has read all of it, and then stops reading.
    if (io != Io::kOk && io != Io::kFailed) {
      exchange->failure = Error("sending: " + Describe(io, connection->stream));
      co_return false;
    }
    const bool fine = co_await Receive(exchange, connection.get(), &keep);
    if (!fine) co_return false;
    keep = keep && io == Io::kOk;
  }
  if (keep && !exchange->streamed && !closed && idle.size() < options.max_connections) {
    connection->stream.watch().set_deadline(kNoDeadline);
    connection->idle_since = steady_clock::now();
    idle.push_back(std::move(connection));
  }
  co_return true;
}

Task<Result<std::vector<SocketAddress>>> HttpClient::Impl::Lookup(Exchange* exchange, Deadline deadline) {
  const auto port = static_cast<in_port_t>(std::stoi(url.port));
  SocketAddress address;
  auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  std::vector<SocketAddress> addresses;
  if (::inet_pton(AF_INET, url.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    address.length = sizeof(*four);
    addresses.push_back(address);
    co_return addresses;
  }
  if (::inet_pton(AF_INET6, url.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    address.length = sizeof(*six);
    addresses.push_back(address);
    co_return addresses;
  }
  // The answer may come when nobody waits for it any more.
  struct Pending {
    explicit Pending(EventLoop& loop) : watch(loop, -1) {}
    Watch watch;
    std::optional<Result<std::vector<SocketAddress>>> found;
  };
  auto pending = std::make_shared<Pending>(*loop);
  const Waiting guard(exchange, &pending->watch);
  loop->Resolve(url.host, url.port, [pending](Result<std::vector<SocketAddress>> found) {
    pending->found = std::move(found);
    pending->watch.Cancel();
  });
  pending->watch.set_deadline(deadline);
  const Wake wake = co_await pending->watch.Wait(Watch::For::kTime);
  if (pending->found) co_return std::move(*pending->found);
  Error late("looking up " + url.host + ": " + (wake == Wake::kTimeout ? "timed out" : "cancelled"));
  co_return late;
}

// Null with exchange->failure set.
Task<std::unique_ptr<Connection>> HttpClient::Impl::Connect(Exchange* exchange) {
  const Deadline deadline = std::min(exchange->deadline, After(options.connect_timeout));
  const Result<std::vector<SocketAddress>> addresses = co_await Lookup(exchange, deadline);
  if (!addresses.ok()) {
    exchange->failure = addresses.error();
    co_return nullptr;
  }
  for (const SocketAddress& address : *addresses) {
    const int fd = ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
      exchange->failure = Error(std::string("connecting: ") + std::strerror(errno));
      continue;
    }
    auto connection = std::make_unique<Connection>(*loop, fd);
    const Waiting guard(exchange, &connection->stream.watch());
    if (exchange->cancelled) connection->stream.watch().Cancel();
    connection->stream.watch().set_deadline(deadline);
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    KeepAlive(fd);
    int problem = ::connect(fd, address.get(), address.length) == 0 ? 0 : errno;
    if (problem == EINPROGRESS) {
      const Wake wake = co_await connection->stream.watch().Wait(Watch::For::kWrite);
      if (wake != Wake::kReady) {
        exchange->failure = Error(wake == Wake::kTimeout ? "connecting: timed out" : "connecting: cancelled");
        co_return nullptr;
      }
      socklen_t length = sizeof(problem);
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &length);
    }
    if (problem != 0) {
      exchange->failure = Error(std::string("connecting: ") + std::strerror(problem));
      continue;  // the next address may do
    }
    if (tls) {
      Result<std::unique_ptr<TlsSession>> session = tls->NewSession(fd, url.host);
      if (!session.ok()) {
        exchange->failure = session.error();
        co_return nullptr;
      }
      connection->stream.UseTls(std::move(session).value());
      const Io io = co_await connection->stream.Handshake();
      if (io != Io::kOk) {
        exchange->failure = Error(io == Io::kFailed ? Describe(io, connection->stream)
                                                    : "TLS handshake: " + Describe(io, connection->stream));
        co_return nullptr;
      }
    }
    exchange->failure = Error::Ok();
    co_return connection;
  }
  co_return nullptr;
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
        exchange->failure = Error("waiting for the answer: " + Describe(io, connection->stream));
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
  const std::string too_large = "the answer exceeds " + std::to_string(options.max_response_bytes) + " bytes";
  const bool known = !head.chunked && head.content_length.has_value();
  uint64_t left = head.content_length.value_or(0);
  if (known && !exchange->streamed) {
    if (left > options.max_response_bytes) {
      exchange->failure = Error(too_large);
      co_return false;
    }
    const MayGrow may_grow;
    const BodyEnd end = co_await ReadBody(&stream, &input, left, &exchange->response.body, may_grow);
    if (end == BodyEnd::kOk) co_return true;
    exchange->failure =
        Error(std::string("reading the answer: ") + (end == BodyEnd::kTimeout  ? "timed out"
                                                     : end == BodyEnd::kClosed ? "it ends too early"
                                                                               : Describe(Io::kFailed, stream)));
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
            Error(progress == Progress::kTooLarge ? too_large : "the answer's chunks: " + parser->problem());
        co_return false;
      }
    } else {
      const std::string_view held = input.view();
      const std::string_view piece =
          until_closed ? held : held.substr(0, static_cast<size_t>(std::min<uint64_t>(held.size(), left)));
      if (!piece.empty() && !Deliver(exchange, piece)) {
        exchange->failure = Error(too_large);
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
      exchange->failure =
          Error("reading the answer: " + (io == Io::kClosed ? "it ends too early" : Describe(io, stream)));
      co_return false;
    }
  }
}

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<HttpClient>> HttpClient::Create(const ClientOptions& options) {
  Result<Url> url = ParseUrl(options.url);
  if (!url.ok()) return url.error();
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->url = std::move(url).value();
  if (impl->url.tls) {
    Result<std::shared_ptr<TlsContext>> tls = TlsContext::Client(options.tls);
    if (!tls.ok()) return tls.error();
    impl->tls = std::move(tls).value();
  }
  impl->loop->Start();
  return std::unique_ptr<HttpClient>(new HttpClient(std::move(impl)));
}

HttpClient::~HttpClient() {
  impl_->loop->Post([impl = impl_.get()] {
    impl->closed = true;
    impl->idle.clear();
    for (Exchange* exchange : impl->active) exchange->Cancel();
    const std::deque<std::shared_ptr<Exchange>> waiting = std::exchange(impl->waiting, {});
    for (const std::shared_ptr<Exchange>& exchange : waiting) {
      exchange->failure = Error("the client is closed");
      impl->Finish(exchange.get());
    }
  });
  impl_->loop->Join();
}

void HttpClient::Send(ClientRequest request, Done done) {
  auto exchange = std::make_shared<Exchange>();
  exchange->failure = CheckRequest(request);
  exchange->deadline = After(request.timeout);
  exchange->request = std::move(request);
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
  exchange->deadline = After(request.timeout);
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

}  // namespace berth::net
