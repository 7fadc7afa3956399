// SPDX-License-Identifier: Apache-2.0
// Scores, remembered by row or asked for every time, and the pick of the winner. The rest of a decision is
// memory_run.cc.
#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "berth/host/snapshot_access.h"
#include "berth/vectorized.h"
#include "framework/call_timer.h"
#include "framework/memory_run.h"
#include "framework/plugin_call.h"

namespace berth::framework {
namespace {

// Not 0 when the score is outside 0 … 100.
inline uint64_t OutOfRange(int64_t score) {
  const auto bits = static_cast<uint64_t>(score);
  return (bits >> 7) | ((bits + (127 - kMaxScore)) >> 7);
}

// False: some score is out of range.
BERTH_VECTORIZED bool StoreAll(const int64_t* __restrict scores, PodClass::Total weight, size_t n,
                               uint8_t* __restrict raw, PodClass::Total* __restrict fixed) {
  uint64_t bad = 0;
  for (size_t k = 0; k < n; ++k) {
    bad |= OutOfRange(scores[k]);
    raw[k] = static_cast<uint8_t>(scores[k]);
    fixed[k] += static_cast<PodClass::Total>(scores[k] & 127) * weight;
  }
  return bad == 0;
}

struct Range {
  int64_t lowest, highest;
};
// As wide as it must be to hold the scores, too.
BERTH_VECTORIZED Range RangeOf(const int64_t* scores, size_t n, Range range) {
  int64_t lowest = range.lowest, highest = range.highest;
  for (size_t k = 0; k < n; ++k) {
    lowest = std::min(lowest, scores[k]);
    highest = std::max(highest, scores[k]);
  }
  return {lowest, highest};
}

// False: some score is out of range.
BERTH_VECTORIZED bool AddScores(const int64_t* __restrict scores, int64_t weight, size_t n,
                                int64_t* __restrict totals) {
  uint64_t bad = 0;
  for (size_t k = 0; k < n; ++k) {
    bad |= OutOfRange(scores[k]);
    totals[k] += (scores[k] & 127) * weight;
  }
  return bad == 0;
}

// The rows that fit.
void ListRows(const Marks& marks, std::vector<Row>& out) {
  // Neighbours mostly share a fate: a group that fits is one step.
  constexpr size_t kGroup = 8;
  const Mark* const by_row = marks.by_row.data();
  const size_t rows = marks.by_row.size(), fits = marks.counts[kFitsMark];
  out.resize(fits + 1);  // one is written beyond the end
  Row* at = out.data();
  size_t row = 0;
  for (; row + kGroup <= rows; row += kGroup) {
    std::array<uint64_t, 2> words;
    static_assert(sizeof words == kGroup * sizeof(Mark) && kFitsMark == 0);
    std::memcpy(words.data(), by_row + row, sizeof words);
    if ((words[0] | words[1]) == 0) {
      for (size_t i = 0; i < kGroup; ++i) at[i] = static_cast<Row>(row + i);
      at += kGroup;
      continue;
    }
    for (size_t i = 0; i < kGroup; ++i) {
      *at = static_cast<Row>(row + i);
      at += by_row[row + i] == kFitsMark;
    }
  }
  for (; row < rows; ++row) {
    *at = static_cast<Row>(row);
    at += by_row[row] == kFitsMark;
  }
  out.resize(fits);
}

// totals[k] = fixed[rows[k]] + base
BERTH_VECTORIZED void GatherTotals(const PodClass::Total* __restrict fixed, const Row* __restrict rows, int64_t base,
                                   size_t n, int64_t* __restrict totals) {
  for (size_t k = 0; k < n; ++k) totals[k] = int64_t{fixed[static_cast<int32_t>(rows[k])]} + base;
}

struct BestRank {
  size_t ties;
  uint32_t rank;
};
// How many totals are the best, and the lowest rank of their rows.
BERTH_VECTORIZED BestRank FirstOfBest(const int64_t* __restrict totals, const Row* __restrict rows,
                                      const uint32_t* __restrict ranks, int64_t best, size_t n) {
  uint32_t ties = 0, first = UINT32_MAX;
  for (size_t k = 0; k < n; ++k) {
    const uint32_t is_best = totals[k] == best;
    ties += is_best;
    first = std::min(first, ranks[static_cast<int32_t>(rows[k])] | (is_best - 1));
  }
  return {ties, first};
}

// The same of columns by row, or by block of rows.
BERTH_VECTORIZED PodClass::Total BestOf(const PodClass::Total* totals, size_t n) {
  PodClass::Total best = kUnscored;
  for (size_t k = 0; k < n; ++k) best = std::max(best, totals[k]);
  return best;
}
BERTH_VECTORIZED BestRank FirstOfBest(const PodClass::Total* __restrict totals, const uint32_t* __restrict ranks,
                                      PodClass::Total best, size_t n) {
  uint32_t ties = 0, first = UINT32_MAX;
  for (size_t k = 0; k < n; ++k) {
    const uint32_t is_best = totals[k] == best;
    ties += is_best;
    first = std::min(first, ranks[k] | (is_best - 1));
  }
  return {ties, first};
}
// Of the counts of those that have the best.
BERTH_VECTORIZED uint32_t SumOfBest(const PodClass::Total* __restrict totals, const uint32_t* __restrict counts,
                                    PodClass::Total best, size_t n) {
  uint32_t sum = 0;
  for (size_t k = 0; k < n; ++k) sum += totals[k] == best ? counts[k] : 0;
  return sum;
}

}  // namespace

void MemoryRun::ListFeasible() {
  if (listed_) return;
  listed_ = true;
  ListRows(*marks_, memory_.feasible_);
}

bool MemoryRun::Score() {
  const Pod& pod = cycle_.pod();
  if (!pod.nominated_node_name.empty()) {
    const Row row = snapshot_.FindRow(pod.nominated_node_name);
    if (row != kNoRow && marks_->by_row[row] == kFitsMark) {
      nominated_ = true;
      winner_ = row;
      return true;
    }
  }
  if (marks_->counts[kFitsMark] == 1) {
    winner_ = marks_->Example(kFitsMark);
    return true;
  }
  const size_t n = profile_.score.size();
  skipped_.assign(n, 0);
  highest_.assign(n, 0);
  Stage pre_score(profile_, PluginFunction::kPreScore);
  bool same = true;
  for (size_t i = 0; i < n; ++i) {
    if (!memory_.scores_[i].remembered || memory_.scores_[i].pre_score == SIZE_MAX) continue;
    bool skip = false;
    if (!PreScore(memory_.scores_[i].pre_score, false, skip)) return false;
    skipped_[i] = skip;
    if (class_.columns[i].skip != skip) same = false;
    class_.columns[i].skip = skip;
  }
  for (const size_t at : memory_.pre_score_only_) {
    bool skip = false;
    if (!PreScore(at, true, skip)) return false;
  }
  for (size_t i = 0; i < n; ++i) {
    if (memory_.scores_[i].remembered || memory_.scores_[i].pre_score == SIZE_MAX) continue;
    bool skip = false;
    if (!PreScore(memory_.scores_[i].pre_score, true, skip)) return false;
    skipped_[i] = skip;
  }
  pre_score.End(Code::kSuccess);
  Stage score(profile_, PluginFunction::kScore);
  if (!same) class_.scored = false;
  if (!ScoreRemembered()) return false;

  bool plain = marks_ == &class_.marks;
  if (profile_.score.empty()) constant_ = 1;  // as upstream has it when nobody scores at all
  for (size_t i = 0; i < n; ++i) {
    if (skipped_[i]) continue;
    if (!memory_.scores_[i].remembered || class_.columns[i].highest != 0) {
      plain = false;
    } else if (profile_.score[i].normalization == Normalization::kByMaxReversed) {
      constant_ += kMaxScore * profile_.score[i].weight;
    }
  }
  if (plain) {
    RefreshBlocks();
    PickByBlocks();
    ++memory_.stats_.by_blocks;
  } else {
    ListFeasible();
    if (!AddNormalized() || !AddLive()) return false;
    PickByTotals();
  }
  score.End(Code::kSuccess);
  return true;
}

// For a remembered plugin the outcome is the class's and is kept; for one that is asked every time it is this pod's.
bool MemoryRun::PreScore(size_t at, bool live, bool& skip) {
  const auto& entry = profile_.pre_score[at];
  PodClass::Outcome& known = class_.pre_score[at];
  if (known.known && known.stamp == memory_.StampOf(snapshot_, known.epochs, entry.index)) {
    skip = known.skip;
    return true;
  }
  ListFeasible();
  std::optional<CycleRun> exemplar;
  if (!live && class_.exemplar) exemplar.emplace(profile_, memory_.table_, *class_.exemplar, snapshot_, cycle_.now());
  PreScoreOutcome outcome = CallPreScore(profile_, entry, exemplar ? *exemplar : cycle_, memory_.feasible_);
  const Code code = outcome.verdict.code();
  if (code != Code::kSuccess && code != Code::kSkip) return false;
  skip = code == Code::kSkip;
  known.epochs = outcome.holds_while.value_or(entry.depends.epochs);
  // A state made for this pod may point into it, so only a skip of such a plugin is kept.
  known.known = !(known.epochs & epoch::kUnrememberable) && (!live || (skip && memory_.signs_[entry.index]));
  known.skip = skip;
  known.stamp = memory_.StampOf(snapshot_, known.epochs, entry.index);
  class_.score_states[entry.index] = std::move(outcome.state);
  return true;
}

bool MemoryRun::ScoreRemembered() {
  const uint64_t stamp = Stamp(snapshot_, memory_.score_epochs_);
  if (!class_.scored || class_.score_stamp != stamp) {
    class_.score_stamp = stamp;
    class_.unscored.clear();
    class_.scored = ScoreAll();
    return class_.scored;
  }
  if (class_.unscored.empty()) return true;
  std::sort(class_.unscored.begin(), class_.unscored.end());
  class_.unscored.erase(std::unique(class_.unscored.begin(), class_.unscored.end()), class_.unscored.end());
  class_.scored = ScoreFew(class_.unscored);
  class_.unscored.clear();
  return class_.scored;
}

bool MemoryRun::ScoreFew(std::span<const Row> rows) {
  for (const Row row : rows) {
    if (class_.marks.by_row[row] != kFitsMark) continue;
    class_.fixed[row] = 0;
    class_.Spoil(row);
  }
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    if (!memory_.scores_[i].remembered || skipped_[i]) continue;
    for (const Row row : rows) {
      if (class_.fixed[row] == kUnscored) continue;
      if (!ScoreBatch(i, {row, std::span<const uint8_t>(&kOne, 1), {}}, class_.columns[i].highest)) return false;
    }
  }
  return true;
}

