// SPDX-License-Identifier: Apache-2.0
// What Prometheus' own clients tell of a process: process_cpu_seconds_total, process_resident_memory_bytes,
// process_virtual_memory_bytes, process_virtual_memory_max_bytes, process_open_fds, process_max_fds and
// process_start_time_seconds.
#pragma once

#include "util/metrics.h"

namespace berth::util {

// Looked up at every scrape; what this system does not tell is left out.
void AddProcessMetrics(Metrics& metrics);

}  // namespace berth::util
