// SPDX-License-Identifier: Apache-2.0
// What PreFilter and the filters say, remembered and repaired, and the decision that comes of it; scores and the pick
// are in memory_run_score.cc, filters that are asked every time in memory_run_live.cc, what preemption asks is in
// memory_run_clear.cc. The order of stages and every word are those of judge.cc.
#include "framework/memory_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include "berth/host/fit_error.h"
#include "berth/host/snapshot_access.h"
#include "framework/call_timer.h"
#include "framework/one_verdict.h"
#include "framework/plugin_call.h"

namespace berth::framework {
namespace {

// What PostFilter plugins see.
class MarksReport final : public ProspectReport {
 public:
  MarksReport(MemoryRun& run, const Marks& marks, const VerdictTable& table, const Snapshot& snapshot)
      : run_(run), marks_(marks), table_(table), snapshot_(snapshot) {}
  const Verdict& verdict(Row row) const override {
    const framework::Mark mark = row < marks_.by_row.size() ? marks_.by_row[row] : kAbsentMark;
    if (mark == kAbsentMark || mark == kFitsMark) return absent_;
    return table_.Get(marks_.refusals[mark - 1].verdict);
  }
  std::vector<Row> Resolvable() const override {
    std::vector<uint8_t> helps(marks_.refusals.size() + 1, 0);
    for (size_t i = 0; i < marks_.refusals.size(); ++i) helps[i + 1] = marks_.refusals[i].code == Code::kUnschedulable;
    std::vector<Row> rows;
    rows.reserve(snapshot_.node_count());
    for (const Row row : snapshot_.order())
      if (const framework::Mark mark = marks_.by_row[row]; mark != kAbsentMark && helps[mark]) rows.push_back(row);
    return rows;
  }
  Prospects LookAhead() const override { return run_.LookAhead(); }

