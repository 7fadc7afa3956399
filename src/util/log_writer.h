// SPDX-License-Identifier: Apache-2.0
// LogWriter: lines to a file descriptor by a thread of its own, so that whoever logs never waits for whoever reads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace berth::util {

// Lines wait in a buffer of bounded size; those that find it full are dropped and counted, and a line in their place
// says how many. A reader that is slow, stopped or gone costs its lines and nothing else: no caller waits, and SIGPIPE
// is not raised. The descriptor is used as it is, not made non-blocking: others may share it. Thread safety: all
// methods; Close once.
class LogWriter {
 public:
  struct Options {
    size_t max_bytes = size_t{4} << 20;
    // The line, with its end, that tells how many were dropped. Called by any thread that uses the writer, which it
    // must not use itself.
    std::function<std::string(uint64_t lines)> dropped_line = nullptr;
    // Lines for which a Remind asked. Called by the writer's thread, and once more by Close.
    std::function<std::string()> reminder = nullptr;
  };
  // REQUIRES: the descriptor stays open while this lives, and longer if Close could not write everything.
  LogWriter(int fd, Options options);
  // Closes without patience.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // A line with its end, or several. Never waits for the reader.
  void Add(std::string_view line);
  // Has `reminder` called within so long, unless that has been asked for already.
  void Remind(std::chrono::milliseconds within);
  // Writes what waits, for at most about so long; the rest is dropped. Lines that come later are dropped as well.
  // Neither function of the options is called once it has returned.
  void Close(std::chrono::milliseconds patience);

  // Lines that were dropped so far.
  uint64_t dropped() const;

  // Waits until every writer of the process has written what it has, or so long. For signal handlers: waits and reads
  // memory, nothing else.
  static void AwaitAll(std::chrono::milliseconds patience);

 private:
  struct State;
  static void Run(State& state);

  // Shared with the thread: one that is stuck in the system is left behind.
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace berth::util
