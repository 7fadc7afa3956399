// SPDX-License-Identifier: Apache-2.0
// Pacer: lets requests go at a bounded rate, in order of rank and time, and some of them later.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "util/deadline.h"

namespace berth::client {

// `burst` at once, then `qps` per second, as client-go's limiter counts. qps of zero and less: no limit.
//
// Thread safety: none.
class TokenBucket {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  TokenBucket(double qps, int burst, TimePoint now);
  // Takes one and returns true; false when there is none yet.
  bool Take(TimePoint now);
  // When the next one is there, or the one behind so many others; not after `now` if it is.
  TimePoint Next(TimePoint now, size_t others = 0);

 private:
  void Fill(TimePoint now);

  const double qps_, burst_;
  double tokens_;
  TimePoint filled_;
};

// Thread safety: any thread.
class Pacer {
 public:
  using Call = std::function<void()>;
  using TimePoint = TokenBucket::TimePoint;

  Pacer(double qps, int burst);
  ~Pacer();
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  // Calls when the rate allows and all calls before it, and those of lower ranks, have gone: at once, or later on the
  // pacer's thread, and then it must not take long. False: its turn would come after `until`, so it is not called and
  // takes nobody's turn. (Calls of lower ranks that come meanwhile may still make it late.)
  bool Run(Call call, util::Deadline until = util::kNoDeadline, uint8_t rank = 0);
  // The same, but not before the delay is over; what it waits for does not keep others waiting.
  void RunLater(std::chrono::nanoseconds delay, Call call, uint8_t rank = 0);
  // Takes a turn that has come already, for a call that the caller makes then; false: it has to be run.
  bool TakeTurn();
  // Those that wait are dropped, and the thread has ended when it returns. A Run on another thread whose turn had come
  // may make its call after that: what calls use must outlive the threads that ask. REQUIRES: not called by a call.
  void Stop();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  TokenBucket bucket_;
  std::map<uint8_t, std::deque<Call>> waiting_;  // by rank; none is empty
  struct Later {
    uint8_t rank;
    Call call;
  };
  std::map<std::pair<TokenBucket::TimePoint, uint64_t>, Later> later_;
  uint64_t next_ = 0;
  bool stopped_ = false;
  std::thread thread_;  // started when somebody has to wait
};

}  // namespace berth::client
