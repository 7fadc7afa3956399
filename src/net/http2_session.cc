// SPDX-License-Identifier: Apache-2.0
#include "net/http2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "net/http2_memory.h"
#include "net/stream.h"
#include "util/deadline.h"

namespace berth::net {
namespace {

using std::chrono::steady_clock;
using Status = TlsSession::Status;

constexpr size_t kMaxOutput = size_t{256} << 10;
constexpr size_t kReadSize = size_t{64} << 10;
constexpr int kReadsInATurn = 16;
// What the server may send before we have taken it, which we do as it comes: enough for a fast and distant one.
constexpr int32_t kStreamWindow = 4 << 20;
constexpr int32_t kConnectionWindow = 32 << 20;
constexpr Duration kFirstUse = Duration::Seconds(10);

Error TimedOut() { return Error("timed out", ErrorKind::kTimedOut); }
Error Cancelled() { return Error("cancelled", ErrorKind::kCancelled); }

}  // namespace

Http2Session::Http2Session(EventLoop& loop, std::unique_ptr<Connection> connection, const Url& url,
                           const Http2Limits& limits, Http2Listener& listener)
    : loop_(loop),
      connection_(std::move(connection)),
      url_(url),
      limits_(limits),
      listener_(listener),
      memory_(std::make_unique<Http2Memory>()),
      heard_(steady_clock::now()),
      idle_since_(heard_) {
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  // It would look at every character of every header of every answer; we look at those that we keep.
  nghttp2_option_set_no_http_messaging(option, 1);
  nghttp2_session_client_new3(&session_, TheCallbacks(), this, option, memory_->get());
  nghttp2_option_del(option);
  const std::array<nghttp2_settings_entry, 3> settings = {
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
       {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
       {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
        static_cast<uint32_t>(std::min<size_t>(limits.max_header_bytes, UINT32_MAX))}}};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Http2Session::~Http2Session() {
  *self_ = nullptr;
  nghttp2_session_del(session_);
}

size_t Http2Session::capacity() const {
  return std::min<size_t>(limits_.max_streams,
                          nghttp2_session_get_remote_settings(session_, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS));
}

Detached Http2Session::Run() {
  Watch& watch = connection_->stream.watch();
  bool read = true;
  while (!dead_) {
    bool drained = true;
    in_turn_ = true;
    if (read) drained = ReadInput();
    do {  // what is not worth sending any more leaves its place to another
      if (std::exchange(may_have_room_, false)) listener_.OnRoom(*this);
      Flush();
    } while (may_have_room_ && !dead_);
    in_turn_ = false;
    CheckTime();
    if (draining_ && streams_.empty()) dead_ = true;
    if (dead_) break;
    watch.set_deadline(NextDeadline());
    waits_to_write_ = blocked_ && drained;
    const Wake wake = co_await watch.Wait(!drained   ? Watch::For::kTurn
                                          : blocked_ ? Watch::For::kEither
                                                     : Watch::For::kRead);
    if (wake == Wake::kCancelled) Die(Cancelled(), false);
    // What was left unread wakes nobody, also when a deadline comes in between.
    read = wake == Wake::kReady || !drained;
  }
  if (why_.ok() && !blocked_) {
    // Nobody waits for an answer to that, and what does not fit into the socket is left unsaid.
    nghttp2_session_terminate_session(session_, NGHTTP2_NO_ERROR);
    size_t count = 0;
    if (Produce()) connection_->stream.TryWrite({}, std::string_view(out_).substr(out_begin_), &count);
    connection_->stream.CloseSending();
  }
  EndAll();
  listener_.OnGone(*this, why_);
}

void Http2Session::Submit(std::shared_ptr<Exchange> exchange) {
  Exchange& one = *exchange;
  if (one.attempts > 0) one.http2 = {};  // it was on another
  one.http2.session = this;
  one.http2.place = streams_.size();
  one.http2.first = submitted_++ == 0;
  ++one.attempts;
  if (streams_.empty()) heard_ = steady_clock::now();  // a silence counts from when somebody waits
  next_check_ = std::min(next_check_, one.deadline);
  streams_.push_back(std::move(exchange));
  waiting_.push_back(&one);
  PlanFlush();
}

void Http2Session::PlanFlush() {
  if (in_turn_ || std::exchange(flush_planned_, true)) return;
  loop_.Post([self = self_] {
    if (*self == nullptr) return;
    Http2Session& session = **self;
    Watch& watch = session.connection_->stream.watch();
    session.flush_planned_ = false;
    if (session.dead_) return;
    if (!session.blocked_) session.Flush();
    if (std::exchange(session.may_have_room_, false)) session.listener_.OnRoom(session);
    const Deadline next = session.NextDeadline();
    if (next < watch.deadline()) watch.set_deadline(next);
    // Whoever waits there has to know that it is over, or that the socket is full.
    if (session.dead_ || session.draining_ || (session.blocked_ && !session.waits_to_write_)) watch.Poke();
  });
}

void Http2Session::Flush() {
  blocked_ = false;
  net::Stream& stream = connection_->stream;
  while (!dead_) {
    BeginWaiting();
    if (!Produce()) return Die(Error("HTTP/2: out of memory"), false);
    if (out_begin_ == out_.size()) {
      out_.clear();
      out_begin_ = 0;
      if (out_.capacity() > kMaxOutput) out_.shrink_to_fit();
      // It is over for nghttp2: by mutual agreement, or because of what the server said.
      if (nghttp2_session_want_read(session_) == 0)
        Die(draining_ ? Error::Ok() : Error("the server does not keep to HTTP/2"), false);
      return;
    }
    size_t count = 0;
    const Status status = stream.TryWrite({}, std::string_view(out_).substr(out_begin_), &count);
    if (status == Status::kOk) {
      out_begin_ += count;
      written_ += count;
      continue;
    }
    if (status == Status::kWantWrite || status == Status::kWantRead) {
      blocked_ = true;
      return;
    }
    // What the server said last may still be there to be read.
    ReadInput();
    return Die(ErrorOf(status == Status::kClosed ? Io::kClosed : Io::kFailed, stream), status == Status::kClosed);
  }
}

// Frames become bytes, as long as there is room for them.
bool Http2Session::Produce() {
  while (out_.size() - out_begin_ < kMaxOutput) {
    const uint8_t* data = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_, &data);
    if (count < 0) return false;
    if (count == 0) return true;
    if (out_begin_ > kMaxOutput / 2) {
      out_.erase(0, out_begin_);
      out_begin_ = 0;
    }
    out_.append(reinterpret_cast<const char*>(data), static_cast<size_t>(count));
    produced_ += static_cast<uint64_t>(count);
  }
  return true;
}

void Http2Session::BeginWaiting() {
  while (!waiting_.empty() && !draining_ && out_.size() - out_begin_ < kMaxOutput) {
    Exchange& exchange = *waiting_.front();
    waiting_.pop_front();
    if (Error late = exchange.Late(); !late.ok()) {
      Fail(exchange, std::move(late), StreamEnd::kOver);
      continue;
    }
    BeginStream(exchange);
  }
  if (!draining_) return;
  while (!waiting_.empty()) {
    Exchange& exchange = *waiting_.front();
    waiting_.pop_front();
    End(exchange, StreamEnd::kUnprocessed);
  }
}

bool Http2Session::ReadInput() {
  // One for all sessions of a thread: nothing stays in it.
  thread_local const std::unique_ptr<char[]> buffer = std::make_unique_for_overwrite<char[]>(kReadSize);
  net::Stream& stream = connection_->stream;
  for (int i = 0; i < kReadsInATurn && !dead_; ++i) {
    size_t count = 0;
    const Status status = stream.TryRead(buffer.get(), kReadSize, &count);
    if (status == Status::kWantRead || status == Status::kWantWrite) return true;
    if (status != Status::kOk) {
      const bool closed = status == Status::kClosed;
      Die(ErrorOf(closed ? Io::kClosed : Io::kFailed, stream), closed);
      return true;
    }
    heard_ = steady_clock::now();
    pinging_ = false;
    Take({buffer.get(), count});
  }
  return dead_;
}

void Http2Session::Take(std::string_view data) {
  const ssize_t used = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(data.data()), data.size());
  if (used < 0) Die(Error(std::string("HTTP/2: ") + nghttp2_strerror(static_cast<int>(used))), false);
}

