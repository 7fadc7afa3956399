// SPDX-License-Identifier: Apache-2.0
// Scaling of scores; see normalize.h.
#include "plugins/common/normalize.h"

#include <algorithm>

#include "plugins/common/wrap.h"

namespace berth::plugins {

void DefaultNormalize(std::span<int64_t> scores, bool reverse) {
  int64_t max = 0;
  for (const int64_t score : scores) max = std::max(max, score);
  if (max == 0) {
    if (reverse) std::fill(scores.begin(), scores.end(), kMaxScore);
    return;
  }
  for (int64_t& score : scores) {
    score = WrapMul(kMaxScore, score) / max;
    if (reverse) score = kMaxScore - score;
  }
}

}  // namespace berth::plugins
