// SPDX-License-Identifier: Apache-2.0
// Names for refusals, and what a class weighs.
#include "framework/pod_class.h"

#include <algorithm>

namespace berth::framework {

Mark Marks::Name(const Refusal& refusal) {
  const auto known = std::find(refusals.begin(), refusals.end(), refusal);
  if (known != refusals.end()) return static_cast<Mark>(1 + (known - refusals.begin()));
  if (refusals.size() + 1 >= kAbsentMark) return kAbsentMark;
  refusals.push_back(refusal);
  counts.push_back(0);
  examples.push_back(kNoRow);
  return static_cast<Mark>(refusals.size());
}

Mark Marks::Find(size_t position, VerdictId verdict) const {
  for (size_t i = 0; i < refusals.size(); ++i)
    if (refusals[i].verdict == verdict && refusals[i].position == position) return static_cast<Mark>(i + 1);
  return kAbsentMark;
}

void Marks::Clear(size_t rows) {
  by_row.assign(rows, kAbsentMark);
  refusals.clear();
  counts.assign(1, 0);
  examples.assign(1, kNoRow);
}

Row Marks::Example(Mark mark) const {
  const Row row = examples[mark];
  if (row < by_row.size() && by_row[row] == mark) return row;
  return static_cast<Row>(std::find(by_row.begin(), by_row.end(), mark) - by_row.begin());
}

size_t PodClass::Bytes() const {
  size_t bytes = sizeof(PodClass) + signature.size() + 1024;  // the exemplar and states, roughly
  constexpr size_t kNote = 160;                               // a plugin's note, roughly
  bytes +=
      (marks.by_row.capacity() + cleared.marks.by_row.capacity() + nominated.marks.by_row.capacity()) * sizeof(Mark);
  bytes += nominated.rejects.capacity() + cleared.notes.capacity() * sizeof(cleared.notes[0]) + cleared.noted * kNote;
  bytes += fixed.capacity() * sizeof(Total);
  bytes += unscored.capacity() * sizeof(Row);
  for (const ScoreColumn& column : columns) bytes += column.raw.capacity() + column.big.capacity() * sizeof(int64_t);
  return bytes;
}

}  // namespace berth::framework
