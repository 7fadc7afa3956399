// SPDX-License-Identifier: Apache-2.0
// Time, injected. Nothing in the scheduler asks the operating system for the time or for randomness directly.
#pragma once

#include <compare>
#include <cstdint>

namespace berth {
inline namespace v1 {

// A point in time, nanoseconds since the Unix epoch (UTC).
struct Time {
  int64_t ns = 0;
  auto operator<=>(const Time&) const = default;
};

// A span of time in nanoseconds.
struct Duration {
  int64_t ns = 0;
  auto operator<=>(const Duration&) const = default;
  static constexpr Duration Seconds(int64_t s) { return {s * 1'000'000'000}; }
  static constexpr Duration Millis(int64_t ms) { return {ms * 1'000'000}; }
  constexpr double seconds() const { return static_cast<double>(ns) / 1e9; }
};

inline Time operator+(Time t, Duration d) { return {t.ns + d.ns}; }
inline Duration operator-(Time a, Time b) { return {a.ns - b.ns}; }

// The one source of time. Thread safety: Now() may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time Now() const = 0;
};

}  // namespace v1
}  // namespace berth
