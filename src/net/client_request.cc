// SPDX-License-Identifier: Apache-2.0
#include "net/client_request.h"

#include <algorithm>

#include "net/http_text.h"
#include "net/proxy_tunnel.h"

namespace berth::net {

Error CheckRequest(const ClientRequest& request) {
  if (!IsToken(request.method)) return Error("method \"" + request.method + "\" is none");
  const std::string& path = request.PathOf();
  const bool plain = std::ranges::all_of(path, [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7f; });
  if (!path.starts_with('/') || !plain) {
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
