// SPDX-License-Identifier: Apache-2.0
// Filters that look beyond the row are asked every time. Part of one decision; the rest is in memory_run.cc.
#include <algorithm>
#include <array>
#include <vector>

#include "framework/memory_run.h"

namespace berth::framework {

bool MemoryRun::AskLive() {
  std::vector<size_t> live;
  for (size_t position = 0; position < profile_.filter.size(); ++position)
    if (!memory_.filters_[position].remembered && !cycle_.states().skip_filter[profile_.filter[position].index])
      live.push_back(position);
  if (live.empty()) return true;
  Marks& work = memory_.work_;
  work = class_.marks;
  marks_ = &work;
  const size_t rows = work.by_row.size();
  std::array<uint8_t, kBatchRows> active;
  std::array<VerdictId, kBatchRows> verdicts;
  std::array<uint16_t, kBatchRows> plugins{};
  std::vector<uint8_t> asked, ask(profile_.filter.size(), 0);
  for (const size_t position : live) {
    ask[position] = 1;
    for (size_t begin = 0; begin < rows; begin += kBatchRows) {
      const size_t size = std::min(kBatchRows, rows - begin);
      // By mark: whether nobody in front of this plugin rejected the row.
      asked.assign(work.refusals.size() + 1, 1);
      bool only_fitting = true;
      for (size_t i = 0; i < work.refusals.size(); ++i) {
        asked[i + 1] = work.refusals[i].position > position;
        only_fitting = only_fitting && !asked[i + 1];
      }
      const framework::Mark* const marks = work.by_row.data() + begin;
      if (only_fitting) {
        for (size_t i = 0; i < size; ++i) active[i] = marks[i] == kFitsMark;
      } else {
        for (size_t i = 0; i < size; ++i) active[i] = marks[i] != kAbsentMark && asked[marks[i]];
      }
      std::fill_n(verdicts.begin(), size, kFitsId);
      cycle_.FilterBatch(static_cast<Row>(begin), std::span(active).first(size), std::span(verdicts).first(size),
                         std::span(plugins).first(size), ask);
      VerdictId last = kFitsId;
      framework::Mark mark = kFitsMark;
      for (size_t i = 0; i < size; ++i) {
        if (verdicts[i] == kFitsId) continue;
        if (verdicts[i] != last) {
          const std::optional<framework::Mark> named = Named(work, position, last = verdicts[i]);
          if (!named) return false;
          mark = *named;
        }
        work.Set(static_cast<Row>(begin + i), mark);
      }
    }
    ask[position] = 0;
  }
  return true;
}

}  // namespace berth::framework
