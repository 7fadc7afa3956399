// SPDX-License-Identifier: Apache-2.0
// CPU time, user and system, as the operating system counts it.
#pragma once

#include <cstdint>
#include <ctime>

namespace berth::bench {

inline int64_t ReadClockNs(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Of this thread.
inline int64_t ThreadCpuNs() { return ReadClockNs(CLOCK_THREAD_CPUTIME_ID); }
// Of all threads.
inline int64_t ProcessCpuNs() { return ReadClockNs(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace berth::bench
