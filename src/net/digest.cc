// SPDX-License-Identifier: Apache-2.0
#include "net/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstdio>
#include <cstdlib>

namespace berth::net {
namespace {

constexpr size_t kBytes = 32;

// Without randomness, or without SHA-256, nothing that is kept secret would be.
[[noreturn]] void GiveUp() {
  std::fputs("OpenSSL has no random bytes or no SHA-256\n", stderr);
  std::abort();
}

}  // namespace

KeyedDigest::KeyedDigest() : key_(kBytes, '\0') {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(key_.data()), static_cast<int>(kBytes)) != 1) GiveUp();
}

std::string KeyedDigest::Of(std::string_view text) const {
  std::string digest(kBytes, '\0');
  unsigned int size = 0;
  if (HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(digest.data()), &size) == nullptr ||
      size != kBytes) {
    GiveUp();
  }
  return digest;
}

}  // namespace berth::net
