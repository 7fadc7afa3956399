// SPDX-License-Identifier: Apache-2.0
// Bodies of requests and replies as a log may show them: short, and without what is often a secret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::extender {

inline constexpr size_t kMaxLoggedBody = size_t{16} << 10;

// At most about `max` bytes of `json`; what is cut is counted. Replaced by "***" are the values of environment
// variables
// (`env`) and of HTTP headers (`httpHeaders`: probes and hooks have them), all that is in `args` and `command` (of
// containers, and of probes and hooks that run something), the query of a probe's `path`, and the copy of a manifest
// that kubectl leaves in an annotation, which has all of it too. Takes any bytes, also such that are no JSON, and looks
// no further than it shows.
std::string LoggedBody(std::string_view json, size_t max = kMaxLoggedBody);

}  // namespace berth::extender
