// SPDX-License-Identifier: Apache-2.0
#include "net/server_connection.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "net/http_text.h"
#include "net/server_process.h"
#include "util/answer_once.h"

namespace berth::net {

// Where a request's answer arrives. Only the loop's thread looks at it, and at the charge whoever has the request or
// its answer.
struct AnswerSlot final : Asker {
  explicit AnswerSlot(std::shared_ptr<ByteBudget> budget) : charge(std::move(budget)) {}

  // The asker is at the other end of this socket; -1: there is none any more. REQUIRES: not closed before that is said.
  void Follow(int fd) {
    const std::lock_guard lock(mutex_);
    fd_ = fd;
  }
  bool Gone() const override {
    const std::lock_guard lock(mutex_);
    pollfd socket = {fd_, POLLRDHUP, 0};
    return fd_ < 0 || (::poll(&socket, 1, 0) > 0 && (socket.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0);
  }

  ByteCharge charge;
  Signal ready;
  HttpResponse response;

 private:
  mutable std::mutex mutex_;
  int fd_ = -1;
};

namespace {

using Progress = MessageParser::Progress;

// How long a connection that we closed is still listened to: a client that is still sending gets our answer that way
// instead of a reset.
constexpr Duration kLinger = Duration::Seconds(1);
constexpr size_t kSmallBody = size_t{16} << 10;

// Of a request and its answer; with more it is worth looking whether the system can have memory back.
constexpr uint64_t kMuchMemory = uint64_t{256} << 10;
constexpr char kCrowded[] = "too many large requests at a time";

// Instead of a status: nobody is there to be answered.
constexpr int kGone = -1;

HttpResponse Plain(int status, std::string text) {
  HttpResponse response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(text);
  return response;
}

uint64_t HeldBy(const HttpResponse& response) { return response.body.capacity() + response.spare.capacity(); }

// Brings a handler's answer to the connection, from any thread. It counts from here on, in the place of the request.
void Give(const std::shared_ptr<EventLoop>& loop, const std::shared_ptr<AnswerSlot>& slot, HttpResponse response) {
  if (!slot->charge.Set(HeldBy(response))) {
    std::string().swap(response.spare);
    // Small ones, of which there is one per connection at most, always have room: health, and what was done already.
    if (HeldBy(response) <= kSmallBody) {
      slot->charge.Insist(HeldBy(response));
    } else if (!slot->charge.Set(HeldBy(response))) {
      response = Plain(503, std::string("the answer has no room: ") + kCrowded + "\n");
      slot->charge.Set(0);
    }
  }
  // Within the handler's call nobody waits yet, and no message to the own thread is needed.
  if (loop->InThread() && !slot->ready.awaited()) {
    slot->response = std::move(response);
    slot->ready.Set();
    return;
  }
  auto kept = std::make_shared<HttpResponse>(std::move(response));
  loop->Post([slot, kept] {
    slot->response = std::move(*kept);
    slot->ready.Set();
  });
}

Respond RespondTo(const std::shared_ptr<EventLoop>& loop, const std::shared_ptr<AnswerSlot>& slot) {
  return util::AnswerOnce<HttpResponse>(
      [loop, slot](HttpResponse response) { Give(loop, slot, std::move(response)); },
      [](const Respond& respond) { respond(Plain(500, "the request was not answered\n")); });
}

}  // namespace

ServerShared::ServerShared(const ServerOptions& options_in, Handler handler_in)
    : options([&] {
        ServerOptions kept = options_in;
        kept.tls = nullptr;
        return kept;
      }()),
      handler(std::move(handler_in)),
      table(FitConnections({options.max_connections, options.max_unserved_connections}, DescriptorLimit())),
      budget(std::make_shared<ByteBudget>(options.max_total_bytes)) {}

ServerConnection::ServerConnection(ServerShared* shared, ServerWorker* worker, int fd)
    : shared_(shared), worker_(worker), stream_(*worker->loop, fd) {
  place_.evict = [this, worker] {
    // By then it may be gone, and another one in its place.
    worker->loop->Post([this, worker] {
      if (worker->connections.contains(this) && place_.evicted()) Abort();
    });
  };
  worker_->connections.insert(this);
  shared_->table.Add(place_);
}

ServerConnection::~ServerConnection() {
  shared_->table.Remove(place_);
  worker_->connections.erase(this);
}

Detached ServerConnection::Run() {
  ServerShared* shared = shared_;
  try {
    co_await Serve();
  } catch (const std::exception&) {  // memory: this client pays
  }
  delete this;
  shared->End();
}

void ServerConnection::Abort() {
  stream_.watch().Cancel();
  if (slot_) {
    worker_->loop->Post([slot = slot_] { slot->ready.Set(); });
  }
}

Task<bool> ServerConnection::StartTls() {
  const auto tell = [this](const std::string& problem) {
    if (shared_->options.on_handshake_failure) shared_->options.on_handshake_failure(problem);
  };
  Result<std::unique_ptr<TlsSession>> session = shared_->tls->NewSession(stream_.watch().fd());
  if (!session.ok()) {
    tell(session.error().text());
    co_return false;
  }
  stream_.watch().set_deadline(After(shared_->options.header_timeout));
  stream_.UseTls(std::move(session).value());
  const Io io = co_await stream_.Handshake();
  if (io == Io::kOk) {
    client_name_ = stream_.tls()->PeerName();
    peer_ = stream_.tls()->Peer();
    co_return true;
  }
  if (io != Io::kCancelled && stream_.tls()->heard()) {
    tell(io == Io::kFailed    ? stream_.problem()
         : io == Io::kTimeout ? "TLS handshake: timed out"
                              : "TLS handshake: the peer closed the connection");
  }
  co_return false;
}

Task<void> ServerConnection::Serve() {
  using Phase = ConnectionTable::Phase;
  const ServerOptions& options = shared_->options;
  if (shared_->tls) {
    const bool shaken = co_await StartTls();
    if (!shaken) co_return;
  }
  bool guest = false;
  for (bool first = true;; first = false) {
    if (stream_.watch().cancelled() || (shared_->draining && input_.empty())) break;
    MessageParser parser(MessageParser::Kind::kRequest, options.max_header_bytes);
    HttpRequest request;
    const auto slot = std::make_shared<AnswerSlot>(shared_->budget);
    int status = co_await ReadHead(&parser, first);
    if (status == 0 && !first && shared_->tls && !shared_->tls->StillWelcome(*stream_.tls())) {
      // Its handshake would fail today.
      if (options.on_handshake_failure)
        options.on_handshake_failure("TLS: a client on a kept connection, whom the client CA no longer covers");
      break;
    }
    if (status == 0) status = CheckHead(parser.head(), &request);
    // A body that is there already is not waited for.
    const bool whole = !parser.head().chunked && parser.head().content_length.value_or(0) <= input_.view().size();
    if (status == 0 && first) status = Admit(parser.head(), whole, &guest);
    // One that is kept was idle, and idle ones go first.
    if (status == 0 && !shared_->table.Move(place_, whole ? Phase::kWorking : Phase::kWaiting)) status = kGone;
    if (status == 0) {
      status = co_await ReceiveBody(&parser, &request, &slot->charge);
      // Nobody works for one that is refused.
      if (!shared_->table.Move(place_, status == 0 ? Phase::kWorking : Phase::kWaiting)) status = kGone;
    }
    if (status == kGone) break;
    if (status != 0) {
      co_await Refuse(status, parser.head().method == "HEAD");
      co_return;
    }
    const bool head_only = request.method == "HEAD";
    const bool keep = parser.head().keep_alive && !guest;
    const bool old_client = parser.head().minor_version == 0;
    request.client_name = client_name_;
    request.peer = peer_;

    // Until the answer is there, or this ends.
    struct Following {
      AnswerSlot& slot;
      Following(AnswerSlot& in, int fd) : slot(in) { slot.Follow(fd); }
      ~Following() { slot.Follow(-1); }
      Following(const Following&) = delete;
      Following& operator=(const Following&) = delete;
    };
    std::optional<Following> following(std::in_place, *slot, stream_.watch().fd());
    request.asker = slot;
    slot_ = slot;
    try {
      shared_->handler(std::move(request), RespondTo(worker_->loop, slot));
    } catch (...) {  // dropping its Respond answers 500
    }
    // By a name of its own: what co_await is given in place, g++ 12 looks up again afterwards, with UBSan in the wrong
    // place.
    Signal& ready = slot->ready;
    co_await ready;
    following.reset();
    slot_.reset();
    if (stream_.watch().cancelled() || !shared_->table.Move(place_, Phase::kWaiting)) break;
    HttpResponse response = std::move(slot->response);
    const uint64_t held = HeldBy(response);
    shared_->GiveSpare(std::exchange(response.spare, {}));
    slot->charge.Set(response.body.capacity());
    const bool stay = keep && !shared_->draining;
    const bool sent = co_await Reply(&response, head_only, stay, old_client);
    shared_->GiveSpare(std::move(response.body));
    if (held >= kMuchMemory && shared_->on_freed) shared_->on_freed();
    if (!sent) break;
    if (!stay) {
      slot->charge.Set(0);
      co_await Linger();
      break;
    }
    if (!shared_->table.Move(place_, Phase::kIdle)) break;
  }
  if (stream_.tls() != nullptr) stream_.tls()->Shutdown();
}

int ServerConnection::Admit(const MessageHead& head, bool whole, bool* guest) {
  using First = ConnectionTable::First;
  const bool with_body = head.chunked || head.content_length.value_or(0) > 0;
  switch (shared_->table.Admit(place_, !with_body ? First::kWithoutBody : whole ? First::kWhole : First::kBegun)) {
    case ConnectionTable::Entry::kServed:
      return 0;
    case ConnectionTable::Entry::kGuest:
      *guest = true;
      return 0;
    case ConnectionTable::Entry::kRefused:
      problem_ = "all " + std::to_string(shared_->table.limits().served) + " connections are busy";
      return 503;
    case ConnectionTable::Entry::kEvicted:
      break;
  }
  return kGone;
}

Task<int> ServerConnection::ReadHead(MessageParser* parser, bool first) {
  const ServerOptions& options = shared_->options;
  bool begun = false;
  stream_.watch().set_deadline(After(first ? options.header_timeout : options.idle_timeout));
  for (;;) {
    if (!begun) {
      // Some clients send a line break too many behind a body. It buys no time.
      while (input_.view().starts_with("\r\n")) input_.Consume(2);
      begun = !input_.empty() && input_.view() != "\r";
      if (begun) stream_.watch().set_deadline(After(options.header_timeout));
    }
    if (begun) {
      size_t used = 0;
      const Progress progress = parser->ReadHead(input_.view(), &used);
      input_.Consume(used);
      if (progress == Progress::kDone) co_return 0;
      problem_ = parser->problem();
      if (progress == Progress::kTooLarge) co_return 431;
      if (progress == Progress::kBad) co_return 400;
    }
    idle_ = !begun;
    const Io io = co_await input_.Fill(&stream_);
    idle_ = false;
    if (io == Io::kOk) continue;
    if (!begun || io == Io::kCancelled || io == Io::kFailed) co_return kGone;
    problem_ = io == Io::kTimeout ? "the header took too long" : "the connection ended within the header";
    co_return io == Io::kTimeout ? 408 : 400;
  }
}

int ServerConnection::CheckHead(const MessageHead& head, HttpRequest* request) {
  const Headers& headers = head.headers;
  const auto refuse = [this](int status, std::string problem) {
    problem_ = std::move(problem);
    return status;
  };
  const std::string* coding = headers.Find("Transfer-Encoding");
  if (coding != nullptr && CountHeader(headers, "Content-Length") > 0) {
    return refuse(400, "Content-Length together with Transfer-Encoding");
  }
  if (CountHeader(headers, "Content-Length") > 1) return refuse(400, "Content-Length more than once");
  if (const std::string* length = headers.Find("Content-Length");
      length != nullptr && length->find_first_not_of("0123456789") != std::string::npos) {
    return refuse(400, "Content-Length must be one number");  // the parser takes a list of equal ones
  }
  if (coding != nullptr && (!EqualIgnoringCase(*coding, "chunked") || CountHeader(headers, "Transfer-Encoding") > 1)) {
    return refuse(400, "a Transfer-Encoding other than chunked");
  }
  if (coding != nullptr && head.minor_version == 0) return refuse(400, "Transfer-Encoding in HTTP/1.0");
  const int hosts = CountHeader(headers, "Host");
  if (hosts > 1 || (hosts == 0 && head.minor_version > 0)) return refuse(400, "Host must be there once");
  if (head.content_length.value_or(0) > shared_->options.max_request_bytes) {
    return refuse(413, "the body exceeds " + std::to_string(shared_->options.max_request_bytes) + " bytes");
  }
  // The same header may be there more than once.
  for (const auto& [name, value] : headers.list()) {
    if (EqualIgnoringCase(name, "Content-Encoding") && !value.empty() && !EqualIgnoringCase(value, "identity")) {
      return refuse(415, "bodies are read without any Content-Encoding");
    }
    if (EqualIgnoringCase(name, "Expect") && !EqualIgnoringCase(value, "100-continue")) {
      return refuse(417, "Expect can be 100-continue only");
    }
  }

  std::string_view target = head.target;
  if (!target.starts_with('/') && target != "*") {
    // The form for proxies, which servers have to understand as well.
    const size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return refuse(400, "the request's target must begin with a slash");
    const size_t path = target.find_first_of("/?", scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  const size_t mark = target.find('?');
  request->method = head.method;
  request->path = target.substr(0, mark);
  if (request->path.empty()) request->path = "/";
  if (mark != std::string_view::npos) request->query = target.substr(mark + 1);
  request->headers = headers;
  return 0;
}

Task<int> ServerConnection::ReceiveBody(MessageParser* parser, HttpRequest* request, ByteCharge* charge) {
  const MessageHead& head = parser->head();
  const uint64_t length = head.content_length.value_or(0);
  if (!head.chunked && length == 0) {
    request->body.reserve(kBodyPadding);
    co_return 0;
  }
  stream_.watch().set_deadline(After(shared_->options.body_timeout));
  if (input_.empty() && head.minor_version > 0 && head.headers.Find("Expect") != nullptr) {
    const Io io = co_await stream_.Write("HTTP/1.1 100 Continue\r\n\r\n", "");
    if (io != Io::kOk) co_return kGone;
  }
  if (head.chunked) {
    const int status = co_await ReceiveChunks(parser, request, charge);
    co_return status;
  }
  const MayGrow may_grow = [charge](size_t capacity) { return charge->GrowTo(capacity); };
  request->body = shared_->TakeSpare(length);
  if (!charge->GrowTo(request->body.capacity())) request->body = std::string();
  const BodyEnd end = co_await ReadBody(&stream_, &input_, length, &request->body, may_grow);
  switch (end) {
    case BodyEnd::kOk:
      co_return 0;
    case BodyEnd::kClosed:
      problem_ = "the connection ended within the body";
      co_return 400;
    case BodyEnd::kTimeout:
      problem_ = "the body took too long";
      co_return 408;
    case BodyEnd::kTooLarge:
      problem_ = kCrowded;
      co_return 503;
    case BodyEnd::kCancelled:
    case BodyEnd::kFailed:
      break;
  }
  co_return kGone;
}

Task<int> ServerConnection::ReceiveChunks(MessageParser* parser, HttpRequest* request, ByteCharge* charge) {
  const uint64_t max = shared_->options.max_request_bytes;
  std::string& body = request->body;
  bool crowded = false;
  const MayGrow may_grow = [charge](size_t capacity) { return charge->GrowTo(capacity); };
  const MessageParser::Sink sink = [&](std::string_view piece) {
    if (body.size() + piece.size() > max) return false;
    // Nothing is known of what will come: room for as much again.
    crowded = !GrowBody(&body, body.size() + piece.size(), body.size() * 2, may_grow);
    if (!crowded) body.append(piece);
    return !crowded;
  };
  body.reserve(kBodyPadding);
  for (;;) {
    size_t used = 0;
    const Progress progress = parser->ReadChunks(input_.view(), &used, sink);
    input_.Consume(used);
    if (progress == Progress::kDone) co_return 0;
    if (progress == Progress::kBad) {
      problem_ = parser->problem();
      co_return 400;
    }
    if (progress == Progress::kTooLarge) {
      problem_ = crowded ? kCrowded : "the body exceeds " + std::to_string(max) + " bytes";
      co_return crowded ? 503 : 413;
    }
    const Io io = co_await input_.Fill(&stream_);
    if (io == Io::kCancelled || io == Io::kFailed) co_return kGone;
    if (io == Io::kOk) continue;
    problem_ = io == Io::kTimeout ? "the body took too long" : "the connection ended within the body";
    co_return io == Io::kTimeout ? 408 : 400;
  }
}

Task<void> ServerConnection::Refuse(int status, bool head_only) {
  if (shared_->options.on_refusal) shared_->options.on_refusal(status, problem_);
  const HttpResponse response = Plain(status, problem_ + "\n");
  const bool sent = co_await Reply(&response, head_only, false, false);
  if (sent) co_await Linger();
}

Task<bool> ServerConnection::Reply(const HttpResponse* response, bool head_only, bool keep, bool old_client) {
  const int status = response->status >= 200 && response->status <= 999 ? response->status : 500;
  const bool bodyless = status == 204 || status == 304;
  std::string head = "HTTP/1.1 " + std::to_string(status) + " ";
  head.append(StatusText(status)).append("\r\n");
  if (!bodyless) {
    if (!response->content_type.empty() && IsHeaderValue(response->content_type)) {
      AppendHeader(&head, "Content-Type", response->content_type);
    }
    AppendHeader(&head, "Content-Length", std::to_string(response->body.size()));
  }
  for (const auto& [name, value] : response->headers.list()) {
    if (!IsToken(name) || !IsHeaderValue(value)) continue;
    // How the message is framed is our business.
    if (EqualIgnoringCase(name, "Content-Length") || EqualIgnoringCase(name, "Transfer-Encoding") ||
        EqualIgnoringCase(name, "Connection")) {
      continue;
    }
    AppendHeader(&head, name, value);
  }
  if (!keep)
    AppendHeader(&head, "Connection", "close");
  else if (old_client)
    AppendHeader(&head, "Connection", "keep-alive");
  head += "\r\n";
  std::string_view body = response->body;
  if (bodyless || head_only) body = {};
  if (body.size() <= kSmallBody) {  // one record of TLS instead of two
    head += body;
    body = {};
  }
  stream_.watch().set_deadline(After(shared_->options.write_timeout));
  const Io io = co_await stream_.Write(head, body);
  co_return io == Io::kOk;
}

Task<void> ServerConnection::Linger() {
  stream_.CloseSending();
  stream_.watch().set_deadline(After(kLinger));
  const auto trash = std::make_unique_for_overwrite<char[]>(kSmallBody);
  Io io = Io::kOk;
  while (io == Io::kOk) {
    // Straight from the socket: nobody asks what it means.
    const ssize_t count = ::recv(stream_.watch().fd(), trash.get(), kSmallBody, 0);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) break;
    const Wake wake = co_await stream_.watch().Wait(count > 0 ? Watch::For::kTurn : Watch::For::kRead);
    // A turn does not look at the time.
    if (wake != Wake::kReady || std::chrono::steady_clock::now() >= stream_.watch().deadline()) io = Io::kTimeout;
  }
}

}  // namespace berth::net
