// SPDX-License-Identifier: Apache-2.0
#include "net/proxy_tunnel.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/client_connection.h"
#include "net/http_parser.h"
#include "net/http_text.h"

namespace berth::net {
namespace {

constexpr size_t kMaxHead = size_t{16} << 10;
constexpr int kMaxInterim = 10;  // heads of 1xx

std::string Base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string encoded;
  for (size_t i = 0; i < text.size(); i += 3) {
    uint32_t bits = 0;
    const size_t bytes = std::min<size_t>(3, text.size() - i);
    for (size_t j = 0; j < 3; ++j) bits = bits << 8 | (j < bytes ? static_cast<unsigned char>(text[i + j]) : 0u);
    for (size_t j = 0; j < 4; ++j) encoded += j <= bytes ? kDigits[bits >> (18 - 6 * j) & 63] : '=';
  }
  return encoded;
}

std::string TargetOf(const Url& server) {
  const bool six = server.host.find(':') != std::string::npos;
  return (six ? "[" + server.host + "]" : server.host) + ":" + server.port;
}

Error Broken(Io io, const Stream& stream) {
  return io == Io::kClosed ? Error("the proxy closed the connection") : ErrorOf(io, stream);
}

Task<Error> Connect(Stream* stream, const Proxy* proxy, const Url* server) {
  const std::string target = TargetOf(*server);
  std::string head = "CONNECT " + target + " HTTP/1.1\r\n";
  AppendHeader(&head, "Host", target);
  if (proxy->has_user()) AppendHeader(&head, "Proxy-Authorization", ProxyAuthorization(*proxy));
  head += "\r\n";
  const Io sent = co_await stream->Write(head, "");
  if (sent != Io::kOk) co_return Broken(sent, *stream);
  InputBuffer input;
  for (int heads = 0; heads < kMaxInterim; ++heads) {
    MessageParser parser(MessageParser::Kind::kResponse, kMaxHead);
    MessageParser::Progress progress = MessageParser::Progress::kMore;
    while (progress == MessageParser::Progress::kMore) {
      if (!input.empty()) {
        size_t used = 0;
        progress = parser.ReadHead(input.view(), &used);
        input.Consume(used);
        if (progress != MessageParser::Progress::kMore) break;
      }
      const Io io = co_await input.Fill(stream);
      if (io != Io::kOk) co_return Broken(io, *stream);
    }
    if (progress != MessageParser::Progress::kDone) co_return Error("the answer's header: " + parser.problem());
    const int status = parser.head().status;
    if (status < 200) continue;
    if (status >= 300) {
      co_return Error("CONNECT " + target + ": " + std::to_string(status) + " " + std::string(StatusText(status)));
    }
    // The server speaks when it is spoken to.
    if (!input.empty()) co_return Error("CONNECT " + target + ": there is more in the answer than belongs there");
    co_return Error::Ok();
  }
  co_return Error("CONNECT " + target + ": the answer does not come");
}

// Exactly so many bytes: what follows is not the proxy's.
Task<Error> ReadExactly(Stream* stream, size_t size, std::string* out) {
  out->resize(size);
  size_t filled = 0;
  while (filled < size) {
    size_t count = 0;
    const Io io = co_await stream->Read(out->data() + filled, size - filled, &count);
    if (io != Io::kOk) co_return Broken(io, *stream);
    filled += count;
  }
  co_return Error::Ok();
}

std::string_view SocksText(uint8_t code) {
  switch (code) {
    case 1:
      return "general SOCKS server failure";
    case 2:
      return "connection not allowed by ruleset";
    case 3:
      return "network unreachable";
    case 4:
      return "host unreachable";
    case 5:
      return "connection refused";
    case 6:
      return "TTL expired";
    case 7:
      return "command not supported";
    case 8:
      return "address type not supported";
    default:
      return "unknown error";
  }
}

// The address as a request has it; a name is left to the proxy, as Go does it.
Result<std::string> SocksAddress(const Url& server) {
  std::string address;
  in_addr four = {};
  in6_addr six = {};
  if (::inet_pton(AF_INET, server.host.c_str(), &four) == 1) {
    address = std::string("\x01") + std::string(reinterpret_cast<const char*>(&four), sizeof(four));
  } else if (::inet_pton(AF_INET6, server.host.c_str(), &six) == 1) {
    address = std::string("\x04") + std::string(reinterpret_cast<const char*>(&six), sizeof(six));
  } else if (server.host.size() <= 255) {
    address = std::string("\x03") + static_cast<char>(server.host.size()) + server.host;
  } else {
    return Error("the server's name is too long for a socks5 proxy");
  }
  const int port = std::stoi(server.port);  // parsed
  address += static_cast<char>(port >> 8);
  address += static_cast<char>(port & 255);
  return address;
}

Task<Error> SocksLogin(Stream* stream, const Proxy* proxy) {
  std::string message = proxy->has_user() ? std::string("\x05\x02\x00\x02", 4) : std::string("\x05\x01\x00", 3);
  Io io = co_await stream->Write(message, "");
  if (io != Io::kOk) co_return Broken(io, *stream);
  std::string answer;
  Error error = co_await ReadExactly(stream, 2, &answer);
  if (!error.ok()) co_return error;
  if (answer[0] != '\x05') co_return Error("it is no socks5 proxy");
  if (answer[1] == '\x00') co_return Error::Ok();
  if (answer[1] != '\x02' || !proxy->has_user())
    co_return Error("it wants to know who we are in a way that we do not have");
  message = std::string("\x01") + static_cast<char>(proxy->user.size()) + proxy->user +
            static_cast<char>(proxy->password.size()) + proxy->password;
  io = co_await stream->Write(message, "");
  if (io != Io::kOk) co_return Broken(io, *stream);
  error = co_await ReadExactly(stream, 2, &answer);
  if (!error.ok()) co_return error;
  if (answer[1] != '\x00') co_return Error("it refuses user and password");
  co_return Error::Ok();
}

Task<Error> Socks(Stream* stream, const Proxy* proxy, const Url* server) {
  const Result<std::string> address = SocksAddress(*server);
  if (!address.ok()) co_return address.error();
  Error error = co_await SocksLogin(stream, proxy);
  if (!error.ok()) co_return error;
  const std::string message = std::string("\x05\x01\x00", 3) + *address;
  const Io io = co_await stream->Write(message, "");
  if (io != Io::kOk) co_return Broken(io, *stream);
  std::string answer;
  error = co_await ReadExactly(stream, 4, &answer);
  if (!error.ok()) co_return error;
  if (answer[0] != '\x05') co_return Error("it is no socks5 proxy");
  const std::string target = TargetOf(*server);
  if (answer[1] != '\x00')
    co_return Error("connecting to " + target + ": " + std::string(SocksText(static_cast<uint8_t>(answer[1]))));
  // Where it has connected from, which is of no use.
  size_t rest = 2;
  std::string ignored;
  if (answer[3] == '\x01') {
    rest += sizeof(in_addr);
  } else if (answer[3] == '\x04') {
    rest += sizeof(in6_addr);
  } else if (answer[3] == '\x03') {
    error = co_await ReadExactly(stream, 1, &ignored);
    if (!error.ok()) co_return error;
    rest += static_cast<unsigned char>(ignored[0]);
  } else {
    co_return Error("connecting to " + target + ": the answer has an address of no known type");
  }
  co_return co_await ReadExactly(stream, rest, &ignored);
}

}  // namespace

std::string ProxyAuthorization(const Proxy& proxy) {
  return proxy.has_user() ? "Basic " + Base64(proxy.user + ":" + proxy.password) : "";
}

Task<Error> OpenTunnel(Stream* stream, const Proxy* proxy, const Url* server) {
  if (proxy->kind == ProxyKind::kSocks5) co_return co_await Socks(stream, proxy, server);
  co_return co_await Connect(stream, proxy, server);
}

}  // namespace berth::net
