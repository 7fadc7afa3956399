// SPDX-License-Identifier: Apache-2.0
// Settings and answers.
#include "net/http2_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http2_frames_test_util.h"

namespace berth::net {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

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
  OtherDeflater server;
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
  OtherDeflater server;
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
  OtherDeflater server;
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

}  // namespace
}  // namespace berth::net
