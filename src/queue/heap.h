// SPDX-License-Identifier: Apache-2.0
// Heap: a priority queue of items that know their own place in it, so that any item can be moved or taken out.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace berth::queue {

inline constexpr size_t kNoSlot = static_cast<size_t>(-1);

// The smallest item by `less` is on top. Items are not owned and carry their position in `T::*Slot`, which is kNoSlot
// outside of any heap; that is the key by which Update and Remove find them without a lookup.
//
// Items that are pushed in order, as pods that arrive with one priority are, lie there in order, and taking out the
// first or the last costs no comparison. What else is taken out, or is pushed or moved out of order, makes it a binary
// heap until it is empty again.
//
// REQUIRES: `less` is a strict total order (ties broken by the caller). Then the order in which items are popped
// depends on the items alone, not on the history of the heap.
// Thread safety: none.
template <class T, size_t T::*Slot, class Less>
class Heap {
 public:
  explicit Heap(Less less) : less_(std::move(less)) {}

  bool empty() const { return size() == 0; }
  size_t size() const { return items_.size() - front_; }
  // REQUIRES: !empty()
  T* top() const { return items_[front_]; }
  bool Has(const T& item) const { return item.*Slot < items_.size() && items_[item.*Slot] == &item; }

  // REQUIRES: the item is in no heap.
  void Push(T* item) {
    if (empty()) {
      items_.clear();
      front_ = 0;
      sorted_ = true;
    } else if (sorted_ && less_(*item, *items_.back())) {
      Unsort();
    }
    items_.push_back(item);
    if (sorted_) {
      item->*Slot = items_.size() - 1;
    } else {
      Up(items_.size() - 1, item);
    }
  }
  // REQUIRES: !empty()
  T* Pop() {
    T* item = top();
    Remove(item);
    return item;
  }
  // To be called after what `less` looks at has changed. REQUIRES: Has(*item)
  void Update(T* item) {
    if (sorted_ && InOrderAt(item->*Slot)) return;
    Unsort();
    if (!Up(item->*Slot, item)) Down(item->*Slot, item);
  }
  // REQUIRES: Has(*item)
  void Remove(T* item) {
    if (sorted_ && item == top()) {
      item->*Slot = kNoSlot;
      items_[front_++] = nullptr;
      if (front_ >= kMostGone && front_ > size()) DropGone();
      return;
    }
    if (item != items_.back()) Unsort();
    const size_t slot = item->*Slot;
    T* last = items_.back();
    items_.pop_back();
    item->*Slot = kNoSlot;
    // What is last belongs near the bottom, most of the time: the hole goes down there along the smaller children,
    // which takes one comparison a level instead of two, and the item up from it as far as it must.
    if (item != last) Up(Sink(slot), last);
  }

  // True when every item is where it says it is and no item is smaller than its parent.
  bool Ordered() const {
    if (front_ > 0 && !sorted_) return false;
    for (size_t i = front_; i < items_.size(); ++i) {
      if (items_[i]->*Slot != i) return false;
      if (i > front_ && less_(*items_[i], *items_[sorted_ ? i - 1 : (i - 1) / 2])) return false;
    }
    return true;
  }

 private:
  static constexpr size_t kMostGone = 64;  // places that may be empty whatever the size

  bool InOrderAt(size_t slot) const {
    return (slot == front_ || !less_(*items_[slot], *items_[slot - 1])) &&
           (slot + 1 == items_.size() || !less_(*items_[slot + 1], *items_[slot]));
  }
  // What is sorted is a heap.
  void Unsort() {
    if (!sorted_) return;
    sorted_ = false;
    DropGone();
  }
  void DropGone() {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(front_));
    front_ = 0;
    for (size_t i = 0; i < items_.size(); ++i) items_[i]->*Slot = i;
  }
  // Puts `item` at `slot` or above; false when it stayed there.
  bool Up(size_t slot, T* item) {
    const size_t start = slot;
    while (slot > 0) {
      const size_t parent = (slot - 1) / 2;
      if (!less_(*item, *items_[parent])) break;
      Put(slot, items_[parent]);
      slot = parent;
    }
    Put(slot, item);
    return slot != start;
  }
  // Moves a hole to the bottom; its place there. What Pop costs is mostly this.
  size_t Sink(size_t slot) {
    T** const items = items_.data();
    const size_t n = items_.size();
    for (size_t child = 2 * slot + 1; child < n; child = 2 * slot + 1) {
      if (child + 1 < n && less_(*items[child + 1], *items[child])) ++child;
      items[slot] = items[child];
      items[slot]->*Slot = slot;
      slot = child;
    }
    return slot;
  }
  void Down(size_t slot, T* item) {
    const size_t n = items_.size();
    while (true) {
      size_t child = 2 * slot + 1;
      if (child >= n) break;
      if (child + 1 < n && less_(*items_[child + 1], *items_[child])) ++child;
      if (!less_(*items_[child], *item)) break;
      Put(slot, items_[child]);
      slot = child;
    }
    Put(slot, item);
  }
  void Put(size_t slot, T* item) {
    items_[slot] = item;
    item->*Slot = slot;
  }

  Less less_;
  std::vector<T*> items_;
  size_t front_ = 0;    // places before this one are empty; 0 unless sorted
  bool sorted_ = true;  // they are in order, not in a heap's
};

}  // namespace berth::queue
