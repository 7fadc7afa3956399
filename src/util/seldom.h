// SPDX-License-Identifier: Apache-2.0
// Seldom: what is found again and again is told once in a while.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>

namespace berth::util {

// Thread safety: all methods.
class Seldom {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::minutes kEvery{1};
  static constexpr size_t kRemembered = 100;  // sentences; with one more it forgets them all

  // Whether to say it now: it was not said within the last minute.
  bool Say(const std::string& sentence, TimePoint now = std::chrono::steady_clock::now()) {
    const std::lock_guard lock(mutex_);
    if (said_.size() >= kRemembered && !said_.contains(sentence)) said_.clear();
    const auto [it, first] = said_.try_emplace(sentence, now);
    if (!first && now - it->second < kEvery) return false;
    it->second = now;
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, TimePoint> said_;  // when last
};

}  // namespace berth::util
