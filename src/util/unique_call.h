// SPDX-License-Identifier: Apache-2.0
// UniqueCall: a callback that is moved and never copied, and mostly needs no memory of its own.
#pragma once

#include <cassert>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace berth::util {

template <class Signature, size_t kRoom = 4 * sizeof(void*)>
class UniqueCall;

// What may be empty itself.
template <class T>
inline constexpr bool kIsFunction = false;
template <class Signature>
inline constexpr bool kIsFunction<std::function<Signature>> = true;
template <class Signature, size_t kRoom>
inline constexpr bool kIsFunction<UniqueCall<Signature, kRoom>> = true;

// As std::function, but for copies: what it holds need not have any, and what is not larger than kRoom, and moved
// without an exception, stays in the object itself. (A std::function has room for two words that are copied as bytes.)
// An empty std::function, or an empty one with other room, makes an empty one.
//
// Thread safety: none, as std::function.
template <class R, class... Args, size_t kRoom>
class UniqueCall<R(Args...), kRoom> {
  template <class Fn>
  static constexpr bool kFits = sizeof(Fn) <= kRoom &&
                                alignof(Fn) <= alignof(void*) && std::is_nothrow_move_constructible_v<Fn>;

 public:
  UniqueCall() = default;
  UniqueCall(std::nullptr_t) {}  // NOLINT: implicit on purpose, as std::function's
  template <class Fn>
  requires(!std::is_same_v<std::decay_t<Fn>, UniqueCall> && std::is_invocable_r_v<R, std::decay_t<Fn>&, Args...>)
      UniqueCall(Fn&& fn) {  // NOLINT: implicit on purpose, as std::function's
    using Held = std::decay_t<Fn>;
    if constexpr (kIsFunction<Held> || std::is_pointer_v<Held>) {
      if (!fn) return;
    }
    if constexpr (kFits<Held>) {
      new (room_) Held(std::forward<Fn>(fn));
      does_ = &kInPlace<Held>;
    } else {
      new (room_) Held*(new Held(std::forward<Fn>(fn)));
      does_ = &kElsewhere<Held>;
    }
  }
  ~UniqueCall() { Drop(); }
  UniqueCall(UniqueCall&& other) noexcept { Take(other); }
  UniqueCall& operator=(UniqueCall&& other) noexcept {
    if (this == &other) return *this;
    Drop();
    Take(other);
    return *this;
  }
  UniqueCall& operator=(std::nullptr_t) noexcept {
    Drop();
    return *this;
  }
  UniqueCall(const UniqueCall&) = delete;
  UniqueCall& operator=(const UniqueCall&) = delete;

  explicit operator bool() const { return does_ != nullptr; }
  // REQUIRES: it is not empty. Const as std::function's is: what it holds may change.
  R operator()(Args... args) const {
    assert(does_ != nullptr);
    return does_->call(room_, std::forward<Args>(args)...);
  }

 private:
  struct Does {
    R (*call)(void* room, Args&&... args);
    void (*move)(void* to, void* from);  // and nothing is left at `from`
    void (*drop)(void* room);
  };
  template <class Held>
  static Held& At(void* room) {
    return *std::launder(static_cast<Held*>(room));
  }
  template <class Held>
  static constexpr Does kInPlace = {
      [](void* room, Args&&... args) -> R { return std::invoke(At<Held>(room), std::forward<Args>(args)...); },
      [](void* to, void* from) {
        new (to) Held(std::move(At<Held>(from)));
        At<Held>(from).~Held();
      },
      [](void* room) { At<Held>(room).~Held(); }};
  template <class Held>
  static constexpr Does kElsewhere = {
      [](void* room, Args&&... args) -> R { return std::invoke(*At<Held*>(room), std::forward<Args>(args)...); },
      [](void* to, void* from) { new (to) Held*(At<Held*>(from)); }, [](void* room) { delete At<Held*>(room); }};

  void Take(UniqueCall& other) noexcept {
    if (other.does_ == nullptr) return;
    other.does_->move(room_, other.room_);
    does_ = std::exchange(other.does_, nullptr);
  }
  void Drop() noexcept {
    // Empty before what it holds goes, which may lead back here.
    if (does_ != nullptr) std::exchange(does_, nullptr)->drop(room_);
  }

  const Does* does_ = nullptr;
  alignas(void*) mutable unsigned char room_[kRoom];
};

}  // namespace berth::util
