// SPDX-License-Identifier: Apache-2.0
// CallWorkers: threads on which calls are computed, so that those that read and write sockets stay free for others.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace berth::extender {

// A small call may be computed where it was read, which saves handing it over twice; but only while no other is with
// the workers, as it would have to wait for that one's plugins.
//
// Calls are computed in the order in which they come, until the first of those that wait has waited for kPatience:
// whoever asked may have given up by then. From then on the newest goes first, so that a crowd that came once does not
// make all others late; before it those at the front that nobody waits for any more, as they hold places and memory.
//
// Thread safety: all methods.
class CallWorkers {
 public:
  // kube-scheduler's, where its configuration gives no httpTimeout.
  static constexpr std::chrono::seconds kPatience{5};

  // Threads begin at once. `most_waiting`: calls that no thread has begun.
  CallWorkers(size_t threads, size_t most_waiting, std::chrono::nanoseconds patience = kPatience);
  // Waits for those that are being computed and drops those that wait. REQUIRES: nobody calls any more.
  ~CallWorkers();
  CallWorkers(const CallWorkers&) = delete;
  CallWorkers& operator=(const CallWorkers&) = delete;

  // Calls it here and now, or returns false.
  bool RunHere(const std::function<void()>& call);
  // Calls it on one of the threads; what it throws is lost. False: too many wait, and it was not taken. `gone` says
  // whether whoever asked has given up, and the call does next to nothing then; it may be null, and must not block.
  bool Post(std::function<void()>& call, std::function<bool()> gone = nullptr);
  // How many wait.
  size_t waiting() const;

 private:
  void Work();

  struct Waiting {
    std::function<void()> call;
    std::function<bool()> gone;
    std::chrono::steady_clock::time_point since;
  };
  // REQUIRES: somebody waits; mutex_.
  std::function<void()> Next();

  const size_t most_waiting_;
  const std::chrono::nanoseconds patience_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  // Under mutex_.
  std::deque<Waiting> queue_;
  size_t running_ = 0;  // on the threads
  size_t here_ = 0;     // within RunHere
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace berth::extender