bool MemoryRun::ScoreAll() {
  const size_t rows = snapshot_.rows();
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    PodClass::ScoreColumn& column = class_.columns[i];
    column.highest = 0;
    const bool used = memory_.scores_[i].remembered && !skipped_[i];
    const bool big = used && profile_.score[i].normalization != Normalization::kNone;
    column.raw.resize(used && !big ? rows : 0);
    column.big.resize(big ? rows : 0);
  }
  class_.ResizeBlocks(rows);

  // The rows that the remembered filters let pass. Where nobody else was asked these are the feasible ones.
  std::vector<Row>& fitting = marks_ == &class_.marks ? memory_.feasible_ : memory_.fitting_;
  if (marks_ == &class_.marks) {
    ListFeasible();
  } else {
    ListRows(class_.marks, fitting);
  }
  class_.fixed.assign(rows, kUnscored);

  const size_t count = (rows + kBatchRows - 1) / kBatchRows, n = profile_.score.size();
  std::vector<int64_t> highest(count * n, 0);  // by batch and plugin
  std::vector<uint8_t> failed(count, 0);
  const auto score = [&](size_t number) {
    const auto begin = static_cast<Row>(number * kBatchRows);
    const size_t size = std::min(kBatchRows, rows - begin);
    const auto from = std::lower_bound(fitting.begin(), fitting.end(), begin);
    const auto to = std::lower_bound(from, fitting.end(), begin + static_cast<Row>(size));
    if (from == to) return;
    std::array<uint8_t, kBatchRows> active;
    const std::span<const Row> list(from, to);
    const bool all = list.size() == size;
    std::fill_n(active.begin(), size, all);
    if (all) {
      std::fill_n(class_.fixed.begin() + begin, size, 0);
    } else {
      for (const Row row : list) {
        active[row - begin] = 1;
        class_.fixed[row] = 0;
      }
    }
    const Scored batch{begin, std::span<const uint8_t>(active).first(size), all ? std::span<const Row>() : list};
    for (size_t i = 0; i < n && !failed[number]; ++i)
      if (memory_.scores_[i].remembered && !skipped_[i])
        failed[number] = !ScoreBatch(i, batch, highest[number * n + i]);
  };
  if (memory_.Splits(rows)) {
    (void)snapshot_.ranks();  // built by the first who asks
    memory_.pool_->Run(count, score);
  } else {
    for (size_t number = 0; number < count; ++number) score(number);
  }
  for (size_t at = 0; at < highest.size(); ++at)
    class_.columns[at % n].highest = std::max(class_.columns[at % n].highest, highest[at]);
  return std::find(failed.begin(), failed.end(), uint8_t{1}) == failed.end();
}

