// SPDX-License-Identifier: Apache-2.0
// hostile: a client that means harm to one of Berth's HTTP servers, and says whether the server minds.
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "attacks.h"

namespace berth::hostile {
namespace {

constexpr char kUsage[] =
    "usage: hostile --target http://HOST:PORT [--tls] [--seconds N] [--seed N] [--path PATH]...\n"
    "               [--connections N] [--answer-within SECONDS] [--max-memory-mb N]\n"
    "\n"
    "Sends what no honest client sends: malformed HTTP, broken handshakes, bodies with changes, more connections than\n"
    "the server takes, requests whose replies nobody reads, slow ones. After each, /healthz must be 200 within\n"
    "--answer-within (5) seconds, and the memory that /metrics tells, if it does, at most --max-memory-mb (1536).\n"
    "--path: a path that takes a POST (default /filter, /prioritize, /bind); the first gets the large requests.\n"
    "--seconds (10): about how long in all. The exit code is 1 when something failed, 2 for a wrong call.\n";

struct Arguments {
  TargetOptions target;
  Plan plan;
  uint64_t seed = std::random_device()();
  uint64_t seconds = 10;
};

bool ReadNumber(std::string_view text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// What is wrong with the call; empty: nothing.
std::string Read(const std::vector<std::string>& words, Arguments& arguments) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& flag = words[i];
    if (flag == "--tls") {
      arguments.target.tls = true;
      continue;
    }
    if (flag != "--target" && flag != "--path" && flag != "--seconds" && flag != "--seed" && flag != "--connections" &&
        flag != "--answer-within" && flag != "--max-memory-mb") {
      return "unknown argument \"" + flag + "\"";
    }
    if (++i == words.size()) return flag + " needs a value";
    const std::string& value = words[i];
    if (flag == "--target") {
      arguments.target.url = value;
      continue;
    }
    if (flag == "--path") {
      paths.push_back(value);
      continue;
    }
    uint64_t number = 0;
    if (!ReadNumber(value, number)) return flag + ": must be a number, got \"" + value + "\"";
    if (flag == "--seconds") arguments.seconds = number;
    if (flag == "--seed") arguments.seed = number;
    if (flag == "--connections") arguments.plan.connections = number;
    if (flag == "--answer-within") arguments.target.answer_within = Duration::Seconds(static_cast<int64_t>(number));
    if (flag == "--max-memory-mb") arguments.target.max_memory = number << 20;
  }
  if (arguments.target.url.empty()) return "--target is required";
  if (!paths.empty()) arguments.plan.paths = paths;
  return "";
}

int Run(const std::vector<std::string>& words) {
  Arguments arguments;
  if (const std::string wrong = Read(words, arguments); !wrong.empty()) {
    std::cerr << "hostile: " << wrong << "\n" << kUsage;
    return 2;
  }
  const Result<std::unique_ptr<Target>> made = Target::Make(arguments.target);
  if (!made.ok()) {
    std::cerr << "hostile: " << made.error().text() << "\n";
    return 2;
  }
  const Target& target = **made;
  if (const std::string problem = target.Unhealthy(); !problem.empty()) {
    std::cerr << "hostile: before anything was done: " << problem << "\n";
    return 2;
  }
  rlimit files = {};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &files);
    const size_t room = files.rlim_cur > 200 ? static_cast<size_t>(files.rlim_cur) - 200 : 0;
    arguments.plan.connections = std::min(arguments.plan.connections, room);
  }
  // Shapes, handshakes and rows end by themselves; the other attacks are seven that share the time.
  arguments.plan.time = std::chrono::milliseconds(arguments.seconds * 1000 / 7);
  std::cout << "seed " << arguments.seed << std::endl;
  util::Random random(arguments.seed);
  Report report(std::cout);
  AttackWithShapes(target, arguments.plan, report);
  AttackHandshakes(target, report);
  AttackInARow(target, arguments.plan, report);
  AttackByNumber(target, arguments.plan, random, report);
  AttackUnread(target, arguments.plan, report);
  AttackSlowly(target, arguments.plan, report);
  AttackWithMutations(target, arguments.plan, random, report);
  std::cout << "slowest /healthz: " << target.slowest().ns / 1'000'000 << " ms";
  if (const auto memory = target.Memory()) std::cout << "; memory at the end: " << (*memory >> 20) << " MiB";
  std::cout << "\n" << report.passed() << " passed, " << report.failed() << " failed" << std::endl;
  return report.failed() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace berth::hostile

int main(int argc, char** argv) { return berth::hostile::Run(std::vector<std::string>(argv + 1, argv + argc)); }
