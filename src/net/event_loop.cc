// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <netdb.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "util/crash_note.h"
#include "util/inbox.h"

namespace berth::net {
namespace {

using std::chrono::steady_clock;

constexpr size_t kEventsPerTurn = 128;
// What is posted by what was posted runs before the system is asked again, but not for ever.
constexpr int kRoundsPerTurn = 4;
// How often in a row a loop with spacing is woken without delay. Credit comes back with time.
constexpr int kTurnsInARow = 8;
// A turn that takes this part of the spacing has enough to do: it is not one of those that are to be fewer.
constexpr int kLongTurn = 8;
// Each answer moves the average by one part in this many.
constexpr int kAnswerShare = 8;
constexpr std::chrono::hours kLongestTurn{1};

Result<std::vector<SocketAddress>> Lookup(const std::string& host, const std::string& port) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (code != 0) return Error("no address of " + host + ": " + ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    address.length = entry->ai_addrlen;
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
  }
  return addresses;
}

bool Reads(Watch::For what) { return what == Watch::For::kRead || what == Watch::For::kEither; }
bool Writes(Watch::For what) { return what == Watch::For::kWrite || what == Watch::For::kEither; }

}  // namespace

// Events come when something changes (edge-triggered), so that a wait costs no system call of its own: whoever waits
// has seen that nothing is there. What comes while nobody waits is noted for the next who does.
struct Watch::State : std::enable_shared_from_this<Watch::State> {
  explicit State(EventLoop::Impl& loop_in, int fd_in) : loop(loop_in), fd(fd_in) {}

  void ArmTimer();
  void DropTimer();
  void Happened(uint32_t events);
  void Finish(Wake how);
  std::coroutine_handle<> Leave();

  EventLoop::Impl& loop;
  const int fd;
  std::optional<std::pair<Deadline, uint64_t>> timer;  // its key among the loop's
  Deadline deadline = kNoDeadline;
  std::coroutine_handle<> waiter;
  For what = For::kTime;  // it waits for
  bool readable = false, writable = false;
  bool hung_up = false;  // the peer sends no more: what there is to read says so again and again
  uint64_t round = 0;
  Wake result = Wake::kReady;
  bool cancelled = false;
};

struct EventLoop::Impl {
  Impl() : epoll(::epoll_create1(EPOLL_CLOEXEC)), wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (epoll < 0 || wake < 0 || !Add(wake, EPOLLIN | EPOLLET, nullptr)) {
      const int reason = errno;
      Close();
      throw std::system_error(reason, std::generic_category(), "event loop");
    }
  }
  ~Impl() { Close(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Close() {
    if (epoll >= 0) ::close(std::exchange(epoll, -1));
    if (wake >= 0) ::close(std::exchange(wake, -1));
  }
  bool Add(int fd, uint32_t events, Watch::State* state) const {
    epoll_event event = {};
    event.events = events;
    event.data.ptr = state;
    return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
  }
  void Post(std::function<void()> call) {
    Tell([&] {
      posted.push_back(std::move(call));
      if (for_news) wakers.notify_one();
    });
  }
  // Makes a change, which the loop sees before it sleeps again.
  template <class Change>
  void Tell(Change&& change) {
    bool asleep = false;
    {
      const std::lock_guard lock(mutex);
      change();
      asleep = std::exchange(sleeping, false);
    }
    if (!asleep) return;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = ::write(wake, &one, sizeof(one));
  }
  bool Turn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience);
  bool Space(std::chrono::nanoseconds& longest, std::chrono::nanoseconds patience);
  bool RunPosted();
  void RunTimers();
  int Timeout(std::chrono::nanoseconds longest) const;

  int epoll = -1, wake = -1;
  bool own_thread = false;  // set before there is one
  std::thread thread;
  std::atomic<std::thread::id> id;

  std::mutex mutex;
  std::condition_variable wakers;  // of a loop that waits between two turns
  // Under mutex.
  std::vector<std::function<void()>> posted;
  bool sleeping = false;  // and nobody has woken it yet
  bool woken = false;     // the next turn does not wait
  bool for_news = false;  // it waits between two turns, and for nothing but an answer or more news
  bool ending = false;

  // The loop's thread.
  std::chrono::nanoseconds spacing{0};
  Deadline turn_began{};    // of the turn before
  Deadline paid_turn{};     // the last one that was paid for: whoever is let go meanwhile does not pay for it again
  size_t in_haste = 0;      // waits to write, connections that are being made, requests that are not patient
  bool unfinished = false;  // it has left something to do
  // The time up to which turns are paid for, one spacing each; as far ahead of the clock as credit is used up.
  Deadline paid_until{};
  bool expecting = false;   // an answer to what this turn sends
  bool left_alone = false;  // what the next turn reads may have been there for longer than a spacing
  std::chrono::nanoseconds answers_take{0};
  std::vector<std::function<void()>> running;
  size_t waiters = 0;
  std::map<std::pair<Deadline, uint64_t>, Watch::State*> timers;
  uint64_t next_timer = 0;
  std::vector<std::shared_ptr<Watch::State>> gone;  // of which events may have been taken already
};

