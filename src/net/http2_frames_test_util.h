// SPDX-License-Identifier: Apache-2.0
// What the tests of Http2Frames share: frames as a server sends them, those of the client as lines, and what is heard.
#pragma once

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/client_exchange.h"
#include "net/hpack_test_util.h"
#include "net/http2_frames.h"

namespace berth::net {

using Lines = std::vector<std::string>;

inline constexpr size_t kFrameHeadBytes = 9;
inline constexpr size_t kMostInAFrame = 16384;
inline constexpr uint8_t kEndsStream = NGHTTP2_FLAG_END_STREAM, kEndsHead = NGHTTP2_FLAG_END_HEADERS;

inline std::string BigEndian(uint64_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xff);
  return text;
}

inline uint64_t BigEndianAt(std::string_view bytes, size_t at, size_t count) {
  uint64_t number = 0;
  for (const char c : bytes.substr(at, count)) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

// What a server sends.
inline std::string FrameOf(int type, int flags, uint32_t stream, std::string_view payload = {}) {
  return BigEndian(payload.size(), 3) + BigEndian(static_cast<uint64_t>(type), 1) +
         BigEndian(static_cast<uint64_t>(flags), 1) + BigEndian(stream, 4) + std::string(payload);
}
inline std::string SettingsFrame(const std::vector<std::pair<uint16_t, uint32_t>>& settings = {}) {
  std::string payload;
  for (const auto& [what, value] : settings) payload += BigEndian(what, 2) + BigEndian(value, 4);
  return FrameOf(NGHTTP2_SETTINGS, 0, 0, payload);
}
inline std::string HeadersFrame(uint32_t stream, std::string_view block, int flags = kEndsHead) {
  return FrameOf(NGHTTP2_HEADERS, flags, stream, block);
}
inline std::string ContinuationFrame(uint32_t stream, std::string_view block, int flags = kEndsHead) {
  return FrameOf(NGHTTP2_CONTINUATION, flags, stream, block);
}
inline std::string DataFrame(uint32_t stream, std::string_view text, int flags = 0) {
  return FrameOf(NGHTTP2_DATA, flags, stream, text);
}
inline std::string WindowFrame(uint32_t stream, uint32_t more) {
  return FrameOf(NGHTTP2_WINDOW_UPDATE, 0, stream, BigEndian(more, 4));
}
inline std::string ResetFrame(uint32_t stream, uint32_t code) {
  return FrameOf(NGHTTP2_RST_STREAM, 0, stream, BigEndian(code, 4));
}
inline std::string GoAwayFrame(uint32_t last, uint32_t code = 0, std::string_view text = {}) {
  return FrameOf(NGHTTP2_GOAWAY, 0, 0, BigEndian(last, 4) + BigEndian(code, 4) + std::string(text));
}
inline std::string PingFrame(std::string_view eight = "12345678", int flags = 0) {
  return FrameOf(NGHTTP2_PING, flags, 0, eight);
}

inline constexpr std::string_view kStatus200 = "\x88", kStatus204 = "\x89";
// Kept in the table as the newest entry, and that entry.
inline constexpr std::string_view kNewField = "\x40\x01n\x03new", kNewestField = "\xbe";

// What the client wrote, a line for each frame. Of heads and bodies it has the length.
inline Lines FramesIn(std::string_view bytes) {
  Lines lines;
  constexpr std::string_view kHello = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  if (bytes.starts_with(kHello)) {
    lines.emplace_back("hello");
    bytes.remove_prefix(kHello.size());
  }
  while (!bytes.empty()) {
    const size_t length = bytes.size() < kFrameHeadBytes ? 0 : BigEndianAt(bytes, 0, 3);
    if (bytes.size() < kFrameHeadBytes + length) return lines.emplace_back("cut off"), lines;
    const std::string_view payload = bytes.substr(kFrameHeadBytes, length);
    const auto flags = static_cast<int>(BigEndianAt(bytes, 4, 1));
    const std::string stream = " " + std::to_string(BigEndianAt(bytes, 5, 4));
    const bool ends = (flags & kEndsStream) != 0;
    std::string line;
    switch (const auto type = static_cast<int>(BigEndianAt(bytes, 3, 1)); type) {
      case NGHTTP2_DATA:
        line = "data" + stream + " " + std::to_string(length) + (ends ? " end" : "");
        break;
      case NGHTTP2_HEADERS:
      case NGHTTP2_CONTINUATION:
        line = (type == NGHTTP2_HEADERS ? "headers" : "continuation") + stream + " " + std::to_string(length) +
               ((flags & kEndsHead) != 0 ? "" : " more") + (ends ? " end" : "");
        break;
      case NGHTTP2_SETTINGS:
        line = ends ? "settings ack" : "settings";
        for (size_t at = 0; at + 6 <= length; at += 6)
          line +=
              " " + std::to_string(BigEndianAt(payload, at, 2)) + "=" + std::to_string(BigEndianAt(payload, at + 2, 4));
        break;
      case NGHTTP2_PING:
        line = std::string(ends ? "ping ack " : "ping ") + std::to_string(BigEndianAt(payload, 0, 8));
        break;
      case NGHTTP2_RST_STREAM:
        line = "reset" + stream + " " + std::to_string(BigEndianAt(payload, 0, 4));
        break;
      case NGHTTP2_WINDOW_UPDATE:
        line = "window" + stream + " " + std::to_string(BigEndianAt(payload, 0, 4));
        break;
      case NGHTTP2_GOAWAY:
        line =
            "goaway " + std::to_string(BigEndianAt(payload, 0, 4)) + " " + std::to_string(BigEndianAt(payload, 4, 4));
        break;
      default:
        line = "unknown";
    }
    lines.push_back(line);
    bytes.remove_prefix(kFrameHeadBytes + length);
  }
  return lines;
}

// Writes down what is said, and does `act` after each line.
class FrameRecorder final : public Http2FrameListener {
 public:
  Lines heard;
  std::vector<const Exchange*> known;  // its place is its name
  std::function<void(const std::string&)> act;

 private:
  void Note(const std::string& line) {
    heard.push_back(line);
    if (act) act(line);
  }
  std::string NameOf(const Exchange& exchange) const {
    return " " + std::to_string(std::ranges::find(known, &exchange) - known.begin());
  }
  void OnHeadersBegin(Exchange& exchange) override { Note("begin" + NameOf(exchange)); }
  void OnHeader(Exchange& exchange, const HpackField& field) override {
    Note("header" + NameOf(exchange) + " " + std::string(field.name) + "=" + std::string(field.value));
  }
  void OnHeadersEnd(Exchange& exchange, bool) override { Note("head" + NameOf(exchange)); }
  void OnData(Exchange& exchange, std::string_view piece) override {
    Note("data" + NameOf(exchange) + " " + std::string(piece));
  }
  void OnStreamOver(int32_t stream, Exchange& exchange) override {
    Note("over" + NameOf(exchange) + " " + std::to_string(stream));
  }
  void OnStreamReset(Exchange& exchange, uint32_t code) override {
    Note("reset" + NameOf(exchange) + " " + std::to_string(code));
  }
  void OnSettings() override { Note("settings"); }
  void OnGoAway() override { Note("goaway"); }
};

// A client's side, and what comes of it.
struct FramesClient {
  explicit FramesClient(const Http2FrameLimits& limits = {}) : frames(limits, recorder) {
    for (const auto& exchange : exchanges) recorder.known.push_back(exchange.get());
  }
  // A stream of the next exchange.
  int32_t Open(bool ends = true, std::string_view path = "/") {
    const std::shared_ptr<const CommonHeaders> none;
    const Headers further;
    exchanges.push_back(std::make_unique<Exchange>(ClientRequest{}));
    recorder.known.push_back(exchanges.back().get());
    return frames.Open({ends ? "GET" : "POST", "a", "", path, none, further, ""}, ends, *exchanges.back());
  }
  // What it says to the server since the last time, as bytes.
  std::string TakeBytes() {
    std::string bytes(frames.output());
    frames.Sent(bytes.size());
    return bytes;
  }
  Lines Written() { return FramesIn(TakeBytes()); }
  Lines Heard() { return std::exchange(recorder.heard, {}); }
  // Its text; "" is Ok.
  std::string Receive(std::string_view bytes) {
    const Error error = frames.Receive(bytes);
    return error.ok() ? "" : error.text();
  }
  // The server's settings are there, and `streams` are open.
  void Start(int streams, bool ends = true) {
    ASSERT_EQ(Receive(SettingsFrame()), "");
    for (int i = 0; i < streams; ++i) ASSERT_EQ(Open(ends), 2 * i + 1);
    Written();
    Heard();
  }

  FrameRecorder recorder;
  std::vector<std::unique_ptr<Exchange>> exchanges;
  Http2Frames frames;
};

// What comes of these bytes where streams 1 and 3 are open, and 5 was: the error, or "".
inline std::string ReceiveWithStreams(FramesClient& client, std::string_view bytes, size_t piece_size) {
  client.Start(3);
  client.frames.Forget(5);
  std::string error;
  for (size_t at = 0; at < bytes.size() && error.empty(); at += piece_size)
    error = client.Receive(bytes.substr(at, piece_size));
  return error;
}

// Everything that a server may say, to streams 1 to 9.
inline std::string EverythingAServerMaySay() {
  OtherDeflater server;
  const std::string head = server.Block({{":status", "200"}, {"content-type", "application/json"}});
  const std::string same = server.Block({{":status", "200"}, {"content-type", "application/json"}});
  const std::string padding(3, '\0');
  return SettingsFrame({{3, 100}, {4, 70000}, {1, 0}}) + FrameOf(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0) +
         WindowFrame(0, 1 << 20) + WindowFrame(5, 1000) + HeadersFrame(1, head) + DataFrame(1, "some text") +
         PingFrame() + PingFrame("87654321", NGHTTP2_FLAG_ACK) + FrameOf(NGHTTP2_PRIORITY, 0, 3, "\1\2\3\4\5") +
         FrameOf(0xfa, 0xff, 77, "unknown") + HeadersFrame(3, same.substr(0, 1), kEndsStream) +
         ContinuationFrame(3, "", 0) + ContinuationFrame(3, same.substr(1)) +
         DataFrame(1, "\3padded" + padding, NGHTTP2_FLAG_PADDED | kEndsStream) + ResetFrame(5, 2) +
         DataFrame(5, "of nobody") + WindowFrame(7, 0) + SettingsFrame() + GoAwayFrame(7, 0, "bye") +
         DataFrame(7, "late") + SettingsFrame({{4, 0}});
}

}  // namespace berth::net
