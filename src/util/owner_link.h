// SPDX-License-Identifier: Apache-2.0
// Owner and OwnerLink: "is my owner still there?", for callbacks that may outlive whom they are for.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace berth::util {

template <class T>
class Owner;

// Held by callbacks. Without an Owner (default constructed) it leads to nobody.
//
// Thread safety: copying, dropping and Call on any thread; get and Guard's callbacks on the owner's own.
template <class T>
class OwnerLink {
 public:
  OwnerLink() = default;

  // The owner; null when it has gone. REQUIRES: on the thread on which the owner goes, or it could go meanwhile.
  T* get() const { return state_ ? state_->owner : nullptr; }
  explicit operator bool() const { return get() != nullptr; }

  // Calls fn(owner) and returns true, if the owner is still there; it does not go before the call has returned, unless
  // the call itself ends it. One Call at a time: they wait for each other.
  template <class Fn>
  bool Call(Fn&& fn) const {
    if (!state_) return false;
    const std::lock_guard lock(state_->mutex);
    if (state_->owner == nullptr) return false;
    std::forward<Fn>(fn)(*state_->owner);
    return true;
  }

  // fn as a callback that does nothing once the owner has gone: a letter, an answer. REQUIRES: called as get is.
  template <class Fn>
  auto Guard(Fn fn) const {
    return [link = *this, fn = std::move(fn)](auto&&... args) mutable {
      if (link) fn(std::forward<decltype(args)>(args)...);
    };
  }

 private:
  friend class Owner<T>;
  struct State {
    explicit State(T* o) : owner(o) {}
    std::recursive_mutex mutex;  // for whoever is not on the owner's thread
    T* owner;                    // changed on the owner's thread, under the mutex
  };
  explicit OwnerLink(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

// A member of the object that links lead to.
//
// Thread safety: link on any thread, Leave on the owner's.
template <class T>
class Owner {
 public:
  explicit Owner(T* owner) : state_(std::make_shared<typename OwnerLink<T>::State>(owner)) {}
  ~Owner() { Leave(); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  OwnerLink<T> link() const { return OwnerLink<T>(state_); }
  // From here on links lead to nobody; waits for a Call that is under way on another thread. An owner that has members
  // which callbacks use says so first thing in its destructor. Idempotent. REQUIRES: the caller holds no lock that a
  // Call takes.
  void Leave() {
    const std::lock_guard lock(state_->mutex);
    state_->owner = nullptr;
  }

 private:
  const std::shared_ptr<typename OwnerLink<T>::State> state_;
};

}  // namespace berth::util