// Asks a remembered plugin about some rows and stores what it says of the active ones. Several batches may be scored
// side by side. False: leave this decision to Judge.
bool MemoryRun::ScoreBatch(size_t position, const Scored& rows, int64_t& highest) {
  const ScoreEntry& entry = profile_.score[position];
  std::array<int64_t, kBatchRows> storage;
  const std::span<int64_t> scores(storage.data(), rows.active.size());
  const NodeBatch batch(snapshot_, rows.begin, rows.active);
  const PluginState* state = class_.score_states[entry.index].get();
  CountCalls(profile_, entry.index, PluginFunction::kScore, rows.list.empty() ? rows.active.size() : rows.list.size());
  const Error error = CallScore(profile_, entry, cycle_, state, batch, scores);
  if (!error.ok()) return false;
  PodClass::ScoreColumn& column = class_.columns[position];
  if (entry.normalization == Normalization::kNone) {
    uint8_t* const raw = column.raw.data() + rows.begin;
    PodClass::Total* const fixed = class_.fixed.data() + rows.begin;
    const auto weight = static_cast<PodClass::Total>(entry.weight);
    if (rows.list.empty()) return StoreAll(scores.data(), weight, scores.size(), raw, fixed);
    uint64_t bad = 0;
    for (const Row row : rows.list) {
      const size_t k = row - rows.begin;
      bad |= OutOfRange(scores[k]);
      raw[k] = static_cast<uint8_t>(scores[k]);
      fixed[k] += static_cast<PodClass::Total>(scores[k] & 127) * weight;
    }
    return bad == 0;
  }
  // Products of larger ones could wrap; leave them to the slow way.
  constexpr int64_t kLimit = INT64_MAX / kMaxScore;
  int64_t* const big = column.big.data() + rows.begin;
  Range range{0, highest};
  if (rows.list.empty()) {
    std::copy(scores.begin(), scores.end(), big);
    range = RangeOf(scores.data(), scores.size(), range);
  } else {
    for (const Row row : rows.list) {
      const int64_t score = big[row - rows.begin] = scores[row - rows.begin];
      range = {std::min(range.lowest, score), std::max(range.highest, score)};
    }
  }
  highest = range.highest;
  return range.lowest >= 0 && range.highest <= kLimit;
}

