// SPDX-License-Identifier: Apache-2.0
#include "framework/one_verdict.h"

#include <algorithm>
#include <cstddef>

#include "berth/vectorized.h"

namespace berth::framework {
namespace {

BERTH_VECTORIZED VerdictId Highest(const VerdictId* verdicts, size_t n) {
  VerdictId highest = kFitsId;
  for (size_t i = 0; i < n; ++i) highest = std::max(highest, verdicts[i]);
  return highest;
}

BERTH_VECTORIZED bool NoneBut(const VerdictId* verdicts, size_t n, VerdictId one) {
  VerdictId others = 0;
  for (size_t i = 0; i < n; ++i) others |= (verdicts[i] ^ one) & (VerdictId{0} - VerdictId{verdicts[i] != kFitsId});
  return others == 0;
}

}  // namespace

VerdictId OneVerdict(std::span<const VerdictId> verdicts) {
  static_assert(kFitsId == 0);
  const VerdictId highest = Highest(verdicts.data(), verdicts.size());
  if (highest == kFitsId) return kFitsId;  // mostly nobody is rejected
  return NoneBut(verdicts.data(), verdicts.size(), highest) ? highest : kNotJudged;
}

}  // namespace berth::framework