 private:
  MemoryRun& run_;
  const Marks& marks_;
  const VerdictTable& table_;
  const Snapshot& snapshot_;
  const Verdict absent_{Code::kUnschedulableAndUnresolvable, std::vector<std::string>{}};
};

}  // namespace

MemoryRun::MemoryRun(Memory& memory, const Pod& pod, const Snapshot& snapshot, PodClass& pod_class)
    : memory_(memory),
      profile_(memory.profile_),
      snapshot_(snapshot),
      class_(pod_class),
      cycle_(memory.profile_, memory.table_, pod, snapshot, memory.clock_.Now()),
      own_(SnapshotAccess::FindNomination(snapshot, pod.uid())),
      highest_(memory.highest_),
      skipped_(memory.skipped_) {}

MemoryRun::~MemoryRun() = default;

std::optional<Decision> MemoryRun::Decide(CycleTrace& trace) {
  Stage pre_filter(profile_, PluginFunction::kPreFilter);
  if (!PreFilter()) return std::nullopt;
  pre_filter.End(Code::kSuccess);
  // The states are lent to this cycle and taken back, whatever happens.
  struct Lend {
    PluginStates& a;
    PluginStates& b;
    Lend(PluginStates& x, PluginStates& y) : a(x), b(y) { std::swap(a, b); }
    ~Lend() { std::swap(a, b); }
  } lend(class_.states, cycle_.states());

  Stage filter(profile_, PluginFunction::kFilter);
  if (narrow_.node_names) {
    std::optional<Decision> decision = DecideNarrow(trace);
    if (decision) filter.End(Code::kSuccess);
    return decision;
  }
  keep_ = true;
  if (!Mark()) {
    class_.marked = class_.scored = false;
    keep_ = false;
    return std::nullopt;
  }
  marks_ = &class_.marks;
  if (!AskLive() || !AskNominated()) return std::nullopt;
  filter.End(Code::kSuccess);
  if (marks_->counts[kFitsMark] == 0) return Rejects(trace);
  if (!Score()) return std::nullopt;
  return Fits(trace);
}

bool MemoryRun::PreFilter() {
  std::optional<CycleRun> exemplar;
  for (size_t i = 0; i < profile_.pre_filter.size(); ++i) {
    const auto& entry = profile_.pre_filter[i];
    PodClass::Outcome& known = class_.pre_filter[i];
    if (known.known && known.stamp == memory_.StampOf(snapshot_, known.epochs, entry.index)) continue;
    // Asked for the class, not for this pod: states may point into the pod they were made for. A plugin that does not
    // sign sees every pod itself, and so does one that gets its state back when the pod is bound.
    const bool signs = memory_.signs_[entry.index], shared = signs && !memory_.late_[entry.index];
    if (shared && !exemplar && class_.exemplar)
      exemplar.emplace(profile_, memory_.table_, *class_.exemplar, snapshot_, cycle_.now());
    PreFilterOutcome outcome = CallPreFilter(profile_, entry, shared && exemplar ? *exemplar : cycle_);
    const Code code = outcome.verdict.code();
    const bool ok = code == Code::kSuccess || code == Code::kSkip;
    const bool narrows = code == Code::kSuccess && outcome.node_names.has_value();
    if (!ok || narrows) class_.marked = class_.scored = known.known = false;
    if (!ok) return false;
    if (narrows && !narrow_.Narrow(profile_.name(entry.index), std::move(*outcome.node_names))) return false;
    const bool skip = code == Code::kSkip;
    if (skip != known.skip) {
      // A plugin that is asked every time anyway changes nothing that is remembered.
      for (size_t f = 0; f < profile_.filter.size(); ++f)
        if (profile_.filter[f].index == entry.index && memory_.filters_[f].remembered) class_.marked = false;
    }
    const bool keeps = shared || (class_.signed_by[entry.index] && skip && !outcome.state);
    class_.states.slots[entry.index] = std::move(outcome.state);
    class_.states.skip_filter[entry.index] = skip;
    known.epochs = outcome.holds_while.value_or(entry.depends.epochs);
    known.skip = skip;
    known.known = keeps && !narrows && !(known.epochs & epoch::kUnrememberable);
    known.stamp = memory_.StampOf(snapshot_, known.epochs, entry.index);
  }
  return true;
}

// Marks by the remembered filters.

void MemoryRun::Resize(size_t rows) {
  Marks& marks = class_.marks;
  for (Row row = static_cast<Row>(rows); row < marks.by_row.size(); ++row) marks.Set(row, kAbsentMark);
  marks.by_row.resize(rows, kAbsentMark);
  std::erase_if(class_.unscored, [&](Row row) { return row >= rows; });
  if (!class_.scored) return;
  class_.fixed.resize(rows, kUnscored);
  for (PodClass::ScoreColumn& column : class_.columns) {
    if (!column.raw.empty()) column.raw.resize(rows);
    if (!column.big.empty()) column.big.resize(rows);
  }
  class_.ResizeBlocks(rows);
}

bool MemoryRun::Mark() {
  const ChangeLog& changes = SnapshotAccess::Changes(snapshot_);
  const uint64_t stamp = Stamp(snapshot_, memory_.filter_epochs_);
  const size_t rows = snapshot_.rows();
  std::vector<RowFields>& fields = memory_.dirty_fields_;
  std::vector<Row>& dirty = memory_.dirty_;
  dirty.clear();
  bool known = class_.marked && class_.filter_stamp == stamp;
  if (known) {
    if (class_.marks.by_row.size() != rows) Resize(rows);
    if (fields.size() < rows) fields.resize(rows, 0);
    known = changes.Since(class_.position, [&](const ChangeLog::Change& change) {
      if (change.row >= rows) return;
      if (fields[change.row] == 0) dirty.push_back(change.row);
      fields[change.row] |= change.fields;
    });
    if (dirty.size() > rows / 4 + 16) known = false;
    bool ok = true;
    for (const Row row : dirty) {
      const RowFields changed = std::exchange(fields[row], 0);
      if (known && ok) ok = Repair(row, changed);
    }
    if (!ok) return false;
  }
  class_.position = changes.position();
  if (known) {
    memory_.stats_.repaired_rows += dirty.size();
    return true;
  }
  class_.filter_stamp = stamp;
  class_.scored = false;
  class_.marked = MarkAll();
  return class_.marked;
}

std::optional<framework::Mark> MemoryRun::Named(Marks& marks, size_t position, VerdictId id) {
  if (id == kFitsId) return kFitsMark;
  if (const framework::Mark known = marks.Find(position, id); known != kAbsentMark) return known;
  const Code code = memory_.table_.Get(id).code();
  if (code == Code::kSuccess) return kFitsMark;
  if (!IsRejected(code)) return std::nullopt;
  const framework::Mark mark = marks.Name({id, profile_.filter[position].index, static_cast<uint16_t>(position), code});
  if (mark == kAbsentMark) return std::nullopt;
  return mark;
}

std::optional<framework::Mark> MemoryRun::Ask(size_t position, Row row) {
  const auto& entry = profile_.filter[position];
  VerdictId slot = kFitsId;
  Rejections out(std::span<VerdictId>(&slot, 1), memory_.table_);
  const NodeBatch batch(snapshot_, row, std::span<const uint8_t>(&kOne, 1));
  CountCalls(profile_, entry.index, PluginFunction::kFilter);
  const Error error = CallFilter(profile_, entry, cycle_, cycle_.states().slots[entry.index].get(), batch, out);
  if (!error.ok()) return std::nullopt;
  return Named(class_.marks, position, slot);
}

bool MemoryRun::Repair(Row row, RowFields fields) {
  Marks& marks = class_.marks;
  const framework::Mark before = marks.by_row[row];
  framework::Mark after = kFitsMark;
  if (!snapshot_.live(row)) {
    after = kAbsentMark;
  } else {
    // Who looked at nothing that changed says what he said. Behind the one who rejected nobody was asked yet.
    bool all = before == kAbsentMark;
    const size_t rejected_at = all ? 0 : marks.Position(row);
    for (size_t position = 0; position < profile_.filter.size(); ++position) {
      const Memory::FilterPlan& plan = memory_.filters_[position];
      if (!plan.remembered || cycle_.states().skip_filter[profile_.filter[position].index]) continue;
      const bool concerned = all || (plan.depends.row & fields) != 0;
      if (!concerned && position == rejected_at) {
        after = before;
        break;
      }
      if (!concerned) continue;
      const std::optional<framework::Mark> mark = Ask(position, row);
      if (!mark) return false;
      if (*mark != kFitsMark) {
        after = *mark;
        break;
      }
      if (position == rejected_at) all = true;
    }
  }
  if (after != before) marks.Set(row, after);
  if (!class_.scored || (after == before && (fields & memory_.score_fields_) == 0)) return true;
  if (class_.fixed[row] != kUnscored) class_.Spoil(row);
  class_.fixed[row] = kUnscored;
  if (after != kFitsMark) return true;
  class_.unscored.push_back(row);
  // Decisions that end before scores are asked for leave the list as it is.
  if (class_.unscored.size() > marks.by_row.size()) {
    class_.unscored.clear();
    class_.scored = false;
  }
  return true;
}

bool MemoryRun::MarkAll() {
  ++memory_.stats_.full_passes;
  ++class_.fills;
  const size_t rows = snapshot_.rows();
  class_.marks.Clear(rows);
  const std::span<const uint8_t> live = snapshot_.live();
  struct Batch {
    std::array<uint8_t, kBatchRows> active;
    std::array<VerdictId, kBatchRows> verdicts;
    std::array<uint16_t, kBatchRows> plugins{};
  };
  const auto fill = [&](size_t number, Batch& batch) {
    const size_t begin = number * kBatchRows, size = std::min(kBatchRows, rows - begin);
    std::copy_n(live.begin() + static_cast<ptrdiff_t>(begin), size, batch.active.begin());
    for (size_t i = 0; i < size; ++i) batch.verdicts[i] = batch.active[i] ? kFitsId : kNotJudged;
    cycle_.FilterBatch(static_cast<Row>(begin), std::span(batch.active).first(size),
                       std::span(batch.verdicts).first(size), std::span(batch.plugins).first(size), memory_.ask_);
  };
  const auto take = [&](size_t number, const Batch& batch) {
    const size_t begin = number * kBatchRows, size = std::min(kBatchRows, rows - begin);
    return TakeVerdicts(class_.marks, static_cast<Row>(begin), std::span(batch.verdicts).first(size), batch.plugins);
  };
  const size_t count = (rows + kBatchRows - 1) / kBatchRows;
  if (!memory_.Splits(rows)) {
    Batch batch;
    for (size_t number = 0; number < count; ++number) {
      fill(number, batch);
      if (!take(number, batch)) return false;
    }
    return true;
  }
  // Plugins judge batches side by side; what they say is taken in row order, so that nothing depends on who was faster.
  (void)snapshot_.ranks();  // built by the first who asks
  std::vector<Batch> batches(count);
  memory_.pool_->Run(count, [&](size_t number) { fill(number, batches[number]); });
  for (size_t number = 0; number < count; ++number)
    if (!take(number, batches[number])) return false;
  return true;
}

// Writes what FilterBatch said into marks of rows that had none.
bool MemoryRun::TakeVerdicts(Marks& marks, Row begin, std::span<const VerdictId> verdicts,
                             std::span<const uint16_t> plugins) {
  framework::Mark* const slots = marks.by_row.data() + begin;
  const VerdictId one = OneVerdict(verdicts);
  if (one == kFitsId) {
    std::fill_n(slots, verdicts.size(), kFitsMark);
    marks.counts[kFitsMark] += static_cast<uint32_t>(verdicts.size());
    return true;
  }
  // Two plugins may say the same.
  const size_t first = static_cast<size_t>(
      std::find_if(verdicts.begin(), verdicts.end(), [](VerdictId id) { return id != kFitsId; }) - verdicts.begin());
  const uint16_t one_plugin = plugins[first];
  uint32_t others = one == kNotJudged;
  for (size_t i = 0; i < verdicts.size(); ++i) others |= (verdicts[i] != kFitsId) & (plugins[i] != one_plugin);
  if (others == 0) {
    const std::optional<framework::Mark> named = Named(marks, memory_.position_of_[one_plugin], one);
    if (!named) return false;
    uint32_t rejected = 0;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const auto said = static_cast<framework::Mark>(0 - static_cast<framework::Mark>(verdicts[i] != kFitsId));
      slots[i] = said & *named;
      rejected += verdicts[i] != kFitsId;
    }
    marks.examples[*named] = begin + static_cast<Row>(first);
    marks.counts[*named] += rejected;
    marks.counts[kFitsMark] += static_cast<uint32_t>(verdicts.size()) - rejected;
    return true;
  }
  VerdictId last = kFitsId;  // neighbours mostly share a verdict
  uint16_t by = kNoPlugin;
  framework::Mark mark = kFitsMark;
  uint32_t fit = 0, so_far = 0;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    const VerdictId verdict = verdicts[i];
    if (verdict == kFitsId) {
      slots[i] = kFitsMark;
      ++fit;
      continue;
    }
    if (verdict == kNotJudged) continue;
    if (verdict != last || plugins[i] != by) {
      marks.counts[mark] += std::exchange(so_far, 0);
      last = verdict;
      by = plugins[i];
      const std::optional<framework::Mark> named = Named(marks, memory_.position_of_[by], verdict);
      if (!named) return false;
      mark = *named;
      marks.examples[mark] = begin + static_cast<Row>(i);
    }
    slots[i] = mark;
    ++so_far;
  }
  marks.counts[mark] += so_far;
  marks.counts[kFitsMark] += fit;
  return true;
}

