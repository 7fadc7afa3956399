// SPDX-License-Identifier: Apache-2.0
// Hashing of bytes: one fast hash (XXH3). Tables of what others choose are in util/secret_hash.h's care.
#pragma once

#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace berth {

// Stable within a process and across runs; not for untrusted keys that an attacker may choose to collide.
inline uint64_t Hash64(std::string_view bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

// Mixes a number into a running hash; order matters.
inline uint64_t HashMix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  hash ^= hash >> 32;
  hash *= 0xd6e8feb86659fd93ULL;
  return hash ^ (hash >> 32);
}

}  // namespace berth