void MemoryRun::RefreshBlocks() {
  PodClass::Blocks& blocks = class_.blocks;
  const uint64_t order = Stamp(snapshot_, epoch::kNodeSet | epoch::kNodeLabels);
  if (class_.block_stamp != order) {
    class_.block_stamp = order;
    blocks.valid.assign(blocks.size(), 0);
  }
  const std::span<const uint32_t> ranks = snapshot_.ranks();
  for (size_t b = 0; b < blocks.size(); ++b) {
    // Nearly all are valid.
    const void* const invalid = std::memchr(blocks.valid.data() + b, 0, blocks.size() - b);
    if (invalid == nullptr) return;
    b = static_cast<size_t>(static_cast<const uint8_t*>(invalid) - blocks.valid.data());
    blocks.valid[b] = 1;
    // Rows after the last node's have no rank: pods are there whose node is unknown, and nobody is placed there.
    const size_t begin = b << class_.block_shift, end = std::min((b + 1) << class_.block_shift, ranks.size());
    blocks.best[b] = kUnscored;
    if (begin >= end) continue;
    const PodClass::Total* const fixed = class_.fixed.data() + begin;
    blocks.best[b] = BestOf(fixed, end - begin);
    const BestRank first = FirstOfBest(fixed, ranks.data() + begin, blocks.best[b], end - begin);
    blocks.ties[b] = static_cast<uint32_t>(first.ties);
    blocks.rank[b] = first.rank;
  }
}

