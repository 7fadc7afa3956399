// SPDX-License-Identifier: Apache-2.0
// AnswerThread: where answers are made that take too long for a thread that serves connections.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace berth::serving {

// One at a time, in the order of posting. What has not begun when it ends is dropped.
//
// Thread safety: Post from any thread.
class AnswerThread {
 public:
  explicit AnswerThread(size_t most_waiting = 64) : most_waiting_(most_waiting), thread_([this] { Run(); }) {}
  ~AnswerThread() { Stop(); }
  // What is under way is finished; nothing is called afterwards. REQUIRES: not called by what it runs.
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  AnswerThread(const AnswerThread&) = delete;
  AnswerThread& operator=(const AnswerThread&) = delete;

  // False: too many wait already, and it is not called. What it throws is lost, as what it holds is.
  bool Post(std::function<void()> call) {
    {
      const std::lock_guard lock(mutex_);
      if (stopped_ || waiting_.size() >= most_waiting_) return false;
      waiting_.push_back(std::move(call));
    }
    changed_.notify_all();
    return true;
  }

 private:
  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
      if (stopped_) return;
      std::function<void()> call = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      try {
        call();
      } catch (...) {  // one answer that cannot be made does not end the program
      }
      call = nullptr;  // what it holds goes without the lock
      lock.lock();
    }
  }

  const size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace berth::serving
