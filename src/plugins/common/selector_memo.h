// SPDX-License-Identifier: Apache-2.0
// SelectorMemo: a label selector that remembers what it said of a label set, by the set's address. Pods of one template
// share their labels, so counting a cluster's pods asks the selector itself only a few times.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "berth/labels.h"

namespace berth::plugins {

// Lives for one count over one snapshot: addresses are only telling while no pod comes or goes.
// Thread safety: none; make one per thread.
class SelectorMemo {
 public:
  // No value (a null selector) matches nothing. REQUIRES: `selector` outlives the memo.
  explicit SelectorMemo(const std::optional<LabelSelector>& selector) : selector_(&selector) {}

  bool Matches(const Labels& labels) {
    const void* const id = labels.begin();
    if (id == nullptr) return berth::Matches(*selector_, labels);
    Slot& slot = slots_[(reinterpret_cast<uintptr_t>(id) >> 5) % kSlots];
    if (slot.id != id) slot = {id, berth::Matches(*selector_, labels)};
    return slot.answer;
  }

 private:
  static constexpr size_t kSlots = 64;
  struct Slot {
    const void* id = nullptr;
    bool answer = false;
  };
  const std::optional<LabelSelector>* selector_;
  std::array<Slot, kSlots> slots_{};
};

}  // namespace berth::plugins
