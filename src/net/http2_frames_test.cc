// SPDX-License-Identifier: Apache-2.0
#include "net/http2_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/client_exchange.h"

namespace berth::net {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using Lines = std::vector<std::string>;

constexpr size_t kFrameHeadBytes = 9;
constexpr size_t kMostInAFrame = 16384;
constexpr uint8_t kEndsStream = NGHTTP2_FLAG_END_STREAM, kEndsHead = NGHTTP2_FLAG_END_HEADERS;

std::string BigEndian(uint64_t number, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xff);
  return text;
}

uint64_t BigEndianAt(std::string_view bytes, size_t at, size_t count) {
  uint64_t number = 0;
  for (const char c : bytes.substr(at, count)) number = number << 8 | static_cast<uint8_t>(c);
  return number;
}

// What a server sends.
std::string FrameOf(int type, int flags, uint32_t stream, std::string_view payload = {}) {
  return BigEndian(payload.size(), 3) + BigEndian(static_cast<uint64_t>(type), 1) +
         BigEndian(static_cast<uint64_t>(flags), 1) + BigEndian(stream, 4) + std::string(payload);
}
std::string SettingsFrame(const std::vector<std::pair<uint16_t, uint32_t>>& settings = {}) {
  std::string payload;
  for (const auto& [what, value] : settings) payload += BigEndian(what, 2) + BigEndian(value, 4);
  return FrameOf(NGHTTP2_SETTINGS, 0, 0, payload);
}
std::string HeadersFrame(uint32_t stream, std::string_view block, int flags = kEndsHead) {
  return FrameOf(NGHTTP2_HEADERS, flags, stream, block);
}
std::string ContinuationFrame(uint32_t stream, std::string_view block, int flags = kEndsHead) {
  return FrameOf(NGHTTP2_CONTINUATION, flags, stream, block);
}
std::string DataFrame(uint32_t stream, std::string_view text, int flags = 0) {
  return FrameOf(NGHTTP2_DATA, flags, stream, text);
}
std::string WindowFrame(uint32_t stream, uint32_t more) {
  return FrameOf(NGHTTP2_WINDOW_UPDATE, 0, stream, BigEndian(more, 4));
}
std::string ResetFrame(uint32_t stream, uint32_t code) {
  return FrameOf(NGHTTP2_RST_STREAM, 0, stream, BigEndian(code, 4));
}
std::string GoAwayFrame(uint32_t last, uint32_t code = 0, std::string_view text = {}) {
  return FrameOf(NGHTTP2_GOAWAY, 0, 0, BigEndian(last, 4) + BigEndian(code, 4) + std::string(text));
}
std::string PingFrame(std::string_view eight = "12345678", int flags = 0) {
  return FrameOf(NGHTTP2_PING, flags, 0, eight);
}

constexpr std::string_view kStatus200 = "\x88", kStatus204 = "\x89";
// Kept in the table as the newest entry, and that entry.
constexpr std::string_view kNewField = "\x40\x01n\x03new", kNewestField = "\xbe";

// Heads of answers, as a server makes them that keeps a table.
class AnswerEncoder {
 public:
  AnswerEncoder() { nghttp2_hd_deflate_new(&deflater_, 4096); }
  ~AnswerEncoder() { nghttp2_hd_deflate_del(deflater_); }
  AnswerEncoder(const AnswerEncoder&) = delete;
  AnswerEncoder& operator=(const AnswerEncoder&) = delete;

