// SPDX-License-Identifier: Apache-2.0
// Proxies: where they are, and which servers are reached through one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "berth/error.h"
#include "net/url.h"

namespace berth::net {

enum class ProxyKind : uint8_t { kHttp, kHttps, kSocks5 };

struct Proxy {
  ProxyKind kind = ProxyKind::kHttp;
  std::string host;  // without brackets
  std::string port;
  std::string user, password;  // decoded; may be empty
  std::string name;            // the URL without user and password, for people

  bool has_user() const { return !user.empty() || !password.empty(); }
};

// (http|https|socks5)://[user[:password]@]host[:port][/]. Errors show no user and no password.
Result<Proxy> ParseProxy(std::string_view text);

// What the environment says, as Go's programs understand it (golang.org/x/net/http/httpproxy).
struct ProxyEnvironment {
  std::string http, https, none;  // HTTP_PROXY, HTTPS_PROXY and NO_PROXY
  bool cgi = false;               // HTTP_PROXY may be what a client has sent as a header: it does not count

  // The variables of this process, in capitals or else in small letters.
  static ProxyEnvironment Read();
  // The URL of the proxy for `server`, as it is written there (a scheme may be missing: http); empty: none.
  // Never for localhost and addresses of this machine.
  std::string For(const Url& server) const;
};

}  // namespace berth::net
