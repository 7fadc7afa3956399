// SPDX-License-Identifier: Apache-2.0
// Requests as streams of a session, and what the server says about them.
#include <nghttp2/nghttp2.h>

#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "net/http2_session.h"
#include "net/http_text.h"
#include "util/text.h"

namespace berth::net {
namespace {

constexpr uint64_t kMaxHeldBodies = uint64_t{64} << 20;
constexpr size_t kFieldOverhead = 32;  // of a header, as RFC 9113 counts a list's size

// A view's bytes stay where they are until the request has ended, or is reset: nghttp2 need not copy them.
nghttp2_nv Field(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

// False: it is none, or too large.
template <class Number>
bool ReadNumber(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && read == end && text.front() != '-';
}

// nghttp2 is told not to look at headers (Http2Session), so we look at those that are kept.
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

// What nghttp2 calls; nothing may be thrown through it.
struct Http2Session::Callbacks {
  static Http2Session& Self(void* user) { return *static_cast<Http2Session*>(user); }
  static std::string_view View(const uint8_t* data, size_t size) { return {reinterpret_cast<const char*>(data), size}; }

  static int BeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Self(user).OnHeadersBegin(frame->hd.stream_id);
    return 0;
  }
  static int Header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name, size_t name_size,
                    const uint8_t* value, size_t value_size, uint8_t, void* user) {
    return Self(user).OnHeader(frame->hd.stream_id, View(name, name_size), View(value, value_size));
  }
  static int Frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Self(user).OnFrame(frame->hd.type, frame->hd.flags, frame->hd.stream_id);
    return 0;
  }
  static int Data(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size, void* user) {
    Self(user).OnData(stream, View(data, size));
    return 0;
  }
  static int Closed(nghttp2_session*, int32_t stream, uint32_t code, void* user) {
    Self(user).OnClosed(stream, code);
    return 0;
  }
  static int NotSent(nghttp2_session*, const nghttp2_frame* frame, int reason, void* user) {
    if (frame->hd.type == NGHTTP2_HEADERS) Self(user).OnNotSent(frame->hd.stream_id, reason);
    return 0;
  }
  static ssize_t Body(nghttp2_session*, int32_t stream, uint8_t* to, size_t size, uint32_t* flags, nghttp2_data_source*,
                      void* user) {
    return Self(user).ReadBody(stream, to, size, flags);
  }
};

