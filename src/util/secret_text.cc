// SPDX-License-Identifier: Apache-2.0
#include "util/secret_text.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace berth::util {
namespace {

constexpr std::string_view kHidden = "***";
constexpr std::string_view kPemBegin = "-----BEGIN ", kPemEnd = "-----END ", kDashes = "-----";
constexpr std::string_view kPemInBase64 = "LS0tLS1CRUdJTi";  // -----BEGIN, up to where the next letter has a say
constexpr std::string_view kJwt = "eyJ";                     // {" in base64
constexpr std::string_view kBearer = "Bearer ";
// Shorter ones are words.
constexpr size_t kMinToken = 16;

bool IsTokenCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~+/=").find(c) != std::string_view::npos;
}

size_t TokenSize(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsTokenCharacter) - text.begin());
}

size_t PemSize(std::string_view text) {
  const size_t end = text.find(kPemEnd);
  const size_t close = end == std::string_view::npos ? end : text.find(kDashes, end + kPemEnd.size());
  return close == std::string_view::npos ? text.size() : close + kDashes.size();
}

// How much of the beginning of `text` is a secret; no value: none of it.
std::optional<size_t> SecretSize(std::string_view text) {
  if (text.starts_with(kPemBegin)) return PemSize(text);
  if (text.starts_with(kPemInBase64)) return TokenSize(text);
  if (text.starts_with(kJwt)) {
    const size_t size = TokenSize(text);
    if (size >= kMinToken) return size;
  }
  return std::nullopt;
}

}  // namespace

std::string WithoutSecrets(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (const std::optional<size_t> size = SecretSize(rest)) {
      out += kHidden;
      at += *size;
    } else if (rest.starts_with(kBearer) && TokenSize(rest.substr(kBearer.size())) >= kMinToken) {
      out.append(kBearer).append(kHidden);
      at += kBearer.size() + TokenSize(rest.substr(kBearer.size()));
    } else {
      out += text[at++];
    }
  }
  return out;
}

}  // namespace berth::util
