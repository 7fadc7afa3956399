// SPDX-License-Identifier: Apache-2.0
// Http2Session: one connection on which many requests are under way.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "net/client_connection.h"
#include "net/client_exchange.h"
#include "net/event_loop.h"
#include "net/http2_frames.h"
#include "net/task.h"
#include "net/url.h"

namespace berth::net {

struct Http2Limits {
  size_t max_streams = 250;           // at the same time, whatever the server allows
  uint64_t max_response_bytes = 0;    // of one body that Send collects
  size_t max_header_bytes = 0;        // of one answer's head
  Duration idle_timeout;              // without a stream; then the connection ends
  Duration ping_after, ping_timeout;  // of silence, while somebody waits; 0: no pings
};

// What became of an exchange.
enum class StreamEnd : uint8_t {
  kOver,         // it has its answer, or a failure that nobody should try again
  kUnprocessed,  // the server has done nothing about it: it may be sent again
  kLost,         // it has a failure, and nobody knows what the server has done
};

class Http2Listener {
 public:
  // Its SETTINGS are there, and say how many streams it takes.
  virtual void OnReady(Http2Session& session) = 0;
  // The session knows nothing of it any more. Must not call the session.
  virtual void OnEnd(std::shared_ptr<Exchange> exchange, StreamEnd end) = 0;
  // Streams have ended: there may be room.
  virtual void OnRoom(Http2Session& session) = 0;
  // It is over; `why` is Ok if nobody needs to know. Its owner may destroy it. The last call.
  virtual void OnGone(Http2Session& session, const Error& why) = 0;

 protected:
  ~Http2Listener() = default;
};

// What is submitted during a turn of the loop goes out in one piece when the others on the thread have had theirs: one
// TLS record and one system call for many requests. What the server sends is handed on as it is read.
//
// No more is held than options allow: of the answers of all streams together 64 MiB, or one body that is larger; of
// what is to be sent a quarter of a MiB beside the requests themselves.
//
// Thread safety: the loop's thread.
class Http2Session final : private Http2FrameListener {
 public:
  // REQUIRES: loop, url, limits and listener outlive it.
  Http2Session(EventLoop& loop, std::unique_ptr<Connection> connection, const Url& url, const Http2Limits& limits,
               Http2Listener& listener);
  virtual ~Http2Session();
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // From here on the listener hears of it.
  void Start() { Run(); }

  // The SETTINGS have come, and more may be submitted, if there is room.
  bool usable() const { return ready_ && !draining_ && !dead_; }
  // How many streams there may be at the same time.
  size_t capacity() const;
  size_t room() const { return usable() && capacity() > streams_.size() ? capacity() - streams_.size() : 0; }
  bool empty() const { return streams_.empty(); }
  Connection& connection() { return *connection_; }

  // REQUIRES: room() > 0.
  void Submit(std::shared_ptr<Exchange> exchange);
  // It ends as cancelled. REQUIRES: it was submitted here and has not ended.
  void Cancel(Exchange& exchange);
  // Streams end as cancelled that receive pieces, because of certificates that have changed; and no more are taken.
  void EndOutdated();
  // Takes no more, and ends with the last stream.
  void Drain();
  // Ends everything as cancelled.
  void Close();

 private:
  Detached Run();
  void PlanFlush();
  void Flush();
  void BeginWaiting();
  void BeginStream(Exchange& exchange);
  // Of the body; false: there is more.
  bool SendBody(Exchange& exchange);
  void SendBodies();
  // Reads what is there, up to a bound; false: there may be more.
  bool ReadInput();
  void Take(std::string_view data);
  void CheckTime();
  void CheckExchanges(Deadline now);
  Deadline NextDeadline() const;
  void Die(Error why, bool closed_by_peer);
  void EndAll();

  bool IsUnsent(const Exchange& exchange) const;
  Error At(const Exchange& exchange, const Error& error) const;
  std::shared_ptr<Exchange> Remove(Exchange& exchange);
  void Reset(const Exchange& exchange, Http2Code code);
  void End(Exchange& exchange, StreamEnd end);
  void Fail(Exchange& exchange, Error failure, StreamEnd end);
  void Malformed(Exchange& exchange, const std::string& what);

  void OnHeadersBegin(Exchange& exchange) override;
  void OnHeader(Exchange& exchange, const HpackField& field) override;
  void KeepHeader(Exchange& exchange, const HpackField& field);
  void OnHeadersEnd(Exchange& exchange, bool last) override;
  void OnData(Exchange& exchange, std::string_view piece) override;
  void OnStreamOver(int32_t stream, Exchange& exchange) override;
  void OnStreamReset(Exchange& exchange, uint32_t code) override;
  void OnSettings() override;
  void OnGoAway() override;

  EventLoop& loop_;
  const std::unique_ptr<Connection> connection_;
  const Url& url_;
  const Http2Limits& limits_;
  Http2Listener& listener_;
  const std::shared_ptr<Http2Session*> self_ = std::make_shared<Http2Session*>(this);  // for what is posted
  Http2Frames frames_;

  std::vector<std::shared_ptr<Exchange>> streams_;  // begun or not
  std::deque<Exchange*> waiting_;                   // of them, those that have not begun
  std::vector<Exchange*> sending_;                  // and those with more of a body to send
  uint64_t submitted_ = 0;
  uint64_t held_bytes_ = 0;            // of answers that are not complete
  Deadline next_check_ = kNoDeadline;  // of the streams' deadlines; none is over before

  uint64_t written_ = 0;         // bytes
  bool blocked_ = false;         // the socket takes no more
  bool waits_to_write_ = false;  // until it does
  bool flush_planned_ = false, in_turn_ = false, may_have_room_ = false;

  bool ready_ = false, draining_ = false, dead_ = false;
  bool closing_ = false;         // by Close
  bool closed_by_peer_ = false;  // that is why it is dead
  bool broken_ = false;          // the server does not keep to HTTP/2, which is why it is dead; it is to be told
  Error why_ = Error::Ok();
  Deadline heard_;       // when the server last said something, or somebody began to wait for that
  Deadline idle_since_;  // if there are no streams
  bool pinging_ = false;
  Deadline ping_sent_ = {};  // if so
};

}  // namespace berth::net
