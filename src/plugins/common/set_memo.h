// SPDX-License-Identifier: Apache-2.0
// SetMemo: one answer per deduplicated set (taints, features, images) while the rows of one batch are judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::plugins {

// Lives for one call. Neighbouring rows mostly share a set, so the last answer is kept; a table of all sets is only
// worth its price when the batch is not much smaller than the table, which a what-if's single row never is.
template <class T>
class SetMemo {
 public:
  SetMemo(size_t sets, size_t rows) : sets_(sets), use_table_(sets <= 2 * rows) {}

  // `compute(set)` is called when the answer is not known yet.
  template <class Fn>
  T Get(uint32_t set, Fn&& compute) {
    if (set == last_set_) return last_;
    last_set_ = set;
    if (!use_table_) return last_ = compute(set);
    if (known_.empty()) {
      known_.resize(sets_);
      values_.resize(sets_);
    }
    if (!known_[set]) {
      known_[set] = 1;
      values_[set] = compute(set);
    }
    return last_ = values_[set];
  }

 private:
  size_t sets_;
  bool use_table_;
  uint32_t last_set_ = 0xffffffffu;
  T last_{};
  std::vector<uint8_t> known_;
  std::vector<T> values_;
};

}  // namespace berth::plugins
