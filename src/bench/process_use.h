// SPDX-License-Identifier: Apache-2.0
// What a process of this machine has cost so far, as /proc has it.
#pragma once

#include <cstdint>
#include <string>

#include "berth/error.h"

namespace berth::bench {

struct ProcessUse {
  int64_t cpu_ns = 0;  // user and system, of all threads
  double peak_mb = 0;  // resident, since it began
  uint64_t began = 0;  // tells it from another process that has its number later
};

// The error says that there is no such process, or that it has ended. `proc`: where /proc is.
Result<ProcessUse> ReadProcess(int64_t pid, const std::string& proc = "/proc");

}  // namespace berth::bench
