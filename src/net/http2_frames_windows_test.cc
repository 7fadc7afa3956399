// SPDX-License-Identifier: Apache-2.0
// Windows, and the settings that move them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http2_frames.h"
#include "net/http2_frames_test_util.h"

namespace berth::net {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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
    EXPECT_EQ(ReceiveWithStreams(client, each.bytes, each.bytes.size()) == "", each.fine);
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

}  // namespace
}  // namespace berth::net
