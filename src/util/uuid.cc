// SPDX-License-Identifier: Apache-2.0
#include "util/uuid.h"

#include <unistd.h>

#include <cstdio>
#include <random>

namespace berth::util {

std::string UuidOf(uint64_t high, uint64_t low) {
  high = (high & ~uint64_t{0xf000}) | 0x4000;                // the version
  low = (low & ~(uint64_t{3} << 62)) | (uint64_t{2} << 62);  // the variant
  char text[40];
  const int size = std::snprintf(
      text, sizeof text, "%08llx-%04llx-%04llx-%04llx-%012llx", static_cast<unsigned long long>(high >> 32),
      static_cast<unsigned long long>(high >> 16 & 0xffff), static_cast<unsigned long long>(high & 0xffff),
      static_cast<unsigned long long>(low >> 48), static_cast<unsigned long long>(low & 0xffffffffffff));
  return {text, static_cast<size_t>(size)};
}

std::string NewUuid() {
  std::random_device random;
  const auto word = [&random] { return uint64_t{random()} << 32 | random(); };
  const uint64_t high = word();
  return UuidOf(high, word());
}

std::string HostName() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

}  // namespace berth::util
