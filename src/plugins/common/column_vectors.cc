// SPDX-License-Identifier: Apache-2.0
// The check that vectors may be used.
#include "plugins/common/column_vectors.h"

#include "berth/vectorized.h"

namespace berth::plugins {

BERTH_VECTORIZED bool AreSmall(int bits, const int64_t* allocatable, const int64_t* used, int64_t want, size_t n) {
  uint64_t any = 0;
  for (size_t i = 0; i < n; ++i) {
    any |= static_cast<uint64_t>(allocatable[i]) | static_cast<uint64_t>(used[i]) |
           (static_cast<uint64_t>(used[i]) + static_cast<uint64_t>(want));
  }
  return any >> bits == 0;
}

}  // namespace berth::plugins
