// SPDX-License-Identifier: Apache-2.0
#include "util/process_metrics.h"

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace berth::util {
namespace {

// The value of the metric in a scrape; below zero: it is not there.
double ValueOf(const Metrics& metrics, const std::string& name) {
  const std::string text = metrics.Text();
  const size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(text.substr(at + name.size() + 2));
}

TEST(ProcessMetricsTest, TellsOfMemoryFilesAndStart) {
  Metrics metrics;
  AddProcessMetrics(metrics);
  EXPECT_GT(ValueOf(metrics, "process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(ValueOf(metrics, "process_virtual_memory_bytes"), ValueOf(metrics, "process_resident_memory_bytes"));
  EXPECT_GE(ValueOf(metrics, "process_max_fds"), 1);
  const auto now = static_cast<double>(std::time(nullptr));
  EXPECT_GT(ValueOf(metrics, "process_start_time_seconds"), now - 3600);
  EXPECT_LE(ValueOf(metrics, "process_start_time_seconds"), now + 5);
  const double open = ValueOf(metrics, "process_open_fds");
  EXPECT_GE(open, 3);
  std::vector<std::ifstream> files;
  for (int i = 0; i < 3; ++i) files.emplace_back("/dev/null");
  EXPECT_EQ(ValueOf(metrics, "process_open_fds"), open + 3);
}

TEST(ProcessMetricsTest, ProcessorTimeGrowsWithWork) {
  Metrics metrics;
  AddProcessMetrics(metrics);
  const double before = ValueOf(metrics, "process_cpu_seconds_total");
  EXPECT_GE(before, 0);
  const std::clock_t until = std::clock() + CLOCKS_PER_SEC / 20;
  while (std::clock() < until) {
  }
  const double after = ValueOf(metrics, "process_cpu_seconds_total");
  EXPECT_GE(after, before + 0.04);
  EXPECT_LT(after, before + 30);
}

}  // namespace
}  // namespace berth::util
