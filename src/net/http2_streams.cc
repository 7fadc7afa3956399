// SPDX-License-Identifier: Apache-2.0
// Requests as streams of a session, and what the server says about them.
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "net/http2_session.h"
#include "util/text.h"

namespace berth::net {
namespace {

constexpr uint64_t kMaxHeldBodies = uint64_t{64} << 20;
constexpr size_t kFieldOverhead = 32;  // of a header, as RFC 9113 counts a list's size

// False: it is not a number, or too large.
template <class Number>
bool ReadNumber(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && read == end && text.front() != '-';
}

// Nobody has looked at headers yet; those that are kept are worth it.
bool IsHeader(std::string_view name, std::string_view value) {
  return nghttp2_check_header_name(reinterpret_cast<const uint8_t*>(name.data()), name.size()) != 0 &&
         nghttp2_check_header_value_rfc9113(reinterpret_cast<const uint8_t*>(value.data()), value.size()) != 0;
}

// For an error's text, not as long as a server likes.
std::string Shown(std::string_view text) { return util::Quoted(text.substr(0, 100)); }

bool MayHaveBody(const ClientRequest& request, int status) {
  return request.method != "HEAD" && status != 204 && status != 304;
}

}  // namespace

void Http2Session::BeginStream(Exchange& exchange) {
  const ClientRequest& request = exchange.request;
  Exchange::OnSession& own = exchange.http2;
  const bool has_body = !request.BodyOf().empty();
  std::array<char, 24> length;
  char* length_end = length.data();
  if (has_body || request.method == "POST" || request.method == "PUT" || request.method == "PATCH")
    length_end = std::to_chars(length.data(), length.data() + length.size(), request.BodyOf().size()).ptr;
  own.begins_at = written_ + frames_.output().size();
  own.began = std::chrono::steady_clock::now();
  own.stream =
      frames_.Open({request.method, url_.authority, url_.prefix, request.PathOf(), request.common, request.headers,
                    std::string_view(length.data(), static_cast<size_t>(length_end - length.data()))},
                   !has_body, exchange);
  if (own.stream == 0) {
    // Every connection has an end to its numbers.
    draining_ = true;
    return End(exchange, StreamEnd::kUnprocessed);
  }
  if (has_body && !SendBody(exchange)) sending_.push_back(&exchange);
  if (!exchange.streamed) loop_.ExpectAnswer();
}

bool Http2Session::SendBody(Exchange& exchange) {
  const std::string_view body = exchange.request.BodyOf();
  size_t& sent = exchange.http2.body_sent;
  sent += frames_.SendBody(exchange.http2.stream, body.substr(sent));
  return sent == body.size();
}

void Http2Session::OnHeadersBegin(Exchange& exchange) {
  exchange.heard = true;
  if (!exchange.http2.has_head) exchange.http2.status = 0;
}

void Http2Session::OnHeader(Exchange& exchange, std::string_view name, std::string_view value) {
  Exchange::OnSession& own = exchange.http2;
  own.header_bytes += name.size() + value.size() + kFieldOverhead;
  // Those of informational heads and trailers count as well: they are as long as the server likes.
  if (own.header_bytes > limits_.max_header_bytes) {
    return Fail(exchange,
                Error("the answer's header: the header exceeds " + std::to_string(limits_.max_header_bytes) + " bytes"),
                StreamEnd::kOver);
  }
  if (own.has_head) return;  // a trailer
  if (name == ":status") {
    if (own.status != 0 || !ReadNumber(value, own.status) || value.size() != 3 || own.status < 100)
      Malformed(exchange, "status " + Shown(value));
  } else if (own.status == 0) {
    Malformed(exchange, "no status before its headers");
  } else if (own.status >= 200) {
    KeepHeader(exchange, name, value);
  }
}

void Http2Session::KeepHeader(Exchange& exchange, std::string_view name, std::string_view value) {
  Exchange::OnSession& own = exchange.http2;
  if (name == "content-length") {
    if (own.says_length || !ReadNumber(value, own.expected))
      return Malformed(exchange, "content-length " + Shown(value));
    own.says_length = true;
  }
  const bool few = exchange.request.few_headers;
  HttpResponse& response = exchange.response;
  if (few && name == "content-type" && !response.usual_type && response.content_type.empty()) {
    response.usual_type = value == exchange.request.usual_type;
    if (response.usual_type) return;
  } else if (few && name != "retry-after") {
    return;
  }
  if (!IsHeader(name, value)) return Malformed(exchange, "header " + Shown(name));
  if (few && name == "content-type") {
    response.content_type = value;
  } else {
    response.headers.Add(std::string(name), std::string(value));
  }
}

// What is not an answer of HTTP: nobody knows what the server has done.
void Http2Session::Malformed(Exchange& exchange, const std::string& what) {
  Fail(exchange, At(exchange, Error("the answer is malformed: " + what)), StreamEnd::kLost);
}

void Http2Session::OnHeadersEnd(Exchange& exchange) {
  Exchange::OnSession& own = exchange.http2;
  if (own.has_head) return;
  if (own.status == 0) return Malformed(exchange, "no status");
  if (own.status < 200) return;
  own.has_head = true;
  if (!exchange.streamed) loop_.NoteAnswer(heard_ - own.began);
  // A server that does not know us may know the certificate that a new connection would show.
  if (own.status == 401) draining_ = true;
  if (exchange.streamed) {
    exchange.deadline = exchange.request.read_timeout.ns <= 0
                            ? kNoDeadline
                            : heard_ + std::chrono::nanoseconds(exchange.request.read_timeout.ns);
    next_check_ = std::min(next_check_, exchange.deadline);
  } else if (own.expected > limits_.max_response_bytes && exchange.request.method != "HEAD") {
    return Fail(exchange, AnswerTooLarge(limits_.max_response_bytes), StreamEnd::kOver);
  }
  try {
    exchange.TellHead(own.status, exchange.response.headers);
  } catch (const std::exception& thrown) {
    Fail(exchange, Error(thrown.what()), StreamEnd::kOver);
  }
}

void Http2Session::OnSettings() {
  // One that takes no requests at all is of no use; another connection may be.
  if (capacity() == 0) draining_ = true;
  if (std::exchange(ready_, true)) {
    may_have_room_ = true;
    return;
  }
  if (draining_) return Die(Error("HTTP/2: the server allows no requests"), false);
  listener_.OnReady(*this);
}

void Http2Session::OnGoAway() {
  draining_ = true;
  may_have_room_ = true;  // on another connection
}

void Http2Session::OnStreamOver(int32_t stream, Exchange& exchange) {
  const Exchange::OnSession& own = exchange.http2;
  if (!own.has_head) return Malformed(exchange, "it ends before its head");
  if (own.says_length && own.received != own.expected && MayHaveBody(exchange.request, own.status)) {
    return Malformed(exchange, std::to_string(own.received) + " bytes instead of " + std::to_string(own.expected));
  }
  // A server that has said everything may not want the rest of our body.
  if (own.body_sent < exchange.request.BodyOf().size()) frames_.Reset(stream, Http2Code::kNone);
  End(exchange, StreamEnd::kOver);
}

void Http2Session::OnData(Exchange& exchange, std::string_view piece) {
  if (!exchange.http2.has_head) return Malformed(exchange, "a body before its head");
  exchange.http2.received += piece.size();
  try {
    if (!exchange.TellPiece(piece, exchange.http2.expected, limits_.max_response_bytes))
      return Fail(exchange, AnswerTooLarge(limits_.max_response_bytes), StreamEnd::kOver);
  } catch (const std::exception& thrown) {
    return Fail(exchange, Error(thrown.what()), StreamEnd::kOver);
  }
  if (exchange.streamed) {
    if (exchange.request.read_timeout.ns > 0)
      exchange.deadline = heard_ + std::chrono::nanoseconds(exchange.request.read_timeout.ns);
    return;
  }
  held_bytes_ += piece.size();
  const uint64_t most = std::max(kMaxHeldBodies, limits_.max_response_bytes);
  if (held_bytes_ > most) Fail(exchange, AnswerTooLarge(most).Wrap("with those of other requests"), StreamEnd::kOver);
}

void Http2Session::OnStreamReset(Exchange& exchange, uint32_t code) {
  if (code == static_cast<uint32_t>(Http2Code::kRefused) && !exchange.heard)
    return End(exchange, StreamEnd::kUnprocessed);
  exchange.failure = At(exchange, Error(std::string("the stream was reset: ") + nghttp2_http2_strerror(code)));
  End(exchange, StreamEnd::kLost);
}

}  // namespace berth::net
