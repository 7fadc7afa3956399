// SPDX-License-Identifier: Apache-2.0
// Preemption's first question to every row is whether the pod would fit with all pods of lower priority gone. The
// answer depends on the row, the pods nominated to it, the class and the priority alone, so it is remembered and
// repaired as marks are, and so is what the preempting plugin found out on rows where it would.
#include <memory>
#include <optional>
#include <vector>

#include "berth/host/snapshot_access.h"
#include "framework/call_timer.h"
#include "framework/memory_run.h"
#include "framework/plugin_call.h"

namespace berth::framework {
namespace {

// Stands for "no pod of lower priority is there", which no plugin says.
constexpr Refusal kNobody{kNotJudged, kNoPlugin, 0, Code::kUnschedulable};

}  // namespace

// What to tell of a row: kAbsentMark where preemption is out of the question, kFitsMark where it is worth a try. A
// filter that fails leaves the row to the one who tries it.
framework::Mark MemoryRun::ClearedMark(Row row) {
  const framework::Mark now = marks_->by_row[row];
  if (now == kAbsentMark || now == kFitsMark) return kAbsentMark;
  const Refusal& refusal = marks_->refusals[now - 1];
  if (refusal.code != Code::kUnschedulable) return kAbsentMark;
  Marks& marks = class_.cleared.marks;
  const auto name = [&](const Refusal& why) {
    const framework::Mark mark = marks.Name(why);
    return mark == kAbsentMark ? kFitsMark : mark;
  };
  const int32_t priority = cycle_.pod().priority;
  if (snapshot_.lowest_priority()[row] >= priority) return name(kNobody);

  ++memory_.stats_.cleared_rows;
  RowOverlay& overlay = memory_.overlay_;
  overlay.Reset(snapshot_, row);
  for (const PodRecord* record : snapshot_.pods(row))
    if (record->pod->priority < priority) overlay.RemovePod(*record);
  if (cycle_.HasRelevantNominations(row)) {
    const Ruling ruling = cycle_.FilterWithNominated(overlay, cycle_.states());
    if (ruling.verdict.rejected())
      return Named(marks, memory_.position_of_[ruling.plugin], memory_.table_.Intern(ruling.verdict))
          .value_or(kFitsMark);
    if (!ruling.verdict.fits()) return kFitsMark;
  }
  const NodeBatch batch(snapshot_, overlay);
  for (size_t position = 0; position < profile_.filter.size(); ++position) {
    const auto& entry = profile_.filter[position];
    if (cycle_.states().skip_filter[entry.index]) continue;
    if (!memory_.reacts_[position] && position <= refusal.position) {
      // It says what it said: pods mean nothing to it.
      if (position == refusal.position) return name(refusal);
      continue;
    }
    VerdictId slot = kFitsId;
    Rejections out(std::span<VerdictId>(&slot, 1), memory_.table_);
    CountCalls(profile_, entry.index, PluginFunction::kFilter);
    const Error error = CallFilter(profile_, entry, cycle_, cycle_.states().slots[entry.index].get(), batch, out);
    if (!error.ok()) return kFitsMark;
    if (slot == kFitsId) continue;
    const std::optional<framework::Mark> mark = Named(marks, position, slot);
    if (!mark || *mark != kFitsMark) return mark.value_or(kFitsMark);
  }
  return kFitsMark;
}

bool MemoryRun::RefreshCleared() {
  if (!RowsStandAlone()) return false;
  PodClass::Cleared& cleared = class_.cleared;
  const size_t rows = snapshot_.rows();
  if (Outdated(cleared, memory_.filter_fields_ | row_field::kPods | row_field::kNominated)) {
    for (const Row row : memory_.dirty_) {
      cleared.marks.Set(row, ClearedMark(row));
      if (row < cleared.notes.size()) cleared.notes[row].reset();
    }
  } else {
    cleared.notes.clear();
    cleared.marks.Clear(rows);
    for (Row row = 0; row < rows; ++row) cleared.marks.Set(row, ClearedMark(row));
  }
  Settle(cleared);
  return true;
}

Prospects MemoryRun::LookAhead() {
  Prospects out;
  const bool known = RefreshCleared();
  const Marks& cleared = class_.cleared.marks;
  std::vector<uint32_t> counts;  // of rows without hope, by mark
  if (known && cleared.counts[kFitsMark] == 0) {
    counts = cleared.counts;
  } else {
    std::vector<std::shared_ptr<const RowNote>>& notes = class_.cleared.notes;
    if (known) notes.resize(snapshot_.rows());
    counts.assign(known ? cleared.counts.size() : 1, 0);
    std::vector<uint8_t> helps(marks_->refusals.size() + 1, 0);
    for (size_t i = 0; i < marks_->refusals.size(); ++i)
      helps[i + 1] = marks_->refusals[i].code == Code::kUnschedulable;
    out.open.reserve(known ? cleared.counts[kFitsMark] : snapshot_.node_count());
    size_t place = 0;
    for (const Row row : snapshot_.order()) {
      const framework::Mark now = marks_->by_row[row];
      if (now == kAbsentMark || !helps[now]) continue;
      const framework::Mark mark = known ? cleared.by_row[row] : kFitsMark;
      if (mark == kFitsMark || mark == kAbsentMark) {
        out.open.push_back({place, row, known ? &notes[row] : nullptr});
      } else {
        ++counts[mark];
      }
      ++place;
    }
  }

  class_.cleared.noted = class_.cleared.notes.empty() ? 0 : out.open.size();
  out.resolvable = out.open.size();
  for (size_t mark = 1; mark < counts.size(); ++mark) {
    if (counts[mark] == 0) continue;
    out.resolvable += counts[mark];
    const Refusal& refusal = cleared.refusals[mark - 1];
    if (refusal == kNobody) {
      out.without_victims += counts[mark];
    } else {
      out.hopeless.emplace_back(&memory_.table_.Get(refusal.verdict), counts[mark]);
    }
  }
  return out;
}

}  // namespace berth::framework