// False: nothing was.
bool EventLoop::Impl::RunPosted() {
  {
    const std::lock_guard lock(mutex);
    running.swap(posted);
  }
  if (running.empty()) return false;
  for (std::function<void()>& call : running) {
    call();
    call = nullptr;
  }
  running.clear();
  return true;
}

void EventLoop::Impl::RunTimers() {
  if (timers.empty()) return;
  const Deadline now = steady_clock::now();
  while (!timers.empty() && timers.begin()->first.first <= now) {
    const std::shared_ptr<Watch::State> state = timers.begin()->second->shared_from_this();
    state->DropTimer();
    if (!state->waiter) continue;
    if (now < state->deadline) {
      state->ArmTimer();
    } else {
      state->Finish(net::Wake::kTimeout);
    }
  }
}

// For epoll_wait, rounded up.
int EventLoop::Impl::Timeout(std::chrono::nanoseconds longest) const {
  if (!timers.empty())
    longest = std::min<std::chrono::nanoseconds>(longest, timers.begin()->first.first - steady_clock::now());
  const int64_t millis = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  return static_cast<int>(std::clamp<int64_t>(millis, 0, 3'600'000));
}

// Between two turns: waits until there is credit for the next one, and then for an answer, or for as long as answers
// and news may be left alone; makes `longest` what is left of it. False: it is over, and they may still be left alone.
bool EventLoop::Impl::Space(std::chrono::nanoseconds& longest, std::chrono::nanoseconds patience) {
  if (spacing.count() == 0 || unfinished || longest.count() == 0) return true;
  const Deadline now = steady_clock::now();
  if (now - turn_began < spacing / kLongTurn && std::exchange(paid_turn, turn_began) != turn_began) {
    // Turns that were shorter than they paid for leave no debt that would have to be slept off in one piece.
    paid_until = std::min(std::max(paid_until, now) + spacing, now + (kTurnsInARow + 1) * spacing);
  }
  if (in_haste > 0) patience = spacing.zero();
  if (expecting) patience = std::max(patience, spacing);
  const Deadline credit = paid_until - kTurnsInARow * spacing, news = turn_began + patience, end = now + longest;
  if (std::max(credit, news) <= now) return true;
  left_alone |= patience > spacing;
  std::unique_lock lock(mutex);
  // What is posted while there is no credit wakes nobody, which is the point.
  bool told = credit > now && wakers.wait_until(lock, std::min(credit, end), [this] { return woken; });
  if (!told && credit <= end) {
    // Nothing is kept from being sent for the sake of an answer or of news.
    for_news = true;
    told = wakers.wait_until(lock, std::min(news, end), [this] { return woken || !posted.empty(); });
    for_news = false;
  }
  lock.unlock();
  longest = std::max<std::chrono::nanoseconds>(end - steady_clock::now(), spacing.zero());
  return told || std::max(credit, news) <= end;
}

