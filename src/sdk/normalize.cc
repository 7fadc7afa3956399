// SPDX-License-Identifier: Apache-2.0
// Scaling of scores by the highest one (upstream: plugins/helper/normalize_score.go).
#include <algorithm>

#include "berth/plugin.h"

namespace berth {
inline namespace v1 {

int64_t Normalized(Normalization how, int64_t score, int64_t max) {
  const bool reversed = how == Normalization::kByMaxReversed;
  if (how != Normalization::kByMax && !reversed) return score;
  if (max == 0) return reversed ? kMaxScore : score;
  // Wraps around like Go for absurd scores; the range check behind it catches what comes out.
  const int64_t scaled = static_cast<int64_t>(static_cast<uint64_t>(kMaxScore) * static_cast<uint64_t>(score)) / max;
  return reversed ? kMaxScore - scaled : scaled;
}

void Normalize(Normalization how, std::span<int64_t> scores) {
  int64_t max = 0;
  for (const int64_t score : scores) max = std::max(max, score);
  for (int64_t& score : scores) score = Normalized(how, score, max);
}

}  // namespace v1
}  // namespace berth
