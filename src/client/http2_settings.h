// SPDX-License-Identifier: Apache-2.0
// Whether and how HTTP/2 is spoken with API servers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "berth/clock.h"

namespace berth::client {

// As client-go has it.
struct Http2Settings {
  bool enabled = true;
  // A connection that is silent for so long while somebody waits is asked whether it is there (0: not), and given up
  // when it does not say so in that time.
  Duration ping_after = Duration::Seconds(30), ping_timeout = Duration::Seconds(15);

  // DISABLE_HTTP2 (anything but empty), HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS. What is not a
  // number counts as not given, and is told of in `warnings`, which may be null.
  static Http2Settings FromEnvironment(std::vector<std::string>* warnings);
  // The same with variables of another origin: empty, the variable is not there.
  static Http2Settings From(const std::function<std::string(const char* name)>& variable,
                            std::vector<std::string>* warnings);
};

}  // namespace berth::client
