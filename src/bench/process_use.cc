// SPDX-License-Identifier: Apache-2.0
#include "bench/process_use.h"

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

namespace berth::bench {
namespace {

// Of what follows the name in parentheses; the state is the first. See proc(5).
constexpr size_t kUserTicks = 11, kSystemTicks = 12, kBegan = 19;

uint64_t Number(const std::string& text) {
  uint64_t number = 0;
  std::istringstream(text) >> number;
  return number;
}

}  // namespace

Result<ProcessUse> ReadProcess(int64_t pid, const std::string& proc) {
  const std::string folder = proc + "/" + std::to_string(pid);
  const Error ended("process " + std::to_string(pid) + " is not there, or has ended");
  std::ifstream file(folder + "/stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const size_t name = stat.rfind(')');  // there may be blanks and parentheses in it
  if (name == std::string::npos) return ended;
  std::istringstream rest(stat.substr(name + 1));
  const std::vector<std::string> fields((std::istream_iterator<std::string>(rest)),
                                        std::istream_iterator<std::string>());
  if (fields.size() <= kBegan || fields[0] == "Z" || fields[0] == "X") return ended;
  ProcessUse use;
  const auto ticks = static_cast<double>(Number(fields[kUserTicks]) + Number(fields[kSystemTicks]));
  use.cpu_ns = static_cast<int64_t>(ticks * 1e9 / static_cast<double>(::sysconf(_SC_CLK_TCK)));
  use.began = Number(fields[kBegan]);
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) use.peak_mb = static_cast<double>(Number(line.substr(6))) / 1024;
  return use;
}

}  // namespace berth::bench
