// SPDX-License-Identifier: Apache-2.0
#include "extender/call_workers.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "util/crash_note.h"

namespace berth::extender {

using Steady = std::chrono::steady_clock;

CallWorkers::CallWorkers(size_t threads, size_t most_waiting, std::chrono::nanoseconds patience)
    : most_waiting_(most_waiting), patience_(patience) {
  threads_.reserve(std::max<size_t>(threads, 1));
  while (threads_.size() < threads_.capacity()) {
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {  // the system has no more; fewer will do
      if (threads_.empty()) throw;
      break;
    }
  }
}

CallWorkers::~CallWorkers() {
  std::deque<Waiting> dropped;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    dropped.swap(queue_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool CallWorkers::RunHere(const std::function<void()>& call) {
  {
    const std::lock_guard lock(mutex_);
    if (running_ > 0 || !queue_.empty()) return false;
    ++here_;
  }
  // The end, also if it throws.
  struct End {
    CallWorkers* workers;
    ~End() {
      bool wake = false;
      {
        const std::lock_guard lock(workers->mutex_);
        wake = --workers->here_ == 0 && !workers->queue_.empty();
      }
      if (wake) workers->wake_.notify_all();
    }
  } const end{this};
  call();
  return true;
}

bool CallWorkers::Post(std::function<void()>& call, std::function<bool()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= most_waiting_) return false;
    queue_.push_back({std::move(call), std::move(gone), Steady::now()});
  }
  wake_.notify_one();
  return true;
}

size_t CallWorkers::waiting() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

std::function<void()> CallWorkers::Next() {
  const Waiting& first = queue_.front();
  const bool newest = Steady::now() - first.since >= patience_ && !(first.gone && first.gone());
  std::function<void()> call = std::move((newest ? queue_.back() : queue_.front()).call);
  if (newest) {
    queue_.pop_back();
  } else {
    queue_.pop_front();
  }
  return call;
}

void CallWorkers::Work() {
  const util::CrashStack stack;  // plugins are called
  std::unique_lock lock(mutex_);
  for (;;) {
    // Those that began where they were read are short, and must not find a long one in front of them.
    wake_.wait(lock, [this] { return stop_ || (!queue_.empty() && here_ == 0); });
    if (stop_) return;
    {
      const std::function<void()> call = Next();
      ++running_;
      lock.unlock();
      try {
        call();
      } catch (...) {  // whoever asked finds out when the call is gone
      }
    }
    lock.lock();
    --running_;
  }
}

}  // namespace berth::extender
