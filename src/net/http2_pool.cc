// SPDX-License-Identifier: Apache-2.0
#include "net/http2_pool.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace berth::net {
namespace {

// So long a server that has chosen HTTP/1.1 is believed to do so again.
constexpr Duration kHttp1For = Duration::Seconds(300);

}  // namespace

struct Http2Pool::Waiter {
  explicit Waiter(EventLoop& loop) : watch(loop, -1) {}
  Watch watch;
  std::optional<Error> end;
  std::unique_ptr<Connection> plain;
  int connect_errno = 0;
};

Http2Pool::Http2Pool(EventLoop& loop, Connector& connector, const Url& url, const Http2Limits& limits,
                     Duration connect_timeout, Owner& owner)
    : loop_(loop),
      connector_(connector),
      url_(url),
      limits_(limits),
      connect_timeout_(connect_timeout),
      owner_(owner) {}

Http2Session* Http2Pool::Find() {
  for (const std::unique_ptr<Http2Session>& session : sessions_) {
    if (session->room() == 0) continue;
    if (connector_.IsCurrent(session->connection())) return session.get();
    session->Drain();
  }
  return nullptr;
}

size_t Http2Pool::capacity() const {
  size_t all = 0;
  for (const std::unique_ptr<Http2Session>& session : sessions_)
    if (session->usable()) all += session->capacity();
  return all;
}

bool Http2Pool::busy() const {
  return std::ranges::any_of(sessions_, [](const auto& session) { return !session->empty(); });
}

bool Http2Pool::speaks_http1() const { return !util::IsOver(http1_until_); }

Task<Error> Http2Pool::Connect(Exchange* exchange, std::unique_ptr<Connection>* plain) {
  auto waiter = std::make_shared<Waiter>(loop_);
  const Waiting guard(exchange, &waiter->watch);
  if (closed_ || exchange->cancelled) co_return Error("cancelled", ErrorKind::kCancelled);
  waiter->watch.set_deadline(exchange->begin_by);
  waiters_.push_back(waiter);
  if (!connecting_) ConnectForAll();
  const Wake wake = co_await waiter->watch.Wait(Watch::For::kTime);
  if (!waiter->end) {
    std::erase(waiters_, waiter);
    const Error late =
        wake == Wake::kTimeout ? Error("timed out", ErrorKind::kTimedOut) : Error("cancelled", ErrorKind::kCancelled);
    co_return late.Wrap("connecting");
  }
  exchange->connect_errno = waiter->connect_errno;
  *plain = std::move(waiter->plain);
  co_return *waiter->end;
}

Detached Http2Pool::ConnectForAll() {
  const EventLoop::Haste haste(loop_);
  connecting_ = true;
  attempt_ = {};
  // For as long as the slowest of those who wait may, which is bounded by the connector's own time.
  Result<std::unique_ptr<Connection>> made = co_await connector_.Connect(kNoDeadline, &attempt_, true);
  Error failure = made.ok() ? Error::Ok() : made.error();
  std::unique_ptr<Connection> plain;
  if (made.ok()) {
    std::unique_ptr<Connection> connection = std::move(made).value();
    if (connection->stream.tls() == nullptr || connection->stream.tls()->Protocol() != "h2") {
      http1_until_ = After(kHttp1For);
      plain = std::move(connection);
    } else if (!closed_) {
      http1_until_ = {};
      failure = co_await Settle(std::move(connection));
    }
  }
  if (closed_) failure = Error("cancelled", ErrorKind::kCancelled);
  connecting_ = false;
  Tell(failure, std::move(plain));
}

// Until the server has said how many streams it takes.
Task<Error> Http2Pool::Settle(std::unique_ptr<Connection> connection) {
  Http2Listener& listener = *this;
  sessions_.push_back(std::make_unique<Http2Session>(loop_, std::move(connection), url_, limits_, listener));
  Http2Session* const session = sessions_.back().get();
  Watch watch(loop_, -1);
  watch.set_deadline(After(connect_timeout_));
  settling_ = session;
  settling_watch_ = &watch;
  settling_failure_ = Error::Ok();
  session->Start();
  if (settling_ != nullptr && !session->usable()) {
    const Wake wake = co_await watch.Wait(Watch::For::kTime);
    if (wake == Wake::kTimeout) settling_failure_ = Error("timed out", ErrorKind::kTimedOut);
  }
  settling_watch_ = nullptr;
  const bool there = std::exchange(settling_, nullptr) != nullptr;
  if (there && !settling_failure_.ok()) session->Close();
  if (!there && settling_failure_.ok()) settling_failure_ = Error("the server closed the connection");
  co_return settling_failure_.Wrap("connecting");
}

void Http2Pool::Tell(const Error& error, std::unique_ptr<Connection> plain) {
  for (const std::shared_ptr<Waiter>& waiter : std::exchange(waiters_, {})) {
    waiter->end = error;
    waiter->plain = std::move(plain);
    waiter->connect_errno = attempt_.connect_errno;
    waiter->watch.Cancel();
  }
}

void Http2Pool::OnReady(Http2Session& session) {
  if (&session == settling_ && settling_watch_ != nullptr) settling_watch_->Cancel();
}

void Http2Pool::OnEnd(std::shared_ptr<Exchange> exchange, StreamEnd end) {
  owner_.OnStreamEnd(std::move(exchange), end);
}

void Http2Pool::OnRoom(Http2Session&) { owner_.OnStreamRoom(); }

void Http2Pool::OnGone(Http2Session& session, const Error& why) {
  if (&session == settling_) {
    settling_ = nullptr;
    settling_failure_ = why;
    if (settling_watch_ != nullptr) settling_watch_->Cancel();
  }
  std::erase_if(sessions_, [&session](const auto& one) { return one.get() == &session; });
  if (!closed_) owner_.OnStreamRoom();
}

void Http2Pool::EndOutdated() {
  for (const std::unique_ptr<Http2Session>& session : sessions_)
    if (!connector_.IsCurrent(session->connection())) session->EndOutdated();
}

void Http2Pool::Close() {
  closed_ = true;
  attempt_.Cancel();
  if (settling_watch_ != nullptr) settling_watch_->Cancel();
  for (const std::unique_ptr<Http2Session>& session : sessions_) session->Close();
}

}  // namespace berth::net
