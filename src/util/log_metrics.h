// SPDX-License-Identifier: Apache-2.0
// berth_log_lines_dropped_total: lines that a server's log does not have, by reason.
#pragma once

#include "util/log.h"
#include "util/metrics.h"

namespace berth::util {

// Looked up at every scrape. REQUIRES: the log outlives the last one.
void AddLogMetrics(Metrics& metrics, const Log& log);

}  // namespace berth::util