void MemoryRun::Best::Offer(const Candidate& candidate) {
  if (full() && back().total >= candidate.total) return;
  size_t at = full() ? size_ - 1 : size_++;
  for (; at > 0 && list_[at - 1].total < candidate.total; --at) list_[at] = list_[at - 1];
  list_[at] = candidate;
}

void MemoryRun::PickByBlocks() {
  const PodClass::Blocks& blocks = class_.blocks;
  const PodClass::Total best = BestOf(blocks.best.data(), blocks.size());
  if (best == kUnscored) return;
  winner_ = snapshot_.order()[FirstOfBest(blocks.best.data(), blocks.rank.data(), best, blocks.size()).rank];
  ties_ += SumOfBest(blocks.best.data(), blocks.ties.data(), best, blocks.size());
  // What a row has to have more of to be among the best; nothing has more than the winner.
  PodClass::Total bar = kUnscored;
  for (size_t b = 0; b < blocks.size() && bar < best; ++b) {
    const PodClass::Total best_here = blocks.best[b];
    if (best_here <= bar) continue;
    const size_t end = std::min((b + 1) << class_.block_shift, class_.fixed.size());
    const PodClass::Total* const fixed = class_.fixed.data();
    for (size_t row = b << class_.block_shift; row < end; ++row) {
      if (fixed[row] <= bar) continue;
      top_.Offer({fixed[row] + constant_, static_cast<Row>(row), 0});
      if (!top_.full()) continue;
      bar = static_cast<PodClass::Total>(top_.back().total - constant_);
      if (best_here <= bar) break;
    }
  }
}

