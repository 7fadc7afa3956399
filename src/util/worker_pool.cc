// SPDX-License-Identifier: Apache-2.0
// Rounds: every worker takes part in every round, so none can still hold a task of the last one.
#include "util/worker_pool.h"

#include "util/crash_note.h"

namespace berth::util {

WorkerPool::WorkerPool(size_t threads) : threads_(threads == 0 ? 1 : threads) {}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::Take(const std::function<void(size_t)>& task, size_t count) {
  for (size_t i = next_.fetch_add(1); i < count; i = next_.fetch_add(1)) task(i);
}

void WorkerPool::Run(size_t count, const std::function<void(size_t)>& task) {
  if (threads_ == 1 || count < 2) {
    for (size_t i = 0; i < count; ++i) task(i);
    return;
  }
  while (workers_.size() + 1 < threads_) workers_.emplace_back([this] { Work(); });
  {
    const std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = 0;
    busy_ = workers_.size();
    ++round_;
  }
  wake_.notify_all();
  Take(task, count);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
}

void WorkerPool::Work() {
  const CrashStack stack;
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    const std::function<void(size_t)>& task = *task_;
    const size_t count = count_;
    lock.unlock();
    Take(task, count);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace berth::util
