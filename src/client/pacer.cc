// SPDX-License-Identifier: Apache-2.0
#include "client/pacer.h"

#include <algorithm>

namespace berth::client {

using Seconds = std::chrono::duration<double>;

TokenBucket::TokenBucket(double qps, int burst, TimePoint now)
    : qps_(qps), burst_(std::max(burst, 1)), tokens_(burst_), filled_(now) {}

void TokenBucket::Fill(TimePoint now) {
  if (now <= filled_) return;
  tokens_ = std::min(burst_, tokens_ + Seconds(now - filled_).count() * qps_);
  filled_ = now;
}

bool TokenBucket::Take(TimePoint now) {
  if (qps_ <= 0) return true;
  Fill(now);
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

TokenBucket::TimePoint TokenBucket::Next(TimePoint now, size_t others) {
  if (qps_ <= 0) return now;
  Fill(now);
  const double needed = 1 + static_cast<double>(others);
  if (tokens_ >= needed) return now;
  // Rounded up, and no further away than an hour: a tiny rate must not overflow the clock.
  const double wait = std::min((needed - tokens_) / qps_, 3600.0);
  return now + std::chrono::duration_cast<std::chrono::nanoseconds>(Seconds(wait)) + std::chrono::nanoseconds(1);
}

Pacer::Pacer(double qps, int burst) : bucket_(qps, burst, std::chrono::steady_clock::now()) {}

Pacer::~Pacer() { Stop(); }

bool Pacer::Run(Call call, util::Deadline until, uint8_t rank) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return true;
    const TimePoint now = std::chrono::steady_clock::now();
    if (!waiting_.empty() || !bucket_.Take(now)) {
      size_t before = 0;
      for (auto it = waiting_.begin(); it != waiting_.end() && it->first <= rank; ++it) before += it->second.size();
      if (bucket_.Next(now, before) > until) return false;
      waiting_[rank].push_back(std::move(call));
      if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
      changed_.notify_one();
      return true;
    }
  }
  call();
  return true;
}

bool Pacer::TakeTurn() {
  const std::lock_guard lock(mutex_);
  return !stopped_ && waiting_.empty() && bucket_.Take(std::chrono::steady_clock::now());
}

void Pacer::RunLater(std::chrono::nanoseconds delay, Call call, uint8_t rank) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  later_.emplace(std::pair(std::chrono::steady_clock::now() + delay, next_++), Later{rank, std::move(call)});
  if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  changed_.notify_one();
}

void Pacer::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    const TokenBucket::TimePoint now = std::chrono::steady_clock::now();
    while (!later_.empty() && later_.begin()->first.first <= now) {
      Later& due = later_.begin()->second;
      waiting_[due.rank].push_back(std::move(due.call));
      later_.erase(later_.begin());
    }
    if (!waiting_.empty() && bucket_.Take(now)) {
      const auto first = waiting_.begin();
      const Call call = std::move(first->second.front());
      first->second.pop_front();
      if (first->second.empty()) waiting_.erase(first);
      lock.unlock();
      call();
      lock.lock();
      continue;
    }
    TokenBucket::TimePoint wake = TokenBucket::TimePoint::max();
    if (!waiting_.empty()) wake = bucket_.Next(now);
    if (!later_.empty()) wake = std::min(wake, later_.begin()->first.first);
    if (wake == TokenBucket::TimePoint::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, wake);
    }
  }
}

void Pacer::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_one();
  }
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  waiting_.clear();
  later_.clear();
}

}  // namespace berth::client
