// SPDX-License-Identifier: Apache-2.0
// How long a rejected or failed pod waits.
#include "queue/backoff.h"

namespace berth::queue {

Time TruncateToSecond(Time t) {
  int64_t rest = t.ns % kBackoffWindow.ns;
  if (rest < 0) rest += kBackoffWindow.ns;
  return {t.ns - rest};
}

Duration Backoff::For(int count) const {
  if (count <= 0) return {};
  const int shift = count - 1;
  // Shifting max down rather than initial up: it cannot overflow.
  if (shift >= 63 || initial.ns > max.ns >> shift) return max;
  return {initial.ns << shift};
}

Time Backoff::Expiry(Time timestamp, int count) const {
  if (max.ns == 0 || count <= 0) return kLongAgo;
  return TruncateToSecond(timestamp + For(count));
}

}  // namespace berth::queue