bool MemoryRun::AddNormalized() {
  const std::vector<Row>& feasible = memory_.feasible_;
  std::vector<int64_t>& totals = memory_.totals_;
  totals.resize(feasible.size());
  const bool whole = marks_ == &class_.marks;
  const int64_t base = profile_.score.empty() ? 1 : 0;
  GatherTotals(class_.fixed.data(), feasible.data(), base, feasible.size(), totals.data());
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    if (!memory_.scores_[i].remembered || skipped_[i]) continue;
    const ScoreEntry& entry = profile_.score[i];
    const Normalization how = entry.normalization;
    if (how == Normalization::kNone) continue;
    PodClass::ScoreColumn& column = class_.columns[i];
    int64_t highest = 0;
    if (column.highest != 0)
      for (const Row row : feasible) highest = std::max(highest, column.big[row]);
    if (whole) column.highest = highest;
    highest_[i] = highest;
    if (highest == 0) {
      const int64_t same = Normalized(how, 0, 0) * entry.weight;
      if (same != 0)
        for (int64_t& total : totals) total += same;
      continue;
    }
    // Scores are mostly small numbers: a table instead of a division per row.
    constexpr int64_t kTable = 1024;
    if (highest < kTable) {
      std::array<int64_t, kTable> table;
      for (int64_t score = 0; score <= highest; ++score)
        table[static_cast<size_t>(score)] = Normalized(how, score, highest) * entry.weight;
      for (size_t k = 0; k < feasible.size(); ++k) totals[k] += table[static_cast<size_t>(column.big[feasible[k]])];
    } else {
      for (size_t k = 0; k < feasible.size(); ++k)
        totals[k] += Normalized(how, column.big[feasible[k]], highest) * entry.weight;
    }
  }
  constant_ = 0;
  return true;
}

bool MemoryRun::AddLive() {
  const std::vector<Row>& feasible = memory_.feasible_;
  std::vector<uint8_t>& active = memory_.active_;
  bool marked = false;
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    if (memory_.scores_[i].remembered || skipped_[i]) continue;
    if (!marked) {
      active.assign(marks_->by_row.size(), 0);
      for (const Row row : feasible) active[row] = 1;
      marked = true;
    }
    const ScoreEntry& entry = profile_.score[i];
    const PluginState* state = class_.score_states[entry.index].get();
    std::vector<int64_t>& scratch = memory_.scratch_;
    scratch.resize(std::max(active.size(), kBatchRows));
    CountCalls(profile_, entry.index, PluginFunction::kScore, feasible.size());
    for (size_t begin = 0; begin < active.size(); begin += kBatchRows) {
      const size_t size = std::min(kBatchRows, active.size() - begin);
      const NodeBatch batch(snapshot_, static_cast<Row>(begin), std::span<const uint8_t>(active).subspan(begin, size));
      const Error error = CallScore(profile_, entry, cycle_, state, batch, std::span(scratch).subspan(begin, size));
      if (!error.ok()) return false;
    }
    std::vector<int64_t>& normalized = memory_.live_scores_[i];
    normalized.resize(feasible.size());
    int64_t* const to = normalized.data();
    const int64_t* const from = scratch.data();
    if (feasible.size() == active.size()) {
      std::copy_n(from, feasible.size(), to);
    } else {
      for (size_t k = 0; k < feasible.size(); ++k) to[k] = from[feasible[k]];
    }
    const Normalization how = entry.normalization;
    if (how == Normalization::kOwn) {
      const Error error = CallNormalize(profile_, entry, cycle_, state, feasible, normalized);
      if (!error.ok()) return false;
    } else {
      berth::Normalize(how, normalized);
    }
    if (!AddScores(normalized.data(), entry.weight, normalized.size(), memory_.totals_.data())) return false;
  }
  return true;
}

void MemoryRun::PickByTotals() {
  const std::span<const uint32_t> ranks = snapshot_.ranks();
  const std::span<const Row> feasible = memory_.feasible_;
  const std::span<const int64_t> totals = memory_.totals_;
  int64_t bar = INT64_MIN;  // what a total must exceed to be among the best few
  for (size_t k = 0; k < totals.size(); ++k) {
    if (totals[k] <= bar) continue;
    top_.Offer({totals[k], feasible[k], k});
    if (top_.full()) bar = top_.back().total;
  }
  const BestRank found = FirstOfBest(totals.data(), feasible.data(), ranks.data(), top_.front().total, totals.size());
  ties_ = found.ties;
  winner_ = snapshot_.order()[found.rank];
}

}  // namespace berth::framework
