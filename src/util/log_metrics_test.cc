// SPDX-License-Identifier: Apache-2.0
#include "util/log_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/log_pipe_test_util.h"
#include "util/system_clock.h"

namespace berth::util {
namespace {

using ::testing::HasSubstr;

TEST(LogMetricsTest, MissingLinesAreCountedByReason) {
  const SystemClock clock;
  TestPipe pipe;
  pipe.Fill();
  Metrics metrics;
  Log log(pipe.in(), {.max_waiting_bytes = 1}, clock);
  AddLogMetrics(metrics, log);
  EXPECT_THAT(metrics.Text(), HasSubstr("berth_log_lines_dropped_total{reason=\"unread\"} 0\n"));
  log.Info("a");
  log.Info("b");
  for (int i = 0; i < 3; ++i) {  // looking changes nothing
    EXPECT_THAT(metrics.Text(), HasSubstr("berth_log_lines_dropped_total{reason=\"unread\"} 2\n"));
    EXPECT_THAT(metrics.Text(), HasSubstr("berth_log_lines_dropped_total{reason=\"rationed\"} 0\n"));
  }
  for (int i = 0; i < 5'000; ++i) log.Warn("again");
  EXPECT_THAT(metrics.Text(), HasSubstr("{reason=\"rationed\"} " + std::to_string(log.left_out()) + "\n"));
  EXPECT_GT(log.left_out(), 4'000u);
  log.Close(std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace berth::util
