// SPDX-License-Identifier: Apache-2.0
#include "queue/heap.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>

namespace berth::queue {
namespace {

struct Item {
  int value = 0;
  int order = 0;
  size_t slot = kNoSlot;
};
struct ItemLess {
  bool operator()(const Item& a, const Item& b) const {
    return a.value != b.value ? a.value < b.value : a.order < b.order;
  }
};
using ItemHeap = Heap<Item, &Item::slot, ItemLess>;

TEST(HeapTest, ItemsThatLeaveKnowThatTheyAreInNoHeap) {
  ItemHeap heap{ItemLess{}};
  Item a{1, 0}, b{2, 1};
  heap.Push(&a);
  heap.Push(&b);
  EXPECT_TRUE(heap.Has(a));
  heap.Remove(&a);
  EXPECT_FALSE(heap.Has(a));
  EXPECT_EQ(a.slot, kNoSlot);
  EXPECT_EQ(heap.Pop(), &b);
  EXPECT_TRUE(heap.empty());
}

RC_GTEST_PROP(HeapTest, PopsInOrderAfterAnyPushesUpdatesAndRemoves, ()) {
  ItemHeap heap{ItemLess{}};
  std::deque<Item> items;
  std::vector<Item*> inside;
  for (int step = 0, steps = *rc::gen::inRange(0, 120); step < steps; ++step) {
    const int what = *rc::gen::inRange(0, 4);
    if (what < 2 || inside.empty()) {
      items.push_back({*rc::gen::inRange(0, 10), step});
      heap.Push(&items.back());
      inside.push_back(&items.back());
    } else {
      const size_t i = *rc::gen::inRange<size_t>(0, inside.size());
      if (what == 2) {
        inside[i]->value = *rc::gen::inRange(0, 10);
        heap.Update(inside[i]);
      } else {
        heap.Remove(inside[i]);
        inside.erase(inside.begin() + static_cast<long>(i));
      }
    }
    RC_ASSERT(heap.Ordered());
    RC_ASSERT(heap.size() == inside.size());
  }
  std::sort(inside.begin(), inside.end(), [](Item* a, Item* b) { return ItemLess{}(*a, *b); });
  for (Item* item : inside) RC_ASSERT(heap.Pop() == item);
}

}  // namespace
}  // namespace berth::queue