// False: it has ended.
bool EventLoop::Impl::Turn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience) {
  std::array<epoll_event, kEventsPerTurn> events;
  if (!Space(longest, patience)) return true;
  expecting = false;
  int timeout = 0;
  {
    const std::lock_guard lock(mutex);
    if (posted.empty() && !woken) {
      if (ending && waiters == 0) return false;
      timeout = Timeout(longest);
      sleeping = timeout > 0;
    }
    woken = false;
  }
  const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), timeout);
  {
    const std::lock_guard lock(mutex);
    sleeping = woken = false;
  }
  if (spacing.count() != 0) turn_began = steady_clock::now();
  // What a turn tells the scheduling thread wakes it once.
  const util::Inbox::Batch letters;
  for (int i = 0; i < count; ++i) {
    if (auto* state = static_cast<Watch::State*>(events[static_cast<size_t>(i)].data.ptr))
      state->Happened(events[static_cast<size_t>(i)].events);
  }
  gone.clear();
  RunTimers();
  int rounds = 0;
  while (rounds < kRoundsPerTurn && RunPosted()) ++rounds;
  unfinished = rounds == kRoundsPerTurn;
  left_alone = false;
  gone.clear();
  return true;
}

EventLoop::EventLoop() : impl_(std::make_shared<Impl>()) {}

EventLoop::~EventLoop() { assert(!impl_->thread.joinable()); }

void EventLoop::set_spacing(Duration spacing) { impl_->spacing = std::chrono::nanoseconds(spacing.ns); }

void EventLoop::ExpectAnswer() {
  // The wait is measured, too: an answer that was there at once seems to have taken a spacing.
  if (!impl_->own_thread && impl_->answers_take <= impl_->spacing * 5 / 4) impl_->expecting = true;
}

void EventLoop::NoteAnswer(std::chrono::nanoseconds took) {
  if (!impl_->left_alone) impl_->answers_take += (took - impl_->answers_take) / kAnswerShare;
}

EventLoop::Haste::Haste(EventLoop& loop) : count_(loop.impl_, &loop.impl_->in_haste) { ++*count_; }

void EventLoop::Start() {
  impl_->own_thread = true;
  impl_->thread = std::thread([impl = impl_.get()] {
    const util::CrashStack stack;  // handlers may call plugins
    impl->id = std::this_thread::get_id();
    while (impl->Turn(kLongestTurn, {})) continue;
  });
}

void EventLoop::Turn(std::chrono::nanoseconds longest, std::chrono::nanoseconds patience) {
  impl_->id.store(std::this_thread::get_id(), std::memory_order_relaxed);
  impl_->Turn(longest, patience);
}

void EventLoop::Wake() {
  // The loop's thread is awake, and looks before it sleeps.
  if (InThread()) return;
  impl_->Tell([this] {
    impl_->woken = true;
    impl_->wakers.notify_one();
  });
}

void EventLoop::Join() {
  impl_->Tell([this] { impl_->ending = true; });
  if (impl_->thread.joinable()) return impl_->thread.join();
  while (impl_->Turn(kLongestTurn, {})) continue;
}

void EventLoop::Post(std::function<void()> call) { impl_->Post(std::move(call)); }

