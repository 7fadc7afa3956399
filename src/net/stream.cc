// SPDX-License-Identifier: Apache-2.0
#include "net/stream.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace berth::net {
namespace {

using Status = TlsSession::Status;

constexpr size_t kBufferStart = size_t{8} << 10;
constexpr size_t kReadStep = size_t{256} << 10;
constexpr size_t kFirstBody = size_t{1} << 20;
constexpr size_t kGrowth = 8;
constexpr size_t kReadsPerTurn = 16;

BodyEnd ToBodyEnd(Io io) {
  switch (io) {
    case Io::kOk:
      return BodyEnd::kOk;
    case Io::kClosed:
      return BodyEnd::kClosed;
    case Io::kTimeout:
      return BodyEnd::kTimeout;
    case Io::kCancelled:
      return BodyEnd::kCancelled;
    case Io::kFailed:
      break;
  }
  return BodyEnd::kFailed;
}

}  // namespace

Io Stream::FromWake(Wake wake) const {
  switch (wake) {
    case Wake::kReady:
      return Io::kOk;
    case Wake::kTimeout:
      return Io::kTimeout;
    case Wake::kCancelled:
      break;
  }
  return Io::kCancelled;
}

Io Stream::Ended(Status status) {
  if (status == Status::kOk) return Io::kOk;
  if (status == Status::kClosed) return Io::kClosed;
  if (tls_) problem_ = tls_->problem();
  return Io::kFailed;
}

Status Stream::TryRead(char* data, size_t size, size_t* count) {
  if (tls_) return tls_->Read(data, size, count);
  ssize_t result = 0;
  do {
    result = ::recv(watch_.fd(), data, size, 0);
  } while (result < 0 && errno == EINTR);
  if (result > 0) {
    *count = static_cast<size_t>(result);
    return Status::kOk;
  }
  if (result == 0) return Status::kClosed;
  if (errno == EAGAIN) return Status::kWantRead;
  problem_ = std::string("reading: ") + std::strerror(errno);
  return Status::kFailed;
}

