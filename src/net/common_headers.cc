// SPDX-License-Identifier: Apache-2.0
#include "net/common_headers.h"

#include <algorithm>

#include "net/http_text.h"

namespace berth::net {

bool IsClientsOwn(std::string_view lower_name) {
  for (const std::string_view name : {"host", "content-length", "transfer-encoding", "connection", "keep-alive",
                                      "proxy-connection", "upgrade", "te"}) {
    if (lower_name == name) return true;
  }
  return false;
}

std::string LowerName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  return lower;
}

Error CheckHeader(std::string_view name, std::string_view value) {
  if (IsToken(name) && IsHeaderValue(value)) return Error::Ok();
  // Values may be secrets: the name has to do.
  return Error("header \"" + std::string(name) + "\" has characters that are not allowed");
}

CommonHeaders::CommonHeaders(const Headers& headers) {
  for (const auto& [name, value] : headers.list()) {
    if (problem_.ok()) problem_ = CheckHeader(name, value);
    std::string lower = LowerName(name);
    if (!IsClientsOwn(lower)) fields_.push_back({name, std::move(lower), value});
  }
}

}  // namespace berth::net
