// SPDX-License-Identifier: Apache-2.0
#include "net/http2_text.h"

#include <algorithm>
#include <array>

#include "net/http_text.h"

namespace berth::net {
namespace {

constexpr std::array<std::string_view, 14> kCodeNames = {
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
};

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool IsControl(char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f'; }

}  // namespace

bool IsHttp2Name(std::string_view name) {
  if (name.starts_with(':')) name.remove_prefix(1);
  return IsToken(name) && std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool IsHttp2Value(std::string_view value) {
  if (value.empty()) return true;
  return !IsBlank(value.front()) && !IsBlank(value.back()) && std::ranges::none_of(value, IsControl);
}

std::string_view Http2CodeName(uint32_t code) { return code < kCodeNames.size() ? kCodeNames[code] : "unknown"; }

}  // namespace berth::net
