// SPDX-License-Identifier: Apache-2.0
#include "net/event_loop.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

namespace berth::net {

namespace asio = boost::asio;
using boost::system::error_code;

Deadline After(Duration span) {
  return span.ns <= 0 ? kNoDeadline : std::chrono::steady_clock::now() + std::chrono::nanoseconds(span.ns);
}

struct EventLoop::Impl {
  asio::io_context context{1};  // one thread runs it
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
  std::thread thread;
  std::atomic<std::thread::id> id;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}

EventLoop::~EventLoop() { assert(!impl_->thread.joinable()); }

void EventLoop::Start() {
  impl_->work.emplace(impl_->context.get_executor());
  impl_->thread = std::thread([this] {
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
                        std::function<void(Result<std::vector<SocketAddress>>)> done) {
  using Resolver = asio::ip::tcp::resolver;
  auto resolver = std::make_shared<Resolver>(impl_->context);
  resolver->async_resolve(
      host, port, [host, resolver, done = std::move(done)](error_code failure, const Resolver::results_type& found) {
        if (failure) return done(Error("no address of " + host + ": " + failure.message()));
        std::vector<SocketAddress> addresses;
        for (const auto& entry : found) {
          const asio::ip::tcp::endpoint endpoint = entry.endpoint();
          SocketAddress& address = addresses.emplace_back();
          address.length = static_cast<socklen_t>(endpoint.size());
          std::memcpy(&address.storage, endpoint.data(), endpoint.size());
        }
        done(std::move(addresses));
      });
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

Watch::Watch(EventLoop& loop, int fd) : state_(std::make_shared<State>(loop.impl_->context, fd)) {}

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
