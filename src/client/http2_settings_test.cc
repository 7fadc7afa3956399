// SPDX-License-Identifier: Apache-2.0
#include "client/http2_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace berth::client {
namespace {

Http2Settings SettingsWith(const std::map<std::string, std::string>& environment, std::vector<std::string>* warnings) {
  return Http2Settings::From(
      [&](const char* name) {
        const auto it = environment.find(name);
        return it == environment.end() ? "" : it->second;
      },
      warnings);
}

TEST(Http2Settings, AreClientGos) {
  std::vector<std::string> warnings;
  Http2Settings settings = SettingsWith({}, &warnings);
  EXPECT_TRUE(settings.enabled);
  EXPECT_EQ(settings.ping_after, Duration::Seconds(30));
  EXPECT_EQ(settings.ping_timeout, Duration::Seconds(15));
  settings = SettingsWith({{"DISABLE_HTTP2", "false"},  // whatever it says
                           {"HTTP2_READ_IDLE_TIMEOUT_SECONDS", "0"},
                           {"HTTP2_PING_TIMEOUT_SECONDS", "+7"}},
                          &warnings);
  EXPECT_FALSE(settings.enabled);
  EXPECT_EQ(settings.ping_after, Duration::Seconds(0));
  EXPECT_EQ(settings.ping_timeout, Duration::Seconds(7));
  EXPECT_TRUE(warnings.empty());
}

TEST(Http2Settings, ABadValueIsNamedAndTheUsualOneTaken) {
  for (const char* bad : {"30s", "x", "1e3", "99999999999999999999", "9999999999"}) {
    std::vector<std::string> warnings;
    const Http2Settings settings = SettingsWith({{"HTTP2_PING_TIMEOUT_SECONDS", bad}}, &warnings);
    EXPECT_EQ(settings.ping_timeout, Duration::Seconds(15));
    EXPECT_THAT(warnings, ::testing::ElementsAre("environment variable HTTP2_PING_TIMEOUT_SECONDS: \"" +
                                                 std::string(bad) + "\" is not a number of seconds: 15 are used"));
  }
}

}  // namespace
}  // namespace berth::client
