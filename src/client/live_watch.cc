// SPDX-License-Identifier: Apache-2.0
#include "client/live_watch.h"

#include <algorithm>
#include <utility>

namespace berth::client {
namespace {

constexpr size_t kMaxRefusal = size_t{64} << 10;
constexpr size_t kKeptLine = size_t{1} << 20;

constexpr int kGone = 410;

// Before each frame: its length, big-endian (apimachinery's util/framer).
constexpr size_t kFrameHead = 4;

size_t FrameSize(std::string_view head) {
  size_t size = 0;
  for (size_t i = 0; i < kFrameHead; ++i) size = size << 8 | static_cast<unsigned char>(head[i]);
  return size;
}

ApiStatus Unreadable(std::string why) { return {0, std::move(why), ErrorKind::kOther, true}; }

}  // namespace

void LiveWatch::OnHead(int status, Encoding encoding) {
  status_ = status;
  encoding_ = encoding;
  if (status != 200 || !callbacks_.opened) return;
  inbox_.Post([self = shared_from_this()] {
    if (self->watcher_) self->callbacks_.opened();
  });
}

void LiveWatch::OnPiece(std::string_view piece) {
  if (closed_) return;
  if (status_ != 200) {
    rest_.append(piece.substr(0, kMaxRefusal - std::min(kMaxRefusal, rest_.size())));
    return;
  }
  Batch batch;
  while (!closed_ && (encoding_ == Encoding::kJson ? TakeLine(batch, piece) : TakeFrame(batch, piece))) {
  }
  if (!closed_ && unread_ + batch.bytes > limits_.max_unread_bytes)
    Close(batch, {0, "events come faster than they are taken"});
  Post(std::move(batch));
}

bool LiveWatch::TakeLine(Batch& batch, std::string_view& piece) {
  const size_t end = piece.find('\n');
  const size_t length = std::min(end, piece.size());
  if (rest_.size() + length > limits_.max_line_bytes) {
    Close(batch, Unreadable("an event exceeds " + std::to_string(limits_.max_line_bytes) + " bytes"));
    return false;
  }
  if (end == std::string_view::npos) {
    rest_.append(piece);
    return false;
  }
  if (rest_.empty()) {
    ReadLine(batch, piece.substr(0, end));
  } else {
    rest_.append(piece.substr(0, end));
    ReadLine(batch, rest_);
    rest_.clear();
    if (rest_.capacity() > kKeptLine) rest_.shrink_to_fit();
  }
  piece.remove_prefix(end + 1);
  return true;
}

bool LiveWatch::TakeFrame(Batch& batch, std::string_view& piece) {
  // The head may be in two pieces as well.
  if (rest_.size() < kFrameHead && !(rest_.empty() && piece.size() >= kFrameHead)) {
    const size_t more = std::min(kFrameHead - rest_.size(), piece.size());
    rest_.append(piece.substr(0, more));
    piece.remove_prefix(more);
    if (rest_.size() < kFrameHead) return false;
  }
  const size_t size = FrameSize(rest_.empty() ? piece : rest_);
  if (size > limits_.max_line_bytes) {
    CloseUnreadable(batch, "an event exceeds " + std::to_string(limits_.max_line_bytes) + " bytes");
    return false;
  }
  const size_t missing = kFrameHead + size - rest_.size();
  if (piece.size() < missing) {
    rest_.append(piece);
    return false;
  }
  if (rest_.empty()) {
    TakeEvent(batch, ReadWatchFrame(piece.substr(kFrameHead, size), kind_, *keep_, &parts_), size);
  } else {
    rest_.append(piece.substr(0, missing));
    TakeEvent(batch, ReadWatchFrame(std::string_view(rest_).substr(kFrameHead), kind_, *keep_, &parts_), size);
    rest_.clear();
    if (rest_.capacity() > kKeptLine) rest_.shrink_to_fit();
  }
  piece.remove_prefix(missing);
  return true;
}

void LiveWatch::ReadLine(Batch& batch, std::string_view text) {
  if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
  line_.assign(text);
  TakeEvent(batch, ReadWatchLine(line_, kind_, *keep_, sources_), text.size());
  if (line_.capacity() > kKeptLine) line_ = {};
}

void LiveWatch::TakeEvent(Batch& batch, Result<WatchLine>&& line, size_t size) {
  if (!line.ok()) return CloseUnreadable(batch, "no event: " + line.error().text());
  WatchLine& read = line.value();
  if (!read.warning.empty()) PassOver(read.warning);
  if (!read.event) {
    if (initial_ && read.version_too_large) read.failure.code = kGone;
    return Close(batch, std::move(read.failure));
  }
  if (initial_) {
    if (read.event->initial_end) {
      EndInitial();
    } else if (++initial_events_ > limits_.max_initial_events) {
      return Close(batch, Unreadable("the initial events do not end"));
    }
  } else {
    batch.bytes += size;
  }
  batch.events.push_back(*std::move(read.event));
}

void LiveWatch::PassOver(const std::string& warning) {
  if (initial_ && ++passed_over_ > kMaxWarnings) return;
  warn_((initial_ ? "list of " : "watch of ") + std::string(ToString(kind_)) + ": ignored: " + warning);
}

void LiveWatch::EndInitial() {
  initial_ = false;
  if (passed_over_ <= kMaxWarnings) return;
  warn_("list of " + std::string(ToString(kind_)) + ": ignored: and " + std::to_string(passed_over_ - kMaxWarnings) +
        " more objects of kind " + std::string(ToString(kind_)) + " in this answer");
}

void LiveWatch::OnEnd(const Error& error) {
  if (closed_) return;
  Batch batch;
  if (status_ == 200) {
    // What has no line end is no event yet; resuming brings it again.
    Close(batch, error.ok() ? ApiStatus{200, "the server ended the watch"} : ApiStatus{0, error.text()});
  } else if (status_ == 0) {
    const bool late = !error.ok() && error.kind() == ErrorKind::kTimedOut;
    Close(batch, {0, error.ok() ? "no answer" : error.text(), late ? ErrorKind::kTimedOut : ErrorKind::kOther});
  } else if (status_ == 401 && unauthorized_()) {
    Close(batch, {0, "the token was refused; there is a new one now"});
  } else {
    const Refusal refusal = ReadRefusal(rest_, encoding_);
    if (status_ == kNotAcceptable) not_protobuf_("406 " + refusal.message);
    if (status_ < 300) {
      // A success without a watch in it is not a reason to believe anything.
      Close(batch, Unreadable("the server answered " + std::to_string(status_) + " and no watch"));
    } else {
      Close(batch, {streamed_list_ && refusal.version_too_large ? kGone : status_, refusal.message});
    }
  }
  Post(std::move(batch));
}

void LiveWatch::Close(Batch& batch, ApiStatus status) {
  closed_ = true;
  rest_ = {};
  batch.closed = std::make_unique<ApiStatus>(std::move(status));
}

// A server that says protobuf and means something else may do better with JSON.
void LiveWatch::CloseUnreadable(Batch& batch, std::string why) {
  if (encoding_ == Encoding::kProtobuf) not_protobuf_(why);
  Close(batch, Unreadable(std::move(why)));
}

void LiveWatch::Post(Batch batch) {
  if (batch.events.empty() && !batch.closed) return;
  unread_ += batch.bytes;
  inbox_.Post([self = shared_from_this(), batch = std::make_shared<Batch>(std::move(batch))] {
    self->unread_ -= batch->bytes;
    for (const WatchEvent& event : batch->events) {
      if (!self->watcher_) return;
      self->callbacks_.event(event);
    }
    if (batch->closed && self->watcher_) self->callbacks_.closed(*batch->closed);
  });
}

}  // namespace berth::client
