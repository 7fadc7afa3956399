// SPDX-License-Identifier: Apache-2.0
// Http2Frames: a client's side of one connection of HTTP/2 (RFC 9113), as bytes that come in and bytes that go out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/error.h"
#include "net/hpack_decoder.h"
#include "net/hpack_encoder.h"
#include "net/hpack_field.h"

namespace berth::net {

struct Exchange;

// Codes of errors (RFC 9113, section 7) that we send or look for.
enum class Http2Code : uint32_t {
  kNone = 0,
  kProtocol = 1,
  kFlowControl = 3,
  kFrameSize = 6,
  kRefused = 7,
  kCancel = 8,
  kCompression = 9,
  kCalm = 11,
};

struct Http2FrameLimits {
  // How much the server may send before we have taken it, on a stream and in all. Every server may send 65535 bytes
  // before it has heard of less: smaller ones are for tests.
  uint32_t stream_window = 65535, connection_window = 65535;
  uint32_t max_header_bytes = 64 << 10;  // of an answer's head: what the server is told
};

// Who hears what the server says; within Receive. `exchange` is that of Open. Every method may call Reset, Forget and
// Ping. What has been ended by either is not spoken of any more.
class Http2FrameListener {
 public:
  virtual void OnHeadersBegin(Exchange& exchange) = 0;
  // Its texts are there until it returns.
  virtual void OnHeader(Exchange& exchange, const HpackField& field) = 0;
  // `last`: nothing comes after it, as after trailers.
  virtual void OnHeadersEnd(Exchange& exchange, bool last) = 0;
  virtual void OnData(Exchange& exchange, std::string_view piece) = 0;
  // The server has said everything; the stream is forgotten by now.
  virtual void OnStreamOver(int32_t stream, Exchange& exchange) = 0;
  // The stream was reset, or (kRefused) left out by a server that goes away. It is forgotten by now.
  virtual void OnStreamReset(Exchange& exchange, uint32_t code) = 0;
  virtual void OnSettings() = 0;
  virtual void OnGoAway() = 0;

 protected:
  ~Http2FrameListener() = default;
};

// What is not HTTP/2 ends the connection with an error, also where RFC 9113 would end a stream only, unless servers are
// known to do it. Nobody knows what such a server has done. Of a stream that was forgotten whatever still comes is
// ignored.
//
// Memory is bounded: a frame that is not complete (16 KiB), a header that is not (64 KiB, more than which is an error)
// and the text of one, the server's table of headers (4 KiB), and answers to what the server asks while it reads none
// of them (64 KiB beside what was there to be sent).
//
// Thread safety: none.
class Http2Frames {
 public:
  Http2Frames(const Http2FrameLimits& limits, Http2FrameListener& listener);
  Http2Frames(const Http2Frames&) = delete;
  Http2Frames& operator=(const Http2Frames&) = delete;

  // What is to be written next; valid until the next call. Sent: so much of it was.
  std::string_view output() const { return std::string_view(out_).substr(out_begin_); }
  void Sent(size_t bytes);

  // Takes what the server sent. After an error, whose reason is in output(), nothing may be called but output, Sent and
  // Forget.
  Error Receive(std::string_view bytes);

  // How many streams the server allows at a time; of them, those that are open.
  uint32_t max_streams() const { return max_streams_; }
  size_t open_streams() const { return streams_.size(); }
  // Begins a stream; `ends`: there is no body. Its number, or 0: the connection has no number left, or the server goes
  // away.
  int32_t Open(const RequestHead& head, bool ends, Exchange& exchange);
  // Sends of the rest of the body as much as the windows allow, and no more than 16 KiB, and says how much. The
  // stream's end is sent with the body's. REQUIRES: `rest` is not empty.
  size_t SendBody(int32_t stream, std::string_view rest);
  // Tells the server that the stream is given up, and forgets it if it is there.
  void Reset(int32_t stream, Http2Code code);
  // Its exchange is spoken of no more.
  void Forget(int32_t stream);
  void Ping();
  void GoAway(Http2Code code);

 private:
  struct Stream {
    int32_t id = 0;
    uint32_t received = 0;  // bytes for which the server has no new window yet
    int64_t window = 0;     // what may be sent
    Exchange* exchange = nullptr;
  };
  struct Frame {
    uint8_t type = 0, flags = 0;
    int32_t stream = 0;
    std::string_view payload;
  };

  // Whether we have opened it, at whatever time.
  bool WasOpened(int32_t stream) const { return stream % 2 == 1 && (next_id_ < 0 || stream < next_id_); }
  Stream* Find(int32_t stream);
  // Null where the stream is forgotten.
  Exchange* ExchangeOf(int32_t stream);
  Error Take(const Frame& frame);
  Error TakeData(const Frame& frame);
  Error TakeHeaders(const Frame& frame);
  Error TakeContinuation(const Frame& frame);
  Error TakeBlock(std::string_view piece, bool last);
  Error TakeSettings(const Frame& frame);
  Error TakePing(const Frame& frame);
  Error TakeGoAway(const Frame& frame);
  Error TakeReset(const Frame& frame);
  Error TakeWindow(const Frame& frame);
  Error Set(uint16_t what, uint32_t value);
  void Over(int32_t stream);
  void ResetBy(int32_t stream, Http2Code code);
  Error Broken(Http2Code code, const std::string& why);
  void BeginFrame(size_t length, uint8_t type, uint8_t flags, int32_t stream);
  void AppendNumber(uint64_t number, int bytes);
  void AppendWindow(int32_t stream, uint32_t bytes);

  const Http2FrameLimits limits_;
  Http2FrameListener& listener_;
  HpackDecoder decoder_;
  HpackEncoder encoder_;

  std::string in_;  // a frame that is not complete
  std::string out_;
  size_t out_begin_ = 0;  // from here on it is to be written
  size_t replies_ = 0;    // bytes of it that nobody but the server has asked for, at the most

  std::vector<Stream> streams_;  // by id
  size_t found_ = 0;             // place of the stream that was found or begun last
  int32_t gone_ = 0;             // the stream that was forgotten last
  int32_t next_id_ = 1;
  bool going_ = false;    // the server takes no new streams
  bool settled_ = false;  // its first SETTINGS are there

  uint32_t max_streams_ = UINT32_MAX, max_frame_ = 16384;
  int64_t initial_window_ = 65535;  // of a new stream: what may be sent
  int64_t window_ = 65535;          // what may be sent in all
  uint32_t received_ = 0;           // as a stream's, in all

  int32_t block_of_ = 0;     // the stream whose head is not complete; 0: none
  bool block_ends_ = false;  // with it the server has said everything
  size_t block_bytes_ = 0;   // as they are sent
  size_t block_text_ = 0;    // what they say, which may be much more
  // What heads have said of streams that are forgotten, since an answer was complete.
  size_t unheard_text_ = 0;
};

}  // namespace berth::net
