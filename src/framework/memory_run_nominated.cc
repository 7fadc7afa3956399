// SPDX-License-Identifier: Apache-2.0
// Rows that pods are nominated to: the pod must fit there with them, too. Where filters look at nothing but the row,
// the answer is remembered for pods of one priority. Only the pod that is nominated there itself gets another one: for
// it the row is asked about again, and again for the pod after it. What is found with all pods of lower priority gone
// is kept in the same way (memory_run_clear.cc).
#include <optional>
#include <utility>
#include <vector>

#include "berth/host/snapshot_access.h"
#include "framework/memory_run.h"

namespace berth::framework {

bool MemoryRun::RowsStandAlone() const {
  if (cycle_.TracksPods()) return false;
  for (size_t position = 0; position < profile_.filter.size(); ++position)
    if (!memory_.filters_[position].remembered && !cycle_.states().skip_filter[profile_.filter[position].index])
      return false;
  return true;
}

bool MemoryRun::Outdated(PodClass::Beyond& beyond, RowFields looked_at) {
  std::vector<Row>& dirty = memory_.dirty_;
  dirty.clear();
  const bool made = std::exchange(beyond.fill, 0) == class_.fills && beyond.priority == cycle_.pod().priority;
  if (!made) return false;
  const size_t rows = snapshot_.rows();
  for (Row row = static_cast<Row>(rows); row < beyond.marks.by_row.size(); ++row) beyond.marks.Set(row, kAbsentMark);
  beyond.marks.by_row.resize(rows, kAbsentMark);
  std::vector<RowFields>& fields = memory_.dirty_fields_;
  if (fields.size() < rows) fields.resize(rows, 0);
  const auto add = [&](Row row, RowFields changed) {
    if (row >= rows || !(changed & looked_at)) return;
    if (fields[row] == 0) dirty.push_back(row);
    fields[row] |= changed;
  };
  const bool known = SnapshotAccess::Changes(snapshot_).Since(
      beyond.position, [&](const ChangeLog::Change& change) { add(change.row, change.fields); });
  for (const Row row : beyond.unsettled) add(row, looked_at);
  if (own_ != kNoRow) add(own_, looked_at);
  for (const Row row : dirty) fields[row] = 0;
  return known;
}

void MemoryRun::Settle(PodClass::Beyond& beyond) const {
  beyond.fill = class_.fills;
  beyond.priority = cycle_.pod().priority;
  beyond.position = SnapshotAccess::Changes(snapshot_).position();
  beyond.unsettled.clear();
  if (own_ != kNoRow) beyond.unsettled.push_back(own_);
}

std::optional<framework::Mark> MemoryRun::AgainstNominated(Row row, Marks& marks) {
  if (!cycle_.HasRelevantNominations(row)) return kFitsMark;
  RowOverlay& overlay = memory_.overlay_;
  overlay.Reset(snapshot_, row);
  const Ruling ruling = cycle_.FilterWithNominated(overlay, cycle_.states());
  if (ruling.verdict.fits()) return kFitsMark;
  if (!ruling.verdict.rejected()) return std::nullopt;
  return Named(marks, memory_.position_of_[ruling.plugin], memory_.table_.Intern(ruling.verdict));
}

bool MemoryRun::RefreshNominated() {
  PodClass::Nominated& nominated = class_.nominated;
  Marks& marks = nominated.marks;
  std::vector<Row>& dirty = memory_.dirty_;
  if (!Outdated(nominated, memory_.filter_fields_ | row_field::kNominated)) {
    marks = class_.marks;
    nominated.rejects.clear();
    nominated.rejecting = 0;
    dirty.clear();
    for (const auto& [row, pods] : SnapshotAccess::Nominated(snapshot_)) dirty.push_back(row);
  }
  for (size_t row = marks.by_row.size(); row < nominated.rejects.size(); ++row)
    nominated.rejecting -= nominated.rejects[row];
  nominated.rejects.resize(marks.by_row.size(), 0);
  for (const Row row : dirty) {
    const framework::Mark plain = class_.marks.by_row[row];
    framework::Mark mark = plain;
    bool rejects = false;
    if (plain != kAbsentMark) {
      const std::optional<framework::Mark> against = AgainstNominated(row, marks);
      if (!against) return false;
      rejects = *against != kFitsMark;
      if (rejects) {
        mark = *against;
      } else if (plain != kFitsMark) {
        mark = marks.Name(class_.marks.refusals[plain - 1]);
        if (mark == kAbsentMark) return false;
      }
    }
    marks.Set(row, mark);
    nominated.rejecting += rejects - size_t{nominated.rejects[row]};
    nominated.rejects[row] = rejects;
  }
  Settle(nominated);
  return true;
}

bool MemoryRun::AskNominated() {
  const auto& nominated = SnapshotAccess::Nominated(snapshot_);
  if (nominated.empty()) return true;
  if (RowsStandAlone()) {
    if (!RefreshNominated()) return false;
    if (class_.nominated.rejecting > 0) marks_ = &class_.nominated.marks;
    return true;
  }
  Marks& work = memory_.work_;
  for (const auto& [row, pods] : nominated) {
    if (marks_->by_row[row] == kAbsentMark || !cycle_.HasRelevantNominations(row)) continue;
    if (marks_ != &work) {
      work = *marks_;
      marks_ = &work;
    }
    const std::optional<framework::Mark> against = AgainstNominated(row, work);
    if (!against) return false;
    if (*against != kFitsMark) work.Set(row, *against);
  }
  return true;
}

}  // namespace berth::framework
