// SPDX-License-Identifier: Apache-2.0
// Base64, standard alphabet.
#include "api/base64.h"

#include <cstdint>

namespace berth {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

Error Illegal(size_t offset) { return Error("illegal base64 data at input byte " + std::to_string(offset)); }

}  // namespace

Result<std::string> DecodeBase64(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int digits = 0;   // of the current group of four
  int padding = 0;  // '=' seen in it
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      if (digits < 2 || digits + padding >= 4) return Illegal(i);
      ++padding;
      continue;
    }
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos || padding > 0) return Illegal(i);
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++digits == 4) {
      for (const int shift : {16, 8, 0}) bytes += static_cast<char>(bits >> shift & 0xff);
      bits = 0;
      digits = 0;
    }
  }
  if (digits + padding != 0 && digits + padding != 4) return Illegal(text.size());
  if (digits == 3) {
    bytes += static_cast<char>(bits >> 10 & 0xff);
    bytes += static_cast<char>(bits >> 2 & 0xff);
  } else if (digits == 2) {
    bytes += static_cast<char>(bits >> 4 & 0xff);
  }
  return bytes;
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kAlphabet[bits >> (18 - 6 * k) & 0x3f] : '=';
  }
  return text;
}

}  // namespace berth
