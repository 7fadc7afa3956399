// SPDX-License-Identifier: Apache-2.0
// ReadSet: what one call into a plugin read of a snapshot, in the words of row.h and epochs.h. Only hosts that check
// what plugins declare make one; plugins never see it.
#pragma once

#include <cstddef>

#include "berth/epochs.h"
#include "berth/row.h"

namespace berth {
inline namespace v1 {

struct ReadSet {
  // Stands for "something of the Node object" in the fields below.
  static constexpr RowFields kNodeObject = row_field::kAll + 1;

  // The rows the call is about: [begin, end).
  Row begin = 0, end = 0;

  RowFields row = 0;        // columns of those rows
  RowFields elsewhere = 0;  // of other rows; a column that was taken whole counts here
  RowFields meanings = 0;   // what ids of a column stand for: label values, sets, rows by name
  Epochs epochs = 0;        // what is no column; kUnrememberable: what no counter speaks of

  void Note(Row first, size_t count, RowFields fields) {
    (first >= begin && first + count <= end ? row : elsewhere) |= fields;
  }
  bool IsAbout(Row r) const { return r >= begin && r < end; }
};

}  // namespace v1
}  // namespace berth
