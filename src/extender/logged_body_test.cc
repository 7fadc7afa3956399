// SPDX-License-Identifier: Apache-2.0
#include "extender/logged_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::extender {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(LoggedBodyTest, ValuesOfEnvironmentVariablesAreHidden) {
  EXPECT_EQ(LoggedBody(R"({"Pod":{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"s\"ecret"},)"
                       R"({"value": "x","name":"B"},{"name":"C","valueFrom":{"fieldRef":{"value":"f"}}}],)"
                       R"("value":"seen"}]}},"value":"seen"})"),
            R"({"Pod":{"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"***"},)"
            R"({"value": "***","name":"B"},{"name":"C","valueFrom":{"fieldRef":{"value":"***"}}}],)"
            R"("value":"seen"}]}},"value":"seen"})");
}

TEST(LoggedBodyTest, NoSpellingOfTheKeysShowsAValue) {
  for (const char* body : {R"({"ENV":[{"Value":"secret"}]})", R"({"e\u006ev":[{"value":"secret"}]})",
                           R"({"env":[{"val\u0075e":"secret"}]})", R"({"env":[{"value":secret}]})",
                           R"({"env":{"value":["secret",{"a":"secret"}]}})", R"({"env":[{"value":"secret)",
                           R"({"env" : [ { "value" : "secret" } ]})", R"({"env":[[{"value":"secret"}]]})"}) {
    EXPECT_THAT(LoggedBody(body), Not(HasSubstr("secret"))) << body;
  }
}

TEST(LoggedBodyTest, TheManifestThatKubectlAppliedIsHidden) {
  EXPECT_EQ(LoggedBody(R"({"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"env\":1}","a":"b"}})"),
            R"({"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"***","a":"b"}})");
}

TEST(LoggedBodyTest, LongBodiesAreCut) {
  const std::string body = "{\"Pod\":\"" + std::string(1000, 'x') + "\"}";
  const std::string shown = LoggedBody(body, 100);
  EXPECT_THAT(shown, EndsWith("x… (910 more bytes)"));
  EXPECT_EQ(LoggedBody("[" + std::string(3'000'000, '[')).size(), LoggedBody(std::string(3'000'001, '[')).size());
  EXPECT_EQ(LoggedBody(std::string(100, ' '), 100), std::string(100, ' '));
}

TEST(LoggedBodyTest, AnyBytesAreTaken) {
  for (const char* body : {"", "}", "]]]", "\"", "\\", "{\"a", "{\"\\", ":::", "nonsense", "\xff\xfe"}) {
    EXPECT_EQ(LoggedBody(body), body);
  }
}

}  // namespace
}  // namespace berth::extender