const nghttp2_session_callbacks* Http2Session::TheCallbacks() {
  static const nghttp2_session_callbacks* const all = [] {
    nghttp2_session_callbacks* made = nullptr;
    nghttp2_session_callbacks_new(&made);
    nghttp2_session_callbacks_set_on_begin_headers_callback(made, Callbacks::BeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(made, Callbacks::Header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(made, Callbacks::Frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Callbacks::Data);
    nghttp2_session_callbacks_set_on_stream_close_callback(made, Callbacks::Closed);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(made, Callbacks::NotSent);
    return made;
  }();
  return all;
}

void Http2Session::BeginStream(Exchange& exchange) {
  const ClientRequest& request = exchange.request;
  Exchange::OnSession& own = exchange.http2;
  // Names in lower case, after the whole path if that is not the request's; views lead there, so it must not move.
  const std::string& path = request.PathOf();
  size_t size = url_.prefix.empty() ? 0 : url_.prefix.size() + path.size();
  for (const auto& [name, value] : request.headers.list()) size += name.size();
  own.names.reserve(size);
  if (!url_.prefix.empty()) own.names.assign(url_.prefix).append(path);
  const std::string_view text(own.names.data(), size);

  thread_local std::vector<nghttp2_nv> fields;
  size_t count = 0;
  fields.resize(5 + request.headers.list().size() + (request.common ? request.common->fields().size() : 0));
  fields[count++] = Field(":method", request.method);
  fields[count++] = Field(":scheme", "https");
  fields[count++] = Field(":authority", url_.authority);
  fields[count++] = Field(":path", url_.prefix.empty() ? path : text.substr(0, own.names.size()));
  if (request.common)
    for (const CommonHeaders::Field& field : request.common->fields())
      fields[count++] = Field(field.lower_name, field.value);
  for (const auto& [name, value] : request.headers.list()) {
    const size_t at = own.names.size();
    own.names += LowerName(name);
    const std::string_view lower = text.substr(at, name.size());
    if (!IsClientsOwn(lower)) fields[count++] = Field(lower, value);
  }
  const bool has_body = !request.BodyOf().empty();
  if (has_body || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    const auto end =
        std::to_chars(own.length.data(), own.length.data() + own.length.size(), request.BodyOf().size()).ptr;
    fields[count++] = Field("content-length", {own.length.data(), static_cast<size_t>(end - own.length.data())});
  }
  nghttp2_data_provider body = {};
  body.read_callback = Callbacks::Body;
  own.begins_at = produced_;
  own.began = std::chrono::steady_clock::now();
  const int32_t id =
      nghttp2_submit_request(session_, nullptr, fields.data(), count, has_body ? &body : nullptr, &exchange);
  if (id < 0) {
    // Every connection has an end to its numbers.
    draining_ = draining_ || id == NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE;
    if (draining_) return End(exchange, StreamEnd::kUnprocessed);
    return Fail(exchange, Error(std::string("HTTP/2: ") + nghttp2_strerror(id), ErrorKind::kUnsent), StreamEnd::kOver);
  }
  own.stream = id;
  if (!exchange.streamed) loop_.ExpectAnswer();
}

Exchange* Http2Session::Look(int32_t stream) {
  found_ = static_cast<Exchange*>(nghttp2_session_get_stream_user_data(session_, stream));
  found_stream_ = found_ != nullptr ? stream : 0;
  return found_;
}

ptrdiff_t Http2Session::ReadBody(int32_t stream, uint8_t* to, size_t size, uint32_t* flags) {
  Exchange* exchange = Find(stream);
  if (exchange == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // it has ended
  const std::string& body = exchange->request.BodyOf();
  size_t& sent = exchange->http2.body_sent;
  const size_t count = std::min(size, body.size() - sent);
  body.copy(reinterpret_cast<char*>(to), count, sent);
  sent += count;
  if (sent == body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ptrdiff_t>(count);
}

void Http2Session::OnHeadersBegin(int32_t stream) {
  Exchange* exchange = Find(stream);
  if (exchange == nullptr) return;
  exchange->heard = true;
  if (!exchange->http2.has_head) exchange->http2.status = 0;
}

int Http2Session::OnHeader(int32_t stream, std::string_view name, std::string_view value) {
  Exchange* exchange = Find(stream);
  if (exchange == nullptr) return 0;
  Exchange::OnSession& own = exchange->http2;
  own.header_bytes += name.size() + value.size() + kFieldOverhead;
  // Those of informational heads and trailers count as well: they are as long as the server likes.
  if (own.header_bytes > limits_.max_header_bytes) {
    Fail(*exchange,
         Error("the answer's header: the header exceeds " + std::to_string(limits_.max_header_bytes) + " bytes"),
         StreamEnd::kOver);
    return 0;
  }
  if (own.has_head) return 0;  // a trailer
  if (name == ":status") {
    if (own.status != 0 || !ReadNumber(value, own.status) || value.size() != 3 || own.status < 100)
      Malformed(*exchange, "status " + Shown(value));
  } else if (own.status == 0) {
    Malformed(*exchange, "no status before its headers");
  } else if (own.status >= 200) {
    KeepHeader(*exchange, name, value);
  }
  return 0;
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

void Http2Session::OnFrame(uint8_t type, uint8_t flags, int32_t stream) {
  if (type == NGHTTP2_SETTINGS && (flags & NGHTTP2_FLAG_ACK) == 0) {
    // One that takes no requests at all is of no use; another connection may be.
    if (capacity() == 0) draining_ = true;
    if (std::exchange(ready_, true)) {
      may_have_room_ = true;
      return;
    }
    if (draining_) return Die(Error("HTTP/2: the server allows no requests"), false);
    return listener_.OnReady(*this);
  }
  if (type == NGHTTP2_GOAWAY) {
    draining_ = true;
    may_have_room_ = true;  // on another connection
    return;
  }
  if (type != NGHTTP2_HEADERS && type != NGHTTP2_DATA) return;
  Exchange* exchange = Find(stream);
  if (exchange == nullptr) return;
  if (type == NGHTTP2_HEADERS) {
    OnHeadersEnd(*exchange);
    exchange = Find(stream);  // it may have ended
  }
  if (exchange == nullptr || (flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  const Exchange::OnSession& own = exchange->http2;
  if (!own.has_head) return Malformed(*exchange, "it ends before its head");
  if (own.says_length && own.received != own.expected && MayHaveBody(exchange->request, own.status)) {
    return Malformed(*exchange, std::to_string(own.received) + " bytes instead of " + std::to_string(own.expected));
  }
  // A server that has said everything may not want the rest of our body.
  if (exchange->http2.body_sent < exchange->request.BodyOf().size()) Reset(*exchange, NGHTTP2_NO_ERROR);
  End(*exchange, StreamEnd::kOver);
}

void Http2Session::OnData(int32_t stream, std::string_view piece) {
  Exchange* exchange = Find(stream);
  if (exchange == nullptr) return;
  if (!exchange->http2.has_head) return Malformed(*exchange, "a body before its head");
  exchange->http2.received += piece.size();
  try {
    if (!exchange->TellPiece(piece, exchange->http2.expected, limits_.max_response_bytes))
      return Fail(*exchange, AnswerTooLarge(limits_.max_response_bytes), StreamEnd::kOver);
  } catch (const std::exception& thrown) {
    return Fail(*exchange, Error(thrown.what()), StreamEnd::kOver);
  }
  if (exchange->streamed) {
    if (exchange->request.read_timeout.ns > 0)
      exchange->deadline = heard_ + std::chrono::nanoseconds(exchange->request.read_timeout.ns);
    return;
  }
  held_bytes_ += piece.size();
  const uint64_t most = std::max(kMaxHeldBodies, limits_.max_response_bytes);
  if (held_bytes_ > most) Fail(*exchange, AnswerTooLarge(most).Wrap("with those of other requests"), StreamEnd::kOver);
}

void Http2Session::OnClosed(int32_t stream, uint32_t code) {
  Exchange* exchange = Find(stream);
  if (exchange == nullptr) return;  // it has ended before
  if (code == NGHTTP2_REFUSED_STREAM && !exchange->heard) return End(*exchange, StreamEnd::kUnprocessed);
  exchange->failure = At(*exchange, Error(std::string("the stream was reset: ") + nghttp2_http2_strerror(code)));
  End(*exchange, StreamEnd::kLost);
}

void Http2Session::OnNotSent(int32_t stream, int reason) {
  Exchange* exchange = Find(stream);
  if (exchange == nullptr) return;
  if (reason == NGHTTP2_ERR_START_STREAM_NOT_ALLOWED || reason == NGHTTP2_ERR_STREAM_CLOSING ||
      reason == NGHTTP2_ERR_SESSION_CLOSING) {
    draining_ = true;
    return End(*exchange, StreamEnd::kUnprocessed);
  }
  exchange->failure = Error(std::string("HTTP/2: ") + nghttp2_strerror(reason), ErrorKind::kUnsent);
  End(*exchange, StreamEnd::kOver);
}

}  // namespace berth::net
