// SPDX-License-Identifier: Apache-2.0
// RunProgram: another program's output, with bounds on its size and on how long it may take.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/clock.h"

namespace berth::util {

struct ProgramCall {
  std::string program;                   // looked for in PATH unless there is a slash in it
  std::vector<std::string> args = {};    // after the program's name
  std::vector<std::string> environment;  // all of it, NAME=value
  bool gets_stdin = false;               // ours; otherwise it reads nothing
  Duration timeout = Duration::Seconds(60);
  size_t max_output = size_t{1} << 20;
  const std::atomic<bool>* stop = nullptr;  // true: it is ended at once, within a moment. May be null
  std::function<void()> meanwhile = {};     // called every now and then (50 ms) while it runs. May be empty
};

enum class ProgramEnd : uint8_t {
  kExited,   // by itself
  kMissing,  // there is no such program, or none that we may run
  kFailed,   // it could not be run for another reason
  kLate,     // it was ended after the timeout
  kTooMuch,  // it was ended because it said too much
  kStopped,  // it was ended because somebody wanted that
};

struct ProgramResult {
  ProgramEnd end = ProgramEnd::kFailed;
  int code = -1;        // of kExited: what it returned; -1: a signal ended it. 0 in a process that ignores SIGCHLD
  std::string output;   // what it wrote to its standard output
  std::string problem;  // of kMissing and kFailed: what the system says
};

// Waits until it has ended and all of its output is there. Its standard error is ours; it inherits nothing else, no
// signal mask, no ignored signals. Whatever it has started goes with it if it is ended, unless it gets our stdin: then
// it shares our terminal.
// Thread safety: any thread.
ProgramResult RunProgram(const ProgramCall& call);

// Our environment with the given variables instead of those of their names; of equal names the last counts.
std::vector<std::string> EnvironmentWith(const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace berth::util
