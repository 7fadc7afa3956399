// SPDX-License-Identifier: Apache-2.0
// Stream: a connected socket, plain or TLS, that coroutines read and write; and the buffer in front of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/event_loop.h"
#include "net/task.h"
#include "net/tls.h"

namespace berth::net {

// kClosed: the peer sends no more.
enum class Io { kOk, kClosed, kTimeout, kCancelled, kFailed };

// Thread safety: the loop's thread only. One reader or writer at a time.
class Stream {
 public:
  // Takes the socket over. REQUIRES: it does not block.
  Stream(EventLoop& loop, int fd) : watch_(loop, fd) {}

  // Deadlines and cancelling are the Watch's.
  Watch& watch() { return watch_; }
  TlsSession* tls() { return tls_.get(); }
  // Why the last call was kFailed.
  const std::string& problem() const { return problem_; }

  // From here on everything goes through `session`, which has to shake hands first.
  void UseTls(std::unique_ptr<TlsSession> session) {
    tls_ = std::move(session);
    tls_->WaitsWhenTold();
  }
  // For somebody who puts another one in its place.
  std::unique_ptr<TlsSession> TakeTls() { return std::move(tls_); }
  Task<Io> Handshake();
  Task<Io> Read(char* data, size_t size, size_t* count);
  // The same without a coroutine, for frequent readers. No value: it would have to wait; call Read next.
  std::optional<Io> ReadNow(char* data, size_t size, size_t* count);
  // All of both, in this order.
  Task<Io> Write(std::string_view head, std::string_view body);
  // Says that we send no more.
  void CloseSending();
  // Whether a connection that should be silent is; one that the peer closed, or that has something to say, is not.
  bool IsQuiet();

  // Try once; kWantRead and kWantWrite when they would block. After kFailed problem() says why.
  TlsSession::Status TryRead(char* data, size_t size, size_t* count);
  TlsSession::Status TryWrite(std::string_view head, std::string_view body, size_t* count);

 private:
  Io FromWake(Wake wake) const;
  Io Ended(TlsSession::Status status);

  Watch watch_;
  std::unique_ptr<TlsSession> tls_;
  std::string problem_;
  size_t reads_in_a_row_ = 0;
  std::optional<TlsSession::Status> read_waits_;  // what ReadNow was told to wait for
};

// What was read and not used yet.
class InputBuffer {
 public:
  std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }
  void Consume(size_t count);
  // Reads what is there, at least a byte, behind what the buffer holds, which then grows as it must.
  Task<Io> Fill(Stream* stream);
  // As Stream::ReadNow.
  std::optional<Io> FillNow(Stream* stream);

 private:
  void MakeRoom();
  std::unique_ptr<char[]> data_;
  size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

// What bodies have behind their end, for readers that look further than they should.
inline constexpr size_t kBodyPadding = 64;

// Says whether the body's buffer may become that large.
using MayGrow = std::function<bool(size_t capacity)>;

// Makes `body` able to hold `size` bytes and the padding, in steps that leave a claim of `expected` unbelieved until a
// good part of it is there. False if it may not grow.
bool GrowBody(std::string* body, size_t size, uint64_t expected, const MayGrow& may_grow);

enum class BodyEnd { kOk, kClosed, kTimeout, kCancelled, kFailed, kTooLarge };
// Reads exactly `length` bytes, what `input` holds first, the rest straight from the socket into `body`.
// A body that has room for all of it already may hold anything before.
Task<BodyEnd> ReadBody(Stream* stream, InputBuffer* input, uint64_t length, std::string* body, const MayGrow& may_grow);

}  // namespace berth::net
