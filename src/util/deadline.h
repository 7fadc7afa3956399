// SPDX-License-Identifier: Apache-2.0
// Deadline: until when something is worth doing.
#pragma once

#include <algorithm>
#include <chrono>

#include "berth/clock.h"

namespace berth::util {

// Set once, by whoever knows how long somebody waits, and handed on with the request: whatever may keep the request
// waiting (an inbox, a bounded rate, a server that puts it off, a connection) looks at the same moment instead of
// counting anew. On the machine's steady clock, as nobody sets that one; nothing of this decides where a pod runs.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// Zero and less: no deadline, as options say "no limit".
inline Deadline After(Duration span) {
  return span.ns <= 0 ? kNoDeadline : std::chrono::steady_clock::now() + std::chrono::nanoseconds(span.ns);
}
inline bool IsOver(Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }
// Not below zero. REQUIRES: there is one.
inline Duration Left(Deadline deadline) {
  const auto left = deadline - std::chrono::steady_clock::now();
  return {std::max<int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(left).count(), 0)};
}

}  // namespace berth::util