// Results.

bool MemoryRun::TakeLateStates(std::vector<StateSlot>& states) const {
  states.resize(profile_.plugins.size());
  for (size_t plugin = 0; plugin < states.size(); ++plugin) {
    if (!cycle_.states().slots[plugin] || !memory_.late_[plugin]) continue;
    Result<StateSlot> copy = CallClone(profile_, static_cast<uint16_t>(plugin), cycle_.states().slots[plugin]);
    if (!copy.ok()) return false;
    states[plugin] = std::move(copy).value();
  }
  return true;
}

void MemoryRun::Reset(CycleTrace& trace, Judgement::Kind kind) const {
  trace.pod.clear();
  AppendFullName(cycle_.pod().meta, trace.pod);
  trace.kind = kind;
  trace.time = cycle_.now();
  trace.nodes = trace.evaluated = static_cast<uint32_t>(snapshot_.node_count());
  trace.feasible = trace.ties = 0;
  trace.reasons.clear();
  if (kind != Judgement::Kind::kFits) trace.top.clear();  // else it is written over, in the memory that it has
  trace.selected.clear();
  trace.preemption_candidates = trace.victims = 0;
}

void MemoryRun::Describe(CycleTrace& trace, Judgement::Kind kind) const {
  Reset(trace, kind);
  trace.feasible = nominated_ ? 1 : marks_->counts[kFitsMark];
  std::vector<std::pair<CycleTrace::ReasonCount, framework::Mark>> reasons;
  for (size_t mark = 1; mark < marks_->counts.size(); ++mark) {
    if (marks_->counts[mark] == 0) continue;
    const Refusal& refusal = marks_->refusals[mark - 1];
    reasons.push_back(
        {{refusal.verdict, refusal.plugin, marks_->counts[mark], ""}, static_cast<framework::Mark>(mark)});
  }
  std::sort(reasons.begin(), reasons.end(),
            [&](const auto& a, const auto& b) { return ReasonBefore(a.first, b.first, memory_.table_); });
  if (reasons.size() > CycleTrace::kMaxReasons) reasons.resize(CycleTrace::kMaxReasons);
  trace.reasons.reserve(reasons.size());
  for (auto& [reason, mark] : reasons) {
    reason.example = snapshot_.node(marks_->Example(mark)).name();
    trace.reasons.push_back(std::move(reason));
  }
}

