// SPDX-License-Identifier: Apache-2.0
#include "net/http2_frames.h"

#include <algorithm>
#include <array>
#include <utility>

namespace berth::net {
namespace {

constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr size_t kFrameHead = 9;
// That we take, what every client has to, and that we send of a body, whatever the server takes: nobody is kept waiting
// for long.
constexpr size_t kMaxFrame = 16384;
constexpr uint32_t kMaxWindow = 0x7fffffff;
constexpr uint32_t kDefaultWindow = 65535;
constexpr size_t kMaxSettings = 64;  // in a frame: each may change all streams
constexpr size_t kMaxReplies = size_t{64} << 10;
constexpr size_t kMaxKept = size_t{256} << 10;  // of memory for what is to be sent, while there is nothing
// Of a head as it is sent, of what it says, and of what heads say to nobody between two answers. A stream's own limit
// ends the stream, and its head is read on for the sake of the table.
constexpr size_t kMaxBlock = size_t{1} << 20;

enum Type : uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPushPromise = 5,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};
// Flags. The first one is also that of an acknowledgement.
constexpr uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8, kPriorities = 0x20;
enum Setting : uint16_t {
  kHeaderTableSize = 1,
  kEnablePush = 2,
  kMaxConcurrentStreams = 3,
  kInitialWindow = 4,
  kMaxFrameSize = 5,
  kMaxHeaderList = 6,
};

uint32_t NumberAt(std::string_view bytes, size_t at, int count) {
  uint32_t number = 0;
  for (int i = 0; i < count; ++i) number = number << 8 | static_cast<uint8_t>(bytes[at + static_cast<size_t>(i)]);
  return number;
}

// Without padding; false: the padding is longer than the frame.
bool DropPadding(uint8_t flags, std::string_view& payload) {
  if ((flags & kPadded) == 0) return true;
  if (payload.empty()) return false;
  const size_t padding = static_cast<uint8_t>(payload[0]);
  payload.remove_prefix(1);
  if (padding > payload.size()) return false;
  payload.remove_suffix(padding);
  return true;
}

}  // namespace

Http2Frames::Http2Frames(const Http2FrameLimits& limits, Http2FrameListener& listener)
    : limits_(limits), listener_(listener) {
  out_ = kPreface;
  BeginFrame(18, kSettings, 0, 0);
  for (const auto& [what, value] : {std::pair<uint64_t, uint64_t>{kEnablePush, 0},
                                    {kInitialWindow, limits.stream_window},
                                    {kMaxHeaderList, limits.max_header_bytes}}) {
    AppendNumber(what, 2);
    AppendNumber(value, 4);
  }
  if (limits.connection_window > kDefaultWindow) AppendWindow(0, limits.connection_window - kDefaultWindow);
}

void Http2Frames::AppendNumber(uint64_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out_ += static_cast<char>(number >> shift & 0xff);
}

void Http2Frames::BeginFrame(size_t length, uint8_t type, uint8_t flags, int32_t stream) {
  const auto byte = [](uint64_t number, int shift) { return static_cast<char>(number >> shift & 0xff); };
  const std::array<char, kFrameHead> head = {byte(length, 16),
                                             byte(length, 8),
                                             byte(length, 0),
                                             static_cast<char>(type),
                                             static_cast<char>(flags),
                                             byte(static_cast<uint32_t>(stream), 24),
                                             byte(static_cast<uint32_t>(stream), 16),
                                             byte(static_cast<uint32_t>(stream), 8),
                                             byte(static_cast<uint32_t>(stream), 0)};
  out_.append(head.data(), head.size());
}

void Http2Frames::AppendWindow(int32_t stream, uint32_t bytes) {
  BeginFrame(4, kWindowUpdate, 0, stream);
  AppendNumber(bytes, 4);
}

