// SPDX-License-Identifier: Apache-2.0
// The secret, and XXH3 with it.
#include "util/secret_hash.h"

#include <array>
#include <cstring>
#include <random>

#include "util/hash.h"

namespace berth {
namespace {

using Secret = std::array<unsigned char, 192>;

const Secret& TheSecret() {
  static const Secret secret = [] {
    Secret made;
    std::random_device random;
    for (size_t i = 0; i < made.size(); i += sizeof(uint32_t)) {
      const uint32_t word = random();
      std::memcpy(made.data() + i, &word, sizeof word);
    }
    return made;
  }();
  return secret;
}

}  // namespace

uint64_t SecretHash64(std::string_view bytes) {
  const Secret& secret = TheSecret();
  return XXH3_64bits_withSecret(bytes.data(), bytes.size(), secret.data(), secret.size());
}

Hash128 SecretHash128(std::string_view bytes) {
  const Secret& secret = TheSecret();
  const XXH128_hash_t hash = XXH3_128bits_withSecret(bytes.data(), bytes.size(), secret.data(), secret.size());
  return {hash.high64, hash.low64};
}

}  // namespace berth
