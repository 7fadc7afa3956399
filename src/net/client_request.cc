// SPDX-License-Identifier: Apache-2.0
#include "net/client_request.h"

#include <algorithm>

#include "net/http_text.h"
#include "net/proxy_tunnel.h"

namespace berth::net {

Error CheckRequest(const ClientRequest& request) {
  if (!IsToken(request.method)) return Error("method \"" + request.method + "\" is none");
  const bool plain =
      std::ranges::all_of(request.path, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f; });
  if (!request.path.starts_with('/') || !plain) {
    return Error("path \"" + request.path + "\" must begin with a slash and have no blanks or control characters");
  }
  for (const auto& [name, value] : request.headers.list()) {
    // Values may be secrets: the name has to do.
    if (!IsToken(name) || !IsHeaderValue(value))
      return Error("header \"" + name + "\" has characters that are not allowed");
  }
  return Error::Ok();
}

std::string HeadOf(const ClientRequest& request, const Url& url, const Proxy* forwarder) {
  std::string head = request.method + " ";
  if (forwarder != nullptr) head += "http://" + url.authority;
  head += url.prefix + request.path + " HTTP/1.1\r\n";
  AppendHeader(&head, "Host", url.authority);
  if (forwarder != nullptr && forwarder->has_user())
    AppendHeader(&head, "Proxy-Authorization", ProxyAuthorization(*forwarder));
  for (const auto& [name, value] : request.headers.list()) {
    if (EqualIgnoringCase(name, "Host") || EqualIgnoringCase(name, "Content-Length") ||
        EqualIgnoringCase(name, "Transfer-Encoding") || EqualIgnoringCase(name, "Connection")) {
      continue;
    }
    AppendHeader(&head, name, value);
  }
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH") {
    AppendHeader(&head, "Content-Length", std::to_string(request.body.size()));
  }
  head += "\r\n";
  return head;
}

bool MayRepeat(const std::string& method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

}  // namespace berth::net