void Http2Frames::Sent(size_t bytes) {
  out_begin_ += bytes;
  if (out_begin_ == out_.size()) {
    out_.clear();
    if (out_.capacity() > kMaxKept) out_.shrink_to_fit();
    out_begin_ = 0;
  } else if (out_begin_ > out_.size() / 2) {
    out_.erase(0, out_begin_);
    out_begin_ = 0;
  }
  // Replies are among what is left, at the most.
  replies_ = std::min(replies_, out_.size() - out_begin_);
}

Http2Frames::Stream* Http2Frames::Find(int32_t stream) {
  // Whoever asks mostly asks about the same one as before.
  if (found_ < streams_.size() && streams_[found_].id == stream) return &streams_[found_];
  if (stream == gone_) return nullptr;
  const auto at = std::ranges::lower_bound(streams_, stream, {}, &Stream::id);
  if (at == streams_.end() || at->id != stream) return nullptr;
  found_ = static_cast<size_t>(at - streams_.begin());
  return &*at;
}

Exchange* Http2Frames::ExchangeOf(int32_t stream) {
  const Stream* const found = Find(stream);
  return found != nullptr ? found->exchange : nullptr;
}

int32_t Http2Frames::Open(const RequestHead& head, bool ends, Exchange& exchange) {
  if (going_ || next_id_ < 0) return 0;
  const int32_t id = next_id_;
  next_id_ = id > INT32_MAX - 2 ? -1 : id + 2;
  const uint8_t end = ends ? kEndStream : 0;
  const size_t begin = out_.size();
  BeginFrame(0, kHeaders, end | kEndHeaders, id);
  encoder_.Append(head, out_);
  const size_t size = out_.size() - begin - kFrameHead;
  if (size <= max_frame_) {
    for (int i = 0; i < 3; ++i) out_[begin + static_cast<size_t>(i)] = static_cast<char>(size >> (16 - 8 * i) & 0xff);
  } else {
    const std::string block = out_.substr(begin + kFrameHead);
    out_.resize(begin);
    for (size_t at = 0; at < size; at += max_frame_) {
      const size_t count = std::min<size_t>(max_frame_, size - at);
      const uint8_t flags = at + count == size ? kEndHeaders : 0;
      BeginFrame(count, at == 0 ? kHeaders : kContinuation, at == 0 ? flags | end : flags, id);
      out_.append(block, at, count);
    }
  }
  found_ = streams_.size();
  streams_.push_back({id, 0, initial_window_, &exchange});
  return id;
}

size_t Http2Frames::SendBody(int32_t stream, std::string_view rest) {
  Stream* const found = Find(stream);
  if (found == nullptr) return 0;
  const int64_t allowed = std::min({found->window, window_, static_cast<int64_t>(kMaxFrame)});
  if (allowed <= 0) return 0;
  const size_t count = std::min(rest.size(), static_cast<size_t>(allowed));
  BeginFrame(count, kData, count == rest.size() ? kEndStream : 0, stream);
  out_.append(rest, 0, count);
  found->window -= static_cast<int64_t>(count);
  window_ -= static_cast<int64_t>(count);
  return count;
}

void Http2Frames::Reset(int32_t stream, Http2Code code) {
  BeginFrame(4, kRstStream, 0, stream);
  AppendNumber(static_cast<uint32_t>(code), 4);
  Forget(stream);
}

void Http2Frames::Forget(int32_t stream) {
  const Stream* const found = Find(stream);
  if (found == nullptr) return;
  streams_.erase(streams_.begin() + (found - streams_.data()));
  gone_ = stream;
}

void Http2Frames::Ping() {
  BeginFrame(8, kPing, 0, 0);
  AppendNumber(0, 8);
}

void Http2Frames::GoAway(Http2Code code) {
  BeginFrame(8, kGoAway, 0, 0);
  AppendNumber(0, 4);  // of the server's streams, of which there are none
  AppendNumber(static_cast<uint32_t>(code), 4);
}

Error Http2Frames::Broken(Http2Code code, const std::string& why) {
  GoAway(code);
  return Error("the server does not keep to HTTP/2: " + why);
}