bool EventLoop::InThread() const { return impl_->id.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

void EventLoop::Resolve(const std::string& host, const std::string& port,
                        std::function<void(const Result<std::vector<SocketAddress>>&)> done) {
  // A thread that nobody waits for: the system's resolver may take minutes and cannot be told to stop. It does not keep
  // the loop alive, and a loop that has gone by then is not told.
  std::thread([impl = std::weak_ptr<Impl>(impl_), host, port, done = std::move(done)]() mutable {
    auto found = std::make_shared<Result<std::vector<SocketAddress>>>(Lookup(host, port));
    if (const std::shared_ptr<Impl> alive = impl.lock()) {
      alive->Post([found, done = std::move(done)] { done(*found); });
    }
  }).detach();
}

void Watch::State::ArmTimer() {
  if (deadline == kNoDeadline || (timer && timer->first <= deadline)) return;
  DropTimer();
  timer = std::pair(deadline, loop.next_timer++);
  loop.timers.emplace(*timer, this);
}

void Watch::State::DropTimer() {
  if (timer) loop.timers.erase(*timer);
  timer.reset();
}

void Watch::State::Happened(uint32_t events) {
  const bool broken = (events & (EPOLLERR | EPOLLHUP)) != 0;
  const bool reads = broken || (events & (EPOLLIN | EPOLLRDHUP)) != 0, writes = broken || (events & EPOLLOUT) != 0;
  hung_up = hung_up || broken || (events & EPOLLRDHUP) != 0;
  readable = readable || reads;
  writable = writable || writes;
  if (!waiter || !((reads && Reads(what)) || (writes && Writes(what)))) return;
  if (what != For::kWrite) readable = false;
  if (what != For::kRead) writable = false;
  Finish(Wake::kReady);
}

void Watch::State::Finish(Wake how) {
  ++round;  // a turn that was waited for comes too late
  result = how;
  if (!waiter) return;
  Leave().resume();
}

// Whoever waited does so no longer.
std::coroutine_handle<> Watch::State::Leave() {
  --loop.waiters;
  if (Writes(what)) --loop.in_haste;
  return std::exchange(waiter, nullptr);
}

Watch::Watch(EventLoop& loop, int fd) try : state_(std::make_shared<State>(*loop.impl_, fd)) {
  if (fd >= 0 && !loop.impl_->Add(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, state_.get()))
    throw std::system_error(errno, std::generic_category(), "watching a descriptor");
} catch (...) {
  if (fd >= 0) ::close(fd);
}

Watch::~Watch() {
  State& state = *state_;
  if (state.waiter) state.Leave();
  state.DropTimer();
  if (state.fd >= 0) {
    // Said, because a program that is being started may hold a copy of it for a moment.
    ::epoll_ctl(state.loop.epoll, EPOLL_CTL_DEL, state.fd, nullptr);
    ::close(state.fd);
  }
  state.loop.gone.push_back(std::move(state_));
}

int Watch::fd() const { return state_->fd; }
void Watch::set_deadline(Deadline deadline) {
  state_->deadline = deadline;
  if (state_->waiter) state_->ArmTimer();
}
Deadline Watch::deadline() const { return state_->deadline; }
bool Watch::cancelled() const { return state_->cancelled; }
Wake Watch::result() const noexcept { return state_->result; }

void Watch::Cancel() {
  state_->cancelled = true;
  // Not inline: whoever cancels may be walking over a list that the resumed coroutine changes.
  if (state_->waiter) {
    state_->loop.Post([state = state_] {
      if (state->waiter) state->Finish(Wake::kCancelled);
    });
  }
}

void Watch::Poke() {
  if (!state_->waiter) return;
  state_->loop.Post([state = state_, round = state_->round] {
    if (state->round == round && state->waiter) state->Finish(Wake::kReady);
  });
}

bool Watch::Begin(For what, std::coroutine_handle<> waiter) {
  State& state = *state_;
  assert(!state.waiter);
  state.result = state.cancelled ? Wake::kCancelled : Wake::kReady;
  if (state.cancelled) return false;
  const bool reads = Reads(what), writes = Writes(what);
  if ((reads && (state.readable || state.hung_up)) || (writes && state.writable)) {
    if (reads) state.readable = false;
    if (writes) state.writable = false;
    return false;
  }
  state.waiter = waiter;
  state.what = what;
  ++state.loop.waiters;
  if (writes) ++state.loop.in_haste;
  state.ArmTimer();
  if (what == For::kTurn) {
    state.loop.Post([kept = state_, round = ++state.round] {
      if (kept->round == round && kept->waiter) kept->Finish(Wake::kReady);
    });
  }
  return true;
}

}  // namespace berth::net
