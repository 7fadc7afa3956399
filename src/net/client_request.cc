// SPDX-License-Identifier: Apache-2.0
#include "net/client_request.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "net/http_text.h"
#include "net/proxy_tunnel.h"

namespace berth::net {

namespace {

// Eight characters at a time: a path is looked at for every request.
bool HasBlankOrControl(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kHigh = kOnes * 0x80;
  uint64_t found = 0, eight = 0;
  const auto look = [&] {
    const uint64_t delete_is_zero = eight ^ (kOnes * 0x7f);
    found |= (eight - kOnes * '!') & ~eight & kHigh;
    found |= (delete_is_zero - kOnes) & ~delete_is_zero & kHigh;
  };
  for (; text.size() >= sizeof(eight); text.remove_prefix(sizeof(eight))) {
    std::memcpy(&eight, text.data(), sizeof(eight));
    look();
  }
  eight = kOnes * '/';
  std::memcpy(&eight, text.data(), text.size());
  look();
  return found != 0;
}

}  // namespace

Error CheckRequest(const ClientRequest& request) {
  if (!IsToken(request.method)) return Error("method \"" + request.method + "\" is none");
  const std::string& path = request.PathOf();
  if (!path.starts_with('/') || HasBlankOrControl(path)) {
    return Error("path \"" + path + "\" must begin with a slash and have no blanks or control characters");
  }
  for (const auto& [name, value] : request.headers.list())
    if (Error error = CheckHeader(name, value); !error.ok()) return error;
  return request.common ? request.common->problem() : Error::Ok();
}

std::string HeadOf(const ClientRequest& request, const Url& url, const Proxy* forwarder) {
  std::string head = request.method + " ";
  if (forwarder != nullptr) head += "http://" + url.authority;
  head.append(url.prefix).append(request.PathOf()).append(" HTTP/1.1\r\n");
  AppendHeader(&head, "Host", url.authority);
  if (forwarder != nullptr && forwarder->has_user())
    AppendHeader(&head, "Proxy-Authorization", ProxyAuthorization(*forwarder));
  if (request.common)
    for (const CommonHeaders::Field& field : request.common->fields()) AppendHeader(&head, field.name, field.value);
  for (const auto& [name, value] : request.headers.list())
    if (!IsClientsOwn(LowerName(name))) AppendHeader(&head, name, value);
  if (!request.BodyOf().empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    AppendHeader(&head, "Content-Length", std::to_string(request.BodyOf().size()));
  }
  head += "\r\n";
  return head;
}

bool MayRepeat(const std::string& method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

}  // namespace berth::net
