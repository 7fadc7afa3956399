// SPDX-License-Identifier: Apache-2.0
#include "net/proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "util/text.h"

namespace berth::net {
namespace {

// An IPv4 address is written as the IPv6 address that stands for it.
using Address = std::array<uint8_t, sizeof(in6_addr)>;
constexpr size_t kFourOffset = 12;
constexpr size_t kFourBits = kFourOffset * 8;

std::optional<Address> ParseAddress(std::string_view text) {
  const std::string copy(text);
  Address address = {};
  if (::inet_pton(AF_INET6, copy.c_str(), address.data()) == 1) return address;
  in_addr four = {};
  if (::inet_pton(AF_INET, copy.c_str(), &four) != 1) return std::nullopt;
  address[10] = address[11] = 0xff;
  std::memcpy(&address[kFourOffset], &four, sizeof(four));
  return address;
}

bool IsFour(std::string_view text) { return text.find(':') == std::string_view::npos; }

bool IsLoopback(const Address& address) {
  Address six = {};
  six.back() = 1;
  if (address == six) return true;
  const Address four = *ParseAddress("127.0.0.0");
  return std::equal(address.begin(), address.begin() + kFourOffset + 1, four.begin());
}

// "10.0.0.0/8".
bool InRange(const Address& address, bool is_four, std::string_view range) {
  const size_t slash = range.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view base = range.substr(0, slash), length = range.substr(slash + 1);
  const std::optional<Address> start = ParseAddress(base);
  size_t bits = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bits);
  const size_t most = IsFour(base) ? 32 : 128;
  if (!start || error != std::errc() || end != length.data() + length.size() || bits > most) return false;
  if (IsFour(base) != is_four) return false;
  if (is_four) bits += kFourBits;
  for (size_t i = 0; i < address.size(); ++i) {
    const size_t here = std::min<size_t>(bits - std::min(bits, i * 8), 8);
    const auto mask = static_cast<uint8_t>(0xff00u >> here);
    if ((address[i] & mask) != ((*start)[i] & mask)) return false;
  }
  return true;
}

// Host and port of "host", "host:port", "[six]" and "[six]:port"; an address of many colons is a host.
std::pair<std::string_view, std::string_view> SplitPort(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = std::min(text.find(']'), text.size());
    const std::string_view after = text.substr(std::min(end + 1, text.size()));
    return {text.substr(1, end - 1), after.starts_with(':') ? after.substr(1) : ""};
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

// Whether one entry of NO_PROXY names the server. `host` in small letters.
bool Names(std::string_view entry, std::string_view host, const std::optional<Address>& address,
           std::string_view port) {
  if (entry == "*") return true;
  if (address && InRange(*address, IsFour(host), entry)) return true;
  auto [name, name_port] = SplitPort(entry);
  if (name.empty() || (!name_port.empty() && name_port != port)) return false;
  if (const std::optional<Address> one = ParseAddress(name)) return address == one;
  if (name.starts_with("*.")) name.remove_prefix(1);
  if (name.starts_with('.')) return host.ends_with(name);
  return host == name ||
         (host.size() > name.size() && host.ends_with(name) && host[host.size() - name.size() - 1] == '.');
}

// "%40" is "@".
std::optional<std::string> Decoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    uint8_t byte = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
    if (digits.size() != 2 || error != std::errc() || end != digits.data() + 2) return std::nullopt;
    decoded += static_cast<char>(byte);
    i += 2;
  }
  return decoded;
}

}  // namespace

Result<Proxy> ParseProxy(std::string_view text) {
  Proxy proxy;
  const size_t scheme_end = text.find("://");
  const std::string scheme = util::Lower(text.substr(0, std::min(scheme_end, text.size())));
  if (scheme_end == std::string_view::npos)
    return Error("a proxy's URL must begin with http://, https:// or socks5://");
  if (scheme == "socks5") {
    proxy.kind = ProxyKind::kSocks5;
  } else if (scheme == "https") {
    proxy.kind = ProxyKind::kHttps;
  } else if (scheme != "http") {
    const bool word =
        std::ranges::all_of(scheme, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
    return Error("unsupported scheme" + (word ? " \"" + scheme + "\"" : std::string()) +
                 ", must be http, https, or socks5");
  }
  std::string_view rest = text.substr(scheme_end + 3);
  const size_t authority_end = std::min(rest.find_first_of("/?#"), rest.size());
  std::string_view authority = rest.substr(0, authority_end);
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    const std::string_view credentials = authority.substr(0, at);
    const size_t colon = std::min(credentials.find(':'), credentials.size());
    const auto user = Decoded(credentials.substr(0, colon));
    const auto password = Decoded(credentials.substr(std::min(colon + 1, credentials.size())));
    if (!user || !password) return Error("user and password of a proxy: there is a % without two digits after it");
    proxy.user = *user;
    proxy.password = *password;
    authority.remove_prefix(at + 1);
  }
  if (authority_end < rest.size() && rest.substr(authority_end) != "/")
    return Error("a path, query or fragment has no place in a proxy's URL");
  // The rest as any URL.
  Result<Url> url = ParseUrl("http://" + std::string(authority));
  if (!url.ok()) return url.error();
  proxy.host = url->host;
  proxy.port = url->port;
  const bool has_port = !SplitPort(authority).second.empty();
  if (!has_port && proxy.kind == ProxyKind::kHttps) proxy.port = "443";
  if (!has_port && proxy.kind == ProxyKind::kSocks5) proxy.port = "1080";
  proxy.name = scheme + "://" + std::string(authority);
  if (proxy.kind == ProxyKind::kSocks5 && (proxy.user.size() > 255 || proxy.password.size() > 255))
    return Error("user and password of a socks5 proxy: at most 255 bytes each");
  return proxy;
}

ProxyEnvironment ProxyEnvironment::Read() {
  const auto get = [](const char* capitals, const char* small) {
    for (const char* name : {capitals, small}) {
      if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return std::string(value);
    }
    return std::string();
  };
  return {get("HTTP_PROXY", "http_proxy"), get("HTTPS_PROXY", "https_proxy"), get("NO_PROXY", "no_proxy"),
          std::getenv("REQUEST_METHOD") != nullptr};
}

std::string ProxyEnvironment::For(const Url& server) const {
  const std::string& proxy = server.tls ? https : http;
  if (proxy.empty() || (!server.tls && cgi)) return "";
  const std::string host = util::Lower(server.host);
  const std::optional<Address> address = ParseAddress(host);
  if (host == "localhost" || (address && IsLoopback(*address))) return "";
  std::string_view entries = none;
  while (!entries.empty()) {
    const size_t comma = std::min(entries.find(','), entries.size());
    const std::string entry = util::Lower(util::Trimmed(entries.substr(0, comma)));
    entries.remove_prefix(std::min(comma + 1, entries.size()));
    if (!entry.empty() && Names(entry, host, address, server.port)) return "";
  }
  return proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
}

}  // namespace berth::net
