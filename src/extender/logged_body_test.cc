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

TEST(LoggedBodyTest, ArgumentsAndHeadersOfProbesAreHidden) {
  EXPECT_EQ(LoggedBody(R"({"containers":[{"image":"i","command":["sh","-c"],"args":["--token", "secret"],)"
                       R"("livenessProbe":{"httpGet":{"path":"/live?token=secret","port":80,"scheme":"HTTPS",)"
                       R"("httpHeaders":[{"name":"Authorization","value":"Bearer secret"}]},"periodSeconds":10},)"
                       R"("readinessProbe":{"exec":{"command":["cat","secret"]}},)"
                       R"("lifecycle":{"preStop":{"httpGet":{"path":"/stop","port":"web"}}},)"
                       R"("volumeMounts":[{"name":"v","mountPath":"/v?","path":"/v?w"}]}]})"),
            R"({"containers":[{"image":"i","command":["***","***"],"args":["***", "***"],)"
            R"("livenessProbe":{"httpGet":{"path":"/live?***","port":80,"scheme":"HTTPS",)"
            R"("httpHeaders":[{"name":"Authorization","value":"***"}]},"periodSeconds":10},)"
            R"("readinessProbe":{"exec":{"command":["***","***"]}},)"
            R"("lifecycle":{"preStop":{"httpGet":{"path":"/stop","port":"web"}}},)"
            R"("volumeMounts":[{"name":"v","mountPath":"/v?","path":"/v?w"}]}]})");
  for (const char* body :
       {R"({"ARGS":["secret"]})", R"({"\u0061rgs":["secret"]})", R"({"args":"secret"})", R"({"args":{"a":["secret"]}})",
        R"({"command" : [ [ "secret" ] ]})", R"({"command":["secret)", R"({"httpheaders":[{"Value":"secret"}]})",
        R"({"httpGet":{"path":"/a\u003fsecret"}})", R"({"HTTPGET":{"Path":"/a?secret"}})",
        R"({"httpGet":{"p\u0061th":"/a?secret"}})", R"({"httpGet":{"path":"/a?secret)",
        R"({"httpGet":{"path":["/a?secret"]}})"}) {
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
