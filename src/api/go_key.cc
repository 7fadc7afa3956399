// SPDX-License-Identifier: Apache-2.0
#include "api/go_key.h"

namespace berth {

bool KeyMatchesFolded(std::string_view key, std::string_view field) {
  size_t at = 0;
  for (const char wanted : field) {
    const char lower = static_cast<char>(wanted >= 'A' && wanted <= 'Z' ? wanted + 32 : wanted);
    if (at >= key.size()) return false;
    const char c = key[at];
    if (static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c) == lower) {
      ++at;
    } else if (lower == 's' && key.substr(at).starts_with("\xc5\xbf")) {
      at += 2;
    } else if (lower == 'k' && key.substr(at).starts_with("\xe2\x84\xaa")) {
      at += 3;
    } else {
      return false;
    }
  }
  return at == key.size();
}

}  // namespace berth