Error Http2Frames::Receive(std::string_view bytes) {
  for (;;) {
    std::string_view from = bytes;
    if (!in_.empty()) {
      // Its head first, then as much as that says.
      const auto fill = [&](size_t size) {
        const size_t count = std::min(bytes.size(), size - std::min(size, in_.size()));
        in_.append(bytes, 0, count);
        bytes.remove_prefix(count);
      };
      fill(kFrameHead);
      if (in_.size() >= kFrameHead) fill(kFrameHead + std::min<size_t>(NumberAt(in_, 0, 3), kMaxFrame));
      from = in_;
    }
    const size_t length = from.size() < kFrameHead ? 0 : NumberAt(from, 0, 3);
    if (length > kMaxFrame) return Broken(Http2Code::kFrameSize, "a frame of " + std::to_string(length) + " bytes");
    if (from.size() < kFrameHead + length) {
      if (in_.empty()) in_ = bytes;
      return Error::Ok();
    }
    const Frame frame = {static_cast<uint8_t>(from[3]), static_cast<uint8_t>(from[4]),
                         static_cast<int32_t>(NumberAt(from, 5, 4) & kMaxWindow), from.substr(kFrameHead, length)};
    const size_t before = out_.size();
    if (Error error = Take(frame); !error.ok()) return error;
    replies_ += out_.size() - std::min(before, out_.size());
    if (replies_ > kMaxReplies) return Broken(Http2Code::kCalm, "it asks again and again and reads no answer");
    if (in_.empty()) {
      bytes.remove_prefix(kFrameHead + length);
    } else {
      in_.clear();
    }
    if (bytes.empty()) return Error::Ok();
  }
}

Error Http2Frames::Take(const Frame& frame) {
  if (!settled_ && (frame.type != kSettings || (frame.flags & kAck) != 0))
    return Broken(Http2Code::kProtocol, "its first frame is not SETTINGS");
  if (block_of_ != 0 && (frame.type != kContinuation || frame.stream != block_of_))
    return Broken(Http2Code::kProtocol, "another frame within a head");
  switch (frame.type) {
    case kData:
      return TakeData(frame);
    case kHeaders:
      return TakeHeaders(frame);
    case kRstStream:
      return TakeReset(frame);
    case kSettings:
      return TakeSettings(frame);
    case kPushPromise:
      return Broken(Http2Code::kProtocol, "a push");
    case kPing:
      return TakePing(frame);
    case kGoAway:
      return TakeGoAway(frame);
    case kWindowUpdate:
      return TakeWindow(frame);
    case kContinuation:
      return TakeContinuation(frame);
    default:
      return Error::Ok();  // priorities, and what we do not know
  }
}

Error Http2Frames::TakeData(const Frame& frame) {
  if (!WasOpened(frame.stream)) return Broken(Http2Code::kProtocol, "data on a stream that nobody opened");
  const auto size = static_cast<uint32_t>(frame.payload.size());
  std::string_view piece = frame.payload;
  if (!DropPadding(frame.flags, piece)) return Broken(Http2Code::kProtocol, "padding that is longer than its frame");
  received_ += size;
  if (received_ > limits_.connection_window) return Broken(Http2Code::kFlowControl, "more data than it may send");
  if (received_ >= limits_.connection_window / 2) AppendWindow(0, std::exchange(received_, 0));
  Stream* const stream = Find(frame.stream);
  if (stream == nullptr) return Error::Ok();
  stream->received += size;
  if (stream->received > limits_.stream_window) return Broken(Http2Code::kFlowControl, "more data than it may send");
  const bool over = (frame.flags & kEndStream) != 0;
  if (!over && stream->received >= limits_.stream_window / 2)
    AppendWindow(frame.stream, std::exchange(stream->received, 0));
  if (!piece.empty()) listener_.OnData(*stream->exchange, piece);
  if (over) Over(frame.stream);
  return Error::Ok();
}

void Http2Frames::Over(int32_t stream) {
  Exchange* const exchange = ExchangeOf(stream);
  if (exchange == nullptr) return;
  unheard_text_ = 0;
  Forget(stream);
  listener_.OnStreamOver(stream, *exchange);
}

