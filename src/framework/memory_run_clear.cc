// SPDX-License-Identifier: Apache-2.0
// Preemption's first question to every row is whether the pod would fit with all pods of lower priority gone. The
// answer depends on the row, the class and the priority alone, so it is remembered and repaired as marks are.
#include <optional>
#include <utility>
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
  const framework::Mark now = class_.marks.by_row[row];
  if (now == kAbsentMark || now == kFitsMark) return kAbsentMark;
  const Refusal& refusal = class_.marks.refusals[now - 1];
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
  if (cycle_.TracksPods()) return false;
  for (size_t position = 0; position < profile_.filter.size(); ++position)
    if (!memory_.filters_[position].remembered && !cycle_.states().skip_filter[profile_.filter[position].index])
      return false;

  PodClass::Cleared& cleared = class_.cleared;
  const ChangeLog& changes = SnapshotAccess::Changes(snapshot_);
  const size_t rows = snapshot_.rows();
  bool known = std::exchange(cleared.fill, 0) == class_.fills && cleared.priority == cycle_.pod().priority;
  if (known) {
    for (Row row = static_cast<Row>(rows); row < cleared.marks.by_row.size(); ++row)
      cleared.marks.Set(row, kAbsentMark);
    cleared.marks.by_row.resize(rows, kAbsentMark);
    std::vector<RowFields>& fields = memory_.dirty_fields_;
    std::vector<Row>& dirty = memory_.dirty_;
    dirty.clear();
    if (fields.size() < rows) fields.resize(rows, 0);
    const RowFields looked_at = memory_.filter_fields_ | row_field::kPods;
    known = changes.Since(cleared.position, [&](const ChangeLog::Change& change) {
      if (change.row >= rows || !(change.fields & looked_at)) return;
      if (fields[change.row] == 0) dirty.push_back(change.row);
      fields[change.row] |= change.fields;
    });
    for (const Row row : dirty) fields[row] = 0;
    for (const Row row : dirty) cleared.marks.Set(row, ClearedMark(row));
  }
  if (!known) {
    cleared.marks.Clear(rows);
    for (Row row = 0; row < rows; ++row) cleared.marks.Set(row, ClearedMark(row));
  }
  cleared.fill = class_.fills;
  cleared.priority = cycle_.pod().priority;
  cleared.position = changes.position();
  return true;
}

Prospects MemoryRun::LookAhead() {
  Prospects out;
  const bool known = RefreshCleared();
  const Marks& cleared = class_.cleared.marks;
  std::vector<Row> bypass;  // rows with nominations, which only a full try takes into account
  for (const auto& [row, nominated] : SnapshotAccess::Nominated(snapshot_))
    if (snapshot_.live(row) && cycle_.HasRelevantNominations(row)) bypass.push_back(row);

  std::vector<uint32_t> counts;  // of rows without hope, by mark
  if (known && marks_ == &class_.marks && bypass.empty() && cleared.counts[kFitsMark] == 0) {
    counts = cleared.counts;
  } else {
    counts.assign(known ? cleared.counts.size() : 1, 0);
    std::vector<uint8_t>& tried = memory_.active_;  // by row: 1: in full
    tried.assign(snapshot_.rows(), !known);
    for (const Row row : bypass) tried[row] = 1;
    std::vector<uint8_t> helps(marks_->refusals.size() + 1, 0);
    for (size_t i = 0; i < marks_->refusals.size(); ++i)
      helps[i + 1] = marks_->refusals[i].code == Code::kUnschedulable;
    size_t place = 0;
    for (const Row row : snapshot_.order()) {
      const framework::Mark now = marks_->by_row[row];
      if (now == kAbsentMark || !helps[now]) continue;
      const framework::Mark mark = tried[row] ? kFitsMark : cleared.by_row[row];
      if (mark == kFitsMark || mark == kAbsentMark) {
        out.open.push_back({place, row});
      } else {
        ++counts[mark];
      }
      ++place;
    }
  }

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
