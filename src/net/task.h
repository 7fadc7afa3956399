// SPDX-License-Identifier: Apache-2.0
// Task: a coroutine that another one awaits. Spawn: one that nobody does.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace berth::net {

namespace task_internal {

struct PromiseBase {
  std::coroutine_handle<> next;
  std::exception_ptr failure;
  bool starting = false;  // inside await_suspend of whoever awaits: it goes on by itself when we are done already

  struct Final {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      PromiseBase& promise = self.promise();
      // The resumed coroutine destroys this frame; nothing here is touched afterwards.
      if (!promise.starting && promise.next) promise.next.resume();
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { failure = std::current_exception(); }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  void return_value(T result) { value.emplace(std::move(result)); }
  T Take() { return std::move(*value); }
};

template <>
struct Promise<void> : PromiseBase {
  void return_void() noexcept {}
  void Take() noexcept {}
};

}  // namespace task_internal

// Starts when awaited, on the thread that awaits; what it throws comes out there. A task that ends without having
// waited for anything returns to its caller as a function does, so a loop over such tasks needs no stack.
//
// Thread safety: none; caller, task and whatever resumes it live on one thread.
template <class T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : task_internal::Promise<T> {
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> caller) {
    auto& promise = handle_.promise();
    promise.next = caller;
    promise.starting = true;
    handle_.resume();
    promise.starting = false;
    return !handle_.done();
  }
  T await_resume() {
    if (handle_.promise().failure) std::rethrow_exception(handle_.promise().failure);
    return handle_.promise().Take();
  }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

// A coroutine that owns itself. REQUIRES: throws nothing.
struct Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
};

// Something one coroutine waits for and others on its thread say.
class Signal {
 public:
  bool set() const { return set_; }
  bool awaited() const { return waiter_ != nullptr; }
  void Set() {
    set_ = true;
    if (waiter_) std::exchange(waiter_, nullptr).resume();
  }
  bool await_ready() const noexcept { return set_; }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { waiter_ = waiter; }
  void await_resume() const noexcept {}

 private:
  bool set_ = false;
  std::coroutine_handle<> waiter_;
};

}  // namespace berth::net
