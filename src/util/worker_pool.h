// SPDX-License-Identifier: Apache-2.0
// WorkerPool: a few threads that share the tasks of one caller, which works along.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace berth::util {

// Which thread does which task is left to chance, so tasks must not depend on it: each writes what is its own.
//
// Thread safety: Run from one thread at a time.
class WorkerPool {
 public:
  // `threads`: with the caller's; 0 and 1 mean that the caller works alone. Threads start with the first Run.
  explicit WorkerPool(size_t threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  size_t threads() const { return threads_; }
  // Calls task(0) … task(count - 1), each once, and returns when all are done. REQUIRES: task throws nothing.
  void Run(size_t count, const std::function<void(size_t)>& task);

 private:
  void Work();
  void Take(const std::function<void(size_t)>& task, size_t count);

  const size_t threads_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  // Under mutex_, but for next_.
  const std::function<void(size_t)>* task_ = nullptr;
  size_t count_ = 0;
  uint64_t round_ = 0;
  size_t busy_ = 0;  // workers that have not finished this round
  bool stop_ = false;
  std::atomic<size_t> next_{0};
};

}  // namespace berth::util