std::optional<Decision> MemoryRun::Fits(CycleTrace& trace) {
  Describe(trace, Judgement::Kind::kFits);
  if (top_.empty()) {
    trace.ties = 1;
    trace.top.assign(1, {snapshot_.node(winner_).name(), 0, {}});
  } else {
    trace.ties = static_cast<uint32_t>(ties_);
    trace.top.resize(top_.size());
    const auto scored = static_cast<size_t>(std::count(skipped_.begin(), skipped_.end(), 0));
    auto at = trace.top.begin();
    for (const Candidate& candidate : top_) {
      CycleTrace::Candidate& line = *at++;
      line.node = snapshot_.node(candidate.row).name();
      line.total = candidate.total;
      line.scores.resize(scored);
    }
    // Plugin by plugin: what is to be asked about one is asked once.
    for (size_t i = 0, column = 0; i < profile_.score.size(); ++i) {
      if (skipped_[i]) continue;
      const ScoreEntry& entry = profile_.score[i];
      const Normalization how = entry.normalization;
      const auto write = [&](const auto& score_of) {
        at = trace.top.begin();
        for (const Candidate& candidate : top_)
          (at++)->scores[column] = {entry.index, static_cast<uint8_t>(score_of(candidate))};
      };
      if (!memory_.scores_[i].remembered) {
        write([&, live = memory_.live_scores_[i].data()](const Candidate& one) { return live[one.place]; });
      } else if (how == Normalization::kNone) {
        write([&, raw = class_.columns[i].raw.data()](const Candidate& one) { return raw[one.row]; });
      } else {
        write([&, big = class_.columns[i].big.data()](const Candidate& one) {
          return Normalized(how, big[one.row], highest_[i]);
        });
      }
      ++column;
    }
  }
  Decision out;
  out.kind = Judgement::Kind::kFits;
  out.row = winner_;
  out.feasible = trace.feasible;
  out.evaluated = snapshot_.node_count();
  out.nominated = nominated_;
  if (!TakeLateStates(out.states)) return std::nullopt;
  return out;
}

