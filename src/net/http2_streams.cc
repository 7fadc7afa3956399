// SPDX-License-Identifier: Apache-2.0
// Requests as streams of a session, and what the server says about them.
#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "net/hpack_field.h"
#include "net/http2_session.h"
#include "net/http2_text.h"
#include "util/text.h"

namespace berth::net {
namespace {

constexpr uint64_t kMaxHeldBodies = uint64_t{64} << 20;

// False: it is not a number, or too large.
template <class Number>
bool ReadNumber(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && read == end && text.front() != '-';
}

// 0: it is not a status.
int ReadStatus(std::string_view text) {
  if (text.size() != 3) return 0;
  int status = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    status = status * 10 + (c - '0');
  }
  return status >= 100 ? status : 0;
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
  if (has_body && !SendBody(exchange)) {
    sending_.push_back(&exchange);
  } else {
    exchange.Sent();
  }
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

void Http2Session::OnHeader(Exchange& exchange, const HpackField& field) {
  Exchange::OnSession& own = exchange.http2;
  own.header_bytes += field.name.size() + field.value.size() + kHpackFieldOverhead;
  // Those of informational heads and trailers count as well: they are as long as the server likes.
  if (own.header_bytes > limits_.max_header_bytes) {
    return Fail(exchange,
                Error("the answer's header: the header exceeds " + std::to_string(limits_.max_header_bytes) + " bytes"),
                StreamEnd::kOver);
  }
  if (field.name.starts_with(':') && (own.has_head || field.kind != FieldKind::kStatus))
    return Malformed(exchange, "header " + Shown(field.name));
  if (own.has_head) return;  // a trailer
  if (field.kind == FieldKind::kStatus) {
    const int status = own.status == 0 ? ReadStatus(field.value) : 0;  // it is said once
    // Nobody asked for another protocol.
    if (status == 0 || status == 101) return Malformed(exchange, "status " + Shown(field.value));
    own.status = status;
  } else if (own.status == 0) {
    Malformed(exchange, "no status before its headers");
  } else if (own.status >= 200 && (field.kind != FieldKind::kOther || !exchange.request.few_headers)) {
    KeepHeader(exchange, field);
  }
}

void Http2Session::KeepHeader(Exchange& exchange, const HpackField& field) {
  Exchange::OnSession& own = exchange.http2;
  if (field.kind == FieldKind::kContentLength) {
    if (own.says_length || !ReadNumber(field.value, own.expected))
      return Malformed(exchange, "content-length " + Shown(field.value));
    own.says_length = true;
  }
  const bool few = exchange.request.few_headers;
  HttpResponse& response = exchange.response;
  const bool is_type = few && field.kind == FieldKind::kContentType;
  if (is_type) {
    if (response.usual_type || !response.content_type.empty()) return;  // the first one counts
    response.usual_type = field.value == exchange.request.usual_type;
    if (response.usual_type) return;
  } else if (few && field.kind != FieldKind::kRetryAfter) {
    return;
  }
  // Nobody has looked at headers yet; those that are kept are worth it.
  if (!IsHttp2Name(field.name) || !IsHttp2Value(field.value)) return Malformed(exchange, "header " + Shown(field.name));
  if (is_type) {
    response.content_type = field.value;
  } else {
    response.headers.Add(std::string(field.name), std::string(field.value));
  }
}

// What is not an answer of HTTP: nobody knows what the server has done.
void Http2Session::Malformed(Exchange& exchange, const std::string& what) {
  Fail(exchange, At(exchange, Error("the answer is malformed: " + what)), StreamEnd::kLost);
}

void Http2Session::OnHeadersEnd(Exchange& exchange, bool last) {
  Exchange::OnSession& own = exchange.http2;
  if (own.has_head) {
    if (!last) Malformed(exchange, "a second head");
    return;
  }
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
  if (!piece.empty() && !MayHaveBody(exchange.request, exchange.http2.status))
    return Malformed(exchange, "a body where there is none");
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
  exchange.failure = At(exchange, Error("the stream was reset: " + std::string(Http2CodeName(code))));
  End(exchange, StreamEnd::kLost);
}

}  // namespace berth::net
