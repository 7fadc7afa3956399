// SPDX-License-Identifier: Apache-2.0
// Filters that look beyond the row are asked every time. Part of one decision; the rest is in memory_run.cc.
#include <algorithm>
#include <array>
#include <vector>

#include "berth/vectorized.h"
#include "framework/memory_run.h"
#include "framework/one_verdict.h"

namespace berth::framework {
namespace {

// Marks the rows that do not fit, without a branch per row. Returns how many.
BERTH_VECTORIZED uint32_t MarkOne(const VerdictId* __restrict verdicts, size_t n, Mark mark, Mark* __restrict marks) {
  uint32_t count = 0;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t rejected = verdicts[i] != kFitsId;
    const auto mask = static_cast<Mark>(0 - rejected);
    marks[i] = static_cast<Mark>((marks[i] & ~mask) | (mark & mask));
    count += rejected;
  }
  return count;
}

}  // namespace

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
      if (only_fitting) {
        const VerdictId one = OneVerdict(std::span(verdicts).first(size));
        if (one == kFitsId) continue;  // nobody is rejected
        if (one != kNotJudged) {
          const std::optional<framework::Mark> named = Named(work, position, one);
          if (!named) return false;
          if (work.counts[*named] == 0)
            work.examples[*named] = static_cast<Row>(
                begin + static_cast<size_t>(std::find(verdicts.begin(), verdicts.end(), one) - verdicts.begin()));
          const uint32_t rejected = MarkOne(verdicts.data(), size, *named, work.by_row.data() + begin);
          work.counts[kFitsMark] -= rejected;
          work.counts[*named] += rejected;
          continue;
        }
      }
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
