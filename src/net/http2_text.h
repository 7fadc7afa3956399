// SPDX-License-Identifier: Apache-2.0
// Words of HTTP/2: which names and values headers may have, and what errors are called (RFC 9113).
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::net {

// Also that of a pseudo-header, which begins with a colon. There are no capital letters.
bool IsHttp2Name(std::string_view name);
// No control characters but tabs, and no space at either end.
bool IsHttp2Value(std::string_view value);
// As in section 7.
std::string_view Http2CodeName(uint32_t code);

}  // namespace berth::net
