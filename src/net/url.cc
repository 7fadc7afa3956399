// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <algorithm>

namespace berth::net {

Result<Url> ParseUrl(std::string_view text) {
  const auto wrong = [&](const std::string& what) {
    // What may be a password is not shown.
    std::string shown(text);
    const size_t scheme = shown.find("://"), at = shown.rfind('@');
    if (at != std::string::npos) {
      const size_t user = scheme == std::string::npos || scheme > at ? 0 : scheme + 3;
      shown.replace(user, at - user, "***");
    }
    return Error("URL \"" + shown + "\": " + what);
  };
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; })) {
    return wrong("blanks and control characters are not allowed");
  }
  Url url;
  std::string_view rest = text;
  if (rest.starts_with("https://"))
    url.tls = true;
  else if (!rest.starts_with("http://"))
    return wrong("must begin with http:// or https://");
  rest.remove_prefix(url.tls ? 8 : 7);
  if (rest.find_first_of("?#") != std::string_view::npos) return wrong("a query or fragment has no place here");

  const size_t slash = std::min(rest.find('/'), rest.size());
  url.prefix = rest.substr(slash);
  while (url.prefix.ends_with('/')) url.prefix.pop_back();
  const std::string_view authority = rest.substr(0, slash);
  if (authority.find('@') != std::string_view::npos) return wrong("a user's name has no place here");
  url.authority = authority;

  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return wrong("] is missing");
    url.host = authority.substr(1, end - 1);
    const std::string_view behind = authority.substr(end + 1);
    if (!behind.empty() && behind[0] != ':') return wrong("a port must follow the host behind a colon");
    has_port = !behind.empty();
    if (has_port) port = behind.substr(1);
  } else {
    const size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
  }
  if (url.host.empty()) return wrong("the host is missing");
  if (has_port) {
    const bool digits =
        !port.empty() && port.size() <= 5 && std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
    const int number = digits ? std::stoi(std::string(port)) : 0;
    if (number < 1 || number > 65535) return wrong("the port must be a number from 1 to 65535");
    url.port = port;
  } else {
    url.port = url.tls ? "443" : "80";
  }
  return url;
}

}  // namespace berth::net
