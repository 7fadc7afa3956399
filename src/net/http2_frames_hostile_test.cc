// SPDX-License-Identifier: Apache-2.0
// What is not HTTP/2.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "net/http2_frames.h"
#include "net/http2_frames_test_util.h"

namespace berth::net {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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
  // A name of 4060 bytes, which fills the table, and the same again and again, of two bytes each.
  std::string much = "\x40\x7f\xdd\x1e" + std::string(4060, 'n') + std::string(1, '\0');
  for (int i = 0; i < 300; ++i) much += std::string("\x7e\0", 2);
  for (const uint32_t stream : {1, 5})
    all.push_back({"a head that says much with little", HeadersFrame(stream, much), kCalm, "more than a MiB"});
  std::string many = HeadersFrame(5, much.substr(0, much.size() - 600));
  for (int i = 0; i < 300; ++i) many += HeadersFrame(5, std::string("\x7e\0", 2));
  all.push_back({"many heads that do to nobody", many, kCalm, "more than a MiB"});
  return all;
}

TEST(Http2Frames, WhatIsNotHttp2EndsTheConnection) {
  for (const Violation& each : ViolationsOnFrames()) {
    SCOPED_TRACE(each.what);
    FramesClient client;
    const std::string error = ReceiveWithStreams(client, each.bytes, each.bytes.size());
    EXPECT_THAT(error, HasSubstr(each.says));
    EXPECT_THAT(error, StartsWith("the server does not keep to HTTP/2: "));
    const std::string bytes = client.TakeBytes();
    const Lines written = FramesIn(bytes);
    ASSERT_FALSE(written.empty());
    EXPECT_EQ(written.back(), "goaway 0 " + std::to_string(static_cast<uint32_t>(each.code)));
    EXPECT_EQ(std::ranges::count_if(written, [](const auto& line) { return line.starts_with("goaway"); }), 1);
    FramesClient slow;
    EXPECT_EQ(ReceiveWithStreams(slow, each.bytes, each.bytes.size() < 1000 ? 1 : 1001), error);
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

}  // namespace
}  // namespace berth::net
