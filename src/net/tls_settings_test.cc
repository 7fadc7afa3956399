// SPDX-License-Identifier: Apache-2.0
#include "net/tls_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/tls_server_names.h"

namespace berth::net {
namespace {

TEST(TlsSettingsTest, VersionsHaveGosNames) {
  EXPECT_EQ(*ParseTlsVersion(""), TlsVersion::k12);
  EXPECT_EQ(*ParseTlsVersion("VersionTLS10"), TlsVersion::k10);
  EXPECT_EQ(*ParseTlsVersion("VersionTLS11"), TlsVersion::k11);
  EXPECT_EQ(*ParseTlsVersion("VersionTLS12"), TlsVersion::k12);
  EXPECT_EQ(*ParseTlsVersion("VersionTLS13"), TlsVersion::k13);
  EXPECT_EQ(ParseTlsVersion("1.3").error().text(), "unknown tls version \"1.3\"");
  EXPECT_EQ(ParseTlsVersion("a\"\n").error().text(), "unknown tls version \"a\\\"\\n\"");
}

TEST(TlsSettingsTest, SuitesHaveGosNames) {
  EXPECT_EQ(*OpenSslCipherList({"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
                                "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305"}),
            "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305");
  EXPECT_EQ(*OpenSslCipherList({"TLS_AES_128_GCM_SHA256"}), "");
  EXPECT_EQ(OpenSslCipherList({"TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-SHA"}).error().text(),
            "Cipher suite ECDHE-RSA-AES128-SHA not supported or doesn't exist");
  EXPECT_THAT(UnavailableCipherSuites({"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256"}),
              testing::IsEmpty());
}

TEST(TlsSettingsTest, CurvesAreNumbers) {
  EXPECT_TRUE(CheckCurvePreferences({23, 29, 24, 25}).ok());
  EXPECT_EQ(CheckCurvePreferences({0}).text(), "curve preference 0 is out of range (must be 1-65535)");
  EXPECT_EQ(CheckCurvePreferences({70000}).text(), "curve preference 70000 is out of range (must be 1-65535)");
  EXPECT_EQ(CheckCurvePreferences({23, 29, 23}).text(), "duplicate curve preference 23");
  EXPECT_EQ(CheckCurvePreferences({1}).text(), "curve preference 1 is not supported by the current Go version");
  EXPECT_THAT(CheckCurvePreferences({4588}).text(), testing::StartsWith("curve preference 4588 is not supported"));
}

TEST(ServerNamesTest, GivenNamesGoBeforeOwnAndWholeOnesBeforePatterns) {
  ServerNames names;
  names.Add(0, {}, "own.example", {"both.example", "*.example", "127.0.0.2"});
  names.Add(1, {"both.example", "10.0.0.1"}, "ignored.example", {"ignored2.example"});
  names.Add(2, {"both.example"}, "", {});
  EXPECT_EQ(names.Find("both.example"), 1);
  EXPECT_EQ(names.Find("own.example"), 0);
  EXPECT_EQ(names.Find("OTHER.Example."), 0) << "the pattern, in any case";
  EXPECT_EQ(names.Find("a.b.example"), std::nullopt) << "an asterisk is one label";
  EXPECT_EQ(names.Find("ignored.test"), std::nullopt);
  EXPECT_EQ(names.FindAddress("10.0.0.1"), 1);
  EXPECT_EQ(names.FindAddress(""), std::nullopt);
}

TEST(ServerNamesTest, ACommonNameThatNoHostHasIsNoName) {
  ServerNames names;
  names.Add(0, {}, "10.0.0.1", {});
  names.Add(1, {}, "Some Company", {});
  names.Add(2, {}, "-a.example", {});
  EXPECT_EQ(names.FindAddress("10.0.0.1"), std::nullopt);
  EXPECT_EQ(names.Find("some company"), std::nullopt);
  EXPECT_EQ(names.Find("-a.example"), std::nullopt);
  EXPECT_EQ(names.Find(""), std::nullopt);
}

}  // namespace
}  // namespace berth::net
