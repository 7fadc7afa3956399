// SPDX-License-Identifier: Apache-2.0
#include "net/http2_session.h"

#include <algorithm>
#include <utility>

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
constexpr uint32_t kStreamWindow = 4 << 20;
constexpr uint32_t kConnectionWindow = 32 << 20;
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
      frames_({kStreamWindow, kConnectionWindow,
               static_cast<uint32_t>(std::min<size_t>(limits.max_header_bytes, UINT32_MAX))},
              *this),
      heard_(steady_clock::now()),
      idle_since_(heard_) {}

Http2Session::~Http2Session() { *self_ = nullptr; }

size_t Http2Session::capacity() const { return std::min<size_t>(limits_.max_streams, frames_.max_streams()); }

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
  if ((why_.ok() || broken_) && !blocked_) {
    // Nobody waits for an answer to that, and what does not fit into the socket is left unsaid.
    if (!broken_) frames_.GoAway(Http2Code::kNone);
    size_t count = 0;
    if (connection_->stream.TryWrite({}, frames_.output(), &count) == Status::kOk) written_ += count;
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
  if (dead_) return;  // what the socket has not taken by now is never sent: it may go elsewhere
  blocked_ = false;
  net::Stream& stream = connection_->stream;
  while (!dead_) {
    BeginWaiting();
    SendBodies();
    if (frames_.output().empty()) return;
    size_t count = 0;
    const Status status = stream.TryWrite({}, frames_.output(), &count);
    if (status == Status::kOk) {
      frames_.Sent(count);
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

// A frame of each in turn, as long as there is room for it; where there is little, those that came first go first.
void Http2Session::SendBodies() {
  for (size_t sent = 1; sent > 0;) {
    sent = 0;
    for (size_t i = 0; i < sending_.size() && frames_.output().size() < kMaxOutput;) {
      const size_t before = sending_[i]->http2.body_sent;
      const bool all = SendBody(*sending_[i]);
      sent += sending_[i]->http2.body_sent - before;
      if (all) {
        sending_[i]->Sent();
        sending_.erase(sending_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
}

void Http2Session::BeginWaiting() {
  while (!waiting_.empty() && !draining_ && frames_.open_streams() < frames_.max_streams() &&
         frames_.output().size() < kMaxOutput) {
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
  Error error = frames_.Receive(data);
  if (error.ok()) return;
  broken_ = !dead_;
  Die(std::move(error), false);
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
    frames_.Ping();
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
    // Of one that has begun the bytes may still go out.
    const Error late = exchange.http2.stream == 0 ? Error("timed out before it was sent", ErrorKind::kUnsent)
                                                  : At(exchange, TimedOut());
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
    } else if (!exchange.heard && IsUnsent(exchange)) {  // a server may answer what it has not seen
      End(exchange, StreamEnd::kUnprocessed);
    } else {
      exchange.facts.closed = closed_by_peer_;
      const Error why = why_.ok() ? Error("the server closed the connection") : why_;
      Fail(exchange, At(exchange, exchange.http2.has_head && closed_by_peer_ ? Error("it ends too early") : why),
           StreamEnd::kLost);
    }
  }
}

// Nothing of it has left: not even a byte of a frame that is before its first. REQUIRES: nothing is sent any more.
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
    frames_.Forget(exchange.http2.stream);
    if (!sending_.empty()) std::erase(sending_, &exchange);
  }
  if (!exchange.streamed) held_bytes_ -= exchange.response.body.size();
  exchange.http2.session = nullptr;
  may_have_room_ = true;
  if (streams_.empty()) idle_since_ = steady_clock::now();
  return held;
}

void Http2Session::Reset(const Exchange& exchange, Http2Code code) {
  if (exchange.http2.stream != 0) frames_.Reset(exchange.http2.stream, code);
}

void Http2Session::End(Exchange& exchange, StreamEnd end) { listener_.OnEnd(Remove(exchange), end); }

void Http2Session::Fail(Exchange& exchange, Error failure, StreamEnd end) {
  exchange.failure = std::move(failure);
  if (!dead_) Reset(exchange, Http2Code::kCancel);
  End(exchange, end);
}

}  // namespace berth::net
