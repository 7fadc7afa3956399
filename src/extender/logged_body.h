// SPDX-License-Identifier: Apache-2.0
// Bodies of requests and replies as a log may show them: short, and without the values of environment variables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::extender {

inline constexpr size_t kMaxLoggedBody = size_t{16} << 10;

// At most about `max` bytes of `json`; what is cut is counted. Values of `env` entries, and the copy of a manifest that
// kubectl leaves in an annotation, which holds them too, are replaced by "***". Takes any bytes, also such that are no
// JSON, and looks no further than it shows.
std::string LoggedBody(std::string_view json, size_t max = kMaxLoggedBody);

}  // namespace berth::extender
