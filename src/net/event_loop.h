// SPDX-License-Identifier: Apache-2.0
// EventLoop: waits for many file descriptors, on a thread of its own or as a guest on somebody's.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "util/deadline.h"
#include "util/inbox.h"

namespace berth::net {

using util::After;
using util::Deadline;
using util::kNoDeadline;

// A socket address as the system calls take it.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Thread safety: Post, Wake and InThread from any thread, also after Join (then nothing comes of it); the rest from the
// owner. "The loop's thread" is the one that Start begins; without Start, the one that takes turns.
class EventLoop final : public util::Inbox::Guest {
  struct Impl;

 public:
  EventLoop();
  // REQUIRES: joined, or never started.
  ~EventLoop() override;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  // A loop that is woken again and again does more at a time: at most this often, once it was woken a few times in a
  // row more often than that. Whatever waits for a turn waits so much longer at the most; a request and its answer are
  // two turns. 0, the default: as often as there is something. REQUIRES: not started.
  void set_spacing(Duration spacing);
  // A request is being sent. If answers usually come within the spacing, the next turn of a guest, which hears of the
  // news as well, begins a spacing after this one at the earliest, unless something is posted or somebody wakes it: the
  // answer and the news that follows it wake the thread once. NoteAnswer: how long an answer took; those that patience
  // has left alone do not count. The loop's thread.
  void ExpectAnswer();
  void NoteAnswer(std::chrono::nanoseconds took);
  // While there is one, no turn is patient: an answer is wanted at once, or something cannot be sent before something
  // is read. The loop's thread; it may outlive the loop.
  class Haste {
   public:
    explicit Haste(EventLoop& loop);
    ~Haste() { --*count_; }
    Haste(const Haste&) = delete;
    Haste& operator=(const Haste&) = delete;

   private:
    const std::shared_ptr<size_t> count_;  // the loop's
  };

  void Start();
  // One turn of a loop that was not started; with patience, which a loop without spacing has not, its own timers may be
  // as late as the news. REQUIRES: not called within a turn.
  void Turn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience) override;
  void Wake() override;
  // Returns when nobody waits for anything any more; whoever wants that ends what is under way first. Without Start the
  // turns that this takes are taken here.
  void Join();

  void Post(std::function<void()> call);
  bool InThread() const;
  // Calls `done` on the loop's thread with what the system's resolver says, unless the loop has ended by then: nobody
  // waits for a resolver that does not answer.
  void Resolve(const std::string& host, const std::string& port,
               std::function<void(const Result<std::vector<SocketAddress>>&)> done);

 private:
  friend class Watch;
  std::shared_ptr<Impl> impl_;
};

enum class Wake { kReady, kTimeout, kCancelled };

// Waiting for one file descriptor, which it owns and closes, or with -1 for time to pass. Whoever waits to read or
// write has tried just before and was told that it would block: what was there already wakes nobody.
//
// Thread safety: the loop's thread only.
class Watch {
 public:
  // kEither: until it can be read or written. kTime: until the deadline. kTurn: until the others on this thread have
  // had theirs.
  enum class For { kRead, kWrite, kEither, kTime, kTurn };

  // Owns `fd` also when it throws.
  Watch(EventLoop& loop, int fd);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  int fd() const;
  // From when on waiting ends with kTimeout. Cheap to move: the timer behind is set when somebody waits, and moved only
  // to an earlier time.
  void set_deadline(Deadline deadline);
  Deadline deadline() const;
  // Ends the wait under way, and all later ones at once.
  void Cancel();
  bool cancelled() const;
  // Ends the wait under way, if there is one, with kReady, though nothing has to be.
  void Poke();

  struct Awaiter {
    Watch* watch;
    For what;
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> waiter) { return watch->Begin(what, waiter); }
    Wake await_resume() const noexcept { return watch->result(); }
  };
  // REQUIRES: nobody waits on this Watch yet.
  Awaiter Wait(For what) { return {this, what}; }

 private:
  friend class EventLoop;
  struct State;
  bool Begin(For what, std::coroutine_handle<> waiter);
  Wake result() const noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace berth::net
