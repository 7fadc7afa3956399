// SPDX-License-Identifier: Apache-2.0
// List: a vector that copies of an object share. Pods and nodes come from few templates, so most of their lists are
// equal; decoders make equal ones one (host/share_lists.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <utility>
#include <vector>

namespace berth {
inline namespace v1 {

template <class T>
class ListPool;

// Reads like a const std::vector<T>, of which it is one pointer's worth. Copies are the same memory until one of them
// is changed, which only Edit and what adds or clears do: these make the list this object's own first, by a copy if it
// is shared. Reading never copies, of a list that may be changed either.
//
// Thread safety: as std::vector, copies count as different objects.
template <class T>
class List {
 public:
  using value_type = T;
  using size_type = size_t;
  using const_reference = const T&;
  using reference = const T&;
  using const_iterator = const T*;
  using iterator = const T*;

  List() = default;
  List(std::vector<T> items)  // NOLINT: implicit on purpose
      : rep_(items.empty() ? nullptr : new Rep(std::move(items))) {}
  List(std::initializer_list<T> items) : List(std::vector<T>(items)) {}
  List(const List& other) : rep_(other.rep_) {
    if (rep_) rep_->uses.fetch_add(1, std::memory_order_relaxed);
  }
  List(List&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  List& operator=(List other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~List() { Drop(rep_); }

  const std::vector<T>& items() const { return rep_ ? rep_->items : kNone; }
  operator const std::vector<T>&() const { return items(); }  // NOLINT: implicit on purpose
  bool empty() const { return !rep_ || rep_->items.empty(); }
  size_t size() const { return rep_ ? rep_->items.size() : 0; }
  const T* begin() const { return rep_ ? rep_->items.data() : nullptr; }
  const T* end() const { return begin() + size(); }
  auto rbegin() const { return std::make_reverse_iterator(end()); }
  auto rend() const { return std::make_reverse_iterator(begin()); }
  // REQUIRES: there is such an item.
  const T& operator[](size_t i) const { return rep_->items[i]; }
  const T& at(size_t i) const { return items().at(i); }  // throws as std::vector does
  const T& front() const { return rep_->items.front(); }
  const T& back() const { return rep_->items.back(); }

  // The items, to be changed at will until this list is copied.
  std::vector<T>& Edit();
  // As Edit; so is the reference that emplace_back returns.
  void push_back(T item) { Edit().push_back(std::move(item)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    return Edit().emplace_back(std::forward<Args>(args)...);
  }
  void clear() { *this = List(); }

  // True when both are the same memory.
  bool SharesWith(const List& other) const { return rep_ == other.rep_; }
  friend bool operator==(const List& a, const List& b) {
    if (a.rep_ == b.rep_) return true;
    if (a.rep_ && b.rep_ && a.rep_->leave && b.rep_->leave) return false;  // a pool holds equal lists once
    return a.items() == b.items();
  }

 private:
  friend class ListPool<T>;
  struct Rep {
    explicit Rep(std::vector<T> from) : items(std::move(from)) {}
    std::vector<T> items;
    // Not null: it is in a pool, found there by others at any time, and so never changed. Takes it out of the pool.
    void (*leave)(const Rep&) = nullptr;
    uint64_t hash = 0;  // when it is in a pool
    std::atomic<uint32_t> uses{1};
  };
  inline static const std::vector<T> kNone{};

  static void Drop(Rep* rep) {
    if (!rep || rep->uses.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (rep->leave) rep->leave(*rep);
    delete rep;
  }

  Rep* rep_ = nullptr;
};

template <class T>
std::vector<T>& List<T>::Edit() {
  if (!rep_) {
    rep_ = new Rep({});
  } else if (rep_->leave || rep_->uses.load(std::memory_order_acquire) != 1) {
    Drop(std::exchange(rep_, new Rep(rep_->items)));
  }
  return rep_->items;
}

}  // namespace v1
}  // namespace berth