Decision MemoryRun::Rejects(CycleTrace& trace) {
  Decision out;
  out.kind = Judgement::Kind::kRejected;
  out.evaluated = snapshot_.node_count();
  cycle_.Trust(memory_.reacts_);
  PostFilterRuling ruling = RunPostFilter(cycle_, MarksReport(*this, *marks_, memory_.table_, snapshot_));
  out.post_filter = std::move(ruling.outcome);
  out.post_filter_plugin = ruling.plugin;
  FitErrorParts parts;
  parts.nodes = snapshot_.node_count();
  for (size_t mark = 1; mark < marks_->counts.size(); ++mark) {
    const uint32_t count = marks_->counts[mark];
    if (count == 0) continue;
    const Refusal& refusal = marks_->refusals[mark - 1];
    for (const std::string& reason : memory_.table_.Get(refusal.verdict).reasons()) parts.reasons[reason] += count;
    const Decision::Rejector rejector{refusal.plugin, refusal.code == Code::kPending};
    if (std::find(out.rejectors.begin(), out.rejectors.end(), rejector) == out.rejectors.end())
      out.rejectors.push_back(rejector);
  }
  parts.post_filter = out.post_filter.verdict.message();
  out.message = FitErrorText(parts);
  Describe(trace, Judgement::Kind::kRejected);
  DescribePlan(out.post_filter, trace);
  return out;
}

}  // namespace berth::framework