Deadline Http2Session::NextDeadline() const {
  const auto after = [](Deadline from, Duration span) {
    return span.ns <= 0 ? kNoDeadline : from + std::chrono::nanoseconds(span.ns);
  };
  // Whoever it was made for has to find it first.
  if (submitted_ == 0) return after(idle_since_, std::max(limits_.idle_timeout, kFirstUse));
  if (streams_.empty()) return after(idle_since_, limits_.idle_timeout);
  const Deadline ping = limits_.ping_after.ns <= 0 ? kNoDeadline
                        : pinging_                 ? after(ping_sent_, limits_.ping_timeout)
                                                   : after(heard_, limits_.ping_after);
  return std::min(ping, next_check_);
}

void Http2Session::CheckTime() {
  const Deadline now = steady_clock::now();
  if (dead_ || now < NextDeadline()) return;
  if (streams_.empty()) {
    dead_ = true;  // nobody has asked for long
    return;
  }
  if (now >= next_check_) CheckExchanges(now);
  const auto over = [now](Deadline from, Duration span) { return now >= from + std::chrono::nanoseconds(span.ns); };
  if (limits_.ping_after.ns <= 0 || streams_.empty()) return;
  if (pinging_ && over(ping_sent_, limits_.ping_timeout)) {
    return Die(Error("the server does not answer a ping", ErrorKind::kTimedOut), false);
  }
  if (!pinging_ && over(heard_, limits_.ping_after)) {
    pinging_ = true;
    ping_sent_ = now;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
    Flush();
  }
}

