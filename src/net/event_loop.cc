// SPDX-License-Identifier: Apache-2.0
// ThreadSanitizer does not know fences; Asio's queue has a lock as well.
#ifdef __SANITIZE_THREAD__
#define BOOST_ASIO_DISABLE_FENCED_BLOCK
#endif

#include "net/event_loop.h"

#include <netdb.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "util/crash_note.h"

namespace berth::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

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

}  // namespace

struct EventLoop::Impl {
  asio::io_context context{1};  // one thread runs it
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::thread thread;
  std::atomic<std::thread::id> id;
};

EventLoop::EventLoop() : impl_(std::make_shared<Impl>()) {}

EventLoop::~EventLoop() { assert(!impl_->thread.joinable()); }

void EventLoop::Start() {
  impl_->work.emplace(impl_->context.get_executor());
  impl_->thread = std::thread([this] {
    const util::CrashStack stack;  // handlers may call plugins
    impl_->id = std::this_thread::get_id();
    impl_->context.run();
  });
}

void EventLoop::Join() {
  impl_->work.reset();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void EventLoop::Post(std::function<void()> call) { asio::post(impl_->context, std::move(call)); }

bool EventLoop::InThread() const { return impl_->id.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

void EventLoop::Resolve(const std::string& host, const std::string& port,
                        std::function<void(const Result<std::vector<SocketAddress>>&)> done) {
  // A thread that nobody waits for: the system's resolver may take minutes and cannot be told to stop. It does not keep
  // the loop alive, and a loop that has gone by then is not told.
  std::thread([impl = std::weak_ptr<Impl>(impl_), host, port, done = std::move(done)]() mutable {
    auto found = std::make_shared<Result<std::vector<SocketAddress>>>(Lookup(host, port));
    if (const std::shared_ptr<Impl> alive = impl.lock()) {
      asio::post(alive->context, [found, done = std::move(done)] { done(*found); });
    }
  }).detach();
}

// Shared with the handlers that Asio holds: they may run after the Watch is gone and then find nobody waiting.
struct Watch::State : std::enable_shared_from_this<Watch::State> {
  State(asio::io_context& context, int fd) : descriptor(context), timer(context) {
    if (fd >= 0) descriptor.assign(fd);
  }

  void ArmTimer() {
    if (deadline == kNoDeadline || (timer_at && *timer_at <= deadline)) return;
    timer_at = deadline;
    timer.expires_at(deadline);
    timer.async_wait([self = shared_from_this(), at = deadline](error_code failure) {
      if (failure || self->timer_at != at) return;
      self->timer_at.reset();
      if (!self->waiter) return;
      if (std::chrono::steady_clock::now() < self->deadline) return self->ArmTimer();
      self->Finish(Wake::kTimeout);
    });
  }

  void Finish(Wake how) {
    ++round;  // the handler of the other kind finds that it is too late
    result = how;
    if (how != Wake::kReady) CancelDescriptor();
    if (waiter) std::exchange(waiter, nullptr).resume();
  }

  void CancelDescriptor() {
    error_code ignored;
    if (descriptor.is_open()) descriptor.cancel(ignored);
  }

  asio::posix::stream_descriptor descriptor;
  asio::steady_timer timer;
  std::optional<Deadline> timer_at;
  Deadline deadline = kNoDeadline;
  std::coroutine_handle<> waiter;
  uint64_t round = 0;
  Wake result = Wake::kReady;
  bool cancelled = false;
};

Watch::Watch(EventLoop& loop, int fd) try : state_(std::make_shared<State>(loop.impl_->context, fd)) {
} catch (...) {
  if (fd >= 0) ::close(fd);
}

Watch::~Watch() {
  state_->waiter = nullptr;
  state_->timer_at.reset();
  state_->timer.cancel();
  error_code ignored;
  if (state_->descriptor.is_open()) state_->descriptor.close(ignored);
}

int Watch::fd() const { return const_cast<State&>(*state_).descriptor.native_handle(); }
void Watch::set_deadline(Deadline deadline) { state_->deadline = deadline; }
Deadline Watch::deadline() const { return state_->deadline; }
bool Watch::cancelled() const { return state_->cancelled; }
Wake Watch::result() const noexcept { return state_->result; }

void Watch::Cancel() {
  state_->cancelled = true;
  // Not inline: whoever cancels may be walking over a list that the resumed coroutine changes.
  if (state_->waiter) {
    asio::post(state_->timer.get_executor(), [state = state_] {
      if (state->waiter) state->Finish(Wake::kCancelled);
    });
  }
}

bool Watch::Begin(For what, std::coroutine_handle<> waiter) {
  assert(!state_->waiter);
  if (state_->cancelled) {
    state_->result = Wake::kCancelled;
    return false;
  }
  state_->waiter = waiter;
  state_->ArmTimer();
  if (what == For::kTime) return true;
  if (what == For::kTurn) {
    asio::post(state_->timer.get_executor(), [state = state_, round = ++state_->round] {
      if (state->round == round && state->waiter) state->Finish(Wake::kReady);
    });
    return true;
  }
  using Descriptor = asio::posix::stream_descriptor;
  state_->descriptor.async_wait(what == For::kRead ? Descriptor::wait_read : Descriptor::wait_write,
                                [state = state_, round = ++state_->round](error_code failure) {
                                  if (failure == asio::error::operation_aborted || state->round != round) return;
                                  if (state->waiter) state->Finish(Wake::kReady);
                                });
  return true;
}

}  // namespace berth::net
