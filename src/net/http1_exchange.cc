// SPDX-License-Identifier: Apache-2.0
#include "net/http1_exchange.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/client_request.h"
#include "net/http_parser.h"
#include "net/stream.h"

namespace berth::net {
namespace {

using Progress = MessageParser::Progress;

constexpr size_t kBodyWithHead = size_t{16} << 10;

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

}  // namespace

Task<bool> Http1Exchange::Run(Exchange* exchange, Connection* connection, bool* keep) const {
  const Waiting guard(exchange, &connection->stream.watch());
  const ConnectionMark mark(exchange, connection);
  if (exchange->cancelled) {
    exchange->failure = Error("cancelled", ErrorKind::kCancelled);
    co_return false;
  }
  connection->stream.watch().set_deadline(exchange->deadline);
  std::string head = HeadOf(exchange->request, url_, forwarder_);
  std::string_view body = exchange->request.BodyOf();
  if (body.size() <= kBodyWithHead) {
    head += body;
    body = {};
  }
  const Io io = co_await connection->stream.Write(head, body);
  // A server that refuses a large body answers before it has read all of it, and then stops reading.
  if (io != Io::kOk && io != Io::kFailed) {
    exchange->failure = ErrorOf(io, connection->stream).Wrap("sending");
    co_return false;
  }
  exchange->Sent();
  const bool fine = co_await Receive(exchange, connection, keep);
  if (!fine) co_return false;
  // A server that does not know us may know the certificate that a new connection would show.
  *keep = *keep && io == Io::kOk && exchange->response.status != 401;
  co_return true;
}

Task<bool> Http1Exchange::Receive(Exchange* exchange, Connection* connection, bool* keep) const {
  std::unique_ptr<MessageParser> parser;
  const bool begun = co_await ReceiveHead(exchange, connection, &parser);
  if (!begun) co_return false;
  const MessageHead& head = parser->head();
  exchange->TellHead(head.status, head.headers);
  if (!exchange->streamed) exchange->response.headers = head.headers;
  const bool complete = co_await ReceiveBody(exchange, connection, parser.get(), keep);
  // Bytes behind the answer belong to no question of ours.
  *keep = *keep && head.keep_alive && connection->input.empty();
  co_return complete;
}

Task<bool> Http1Exchange::ReceiveHead(Exchange* exchange, Connection* connection,
                                      std::unique_ptr<MessageParser>* parser) const {
  InputBuffer& input = connection->input;
  for (;;) {
    *parser = std::make_unique<MessageParser>(MessageParser::Kind::kResponse, options_.max_header_bytes);
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

Task<bool> Http1Exchange::ReceiveBody(Exchange* exchange, Connection* connection, MessageParser* parser,
                                      bool* keep) const {
  const MessageHead& head = parser->head();
  net::Stream& stream = connection->stream;
  InputBuffer& input = connection->input;
  *keep = true;
  if (exchange->request.method == "HEAD" || head.status == 204 || head.status == 304) co_return true;
  const auto deliver = [this, exchange](std::string_view piece) {
    return exchange->TellPiece(piece, 0, options_.max_response_bytes);
  };
  const auto cut_off = [&stream, exchange](Io io) {
    exchange->facts.closed = io == Io::kClosed;
    return (io == Io::kClosed ? Error("it ends too early") : ErrorOf(io, stream)).Wrap("reading the answer");
  };
  const bool known = !head.chunked && head.content_length.has_value();
  uint64_t left = head.content_length.value_or(0);
  if (known && !exchange->streamed) {
    if (left > options_.max_response_bytes) {
      exchange->failure = AnswerTooLarge(options_.max_response_bytes);
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
  const MessageParser::Sink sink = deliver;
  for (;;) {
    if (head.chunked) {
      size_t used = 0;
      const Progress progress = parser->ReadChunks(input.view(), &used, sink);
      input.Consume(used);
      if (progress == Progress::kDone) co_return true;
      if (progress != Progress::kMore) {
        exchange->failure = progress == Progress::kTooLarge ? AnswerTooLarge(options_.max_response_bytes)
                                                            : Error("the answer's chunks: " + parser->problem());
        co_return false;
      }
    } else {
      const std::string_view held = input.view();
      const std::string_view piece =
          until_closed ? held : held.substr(0, static_cast<size_t>(std::min<uint64_t>(held.size(), left)));
      if (!piece.empty() && !deliver(piece)) {
        exchange->failure = AnswerTooLarge(options_.max_response_bytes);
        co_return false;
      }
      left -= until_closed ? 0 : piece.size();
      input.Consume(piece.size());
      if (known && left == 0) co_return true;
    }
    std::optional<Io> io = input.FillNow(&stream);
    if (!io) {
      if (exchange->streamed) stream.watch().set_deadline(After(exchange->request.read_timeout));
      io = co_await input.Fill(&stream);
    }
    if (io == Io::kClosed && until_closed) co_return true;
    if (io != Io::kOk) {
      exchange->failure = cut_off(*io);
      co_return false;
    }
  }
}

}  // namespace berth::net