void Http2Session::CheckExchanges(Deadline now) {
  next_check_ = kNoDeadline;
  for (size_t i = 0; i < streams_.size();) {
    Exchange& exchange = *streams_[i];
    if (exchange.deadline > now) {
      next_check_ = std::min(next_check_, exchange.deadline);
      ++i;
      continue;
    }
    // A connection on which nothing was heard since may be dead: nobody else should have to find that out.
    if (exchange.http2.stream != 0 && heard_ <= exchange.http2.began) draining_ = true;
    const Error late =
        IsUnsent(exchange) ? Error("timed out before it was sent", ErrorKind::kUnsent) : At(exchange, TimedOut());
    Fail(exchange, late, StreamEnd::kOver);  // another takes its place
  }
  if (may_have_room_ && !draining_) {
    may_have_room_ = false;
    listener_.OnRoom(*this);
  }
  Flush();
}

void Http2Session::Cancel(Exchange& exchange) {
  Fail(exchange, Cancelled(), StreamEnd::kOver);
  PlanFlush();
}

void Http2Session::EndOutdated() {
  Drain();
  for (size_t i = 0; i < streams_.size();) {
    Exchange& exchange = *streams_[i];
    if (!exchange.streamed) {
      ++i;
      continue;
    }
    exchange.outdated = true;
    Fail(exchange, Cancelled(), StreamEnd::kOver);
  }
}

void Http2Session::Drain() {
  draining_ = true;
  connection_->stream.watch().Poke();
}

void Http2Session::Close() {
  closing_ = true;
  if (!dead_) Die(Error::Ok(), false);
  connection_->stream.watch().Poke();
}

void Http2Session::Die(Error why, bool closed_by_peer) {
  if (dead_) return;
  dead_ = true;
  why_ = std::move(why);
  closed_by_peer_ = closed_by_peer;
}

void Http2Session::EndAll() {
  draining_ = true;
  while (!streams_.empty()) {
    Exchange& exchange = *streams_.back();
    if (closing_) {
      Fail(exchange, Cancelled(), StreamEnd::kOver);
    } else if (IsUnsent(exchange)) {
      End(exchange, StreamEnd::kUnprocessed);
    } else {
      exchange.facts.closed = closed_by_peer_;
      const Error why = why_.ok() ? Error("the server closed the connection") : why_;
      Fail(exchange, At(exchange, exchange.http2.has_head && closed_by_peer_ ? Error("it ends too early") : why),
           StreamEnd::kLost);
    }
  }
}

// Nothing of it has left: not even a byte of a frame that is before its first.
bool Http2Session::IsUnsent(const Exchange& exchange) const {
  return exchange.http2.stream == 0 || exchange.http2.begins_at >= written_;
}

Error Http2Session::At(const Exchange& exchange, const Error& error) const {
  if (exchange.http2.has_head) return error.Wrap("reading the answer");
  if (exchange.http2.body_sent < exchange.request.BodyOf().size()) return error.Wrap("sending");
  return error.Wrap("waiting for the answer");
}

std::shared_ptr<Exchange> Http2Session::Remove(Exchange& exchange) {
  const size_t place = exchange.http2.place;
  std::shared_ptr<Exchange> held = std::move(streams_[place]);
  if (place + 1 < streams_.size()) {
    streams_[place] = std::move(streams_.back());
    streams_[place]->http2.place = place;
  }
  streams_.pop_back();
  if (exchange.http2.stream == 0) {
    std::erase(waiting_, &exchange);
  } else {
    nghttp2_session_set_stream_user_data(session_, exchange.http2.stream, nullptr);
    if (found_ == &exchange) {
      found_ = nullptr;
      found_stream_ = 0;
    }
  }
  if (!exchange.streamed) held_bytes_ -= exchange.response.body.size();
  exchange.http2.session = nullptr;
  may_have_room_ = true;
  if (streams_.empty()) idle_since_ = steady_clock::now();
  return held;
}

void Http2Session::Reset(const Exchange& exchange, uint32_t code) {
  // Also of a stream that has closed already, or whose head is not sent yet: then nothing is.
  if (exchange.http2.stream != 0) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, exchange.http2.stream, code);
}

void Http2Session::End(Exchange& exchange, StreamEnd end) { listener_.OnEnd(Remove(exchange), end); }

void Http2Session::Fail(Exchange& exchange, Error failure, StreamEnd end) {
  exchange.failure = std::move(failure);
  if (!dead_) Reset(exchange, NGHTTP2_CANCEL);
  End(exchange, end);
}

}  // namespace berth::net
