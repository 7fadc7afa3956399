// SPDX-License-Identifier: Apache-2.0
#include "util/log_metrics.h"

#include <cstdint>

namespace berth::util {

void AddLogMetrics(Metrics& metrics, const Log& log) {
  const auto add = [&metrics](const char* reason, auto count) {
    const Metrics::Counter counter =
        metrics.counter("berth_log_lines_dropped_total",
                        "Lines that the log does not have, by reason: unread, nobody read them in time; rationed, "
                        "there were too many of their kind.",
                        {{"reason", reason}});
    metrics.BeforeText([counter, count, counted = uint64_t{0}]() mutable {
      const uint64_t now = count();
      counter.Add(static_cast<double>(now - counted));
      counted = now;
    });
  };
  add("unread", [&log] { return log.dropped(); });
  add("rationed", [&log] { return log.left_out(); });
}

}  // namespace berth::util
