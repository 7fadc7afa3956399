// SPDX-License-Identifier: Apache-2.0
// Inbox: the one way by which other threads reach the scheduling thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "util/unique_call.h"

namespace berth::util {

// What is posted runs on the thread that drains, what one thread posts in the order of posting. Destroyed with letters
// unread: they are dropped without being run. Thread safety: Post from any thread; the rest from the owning thread.
class Inbox {
 public:
  // With room for an answer that is a few words and a callback.
  using Letter = UniqueCall<void(), 7 * sizeof(void*)>;

  // Has work of its own for the owning thread, which nothing but its sockets tell of: the owner sleeps there.
  class Guest {
   public:
    virtual ~Guest() = default;
    // Does what there is to do, for which it waits so long at the most, or until somebody wakes it; it may post. What
    // its sockets have to say, answers as well, may be left there for `patience` after the turn before, so that more of
    // it comes together. The owning thread only.
    virtual void Turn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience) = 0;
    // The turn under way, or the next one, does not wait. Any thread; on the owning one nothing has to be done, which
    // looks for letters before each turn.
    virtual void Wake() = 0;
  };
  // The guest has a turn whenever the owner waits, and every few milliseconds while it does not. Null: there is none
  // any more. REQUIRES: it stays until then.
  void set_guest(Guest* guest) {
    std::lock_guard lock(mutex_);
    guest_ = guest;
  }
  Guest* guest() const { return guest_; }

  // While there is one on a thread, what that thread posts is held back, and arrives at once when it ends: whoever
  // reads is woken once for all of it. REQUIRES: inboxes that are posted to live as long; nobody waits for a letter
  // meanwhile.
  class Batch {
   public:
    Batch() : outer_(std::exchange(current_, this)) {}
    ~Batch() {
      current_ = outer_;
      Deliver();
    }
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

   private:
    friend class Inbox;
    void Hold(Inbox& inbox, Letter&& letter) {
      if (inbox_ != &inbox) {
        Deliver();
        inbox_ = &inbox;
        inbox.TakeSpare(letters_);
      }
      letters_.push_back(std::move(letter));
    }
    void Deliver() {
      if (inbox_ != nullptr) std::exchange(inbox_, nullptr)->Put(letters_);
      letters_.clear();
    }

    inline static thread_local Batch* current_ = nullptr;
    Batch* const outer_;
    Inbox* inbox_ = nullptr;
    std::vector<Letter> letters_;  // for it
  };

  void Post(Letter letter) {
    if (Batch::current_ != nullptr) return Batch::current_->Hold(*this, std::move(letter));
    // Under the lock to the end: the owner may let go of the inbox as soon as it has read the letter.
    std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
    if (letters_.size() == 1) Tell();  // else the owner knows
  }
  // Runs everything that was there at the time of the call; what that posts waits for the next call. Returns how many.
  size_t Drain() {
    if (guest_ != nullptr && std::chrono::steady_clock::now() - last_turn_ >= kTurnEvery) TakeTurn({}, {});
    std::vector<Letter> letters;
    {
      std::lock_guard lock(mutex_);
      if (letters_.empty()) return 0;
      letters.swap(letters_);
      letters_.swap(spare_);
    }
    for (Letter& letter : letters) {
      letter();
      letter = nullptr;  // what it held is not kept alive by its successors
    }
    const size_t count = letters.size();
    std::lock_guard lock(mutex_);
    KeepSpare(letters);
    return count;
  }
  bool empty() const {
    std::lock_guard lock(mutex_);
    return letters_.empty();
  }
  // Until there is a letter or the time is over; true: there is one. `patience`: as the guest's turn has it, for all
  // its turns together: what follows one that has only sent something may wait for the rest of it, and what follows the
  // one that was waited for (a part of an event, a sign of life) is not waited for once more.
  bool WaitFor(std::chrono::nanoseconds timeout, std::chrono::nanoseconds patience = {}) {
    if (guest_ != nullptr) return WaitWithGuest(timeout, patience);
    std::unique_lock lock(mutex_);
    return arrived_.wait_for(lock, timeout, [this] { return !letters_.empty(); });
  }

 private:
  // How long a guest waits for an owner that has work.
  static constexpr std::chrono::milliseconds kTurnEvery{2};
  static constexpr size_t kMaxSpare = 8192;  // letters

  bool WaitWithGuest(std::chrono::nanoseconds timeout, std::chrono::nanoseconds patience) {
    const auto began = std::chrono::steady_clock::now();
    std::chrono::nanoseconds gone{0};
    for (; empty(); gone = last_turn_ - began) {
      if (gone >= timeout) return false;
      TakeTurn(timeout - gone, std::max(patience - gone, std::chrono::nanoseconds::zero()));
    }
    return true;
  }
  void TakeTurn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience) {
    guest_->Turn(longest, patience);
    last_turn_ = std::chrono::steady_clock::now();
  }
  // Under the lock.
  void Tell() {
    if (guest_ != nullptr) return guest_->Wake();
    arrived_.notify_one();
  }
  void Put(std::vector<Letter>& letters) {
    std::lock_guard lock(mutex_);
    if (letters_.empty()) {
      letters_.swap(letters);
      Tell();
    } else {
      letters_.insert(letters_.end(), std::make_move_iterator(letters.begin()), std::make_move_iterator(letters.end()));
    }
    KeepSpare(letters);
  }
  // The memory of letters that were read, for the next ones: asking for it each time costs more than the letters do.
  void TakeSpare(std::vector<Letter>& letters) {
    std::lock_guard lock(mutex_);
    letters.swap(spare_);
  }
  // Under the lock. REQUIRES: they have been read, or moved.
  void KeepSpare(std::vector<Letter>& letters) {
    if (letters.capacity() > kMaxSpare) return;
    letters.clear();
    if (spare_.capacity() < letters.capacity()) spare_.swap(letters);
  }

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Letter> letters_;
  std::vector<Letter> spare_;  // empty
  Guest* guest_ = nullptr;     // set under the mutex, on the owning thread
  std::chrono::steady_clock::time_point last_turn_;
};

}  // namespace berth::util
