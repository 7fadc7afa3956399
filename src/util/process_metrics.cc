// SPDX-License-Identifier: Apache-2.0
// A look at /proc/self (Linux), as github.com/prometheus/procfs takes it.
#include "util/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

namespace berth::util {
namespace {

struct Stat {
  double virtual_bytes = 0, resident_bytes = 0;
  double start_ticks = 0;  // since the machine was booted
};

// Fields 22 to 24 of /proc/self/stat. The name of the program, in brackets, may hold anything.
std::optional<Stat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::stringstream text;
  text << file.rdbuf();
  const size_t bracket = text.str().rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(text.str().substr(bracket + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) fields >> skipped;
  Stat stat;
  if (!(fields >> stat.start_ticks >> stat.virtual_bytes >> stat.resident_bytes)) return std::nullopt;
  stat.resident_bytes *= static_cast<double>(sysconf(_SC_PAGESIZE));
  return stat;
}

// Seconds since 1970.
std::optional<double> BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    double seconds = 0;
    if (line.starts_with("btime ") && std::istringstream(line.substr(6)) >> seconds) return seconds;
  }
  return std::nullopt;
}

std::optional<double> CountOpenFiles() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end; it.increment(error))
    ++count;
  if (error) return std::nullopt;
  return count - 1;  // but for the one that counts
}

}  // namespace

void AddProcessMetrics(Metrics& metrics) {
  const Metrics::Counter cpu =
      metrics.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.");
  metrics.BeforeText([cpu, counted = 0.0]() mutable {
    timespec used{};
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return;
    const double seconds = static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
    cpu.Add(seconds - counted);
    counted = seconds;
  });
  if (const std::optional<Stat> stat = ReadStat()) {
    const std::optional<double> boot = BootTime();
    if (boot) {
      metrics.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.")
          .Set(*boot + stat->start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
    }
    const Metrics::Gauge resident = metrics.gauge("process_resident_memory_bytes", "Resident memory size in bytes.");
    const Metrics::Gauge whole = metrics.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.");
    metrics.BeforeText([resident, whole] {
      const std::optional<Stat> now = ReadStat();
      if (!now) return;
      resident.Set(now->resident_bytes);
      whole.Set(now->virtual_bytes);
    });
  }
  if (rlimit room{}; getrlimit(RLIMIT_AS, &room) == 0) {  // without a limit: the largest number, as procfs has it
    metrics.gauge("process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.")
        .Set(static_cast<double>(room.rlim_cur));
  }
  if (CountOpenFiles()) {
    const Metrics::Gauge open = metrics.gauge("process_open_fds", "Number of open file descriptors.");
    metrics.BeforeText([open] { open.Set(CountOpenFiles().value_or(0)); });
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    metrics.gauge("process_max_fds", "Maximum number of open file descriptors.")
        .Set(static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace berth::util
