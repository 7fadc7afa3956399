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

// Says how often it was asked.
struct CountingLess {
  int* asked;
  bool operator()(const Item& a, const Item& b) const {
    ++*asked;
    return ItemLess{}(a, b);
  }
};

TEST(HeapTest, WhatIsPushedInOrderIsPoppedWithoutComparing) {
  constexpr int kItems = 10'000;
  int asked = 0;
  Heap<Item, &Item::slot, CountingLess> heap{CountingLess{&asked}};
  std::deque<Item> items;
  for (int i = 0; i < kItems; ++i) {
    items.push_back({i / 10, i});
    heap.Push(&items.back());
    // One that leaves again at once, and some that are popped meanwhile.
    Item last{i / 10, kItems};
    if (i % 7 == 0) {
      heap.Push(&last);
      heap.Remove(&last);
    }
    if (i % 3 == 0) {
      Item* const first = heap.Pop();
      EXPECT_EQ(first->order, i / 3);
      EXPECT_EQ(first->slot, kNoSlot);
    }
  }
  EXPECT_LE(asked, kItems + kItems / 7 + 1) << "one comparison for each that is pushed";
  asked = 0;
  for (int left = static_cast<int>(heap.size()); left > 0; --left) EXPECT_EQ(heap.Pop()->order, kItems - left);
  EXPECT_TRUE(heap.empty());
  EXPECT_EQ(asked, 0);
}

TEST(HeapTest, OneThatIsNotInOrderIsFoundAllTheSame) {
  ItemHeap heap{ItemLess{}};
  std::deque<Item> items;
  for (int i = 0; i < 200; ++i) {
    items.push_back({i, i});
    heap.Push(&items.back());
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(heap.Pop(), &items[static_cast<size_t>(i)]);
  Item urgent{-1, 1000};
  heap.Push(&urgent);
  heap.Remove(&items[150]);
  items[160].value = 0;
  heap.Update(&items[160]);
  EXPECT_TRUE(heap.Ordered());
  EXPECT_EQ(heap.size(), 100u);
  EXPECT_EQ(heap.Pop(), &urgent);
  EXPECT_EQ(heap.Pop(), &items[160]);
  for (size_t i = 100; i < 200; ++i) {
    if (i == 150 || i == 160) continue;
    EXPECT_EQ(heap.Pop(), &items[i]);
  }
  EXPECT_TRUE(heap.empty());
}

RC_GTEST_PROP(HeapTest, PopsInOrderAfterAnyPushesUpdatesAndRemoves, ()) {
  ItemHeap heap{ItemLess{}};
  std::deque<Item> items;
  std::vector<Item*> inside;
  const bool in_order = *rc::gen::arbitrary<bool>();
  for (int step = 0, steps = *rc::gen::inRange(0, 120); step < steps; ++step) {
    const int what = *rc::gen::inRange(0, 5);
    if (what < 2 || inside.empty()) {
      items.push_back({in_order ? step : *rc::gen::inRange(0, 10), step});
      heap.Push(&items.back());
      inside.push_back(&items.back());
    } else if (what == 4) {
      Item* const first = heap.Pop();
      for (const Item* item : inside) RC_ASSERT(!ItemLess{}(*item, *first));
      inside.erase(std::find(inside.begin(), inside.end(), first));
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
