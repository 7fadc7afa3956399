// SPDX-License-Identifier: Apache-2.0
// ChangeLog: which rows changed, in what, in order. Whoever remembers answers reads on from where it last stood.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/row.h"

namespace berth {
inline namespace v1 {

// A bounded ring. Positions count changes since the start and never repeat.
// Thread safety: scheduling thread only.
class ChangeLog {
 public:
  struct Change {
    Row row;
    RowFields fields;
  };

  explicit ChangeLog(size_t capacity = 1 << 16) : ring_(capacity) {}

  void Record(Row row, RowFields fields) { ring_[next_++ % ring_.size()] = {row, fields}; }
  uint64_t position() const { return next_; }
  // Calls fn(Change) for everything since `position`. False, without a call, when that lies too far back: then every
  // row has to be taken as changed.
  template <class Fn>
  bool Since(uint64_t position, Fn&& fn) const {
    if (next_ - position > ring_.size()) return false;
    for (uint64_t at = position; at < next_; ++at) fn(ring_[at % ring_.size()]);
    return true;
  }

 private:
  std::vector<Change> ring_;
  uint64_t next_ = 0;
};

}  // namespace v1
}  // namespace berth
