// SPDX-License-Identifier: Apache-2.0
// Streams from their beginning to their end, and the end of the connection.
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

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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
  OtherInflater inflater;
  // The last field is the path.
  const auto last_field = [&](std::string_view block) {
    const ReadHead head = inflater.Read(block);
    return head.fine && !head.fields.empty() ? head.fields.back().second : "unreadable";
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
