// SPDX-License-Identifier: Apache-2.0
// LogRation: how many lines of a kind a server's log has, so that one client cannot fill a disk with one sentence.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/log.h"

namespace berth::util {

// Lines are of a kind that have severity, place in the source, logger and message in common; sentences (`plain`), those
// of one place. Each kind may come in a burst, and then at a rate. A warning or an error that says something new, that
// is, whose texts have not been written within the last minute, has a ration of its own, which what is repeated does
// not use up. What is left out is counted. Thread safety: all methods.
class LogRation {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  struct Rate {
    double burst, per_second;
  };
  static constexpr Rate kInfo{10'000, 1'000};     // -v=4 and more among them: somebody has asked for these
  static constexpr Rate kProblem{100, 10};        // warnings and errors
  static constexpr Rate kNewProblem{1'000, 100};  // those that say something new, on top
  static constexpr std::chrono::minutes kNewAfter{1};

  // Whether to write it.
  bool Admit(const LogRecord& record, TimePoint now);

  struct LeftOut {
    LogSeverity severity = LogSeverity::kInfo;
    int verbosity = 0;
    LogPlace place;
    std::string logger, message;  // the message of the first one; empty for sentences
    uint64_t lines = 0;
  };
  // What was left out since the last call, by kind, in the order in which kinds were first seen.
  std::vector<LeftOut> Take();
  // Lines that were left out so far.
  uint64_t left_out() const;

 private:
  class Bucket {
   public:
    Bucket(Rate rate, TimePoint now) : rate_(rate), tokens_(rate.burst), at_(now) {}
    bool Take(TimePoint now);

   private:
    Rate rate_;
    double tokens_;
    TimePoint at_;
  };
  struct Kind {
    Bucket all, fresh;
    LeftOut left_out;
    size_t order;
  };
  // With more of them, kinds are told apart by place and severity alone: a program has a fixed number of those.
  static constexpr size_t kMaxKinds = 1'024;
  static constexpr size_t kRemembered = 4'096;  // texts; with one more it forgets them all

  Kind& KindOf(const LogRecord& record, TimePoint now);

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Kind> kinds_;      // by hash
  std::unordered_map<uint64_t, TimePoint> said_;  // texts of warnings and errors by hash: when last
  uint64_t left_out_ = 0;
};

}  // namespace berth::util