void Http2Frames::ResetBy(int32_t stream, Http2Code code) {
  Exchange* const exchange = ExchangeOf(stream);
  if (exchange == nullptr) return;
  Reset(stream, code);
  listener_.OnStreamReset(*exchange, static_cast<uint32_t>(code));
}

Error Http2Frames::TakeHeaders(const Frame& frame) {
  if (!WasOpened(frame.stream)) return Broken(Http2Code::kProtocol, "an answer on a stream that nobody opened");
  std::string_view piece = frame.payload;
  if (!DropPadding(frame.flags, piece)) return Broken(Http2Code::kProtocol, "padding that is longer than its frame");
  if ((frame.flags & kPriorities) != 0) {
    constexpr size_t kPriorityBytes = 5;
    if (piece.size() < kPriorityBytes) return Broken(Http2Code::kFrameSize, "a head without its priority");
    piece.remove_prefix(kPriorityBytes);
  }
  block_of_ = frame.stream;
  block_ends_ = (frame.flags & kEndStream) != 0;
  block_bytes_ = block_text_ = 0;
  if (Exchange* const exchange = ExchangeOf(frame.stream)) listener_.OnHeadersBegin(*exchange);
  return TakeBlock(piece, (frame.flags & kEndHeaders) != 0);
}

Error Http2Frames::TakeContinuation(const Frame& frame) {
  if (block_of_ == 0) return Broken(Http2Code::kProtocol, "the rest of a head that did not begin");
  return TakeBlock(frame.payload, (frame.flags & kEndHeaders) != 0);
}

Error Http2Frames::TakeBlock(std::string_view piece, bool last) {
  // Empty pieces count, too.
  block_bytes_ += piece.size() + kFrameHead;
  if (block_bytes_ > kMaxBlock) return Broken(Http2Code::kCalm, "a head of more than a MiB");
  decoder_.Give(piece, last);
  HpackField field;
  for (;;) {
    const HpackDecoder::Step step = decoder_.Next(field);
    if (step == HpackDecoder::Step::kBroken) return Broken(Http2Code::kCompression, "a head that cannot be read");
    if (step == HpackDecoder::Step::kDone) break;
    // Two bytes may stand for a field as large as the table, and whoever has heard enough of it is not asked again.
    const size_t text = field.name.size() + field.value.size() + kHpackFieldOverhead;
    block_text_ += text;
    if (block_text_ > kMaxBlock) return Broken(Http2Code::kCalm, "a head of more than a MiB");
    if (Exchange* const exchange = ExchangeOf(block_of_)) {
      listener_.OnHeader(*exchange, field);
    } else if ((unheard_text_ += text) > kMaxBlock) {
      return Broken(Http2Code::kCalm, "heads of more than a MiB to nobody");
    }
  }
  if (!last) return Error::Ok();
  const int32_t stream = std::exchange(block_of_, 0);
  if (Exchange* const exchange = ExchangeOf(stream)) listener_.OnHeadersEnd(*exchange, block_ends_);
  if (block_ends_) Over(stream);
  return Error::Ok();
}

Error Http2Frames::TakeReset(const Frame& frame) {
  if (frame.payload.size() != 4) return Broken(Http2Code::kFrameSize, "a reset of another size");
  if (!WasOpened(frame.stream)) return Broken(Http2Code::kProtocol, "a reset of a stream that nobody opened");
  if (Exchange* const exchange = ExchangeOf(frame.stream)) {
    Forget(frame.stream);
    listener_.OnStreamReset(*exchange, NumberAt(frame.payload, 0, 4));
  }
  return Error::Ok();
}