Status Stream::TryWrite(std::string_view head, std::string_view body, size_t* count) {
  if (tls_) return tls_->Write(head.empty() ? body : head, count);
  iovec parts[2] = {{const_cast<char*>(head.data()), head.size()}, {const_cast<char*>(body.data()), body.size()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  ssize_t result = 0;
  do {
    result = ::sendmsg(watch_.fd(), &message, MSG_NOSIGNAL);
  } while (result < 0 && errno == EINTR);
  if (result >= 0) {
    *count = static_cast<size_t>(result);
    return Status::kOk;
  }
  if (errno == EAGAIN) return Status::kWantWrite;
  problem_ = std::string("writing: ") + std::strerror(errno);
  return Status::kFailed;
}

Task<Io> Stream::Handshake() {
  for (;;) {
    const Status status = tls_->Handshake();
    if (status != Status::kWantRead && status != Status::kWantWrite) co_return Ended(status);
    const Wake wake = co_await watch_.Wait(status == Status::kWantRead ? Watch::For::kRead : Watch::For::kWrite);
    if (wake != Wake::kReady) co_return FromWake(wake);
  }
}

std::optional<Io> Stream::ReadNow(char* data, size_t size, size_t* count) {
  if (reads_in_a_row_ >= kReadsPerTurn || watch_.cancelled()) return std::nullopt;
  ++reads_in_a_row_;
  const Status status = TryRead(data, size, count);
  if (status != Status::kWantRead && status != Status::kWantWrite) return Ended(status);
  read_waits_ = status;
  return std::nullopt;
}

Task<Io> Stream::Read(char* data, size_t size, size_t* count) {
  // A peer that sends faster than we read must not keep the others waiting.
  if (!read_waits_ && ++reads_in_a_row_ > kReadsPerTurn) {
    reads_in_a_row_ = 0;
    const Wake turn = co_await watch_.Wait(Watch::For::kTurn);
    if (turn != Wake::kReady) co_return FromWake(turn);
  }
  for (;;) {
    if (watch_.cancelled()) co_return Io::kCancelled;
    const std::optional<Status> waits = std::exchange(read_waits_, std::nullopt);
    const Status status = waits ? *waits : TryRead(data, size, count);
    if (status != Status::kWantRead && status != Status::kWantWrite) co_return Ended(status);
    reads_in_a_row_ = 0;
    const Wake wake = co_await watch_.Wait(status == Status::kWantRead ? Watch::For::kRead : Watch::For::kWrite);
    if (wake != Wake::kReady) co_return FromWake(wake);
  }
}

Task<Io> Stream::Write(std::string_view head, std::string_view body) {
  while (!head.empty() || !body.empty()) {
    size_t count = 0;
    const Status status = TryWrite(head, body, &count);
    if (status == Status::kOk) {
      const size_t of_head = std::min(count, head.size());
      head.remove_prefix(of_head);
      body.remove_prefix(count - of_head);
      continue;
    }
    if (status != Status::kWantRead && status != Status::kWantWrite) co_return Ended(status);
    const Wake wake = co_await watch_.Wait(status == Status::kWantRead ? Watch::For::kRead : Watch::For::kWrite);
    if (wake != Wake::kReady) co_return FromWake(wake);
  }
  co_return Io::kOk;
}

void Stream::CloseSending() {
  if (tls_) tls_->Shutdown();
  ::shutdown(watch_.fd(), SHUT_WR);
}

bool Stream::IsQuiet() {
  char byte = 0;
  size_t count = 0;
  // A TLS server may have sent tickets, which are nothing to us; reading takes them out of the way. Twice: the first
  // answer may be of a moment ago.
  return TryRead(&byte, 1, &count) == Status::kWantRead && TryRead(&byte, 1, &count) == Status::kWantRead;
}

void InputBuffer::Consume(size_t count) {
  begin_ += count;
  if (begin_ != end_) return;
  begin_ = end_ = 0;
  // A large head must not keep its memory while the connection idles.
  if (capacity_ > kBufferStart) {
    data_.reset();
    capacity_ = 0;
  }
}

void InputBuffer::MakeRoom() {
  if (end_ != capacity_) return;
  const size_t held = end_ - begin_;
  if (begin_ == 0 || held > capacity_ / 2) {
    const size_t larger = std::max(kBufferStart, capacity_ * 2);
    auto data = std::make_unique_for_overwrite<char[]>(larger);
    if (held > 0) std::memcpy(data.get(), data_.get() + begin_, held);
    data_ = std::move(data);
    capacity_ = larger;
  } else {
    std::memmove(data_.get(), data_.get() + begin_, held);
  }
  begin_ = 0;
  end_ = held;
}

std::optional<Io> InputBuffer::FillNow(Stream* stream) {
  MakeRoom();
  size_t count = 0;
  const std::optional<Io> io = stream->ReadNow(data_.get() + end_, capacity_ - end_, &count);
  if (io == Io::kOk) end_ += count;
  return io;
}

Task<Io> InputBuffer::Fill(Stream* stream) {
  MakeRoom();
  size_t count = 0;
  const Io io = co_await stream->Read(data_.get() + end_, capacity_ - end_, &count);
  if (io == Io::kOk) end_ += count;
  co_return io;
}

bool GrowBody(std::string* body, size_t size, uint64_t expected, const MayGrow& may_grow) {
  if (size + kBodyPadding <= body->capacity()) return true;
  const size_t step = std::max(kFirstBody, body->size() * kGrowth);
  const size_t wanted = std::max(size, static_cast<size_t>(std::min<uint64_t>(expected, step)));
  // A little more than that, if it is much: the next body to be read into this memory may be a little larger.
  const size_t capacity = wanted + (wanted > kFirstBody ? wanted / 16 : 0) + kBodyPadding;
  if (may_grow && !may_grow(capacity)) return false;
  // Not by reserve alone: what is there already makes it take up to twice as much, which nobody was asked about.
  std::string larger;
  larger.reserve(capacity);
  larger.append(*body);
  body->swap(larger);
  return true;
}

Task<BodyEnd> ReadBody(Stream* stream, InputBuffer* input, uint64_t length, std::string* body,
                       const MayGrow& may_grow) {
  const size_t held = static_cast<size_t>(std::min<uint64_t>(input->view().size(), length));
  if (body->capacity() >= length + kBodyPadding) {
    body->resize(static_cast<size_t>(length));  // what was there before need not be cleared
    body->replace(0, held, input->view(), 0, held);
  } else {
    if (!GrowBody(body, held, length, may_grow)) co_return BodyEnd::kTooLarge;
    body->assign(input->view().substr(0, held));
  }
  input->Consume(held);
  // The window that is read into: resizing clears it, so it moves when it is full and not with every read.
  size_t filled = held;
  while (filled < length) {
    if (filled == body->size()) {
      const size_t window = static_cast<size_t>(std::min<uint64_t>(kReadStep, length - filled));
      if (!GrowBody(body, filled + window, length, may_grow)) co_return BodyEnd::kTooLarge;
      body->resize(filled + window);
    }
    size_t count = 0;
    const Io io = co_await stream->Read(body->data() + filled, body->size() - filled, &count);
    if (io != Io::kOk) co_return ToBodyEnd(io);
    filled += count;
  }
  co_return BodyEnd::kOk;
}

}  // namespace berth::net