  std::string Block(std::vector<std::pair<std::string, std::string>> fields) {
    std::vector<nghttp2_nv> list;
    for (auto& [name, value] : fields) {
      list.push_back({reinterpret_cast<uint8_t*>(name.data()), reinterpret_cast<uint8_t*>(value.data()), name.size(),
                      value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    std::string block(nghttp2_hd_deflate_bound(deflater_, list.data(), list.size()), '\0');
    const ssize_t size = nghttp2_hd_deflate_hd(deflater_, reinterpret_cast<uint8_t*>(block.data()), block.size(),
                                               list.data(), list.size());
    EXPECT_GE(size, 0);
    block.resize(static_cast<size_t>(size));
    return block;
  }

 private:
  nghttp2_hd_deflater* deflater_ = nullptr;
};

// What the client wrote, a line for each frame. Of heads and bodies it has the length.
Lines FramesIn(std::string_view bytes) {
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
  void OnHeadersEnd(Exchange& exchange) override { Note("head" + NameOf(exchange)); }
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

TEST(Http2Frames, TheClientBeginsWithItsSettings) {
  FramesClient usual;
  EXPECT_THAT(usual.Written(), ElementsAre("hello", "settings 2=0 4=65535 6=65536"));
  EXPECT_TRUE(usual.frames.output().empty());
  FramesClient large({4 << 20, 32 << 20, 1000});
  EXPECT_THAT(large.Written(),
              ElementsAre("hello", "settings 2=0 4=4194304 6=1000", "window 0 " + std::to_string((32 << 20) - 65535)));
}

TEST(Http2Frames, SettingsAreAnsweredAndHeardOf) {
  FramesClient client;
  client.Written();
  EXPECT_EQ(client.frames.max_streams(), UINT32_MAX);
  EXPECT_EQ(client.Receive(SettingsFrame()), "");
  EXPECT_THAT(client.Written(), ElementsAre("settings ack"));
  EXPECT_EQ(client.Receive(FrameOf(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0)), "");
  EXPECT_THAT(client.Written(), IsEmpty()) << "an answer has none";
  // The last of the same kind counts; what is not known is ignored.
  EXPECT_EQ(client.Receive(SettingsFrame({{3, 1}, {3, 17}, {2, 0}, {6, 5}, {0xabcd, UINT32_MAX}})), "");
  EXPECT_EQ(client.frames.max_streams(), 17u);
  EXPECT_THAT(client.Written(), ElementsAre("settings ack"));
  EXPECT_THAT(client.Heard(), ElementsAre("settings", "settings"));
}

TEST(Http2Frames, AnAnswerIsHeardFromItsHeadToItsEnd) {
  FramesClient client;
  client.Start(2);
  AnswerEncoder server;
  const auto head = [&](uint32_t stream, int flags = kEndsHead) {
    return HeadersFrame(stream, server.Block({{":status", "200"}, {"content-type", "text/plain"}}), flags);
  };
  std::string bytes = head(3) + DataFrame(3, "one");
  bytes += head(1);
  bytes += DataFrame(3, "two") + DataFrame(3, "", kEndsStream);
  EXPECT_EQ(client.Receive(bytes), "");
  EXPECT_THAT(client.Heard(), ElementsAre("begin 1", "header 1 :status=200", "header 1 content-type=text/plain",
                                          "head 1", "data 1 one", "begin 0", "header 0 :status=200",
                                          "header 0 content-type=text/plain", "head 0", "data 1 two", "over 1 3"));
  EXPECT_EQ(client.frames.open_streams(), 1u);
  // Trailers.
  EXPECT_EQ(client.Receive(HeadersFrame(1, server.Block({{"checksum", "x"}}), kEndsHead | kEndsStream)), "");
  EXPECT_THAT(client.Heard(), ElementsAre("begin 0", "header 0 checksum=x", "head 0", "over 0 1"));
  EXPECT_EQ(client.frames.open_streams(), 0u);
  // What still comes is of nobody.
  EXPECT_EQ(client.Receive(DataFrame(1, "late", kEndsStream) + ResetFrame(3, 2) + WindowFrame(1, 7) +
                           head(3, kEndsHead | kEndsStream)),
            "");
  EXPECT_THAT(client.Heard(), IsEmpty());
  EXPECT_THAT(client.Written(), IsEmpty());
}

TEST(Http2Frames, PaddingAndPrioritiesAreTakenAway) {
  FramesClient client;
  client.Start(1);
  const std::string priority = BigEndian(0x80000003, 4) + "\x07", padding(5, '\0');
  const int padded = NGHTTP2_FLAG_PADDED, prioritized = NGHTTP2_FLAG_PRIORITY;
  const std::string block(kStatus200);
  for (const std::string& head :
       {HeadersFrame(1, "\x05" + block + padding, kEndsHead | padded),
        HeadersFrame(1, priority + block, kEndsHead | prioritized),
        HeadersFrame(1, "\x05" + priority + block + padding, kEndsHead | padded | prioritized),
        HeadersFrame(1, "\x05" + priority + padding, padded | prioritized) + ContinuationFrame(1, block),
        HeadersFrame(1, std::string(1, '\0') + block, kEndsHead | padded)}) {
    EXPECT_EQ(client.Receive(head), "");
    EXPECT_THAT(client.Heard(), ElementsAre("begin 0", "header 0 :status=200", "head 0"));
  }
  EXPECT_EQ(client.Receive(DataFrame(1, "\x05text" + padding, padded)), "");
  EXPECT_EQ(client.Receive(DataFrame(1, padding.substr(0, 1) + "bare", padded)), "");
  EXPECT_THAT(client.Heard(), ElementsAre("data 0 text", "data 0 bare"));
  // Nothing but padding is not a piece, and may end the stream.
  EXPECT_EQ(client.Receive(DataFrame(1, "\x05" + padding, padded) + DataFrame(1, "\x05" + padding, padded | 1)), "");
  EXPECT_THAT(client.Heard(), ElementsAre("over 0 1"));
}

TEST(Http2Frames, AHeadMayComeInPieces) {
  FramesClient client;
  client.Start(1);
  AnswerEncoder server;
  const std::vector<std::pair<std::string, std::string>> fields = {
      {":status", "200"}, {"long", std::string(300, 'l')}, {"more", "x"}};
  const std::string block = server.Block(fields);
  const Lines whole = {"begin 0", "header 0 :status=200", "header 0 long=" + std::string(300, 'l'), "header 0 more=x",
                       "head 0"};
  ASSERT_EQ(client.Receive(HeadersFrame(1, block)), "");
  EXPECT_EQ(client.Heard(), whole);
  // A byte a frame, and empty frames at both ends.
  const std::string again = server.Block(fields);
  std::string pieces = HeadersFrame(1, "", kEndsStream);
  for (const char c : again) pieces += ContinuationFrame(1, std::string(1, c), 0);
  ASSERT_EQ(client.Receive(pieces + ContinuationFrame(1, "")), "");
  Lines over = whole;
  over.emplace_back("over 0 1");
  EXPECT_EQ(client.Heard(), over) << "the first frame says that the stream ends, and it ends with the last one";
}

TEST(Http2Frames, AnyHeadMayBeginWithTheSizeOfItsTable) {
  FramesClient client;
  client.Start(1);
  for (const std::string size : {"\x20", "\x20\x3f\xe1\x1f", "\x20\x3f\x45"}) {
    EXPECT_EQ(client.Receive(HeadersFrame(1, size + std::string(kStatus200))), "");
    EXPECT_THAT(client.Heard(), ElementsAre("begin 0", "header 0 :status=200", "head 0"));
  }
}

TEST(Http2Frames, HeadsOfForgottenStreamsKeepTheTableInOrder) {
  FramesClient client;
  client.Start(3);
  client.frames.Forget(1);
  client.recorder.act = [&](const std::string& line) {
    if (line == "header 1 :status=200") client.frames.Reset(3, Http2Code::kCancel);
  };
  AnswerEncoder server;
  const auto head = [&](const std::string& text) {
    return server.Block({{":status", "200"}, {"x-first", text}, {"x-second", text}});
  };
  ASSERT_EQ(client.Receive(HeadersFrame(1, head("forgotten"))), "");
  ASSERT_EQ(client.Receive(HeadersFrame(3, head("reset"))), "");
  EXPECT_THAT(client.Heard(), ElementsAre("begin 1", "header 1 :status=200"));
  EXPECT_THAT(client.Written(), ElementsAre("reset 3 8"));
  std::string later = head("forgotten");
  later += head("reset");
  EXPECT_LT(later.size(), 12u) << "they are in the table";
  ASSERT_EQ(client.Receive(HeadersFrame(5, later)), "");
  EXPECT_THAT(client.Heard(), ElementsAre("begin 2", "header 2 :status=200", "header 2 x-first=forgotten",
                                          "header 2 x-second=forgotten", "header 2 :status=200",
                                          "header 2 x-first=reset", "header 2 x-second=reset", "head 2"));
}

// Everything that a server may say, to streams 1 to 9.
std::string EverythingAServerMaySay() {
  AnswerEncoder server;
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

TEST(Http2Frames, HowTheInputIsCutDoesNotMatter) {
  const std::string all = EverythingAServerMaySay();
  const auto hear = [&](const std::vector<std::string_view>& pieces) {
    FramesClient client;
    for (int i = 0; i < 5; ++i) client.Open();
    for (const std::string_view piece : pieces) EXPECT_EQ(client.Receive(piece), "");
    Lines lines = client.Heard();
    lines.push_back(client.TakeBytes());
    return lines;
  };
  const Lines whole = hear({all});
  EXPECT_THAT(whole, Contains("data 0 padded"));
  EXPECT_THAT(whole, Contains("over 1 3"));
  EXPECT_THAT(whole, Contains("reset 4 7")) << "a stream that the server leaves out";
  EXPECT_EQ(whole.size(), 20u);
  const std::string_view view = all;
  for (size_t at = 0; at <= all.size(); ++at) ASSERT_EQ(hear({view.substr(0, at), view.substr(at)}), whole) << at;
  for (const size_t size : {1, 2, 3, 5, 8, 9, 10, 13, 30, 100}) {
    std::vector<std::string_view> pieces;
    for (size_t at = 0; at < all.size(); at += size) pieces.push_back(view.substr(at, size));
    ASSERT_EQ(hear(pieces), whole) << size;
  }
}

TEST(Http2Frames, TheLargestFrameIsTakenAlsoInPieces) {
  FramesClient client({1 << 20, 1 << 20});
  client.Start(1);
  const std::string text(kMostInAFrame, 't'), frame = DataFrame(1, text);
  EXPECT_EQ(client.Receive(frame), "");
  EXPECT_EQ(client.Receive(frame.substr(0, 9)), "");
  EXPECT_EQ(client.Receive(frame.substr(9) + frame.substr(0, 100)), "");
  EXPECT_EQ(client.Receive(frame.substr(100)), "");
  EXPECT_EQ(client.Heard(), (Lines{3, "data 0 " + text}));
}

struct Violation {
  std::string what, bytes;  // after the settings
  Http2Code code;
  std::string says;
};

std::vector<Violation> ViolationsOnFrames() {
  using enum Http2Code;
  const auto block = std::string(kStatus200);
  const int padded = NGHTTP2_FLAG_PADDED;
  std::vector<Violation> all = {
      {"a frame that is too large", BigEndian(kMostInAFrame + 1, 3) + std::string(6, '\0'), kFrameSize, "16385 bytes"},
      {"HTTP/1.1", "HTTP/1.1 400 Bad Request\r\n", kFrameSize, "a frame of"},
      {"data within a head", HeadersFrame(1, block, 0) + DataFrame(1, "x"), kProtocol, "within a head"},
      {"a head within a head", HeadersFrame(1, block, 0) + HeadersFrame(1, block), kProtocol, "within a head"},
      {"a ping within a head", HeadersFrame(1, block, 0) + PingFrame(), kProtocol, "within a head"},
      {"the unknown within a head", HeadersFrame(1, block, 0) + FrameOf(0xfa, 0, 1), kProtocol, "within a head"},
      {"another's rest of a head", HeadersFrame(1, block, 0) + ContinuationFrame(3, ""), kProtocol, "within a head"},
      {"a rest without a head", ContinuationFrame(1, block), kProtocol, "did not begin"},
      {"a rest after the head", HeadersFrame(1, block) + ContinuationFrame(1, block), kProtocol, "did not begin"},
      {"a push", FrameOf(NGHTTP2_PUSH_PROMISE, kEndsHead, 1, BigEndian(2, 4) + block), kProtocol, "a push"},
      {"data without its padding's length", DataFrame(1, "", padded), kProtocol, "padding"},
      {"data of too much padding",
       DataFrame(1,
                 "\x04"
                 "123",
                 padded),
       kProtocol, "padding"},
      {"a head of too much padding", HeadersFrame(1, "\2" + block, kEndsHead | padded), kProtocol, "padding"},
      {"a forgotten stream's padding",
       DataFrame(5,
                 "\x04"
                 "123",
                 padded),
       kProtocol, "padding"},
      {"half a priority", HeadersFrame(1, "1234", kEndsHead | NGHTTP2_FLAG_PRIORITY), kFrameSize, "priority"},
      {"entry 0 of the table", HeadersFrame(1, "\x80"), kCompression, "cannot be read"},
      {"an entry that is not there", HeadersFrame(1, kNewestField), kCompression, "cannot be read"},
      {"the same to nobody", HeadersFrame(5, kNewestField), kCompression, "cannot be read"},
      {"half a field", HeadersFrame(1, kNewField.substr(0, 4)), kCompression, "cannot be read"},
      {"half a field in pieces", HeadersFrame(1, kNewField.substr(0, 4), 0) + ContinuationFrame(1, ""), kCompression,
       "cannot be read"},
      {"a table that is too large", HeadersFrame(1, "\x3f\xe2\x1f"), kCompression, "cannot be read"},
      {"a table's size within a head", HeadersFrame(1, block + "\x20"), kCompression, "cannot be read"},
      {"a reset of three bytes", FrameOf(NGHTTP2_RST_STREAM, 0, 1, "123"), kFrameSize, "a reset"},
      {"a reset of five bytes", FrameOf(NGHTTP2_RST_STREAM, 0, 1, "12345"), kFrameSize, "a reset"},
      {"settings of a stream", FrameOf(NGHTTP2_SETTINGS, 0, 1), kProtocol, "of a stream"},
      {"an acknowledgement of a stream", FrameOf(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 1), kProtocol, "of a stream"},
      {"an acknowledgement that says more", FrameOf(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "123456"), kFrameSize,
       "acknowledgement"},
      {"half a setting", FrameOf(NGHTTP2_SETTINGS, 0, 0, "123456123"), kFrameSize, "settings"},
      {"it is pushed to", SettingsFrame({{2, 1}}), kProtocol, "push"},
      {"pushes of another kind", SettingsFrame({{2, 2}}), kProtocol, "push"},
      {"too large a first window", SettingsFrame({{4, 0x80000000}}), kFlowControl, "too large"},
      {"it moves a stream's too far", WindowFrame(1, 0x7fffffff - 65535) + SettingsFrame({{4, 65536}}), kFlowControl,
       "too large"},
      {"too small a frame size", SettingsFrame({{5, 16383}}), kProtocol, "frame size"},
      {"too large a frame size", SettingsFrame({{5, 1 << 24}}), kProtocol, "frame size"},
      {"a ping of a stream", FrameOf(NGHTTP2_PING, 0, 1, "12345678"), kProtocol, "a ping"},
      {"a ping of seven bytes", PingFrame("1234567"), kFrameSize, "a ping"},
      {"a ping's answer of nine", PingFrame("123456789", NGHTTP2_FLAG_ACK), kFrameSize, "a ping"},
      {"a stream's goodbye", FrameOf(NGHTTP2_GOAWAY, 0, 1, "12345678"), kProtocol, "goodbye"},
      {"half a goodbye", FrameOf(NGHTTP2_GOAWAY, 0, 0, "1234567"), kFrameSize, "goodbye"},
      {"a window of three bytes", FrameOf(NGHTTP2_WINDOW_UPDATE, 0, 1, "123"), kFrameSize, "a window"},
      {"a window of no growth", WindowFrame(0, 0), kProtocol, "grows by nothing"},
      {"none either: a bit does not count", WindowFrame(0, 0x80000000), kProtocol, "grows by nothing"},
      {"too large a window", WindowFrame(0, 0x7fffffff - 65534), kFlowControl, "too large"},
  };
  // 0 is the connection, 2 the server's, 7 the next.
  for (const uint32_t stream : {0, 2, 7, 9, 0x7fffffff}) {
    const std::string name = " of stream " + std::to_string(stream), says = "that nobody opened";
    all.push_back({"data" + name, DataFrame(stream, "x"), kProtocol, says});
    all.push_back({"a head" + name, HeadersFrame(stream, block), kProtocol, says});
    all.push_back({"a reset" + name, ResetFrame(stream, 8), kProtocol, says});
    if (stream != 0) all.push_back({"a window" + name, WindowFrame(stream, 1), kProtocol, says});
  }
  std::string endless = HeadersFrame(5, "", 0);
  for (int i = 0; i < 64; ++i) endless += ContinuationFrame(5, std::string(kMostInAFrame, kStatus200[0]), 0);
  all.push_back({"an endless head", endless, kCalm, "more than a MiB"});
  endless = HeadersFrame(1, "", 0);
  for (int i = 0; i < 120'000; ++i) endless += ContinuationFrame(1, "", 0);
  all.push_back({"a head of endless pieces", endless, kCalm, "more than a MiB"});
  return all;
}

// Streams 1 and 3 are open, 5 was.
std::string ReceiveViolation(FramesClient& client, std::string_view bytes, size_t piece_size) {
  client.Start(3);
  client.frames.Forget(5);
  std::string error;
  for (size_t at = 0; at < bytes.size() && error.empty(); at += piece_size)
    error = client.Receive(bytes.substr(at, piece_size));
  return error;
}

TEST(Http2Frames, WhatIsNotHttp2EndsTheConnection) {
  for (const Violation& each : ViolationsOnFrames()) {
    SCOPED_TRACE(each.what);
    FramesClient client;
    const std::string error = ReceiveViolation(client, each.bytes, each.bytes.size());
    EXPECT_THAT(error, HasSubstr(each.says));
    EXPECT_THAT(error, StartsWith("the server does not keep to HTTP/2: "));
    const std::string bytes = client.TakeBytes();
    const Lines written = FramesIn(bytes);
    ASSERT_FALSE(written.empty());
    EXPECT_EQ(written.back(), "goaway 0 " + std::to_string(static_cast<uint32_t>(each.code)));
    EXPECT_EQ(std::ranges::count_if(written, [](const auto& line) { return line.starts_with("goaway"); }), 1);
    FramesClient slow;
    EXPECT_EQ(ReceiveViolation(slow, each.bytes, each.bytes.size() < 1000 ? 1 : 1001), error);
    EXPECT_EQ(slow.TakeBytes(), bytes);
    EXPECT_EQ(slow.Heard(), client.Heard());
  }
}

TEST(Http2Frames, ItEndsTheConnectionBeforeAWrongFrameIsThere) {
  FramesClient client;
  client.Start(0);
  EXPECT_EQ(client.Receive(BigEndian(1 << 20, 3)), "");
  EXPECT_EQ(client.Receive(std::string(5, '\0')), "");
  EXPECT_THAT(client.Receive(std::string(1, '\0')), HasSubstr("a frame of 1048576 bytes"));
}

TEST(Http2Frames, TheServerBeginsWithItsSettings) {
  for (const std::string& first : {FrameOf(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0), PingFrame(), GoAwayFrame(0),
                                   WindowFrame(0, 1), FrameOf(0xfa, 0, 0), FrameOf(NGHTTP2_PRIORITY, 0, 1, "12345"),
                                   DataFrame(1, ""), FrameOf(NGHTTP2_SETTINGS, 0, 1)}) {
    FramesClient client;
    EXPECT_EQ(client.Open(), 1) << "nobody has to wait for them";
    client.Written();
    EXPECT_NE(client.Receive(first + SettingsFrame()), "");
    EXPECT_THAT(client.Written(), ElementsAre("goaway 0 1"));
    EXPECT_THAT(client.Heard(), IsEmpty());
  }
}

TEST(Http2Frames, MoreThanTheWindowIsTooMuch) {
  struct Case {
    std::string what;
    uint32_t stream_window, connection_window;
    std::string bytes;
    bool fine;
  };
  const std::string half(50, 'h');
  const int padded = NGHTTP2_FLAG_PADDED;
  const Case cases[] = {
      {"a stream's, all of it", 100, 65535, DataFrame(1, std::string(100, 'x')), true},
      {"a stream's, and a byte", 100, 65535, DataFrame(1, std::string(101, 'x')), false},
      {"new windows count", 100, 65535, DataFrame(1, half) + DataFrame(1, std::string(100, 'x')), true},
      {"what has no new window yet", 100, 65535, DataFrame(1, "x") + DataFrame(1, std::string(100, 'x')), false},
      {"padding counts", 100, 65535, DataFrame(1, std::string(1, 90) + std::string(100, 'x'), padded), false},
      {"streams for themselves", 100, 65535, DataFrame(1, half) + DataFrame(3, half), true},
      {"nobody's", 100, 65535, DataFrame(5, std::string(200, 'x')), true},
      {"the connection's, all of it", 65535, 100, DataFrame(1, std::string(100, 'x')), true},
      {"the connection's, and a byte", 65535, 100, DataFrame(1, std::string(101, 'x')), false},
      {"the connection's, by two", 65535, 100, DataFrame(1, "x") + DataFrame(3, std::string(100, 'x')), false},
      {"the connection's, by nobody", 65535, 100, DataFrame(5, std::string(101, 'x')), false},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    FramesClient client({each.stream_window, each.connection_window});
    EXPECT_EQ(ReceiveViolation(client, each.bytes, each.bytes.size()) == "", each.fine);
    if (each.fine) continue;
    EXPECT_THAT(client.Written(), Contains("goaway 0 3"));
  }
}

TEST(Http2Frames, WindowsAreRenewedWhenHalfOfThemIsUsed) {
  FramesClient client({1000, 4000});
  client.Start(3);
  const auto receive = [&](const std::string& frame) {
    EXPECT_EQ(client.Receive(frame), "");
    return client.Written();
  };
  EXPECT_THAT(receive(DataFrame(1, std::string(499, 'x'))), IsEmpty());
  EXPECT_THAT(receive(DataFrame(1, "x")), ElementsAre("window 1 500"));
  EXPECT_THAT(receive(DataFrame(1, std::string(499, 'x'))), IsEmpty());
  EXPECT_THAT(receive(DataFrame(3, std::string(502, 'x'))), ElementsAre("window 3 502"));
  // Padding and its length are data, too; also where nobody listens.
  EXPECT_THAT(receive(DataFrame(1, std::string(1, '\0'), NGHTTP2_FLAG_PADDED)), ElementsAre("window 1 500"));
  client.frames.Forget(1);
  EXPECT_THAT(receive(DataFrame(1, std::string(497, 'x'))), IsEmpty());
  EXPECT_THAT(receive(DataFrame(1, "x")), ElementsAre("window 0 2000"));
  // The last piece needs no window of its stream.
  EXPECT_THAT(receive(DataFrame(3, std::string(900, 'x'), kEndsStream)), IsEmpty());
  EXPECT_THAT(receive(DataFrame(5, std::string(1000, 'x'))), ElementsAre("window 5 1000"));
  EXPECT_THAT(receive(DataFrame(5, std::string(100, 'x'), kEndsStream)), ElementsAre("window 0 2000"));
}

// The sizes of a body's pieces, as many as may be sent now.
std::vector<size_t> SendAll(FramesClient& client, int32_t stream, size_t size) {
  const std::string body(size, 'b');
  std::vector<size_t> sizes;
  for (size_t sent = 0; sent < size; sent += sizes.back()) {
    sizes.push_back(client.frames.SendBody(stream, std::string_view(body).substr(sent)));
    if (sizes.back() == 0) {
      sizes.pop_back();
      break;
    }
  }
  return sizes;
}

TEST(Http2Frames, ABodyIsSentAsFarAsTheWindowsAllow) {
  FramesClient client;
  client.Start(3, false);
  EXPECT_THAT(SendAll(client, 1, 5), ElementsAre(5));
  EXPECT_THAT(client.Written(), ElementsAre("data 1 5 end"));
  // The connection's window is the same size as a stream's: a first one uses it up.
  EXPECT_THAT(SendAll(client, 3, 100'000), ElementsAre(16384, 16384, 16384, 16378));
  EXPECT_THAT(client.Written(), ElementsAre("data 3 16384", "data 3 16384", "data 3 16384", "data 3 16378"));
  ASSERT_EQ(client.Receive(WindowFrame(3, 1000)), "");
  EXPECT_THAT(SendAll(client, 3, 10), IsEmpty());
  EXPECT_THAT(SendAll(client, 5, 10), IsEmpty()) << "there is none for others, too";
  ASSERT_EQ(client.Receive(WindowFrame(0, 2000)), "");
  EXPECT_THAT(SendAll(client, 3, 2000), ElementsAre(1005)) << "the five bytes that the connection had no room for";
  EXPECT_THAT(SendAll(client, 5, 2000), ElementsAre(995));
  EXPECT_THAT(client.Written(), ElementsAre("data 3 1005", "data 5 995"));
  // A stream that is gone sends nothing.
  ASSERT_EQ(client.Receive(WindowFrame(0, 1 << 20)), "");
  client.frames.Forget(5);
  EXPECT_THAT(SendAll(client, 5, 10), IsEmpty());
  EXPECT_THAT(SendAll(client, 99, 10), IsEmpty());
  EXPECT_THAT(client.Written(), IsEmpty());
}

TEST(Http2Frames, BodiesAreSentInSmallFramesWhateverTheServerTakes) {
  FramesClient client;
  client.Start(1, false);
  ASSERT_EQ(client.Receive(SettingsFrame({{5, 0xffffff}})), "");
  EXPECT_THAT(SendAll(client, 1, 40'000), ElementsAre(16384, 16384, 7232));
}

TEST(Http2Frames, ManySettingsAtOnceAreAnError) {
  std::vector<std::pair<uint16_t, uint32_t>> settings(64, {4, 100});
  FramesClient client;
  EXPECT_EQ(client.Receive(SettingsFrame(settings)), "");
  settings.emplace_back(4, 100);
  EXPECT_THAT(client.Receive(SettingsFrame(settings)), HasSubstr("too many settings at once"));
}

TEST(Http2Frames, SettingsMoveTheWindowsOfOpenStreams) {
  FramesClient client;
  EXPECT_EQ(client.Receive(SettingsFrame({{4, 100}})), "");
  ASSERT_EQ(client.Open(false), 1);
  EXPECT_THAT(SendAll(client, 1, 60), ElementsAre(60));
  ASSERT_EQ(client.Receive(SettingsFrame({{4, 10}})), "");
  EXPECT_THAT(SendAll(client, 1, 1), IsEmpty()) << "it is at -50";
  ASSERT_EQ(client.Receive(WindowFrame(1, 50)), "");
  EXPECT_THAT(SendAll(client, 1, 1), IsEmpty());
  ASSERT_EQ(client.Receive(WindowFrame(1, 3)), "");
  EXPECT_THAT(SendAll(client, 1, 100), ElementsAre(3));
  ASSERT_EQ(client.Open(false), 3);
  EXPECT_THAT(SendAll(client, 3, 100), ElementsAre(10)) << "new ones begin with what was said last";
  ASSERT_EQ(client.Receive(SettingsFrame({{4, 0}, {4, 25}})), "");
  EXPECT_THAT(SendAll(client, 1, 100), ElementsAre(15));
  EXPECT_THAT(SendAll(client, 3, 100), ElementsAre(15));
  // As large as can be, and as small again.
  ASSERT_EQ(client.Receive(SettingsFrame({{4, 0x7fffffff}, {4, 0}, {4, 0x7fffffff}, {4, 0}})), "");
  EXPECT_THAT(SendAll(client, 1, 100), IsEmpty());
  ASSERT_EQ(client.Receive(WindowFrame(1, 26)), "");
  EXPECT_THAT(SendAll(client, 1, 100), ElementsAre(1)) << "of 78 that were sent, 53 and 26 were given";
  // The connection's is not moved: it had 65535.
  ASSERT_EQ(client.Receive(SettingsFrame({{4, 1 << 20}})), "");
  const std::vector<size_t> rest = SendAll(client, 3, 100'000);
  EXPECT_EQ(std::accumulate(rest.begin(), rest.end(), size_t{0}), size_t{65535 - 60 - 3 - 10 - 15 - 15 - 1});
}

TEST(Http2Frames, AWrongWindowOfAStreamEndsTheStream) {
  FramesClient client;
  client.Start(3);
  EXPECT_EQ(client.Receive(WindowFrame(1, 0) + WindowFrame(3, 0x7fffffff) + WindowFrame(5, 0x7fffffff - 65535)), "");
  EXPECT_THAT(client.Heard(), ElementsAre("reset 0 1", "reset 1 3"));
  EXPECT_THAT(client.Written(), ElementsAre("reset 1 1", "reset 3 3"));
  EXPECT_EQ(client.frames.open_streams(), 1u);
  EXPECT_EQ(client.Receive(WindowFrame(1, 0) + WindowFrame(3, 0x7fffffff)), "") << "they are forgotten";
  EXPECT_THAT(client.Written(), IsEmpty());
}

TEST(Http2Frames, StreamsHaveOddNumbersThatGrow) {
  FramesClient client;
  client.Start(0);
  for (const int32_t number : {1, 3, 5, 7}) {
    EXPECT_EQ(client.Open(), number);
    client.frames.Reset(number, Http2Code::kCancel);
  }
  EXPECT_EQ(client.frames.open_streams(), 0u);
  EXPECT_EQ(client.Open(false), 9);
  EXPECT_EQ(client.frames.open_streams(), 1u);
  EXPECT_THAT(client.Written(), Contains("reset 7 8"));
}

TEST(Http2Frames, AHeadThatFitsIntoNoFrameIsSentInSeveral) {
  FramesClient client;
  client.Start(0);
  client.Open();  // puts the authority into the table; then a long path's head is longer by 7 or 8 bytes
  const std::string before = client.TakeBytes().substr(kFrameHeadBytes);
  struct Case {
    uint32_t max_frame;
    size_t path;
    std::vector<size_t> frames;
  };
  const Case cases[] = {
      {16384, 100, {105}},
      {16384, 16377, {16384}},
      {16384, 16378, {16384, 1}},
      {16384, 32760, {16384, 16384}},
      {16384, 32761, {16384, 16384, 1}},
      {16384, 50'000, {16384, 16384, 16384, 856}},
      {40'000, 39'992, {40'000}},
      {40'000, 60'000, {40'000, 20'008}},
  };
  nghttp2_hd_inflater* inflater = nullptr;
  ASSERT_EQ(nghttp2_hd_inflate_new(&inflater), 0);
  // The last field is the path.
  const auto last_field = [&](std::string_view block) {
    std::string last;
    const auto* data = reinterpret_cast<const uint8_t*>(block.data());
    size_t left = block.size();
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field = {};
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater, &field, &flags, data, left, 1);
      if (used < 0) return std::string("unreadable");
      data += used;
      left -= static_cast<size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
        last.assign(reinterpret_cast<const char*>(field.value), field.valuelen);
    }
    nghttp2_hd_inflate_end_headers(inflater);
    return last;
  };
  ASSERT_EQ(last_field(before), "/");
  for (const Case& each : cases) {
    for (const bool ends : {true, false}) {
      SCOPED_TRACE(each.path);
      ASSERT_EQ(client.Receive(SettingsFrame({{5, each.max_frame}})), "");
      client.Written();
      const std::string path = "/" + std::string(each.path - 1, 'p');
      const std::string id = " " + std::to_string(client.Open(ends, path)) + " ";
      const std::string bytes = client.TakeBytes();
      Lines frames;
      std::string block;
      for (size_t at = 0; const size_t size : each.frames) {
        const bool first = at == 0;
        at += kFrameHeadBytes + size;
        frames.push_back((first ? "headers" : "continuation") + id + std::to_string(size) +
                         (at == bytes.size() ? "" : " more") + (first && ends ? " end" : ""));
        block += bytes.substr(std::min(bytes.size(), at - size), size);
      }
      EXPECT_EQ(FramesIn(bytes), frames);
      EXPECT_EQ(last_field(block), path);
    }
  }
  nghttp2_hd_inflate_del(inflater);
}

TEST(Http2Frames, AServersResetEndsTheStreamAndNotTheOthers) {
  FramesClient client;
  client.Start(2);
  EXPECT_EQ(client.Receive(ResetFrame(1, 0xdeadbeef) + ResetFrame(1, 8) + HeadersFrame(3, kStatus204, 5)), "");
  EXPECT_THAT(client.Heard(),
              ElementsAre("reset 0 3735928559", "begin 1", "header 1 :status=204", "head 1", "over 1 3"));
  EXPECT_THAT(client.Written(), IsEmpty());
}

TEST(Http2Frames, WhatWeResetOrForgetIsNotSpokenOf) {
  FramesClient client;
  client.Start(3);
  client.frames.Reset(1, Http2Code::kCancel);
  client.frames.Forget(3);
  client.frames.Forget(3);
  client.frames.Reset(3, Http2Code::kNone);
  EXPECT_THAT(client.Written(), ElementsAre("reset 1 8", "reset 3 0"));
  for (const uint32_t stream : {1, 3, 5}) {
    EXPECT_EQ(client.Receive(HeadersFrame(stream, kStatus200) + DataFrame(stream, "x") + WindowFrame(stream, 1) +
                             ResetFrame(stream, 2)),
              "");
  }
  EXPECT_THAT(client.Heard(), ElementsAre("begin 2", "header 2 :status=200", "head 2", "data 2 x", "reset 2 2"));
  EXPECT_EQ(client.Receive(GoAwayFrame(0)), "");
  EXPECT_THAT(client.Heard(), ElementsAre("goaway"));
}

TEST(Http2Frames, AStreamMayBeEndedWhileItIsSpokenOf) {
  const std::string answer = HeadersFrame(1, std::string(kStatus200) + std::string(kNewField)) + DataFrame(1, "one") +
                             DataFrame(1, "two", kEndsStream);
  const std::string trailed = HeadersFrame(1, std::string(kNewestField), kEndsHead | kEndsStream);
  // The next stream's head needs what the first one put into the table.
  const std::string next = HeadersFrame(3, std::string(kNewestField));
  const Lines all = {"begin 0", "header 0 :status=200", "header 0 n=new", "head 0", "data 0 one", "data 0 two"};
  for (const bool resets : {false, true}) {
    for (size_t i = 0; i < all.size(); ++i) {
      for (const bool pings : {false, true}) {
        SCOPED_TRACE(all[i] + (resets ? " reset" : " forget"));
        FramesClient client;
        client.Start(2);
        client.recorder.act = [&](const std::string& line) {
          if (line != all[i]) return;
          if (pings) client.frames.Ping();
          resets ? client.frames.Reset(1, Http2Code::kCancel) : client.frames.Forget(1);
        };
        EXPECT_EQ(client.Receive(answer + trailed + next), "");
        Lines expected(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        expected.insert(expected.end(), {"begin 1", "header 1 n=new", "head 1"});
        EXPECT_EQ(client.Heard(), expected);
        Lines written = pings ? Lines{"ping 0"} : Lines{};
        if (resets) written.emplace_back("reset 1 8");
        EXPECT_EQ(client.Written(), written);
      }
    }
  }
}

TEST(Http2Frames, OthersMayBeEndedWhileOneIsSpokenOf) {
  FramesClient client;
  client.Start(5);
  client.recorder.act = [&](const std::string& line) {
    if (line == "data 2 x") {
      for (const int32_t other : {1, 9}) client.frames.Reset(other, Http2Code::kCancel);
    }
    if (line == "over 2 5") client.frames.Forget(7);
  };
  EXPECT_EQ(client.Receive(DataFrame(5, "x", kEndsStream) + DataFrame(9, "x") + DataFrame(7, "x") + DataFrame(3, "y")),
            "");
  EXPECT_THAT(client.Heard(), ElementsAre("data 2 x", "over 2 5", "data 1 y"));
  EXPECT_EQ(client.frames.open_streams(), 1u);
}

TEST(Http2Frames, AServerThatGoesAwayLeavesOutWhatIsLater) {
  FramesClient client;
  client.Start(5);
  client.recorder.act = [&](const std::string& line) {
    if (line == "goaway") client.frames.Reset(9, Http2Code::kCancel);
    if (line == "reset 3 7") client.frames.Forget(5);
  };
  EXPECT_EQ(client.Receive(GoAwayFrame(0x80000003)), "") << "the first bit does not count";
  EXPECT_THAT(client.Heard(), ElementsAre("goaway", "reset 3 7")) << "not of those that were ended meanwhile";
  EXPECT_EQ(client.frames.open_streams(), 2u);
  EXPECT_THAT(client.Written(), ElementsAre("reset 9 8"));
  EXPECT_EQ(client.Open(), 0);
  EXPECT_THAT(client.Written(), IsEmpty());
  // What it has taken it answers; and it may take less.
  EXPECT_EQ(client.Receive(HeadersFrame(1, kStatus204, kEndsHead | kEndsStream)), "");
  EXPECT_THAT(client.Heard(), Contains("over 0 1"));
  EXPECT_EQ(client.Receive(GoAwayFrame(1, 11, "enough")), "");
  EXPECT_THAT(client.Heard(), ElementsAre("goaway", "reset 1 7"));
}

TEST(Http2Frames, AGoAwayOfEverythingLeavesOutNothing) {
  FramesClient client;
  client.Start(2);
  EXPECT_EQ(client.Receive(GoAwayFrame(0x7fffffff)), "");
  EXPECT_THAT(client.Heard(), ElementsAre("goaway"));
  EXPECT_EQ(client.frames.open_streams(), 2u);
  EXPECT_EQ(client.Open(), 0);
}

TEST(Http2Frames, PingsAreAnsweredWithWhatTheySay) {
  FramesClient client;
  client.Start(0);
  EXPECT_EQ(client.Receive(PingFrame(BigEndian(77, 8)) + PingFrame(BigEndian(78, 8), NGHTTP2_FLAG_ACK)), "");
  EXPECT_THAT(client.Written(), ElementsAre("ping ack 77"));
  client.frames.Ping();
  EXPECT_THAT(client.Written(), ElementsAre("ping 0"));
  client.frames.GoAway(Http2Code::kNone);
  EXPECT_THAT(client.Written(), ElementsAre("goaway 0 0"));
  EXPECT_THAT(client.Heard(), IsEmpty());
}

TEST(Http2Frames, WhoAsksAgainAndAgainHasToReadTheAnswers) {
  struct Case {
    std::string what;
    std::string before, frame;
  };
  const Case cases[] = {
      {"pings", "", PingFrame()},
      {"settings", "", SettingsFrame()},
      {"data", "", DataFrame(1, "x")},
      {"data of nobody", "", DataFrame(3, std::string(50, 'x'))},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.what);
    FramesClient deaf({2, 100});
    deaf.Start(2);
    deaf.frames.Forget(3);
    deaf.Open(false);  // what is ours to send is not the server's doing
    const size_t ours = deaf.frames.output().size();
    std::string error;
    int frames = 0;
    for (; error.empty() && frames < 100'000; ++frames) error = deaf.Receive(each.frame);
    EXPECT_THAT(error, HasSubstr("asks again and again"));
    EXPECT_GT(frames, 2000) << "some patience there is";
    EXPECT_LE(deaf.frames.output().size(), ours + (64 << 10) + 100);
    EXPECT_EQ(deaf.Written().back(), "goaway 0 11");

    FramesClient attentive({2, 100});
    attentive.Start(2);
    attentive.frames.Forget(3);
    for (int i = 0; i < 100'000; ++i) {
      ASSERT_EQ(attentive.Receive(each.frame), "") << i;
      // Not at once, and not all at once.
      if (i % 100 == 0) attentive.frames.Sent(attentive.frames.output().size() / 2);
      if (i % 1000 == 0) attentive.frames.Sent(attentive.frames.output().size());
    }
  }
}

TEST(Http2Frames, OutputIsTakenInAnyPieces) {
  FramesClient whole, pieces;
  const std::string all = EverythingAServerMaySay();
  std::string taken;
  for (auto* client : {&whole, &pieces}) {
    for (int i = 0; i < 5; ++i) client->Open();
  }
  ASSERT_EQ(whole.Receive(all), "");
  size_t count = 0;
  for (const char c : all) {
    ASSERT_EQ(pieces.Receive(std::string_view(&c, 1)), "");
    const size_t size = std::min(pieces.frames.output().size(), count++ % 7);
    taken += pieces.frames.output().substr(0, size);
    pieces.frames.Sent(size);
  }
  EXPECT_EQ(taken + pieces.TakeBytes(), whole.TakeBytes());
}

TEST(Http2Frames, TheTableOfOurHeadsIsAsLargeAsTheServerKeeps) {
  FramesClient client;
  client.Start(0);
  client.Open();
  const std::string first = client.TakeBytes();
  client.Open();
  const std::string usual = client.TakeBytes();
  EXPECT_LT(usual.size(), first.size()) << "the authority is in the table";
  ASSERT_EQ(client.Receive(SettingsFrame({{1, 0}})), "");
  client.Open();
  const std::string bytes = client.TakeBytes();
  ASSERT_THAT(FramesIn(bytes), ElementsAre("settings ack", StartsWith("headers 5")));
  EXPECT_EQ(bytes[2 * kFrameHeadBytes], '\x20') << "a head says first that the table is empty";
}

TEST(Http2Frames, WhoReadsMayAskAlsoWhileThereIsAlwaysMoreToRead) {
  FramesClient client;
  client.Start(0);
  for (int i = 0; i < 20'000; ++i) {
    client.frames.Ping();
    client.frames.Sent(client.frames.output().size() - 17);  // all but our newest frame
    ASSERT_EQ(client.Receive(PingFrame()), "") << i;
  }
}

}  // namespace
}  // namespace berth::net