Error Http2Frames::TakeSettings(const Frame& frame) {
  constexpr size_t kEntry = 6;
  if (frame.stream != 0) return Broken(Http2Code::kProtocol, "settings of a stream");
  if ((frame.flags & kAck) != 0) {
    if (frame.payload.empty()) return Error::Ok();
    return Broken(Http2Code::kFrameSize, "an acknowledgement of another size");
  }
  if (frame.payload.size() % kEntry != 0) return Broken(Http2Code::kFrameSize, "settings of another size");
  if (frame.payload.size() > kMaxSettings * kEntry) return Broken(Http2Code::kCalm, "too many settings at once");
  settled_ = true;
  for (size_t at = 0; at < frame.payload.size(); at += kEntry) {
    const auto what = static_cast<uint16_t>(NumberAt(frame.payload, at, 2));
    if (Error error = Set(what, NumberAt(frame.payload, at + 2, 4)); !error.ok()) return error;
  }
  BeginFrame(0, kSettings, kAck, 0);
  listener_.OnSettings();
  return Error::Ok();
}

Error Http2Frames::Set(uint16_t what, uint32_t value) {
  switch (what) {
    case kHeaderTableSize:
      encoder_.set_table_size(value);
      break;
    case kEnablePush:
      if (value != 0) return Broken(Http2Code::kProtocol, "it wants us to push");
      break;
    case kMaxConcurrentStreams:
      max_streams_ = value;
      break;
    case kInitialWindow: {
      if (value > kMaxWindow) return Broken(Http2Code::kFlowControl, "a window that is too large");
      const int64_t more = int64_t{value} - std::exchange(initial_window_, int64_t{value});
      for (Stream& stream : streams_) {
        stream.window += more;
        if (stream.window > kMaxWindow) return Broken(Http2Code::kFlowControl, "a window that is too large");
      }
      break;
    }
    case kMaxFrameSize:
      if (value < kMaxFrame || value > 0xffffff)
        return Broken(Http2Code::kProtocol, "a frame size that is not allowed");
      max_frame_ = value;
      break;
    default:
      break;
  }
  return Error::Ok();
}

Error Http2Frames::TakePing(const Frame& frame) {
  if (frame.stream != 0) return Broken(Http2Code::kProtocol, "a ping of a stream");
  if (frame.payload.size() != 8) return Broken(Http2Code::kFrameSize, "a ping of another size");
  if ((frame.flags & kAck) != 0) return Error::Ok();
  BeginFrame(frame.payload.size(), kPing, kAck, 0);
  out_ += frame.payload;
  return Error::Ok();
}

Error Http2Frames::TakeGoAway(const Frame& frame) {
  if (frame.stream != 0) return Broken(Http2Code::kProtocol, "the goodbye of a stream");
  if (frame.payload.size() < 8) return Broken(Http2Code::kFrameSize, "a goodbye of another size");
  const auto last = static_cast<int32_t>(NumberAt(frame.payload, 0, 4) & kMaxWindow);
  going_ = true;
  listener_.OnGoAway();
  while (!streams_.empty() && streams_.back().id > last) {
    Exchange* const exchange = streams_.back().exchange;
    streams_.pop_back();
    listener_.OnStreamReset(*exchange, static_cast<uint32_t>(Http2Code::kRefused));
  }
  return Error::Ok();
}

Error Http2Frames::TakeWindow(const Frame& frame) {
  if (frame.payload.size() != 4) return Broken(Http2Code::kFrameSize, "a window of another size");
  const uint32_t more = NumberAt(frame.payload, 0, 4) & kMaxWindow;
  if (frame.stream == 0) {
    if (more == 0) return Broken(Http2Code::kProtocol, "a window that grows by nothing");
    window_ += more;
    return window_ <= kMaxWindow ? Error::Ok() : Broken(Http2Code::kFlowControl, "a window that is too large");
  }
  if (!WasOpened(frame.stream)) return Broken(Http2Code::kProtocol, "a window of a stream that nobody opened");
  Stream* const stream = Find(frame.stream);
  if (stream == nullptr) return Error::Ok();
  stream->window += more;
  if (more == 0) {
    ResetBy(frame.stream, Http2Code::kProtocol);
  } else if (stream->window > kMaxWindow) {
    ResetBy(frame.stream, Http2Code::kFlowControl);
  }
  return Error::Ok();
}

}  // namespace berth::net
