// SPDX-License-Identifier: Apache-2.0
// Inbox: the one way by which other threads reach the scheduling thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace berth::util {

// What is posted runs on the thread that drains, in the order of posting. Destroyed with letters unread: they are
// dropped without being run.
// Thread safety: Post from any thread; Drain and WaitFor from the owning thread.
class Inbox {
 public:
  using Letter = std::function<void()>;

  void Post(Letter letter) {
    // Under the lock to the end: the owner may let go of the inbox as soon as it has read the letter.
    std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
    if (letters_.size() == 1) arrived_.notify_one();  // else the owner knows
  }
  // Runs everything that was there at the time of the call; what that posts waits for the next call. Returns how many.
  size_t Drain() {
    std::vector<Letter> letters;
    {
      std::lock_guard lock(mutex_);
      letters.swap(letters_);
    }
    for (Letter& letter : letters) {
      letter();
      letter = nullptr;  // what it held is not kept alive by its successors
    }
    return letters.size();
  }
  bool empty() const {
    std::lock_guard lock(mutex_);
    return letters_.empty();
  }
  // Until there is a letter or the time is over; true: there is one.
  bool WaitFor(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, timeout, [this] { return !letters_.empty(); });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Letter> letters_;
};

}  // namespace berth::util
