// SPDX-License-Identifier: Apache-2.0
#include "net/proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

namespace berth::net {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProxyTest, UrlsAreRead) {
  const struct {
    const char* text;
    ProxyKind kind;
    const char *host, *port, *user, *password, *name;
  } cases[] = {
      {"http://p", ProxyKind::kHttp, "p", "80", "", "", "http://p"},
      {"HTTP://p:3128/", ProxyKind::kHttp, "p", "3128", "", "", "http://p:3128"},
      {"https://[fd00::1]", ProxyKind::kHttps, "fd00::1", "443", "", "", "https://[fd00::1]"},
      {"https://[fd00::1]:8443", ProxyKind::kHttps, "fd00::1", "8443", "", "", "https://[fd00::1]:8443"},
      {"socks5://me:a%40b%3a@p", ProxyKind::kSocks5, "p", "1080", "me", "a@b:", "socks5://p"},
      {"http://me@p:1", ProxyKind::kHttp, "p", "1", "me", "", "http://p:1"},
      {"http://a@b:c@p:1", ProxyKind::kHttp, "p", "1", "a@b", "c", "http://p:1"},
  };
  for (const auto& c : cases) {
    const Result<Proxy> proxy = ParseProxy(c.text);
    ASSERT_TRUE(proxy.ok()) << c.text << ": " << proxy.error().text();
    EXPECT_EQ(proxy->kind, c.kind) << c.text;
    EXPECT_EQ(proxy->host, c.host) << c.text;
    EXPECT_EQ(proxy->port, c.port) << c.text;
    EXPECT_EQ(proxy->user, c.user) << c.text;
    EXPECT_EQ(proxy->password, c.password) << c.text;
    EXPECT_EQ(proxy->name, c.name) << c.text;
  }
}

TEST(ProxyTest, WhatIsNoneIsAnErrorThatShowsNoPassword) {
  const std::string long_word(256, 'x');
  const std::pair<std::string, const char*> cases[] = {
      {"p:3128", "must begin with http://"},
      {"ftp://me:hunter2@p", "unsupported scheme \"ftp\", must be http, https, or socks5"},
      {"socks4://p", "unsupported scheme \"socks4\""},
      {"me:hunter2://p", "unsupported scheme, must be"},
      {"http://", "the host is missing"},
      {"http://me:hunter2@", "the host is missing"},
      {"http://p:0", "the port must be a number"},
      {"http://me:hunter2@p:x", "the port must be a number"},
      {"http://me:hunter2@p/path", "a path, query or fragment has no place"},
      {"http://me:hunter2@p?q", "a path, query or fragment has no place"},
      {"http://me:hunter2%4@p", "a % without two digits"},
      {"http://me:hunter2@p q", "blanks"},
      {"socks5://me:" + long_word + "@p", "at most 255 bytes"},
  };
  for (const auto& [text, want] : cases) {
    const Result<Proxy> proxy = ParseProxy(text);
    ASSERT_FALSE(proxy.ok()) << text;
    EXPECT_THAT(proxy.error().text(), AllOf(HasSubstr(want), Not(HasSubstr("hunter2")))) << text;
  }
}

std::string ProxyFor(const std::string& url, const std::string& none, bool cgi = false) {
  const ProxyEnvironment environment{"plain:1", "https://secure:2", none, cgi};
  return environment.For(*ParseUrl(url));
}

TEST(ProxyTest, TheEnvironmentNamesOnePerScheme) {
  EXPECT_EQ(ProxyFor("http://a", ""), "http://plain:1");
  EXPECT_EQ(ProxyFor("https://a", ""), "https://secure:2");
  EXPECT_EQ(ProxyFor("http://a", "", true), "") << "the variable may be a header";
  EXPECT_EQ(ProxyFor("https://a", "", true), "https://secure:2");
  EXPECT_EQ(ProxyEnvironment().For(*ParseUrl("https://a")), "");
  for (const char* here : {"https://localhost:6443", "https://LOCALHOST", "https://127.0.0.1", "https://127.9.9.9:1",
                           "https://[::1]", "https://[::ffff:127.0.0.1]"}) {
    EXPECT_EQ(ProxyFor(here, ""), "") << here;
  }
}

TEST(ProxyTest, SomeServersNeedNone) {
  const struct {
    const char *none, *url;
    bool direct;
  } cases[] = {
      {"*", "https://a", true},
      {"x, * ", "https://a", true},
      {"example.com", "https://example.com", true},
      {"example.com", "https://api.EXAMPLE.com:6443", true},
      {"example.com", "https://badexample.com", false},
      {".example.com", "https://example.com", false},
      {".example.com", "https://api.example.com", true},
      {"*.example.com", "https://api.example.com", true},
      {"*.example.com", "https://example.com", false},
      {"example.com:6443", "https://example.com:6443", true},
      {"example.com:6443", "https://example.com", false},
      {"example.com:443", "https://example.com", true},
      {" a , ,b", "https://b", true},
      {"10.0.0.0/8", "https://10.1.2.3", true},
      {"10.0.0.0/8", "https://11.1.2.3", false},
      {"10.96.0.0/12", "https://10.111.0.1", true},
      {"10.96.0.0/12", "https://10.112.0.1", false},
      {"0.0.0.0/0", "https://10.112.0.1", true},
      {"0.0.0.0/0", "https://[fd00::1]", false},
      {"fd00::/8", "https://[fd00::1]", true},
      {"fd00::/8", "https://[fe00::1]", false},
      {"10.0.0.1/32", "https://10.0.0.1", true},
      {"10.0.0.1/33", "https://10.0.0.1", false},
      {"10.0.0.1/x", "https://10.0.0.1", false},
      {"10.0.0.1", "https://10.0.0.1:6443", true},
      {"10.0.0.1:6443", "https://10.0.0.1:6443", true},
      {"10.0.0.1:6443", "https://10.0.0.1", false},
      {"10.0.0.1", "https://10.0.0.12", false},
      {"fd00::1", "https://[fd00::1]", true},
      {"[fd00::1]", "https://[fd00::1]", true},
      {"[fd00::1]:6443", "https://[fd00::1]:6443", true},
      {"[fd00::1]:6443", "https://[fd00::1]", false},
      {":6443", "https://a:6443", false},
      {"[", "https://a", false},
  };
  for (const auto& c : cases) EXPECT_EQ(ProxyFor(c.url, c.none) == "", c.direct) << c.none << " " << c.url;
}

TEST(ProxyTest, VariablesAreReadInCapitalsFirst) {
  ASSERT_EQ(::setenv("HTTPS_PROXY", "http://a", 1), 0);
  ASSERT_EQ(::setenv("https_proxy", "http://b", 1), 0);
  ASSERT_EQ(::setenv("no_proxy", "c", 1), 0);
  ::unsetenv("NO_PROXY");
  EXPECT_EQ(ProxyEnvironment::Read().https, "http://a");
  EXPECT_EQ(ProxyEnvironment::Read().none, "c");
  ASSERT_EQ(::setenv("HTTPS_PROXY", "", 1), 0);
  EXPECT_EQ(ProxyEnvironment::Read().https, "http://b");
  for (const char* name : {"HTTPS_PROXY", "https_proxy", "no_proxy"}) ::unsetenv(name);
  EXPECT_EQ(ProxyEnvironment::Read().https, "");
}

}  // namespace
}  // namespace berth::net
