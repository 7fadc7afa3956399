// SPDX-License-Identifier: Apache-2.0
// The URL of a server.
#pragma once

#include <string>
#include <string_view>

#include "berth/error.h"

namespace berth::net {

struct Url {
  bool tls = false;
  std::string host;  // without brackets
  std::string port;
  std::string authority;  // as Host: has it
  std::string prefix;     // of paths, without a slash at its end
};

// http(s)://host[:port][/prefix]. Errors name the URL and what is wrong with it.
Result<Url> ParseUrl(std::string_view text);

}  // namespace berth::net
