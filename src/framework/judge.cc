// SPDX-License-Identifier: Apache-2.0
// The stages in order; each is a function below.
#include "framework/judge.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "berth/host/fit_error.h"
#include "berth/host/snapshot_access.h"
#include "framework/call_timer.h"
#include "framework/plugin_call.h"

namespace berth::framework {
namespace {

// What PostFilter plugins see of the judgement so far.
class Report final : public FilterReport {
 public:
  Report(const Judgement& judgement, const VerdictTable& table, const Snapshot& snapshot)
      : judgement_(judgement), table_(table), snapshot_(snapshot) {}
  const Verdict& verdict(Row row) const override {
    const VerdictId id = row < judgement_.verdicts.size() ? judgement_.verdicts[row] : kNotJudged;
    return id == kNotJudged ? judgement_.absent : table_.Get(id);
  }
  std::vector<Row> Resolvable() const override {
    std::vector<Row> rows;
    for (const Row row : snapshot_.order())
      if (verdict(row).code() == Code::kUnschedulable) rows.push_back(row);
    return rows;
  }

 private:
  const Judgement& judgement_;
  const VerdictTable& table_;
  const Snapshot& snapshot_;
};

// As upstream's RunPostFilterPlugins.
PostFilterRuling AskPostFilters(CycleRun& run, const FilterReport& report) {
  const Profile& profile = run.profile();
  PostFilterRuling result;
  std::vector<std::string> reasons;
  PostFilterOutcome kept;
  for (const auto& entry : profile.post_filter) {
    PostFilterOutcome outcome = CallPostFilter(profile, entry, run, run.states().slots[entry.index].get(), report);
    const Code code = outcome.verdict.code();
    if (code == Code::kSuccess || code == Code::kUnschedulableAndUnresolvable) return {std::move(outcome), entry.index};
    if (!IsRejected(code)) return {{Verdict::Fail(outcome.verdict.message()), std::nullopt, nullptr}, entry.index};
    reasons.insert(reasons.end(), outcome.verdict.reasons().begin(), outcome.verdict.reasons().end());
    if (outcome.nominated_node) kept.nominated_node = std::move(outcome.nominated_node);
    if (outcome.plan) kept.plan = std::move(outcome.plan);
  }
  kept.verdict = Verdict(Code::kUnschedulable, std::move(reasons));
  result.outcome = std::move(kept);
  return result;
}

// Goes over the end as Go's integers do: an extender may answer with any number.
int64_t Wrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// What the plugin whose plan extenders have seen makes of what they left. No value: it cannot say.
std::optional<PostFilterRuling> ChooseAgain(CycleRun& run, const Advice::Preemption& advice) {
  for (const auto& entry : run.profile().post_filter) {
    if (entry.index != advice.plugin || !Reviews(entry)) continue;
    PostFilterOutcome outcome = CallReview(run.profile(), entry, run, advice.left);
    const Code code = outcome.verdict.code();
    if (code != Code::kSuccess && !IsRejected(code))
      outcome = {Verdict::Fail(outcome.verdict.message()), std::nullopt, nullptr};
    return PostFilterRuling{std::move(outcome), entry.index};
  }
  return std::nullopt;
}

}  // namespace

int64_t WeightedExtenderScore(int64_t raw, int64_t weight) {
  constexpr uint64_t kScale = kMaxScore / 10;  // MaxNodeScore / MaxExtenderPriority
  return static_cast<int64_t>(static_cast<uint64_t>(raw) * static_cast<uint64_t>(weight) * kScale);
}

Judgement Judge::Run(const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options) const {
  // Calls into plugins are guarded one by one, so that the message names the plugin. This catches what those miss, such
  // as memory that runs out between them.
  return Guard([&] { return RunStages(pod, snapshot, options); },
               [](std::string text) {
                 Judgement failed;
                 failed.message = std::move(text);
                 return failed;
               });
}

Judgement Judge::Score(const Pod& pod, const Snapshot& snapshot, std::vector<Row> rows) const {
  Judgement out;
  const Error error = GuardError([&] {
    CycleRun run(profile_, table_, pod, snapshot, clock_.Now());
    run.RunPreFilter();  // for its states: what it says of the pod is no matter here
    out.feasible = std::move(rows);
    return out.feasible.empty() ? Error::Ok() : ScoreAll(run, out);
  });
  out.kind = error.ok() ? Judgement::Kind::kFits : Judgement::Kind::kFailed;
  if (!error.ok()) out.message = error.text();
  return out;
}

Judgement Judge::RunStages(const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options) const {
  Judgement out;
  if (options.pre_enqueue) {
    if (std::optional<Ruling> gate = FindGate(profile_, pod)) {
      out.kind = Judgement::Kind::kGated;
      out.message = gate->verdict.message();
      out.outright = std::move(gate);
      return out;
    }
  }
  if (snapshot.node_count() == 0) {
    out.kind = Judgement::Kind::kNoNodes;
    out.message = "no nodes available to schedule pods";
    return out;
  }

  CycleRun run(profile_, table_, pod, snapshot, clock_.Now());
  Stage pre_filter(profile_, PluginFunction::kPreFilter);
  PreFilterRuling pre = run.RunPreFilter();
  pre_filter.End(pre.ruling.verdict.code());
  out.verdicts.assign(snapshot.rows(), kNotJudged);
  out.plugins.assign(snapshot.rows(), kNoPlugin);
  out.narrowed_by = pre.narrowed_by;
  if (pre.ruling.verdict.code() == Code::kError) {
    out.message = pre.ruling.verdict.message();
    out.outright = std::move(pre.ruling);
    return out;
  }
  if (pre.ruling.verdict.rejected()) {
    out.absent = pre.ruling.verdict;
    out.outright = std::move(pre.ruling);
  } else {
    Stage filter(profile_, PluginFunction::kFilter);
    FilterAll(run, pre, options, out);
    // A node whose judging failed fails the cycle; its verdict stays, so that explain can show where.
    VerdictId known = kNotJudged;  // not an error; neighbours mostly share a verdict
    for (Row row = 0; row < out.verdicts.size(); ++row) {
      const VerdictId id = out.verdicts[row];
      if (id == kFitsId || id == kNotJudged || id == known) continue;
      const Verdict& verdict = table_.Get(id);
      if (verdict.code() != Code::kError) {
        known = id;
        continue;
      }
      out.message = verdict.message();
      // Without a plugin it is a nominated pod that could not be added, and the text says all.
      if (out.plugins[row] != kNoPlugin)
        out.message = "running \"" + profile_.name(out.plugins[row]) + "\" filter plugin: " + out.message;
      out.feasible.clear();
      filter.End(Code::kError);
      return out;
    }
    filter.End(Code::kSuccess);
  }

  std::vector<Row> advised;
  if (options.advice) advised = options.advice->RowsIn(snapshot);
  if (options.advice && options.advice->about_nodes) TakeAdvice(*options.advice, advised, snapshot, out);

  if (out.feasible.empty()) {
    if (options.post_filter) PostFilterAll(run, options.advice, out);
    out.kind = Judgement::Kind::kRejected;
    out.message = FitError(snapshot, out);
    return out;
  }
  if (!options.score) {
    out.kind = Judgement::Kind::kFits;
    return out;
  }
  // A pod that was nominated goes to that node if it fits there, without a look at the scores.
  if (options.follow_nomination && !pod.nominated_node_name.empty()) {
    const Row row = snapshot.FindRow(pod.nominated_node_name);
    out.nominated = std::binary_search(out.feasible.begin(), out.feasible.end(), row);
    if (out.nominated) out.feasible = {row};
  }
  if (options.limit > 0 && out.feasible.size() > options.limit) {
    std::vector<Row> first;
    const std::span<const Row> order = snapshot.order();
    for (size_t i = 0; i < order.size() && first.size() < options.limit; ++i) {
      const Row row = order[(options.start + i) % order.size()];
      if (std::binary_search(out.feasible.begin(), out.feasible.end(), row)) first.push_back(row);
    }
    std::sort(first.begin(), first.end());
    out.feasible = std::move(first);
  }
  out.kind = Judgement::Kind::kFits;
  if (out.feasible.size() >= 2) {
    if (const Error error = ScoreAll(run, out); !error.ok()) {
      out.kind = Judgement::Kind::kFailed;
      out.message = error.text();
      out.scores.clear();
      out.totals.clear();
      return out;
    }
    if (options.advice) TakeScores(*options.advice, advised, snapshot, out);
  }
  out.states = std::move(run.states().slots);
  return out;
}

// An extender may write another text every time, and the table forgets none: with so many, they become one.
constexpr size_t kMostTexts = 100'000;

std::vector<Row> Advice::RowsIn(const Snapshot& snapshot) const {
  std::vector<Row> now(asked.size());
  const std::span<const uint8_t> live = snapshot.live();
  for (size_t place = 0; place < now.size(); ++place) {
    const Node& node = *asked[place];
    const Row row = place < rows.size() ? rows[place] : kNoRow;
    const Node* there = row < live.size() && live[row] ? &snapshot.node(row) : nullptr;
    const bool same = there && (there == &node || there->name() == node.name());
    now[place] = same ? row : snapshot.FindRow(node.name());
  }
  return now;
}

// Nodes that nobody asked about count as not judged, as upstream's do behind the end of a search.
void Judge::TakeAdvice(const Advice& advice, std::span<const Row> rows, const Snapshot& snapshot,
                       Judgement& out) const {
  // Also of what does not fit any more: whoever wakes pods has to know that an extender had its say.
  out.advised_against = !advice.rejected.empty();
  std::vector<uint8_t> asked(snapshot.rows(), 0);
  for (const Row row : rows)
    if (row != kNoRow) asked[row] = 1;
  std::erase_if(out.feasible, [&](Row row) {
    if (!asked[row]) {
      out.verdicts[row] = kNotJudged;
      return true;
    }
    if (advice.rejected.empty()) return false;
    const auto said = advice.rejected.find(snapshot.node(row).name());
    if (said == advice.rejected.end()) return false;
    const Verdict& verdict = said->second;
    out.verdicts[row] = table_.Intern(
        table_.size() < kMostTexts ? verdict : Verdict(verdict.code(), "node(s) were rejected by an extender"));
    return true;
  });
}

void Judge::TakeScores(const Advice& advice, std::span<const Row> rows, const Snapshot& snapshot,
                       Judgement& out) const {
  if (advice.scores.empty()) return;
  std::vector<uint32_t> places(snapshot.rows(), UINT32_MAX);  // by row
  for (size_t place = 0; place < rows.size(); ++place)
    if (rows[place] != kNoRow) places[rows[place]] = static_cast<uint32_t>(place);
  for (const Advice::Scores& scores : advice.scores) {
    ExtenderScores& given = out.extender_scores.emplace_back();
    given.name = scores.name;
    given.weight = scores.weight;
    given.raw.resize(out.feasible.size());
    for (size_t i = 0; i < out.feasible.size(); ++i) {
      const size_t place = places[out.feasible[i]];
      if (place >= scores.raw.size() || !scores.raw[place]) continue;
      given.raw[i] = scores.raw[place];
      out.totals[i] = Wrapped(out.totals[i], WeightedExtenderScore(*scores.raw[place], scores.weight));
    }
  }
}

void Judge::FilterAll(CycleRun& run, const PreFilterRuling& pre, const JudgeOptions& options, Judgement& out) const {
  const Snapshot& snapshot = run.snapshot();
  std::vector<uint8_t> active;
  if (pre.node_names) {
    out.absent =
        Verdict(Code::kUnschedulableAndUnresolvable, "node(s) didn't satisfy plugin(s) " + Bracketed(pre.narrowed_by));
    active.assign(snapshot.rows(), 0);
    for (const std::string& name : *pre.node_names)
      if (const Row row = snapshot.FindRow(name); row != kNoRow) active[row] = 1;
  } else {
    active.assign(snapshot.live().begin(), snapshot.live().end());
  }
  for (size_t row = 0; row < options.only.size(); ++row) active[row] &= options.only[row];
  out.eligible = static_cast<size_t>(std::count(active.begin(), active.end(), 1));
  if (!options.sample) {
    FilterRows(run, active, out);
  } else {
    // In pieces, of which the first is enough where most nodes fit.
    const std::span<const Row> order = snapshot.order();
    const size_t wanted = NodesToAsk(profile_, out.eligible) + 1;
    std::vector<uint8_t> piece(active.size());
    size_t pieces = 0;
    for (size_t at = 0, size = wanted + wanted / 8; at < order.size() && out.feasible.size() < wanted; size *= 2) {
      std::fill(piece.begin(), piece.end(), 0);
      for (size_t taken = 0; at < order.size() && taken < size; ++at) {
        const Row row = order[(options.start + at) % order.size()];
        taken += piece[row] = active[row];
      }
      FilterRows(run, piece, out);
      ++pieces;
    }
    if (pieces > 1) std::sort(out.feasible.begin(), out.feasible.end());
  }
}

// Adds what is found about the rows with a 1.
void Judge::FilterRows(CycleRun& run, std::span<const uint8_t> rows, Judgement& out) const {
  const Snapshot& snapshot = run.snapshot();
  const auto batch = [&](size_t begin) { return rows.subspan(begin, std::min(kBatchRows, rows.size() - begin)); };
  std::array<uint8_t, kBatchRows> storage;
  std::vector<size_t> batches;  // that have any of these
  for (size_t begin = 0; begin < rows.size(); begin += kBatchRows) {
    const std::span<const uint8_t> asked = batch(begin);
    if (std::memchr(asked.data(), 1, asked.size()) == nullptr) continue;
    batches.push_back(begin);
    const std::span<uint8_t> active(storage.data(), asked.size());
    std::copy(asked.begin(), asked.end(), active.begin());
    const std::span<VerdictId> verdicts = std::span(out.verdicts).subspan(begin, asked.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      if (!asked[i]) continue;
      verdicts[i] = kFitsId;
      ++out.evaluated;
    }
    run.FilterBatch(static_cast<Row>(begin), active, verdicts, std::span(out.plugins).subspan(begin, asked.size()));
  }
  // Nodes with nominated pods must fit with those there as well; that pass comes first, so its reasons are reported.
  for (const auto& [row, nominated] : SnapshotAccess::Nominated(snapshot)) {
    if (!rows[row] || !run.HasRelevantNominations(row)) continue;
    Ruling ruling = run.FilterWithNominated(RowOverlay(snapshot, row), run.states());
    if (ruling.verdict.fits()) continue;
    out.verdicts[row] = table_.Intern(ruling.verdict);
    out.plugins[row] = ruling.plugin;
  }
  for (const size_t begin : batches)
    for (size_t row = begin; row < begin + batch(begin).size(); ++row)
      if (rows[row] && out.verdicts[row] == kFitsId) out.feasible.push_back(static_cast<Row>(row));
}

void Judge::PostFilterAll(CycleRun& run, const Advice* advice, Judgement& out) const {
  out.post_filter_ran = !profile_.post_filter.empty();
  if (advice && advice->preemption) {
    if (std::optional<PostFilterRuling> ruling = ChooseAgain(run, *advice->preemption)) {
      out.post_filter = std::move(ruling->outcome);
      out.post_filter_plugin = ruling->plugin;
      return;
    }
  }
  PostFilterRuling ruling = RunPostFilter(run, Report(out, table_, run.snapshot()));
  out.post_filter = std::move(ruling.outcome);
  out.post_filter_plugin = ruling.plugin;
}

PostFilterRuling RunPostFilter(CycleRun& run, const FilterReport& report) {
  PostFilterRuling result;
  if (run.profile().post_filter.empty()) {
    result.outcome.nominated_node = "";
    return result;
  }
  Stage stage(run.profile(), PluginFunction::kPostFilter);
  result = AskPostFilters(run, report);
  stage.End(result.outcome.verdict.code());
  return result;
}

Error Judge::ScoreAll(CycleRun& run, Judgement& out) const {
  ScoreStates states;
  Stage pre_score(profile_, PluginFunction::kPreScore);
  Error error = PreScoreAll(run, out.feasible, states);
  pre_score.End(error.ok() ? Code::kSuccess : Code::kError);
  if (!error.ok()) return error;
  Stage score(profile_, PluginFunction::kScore);
  error = ScoreWith(states, run, out);
  score.End(error.ok() ? Code::kSuccess : Code::kError);
  return error;
}

Error Judge::PreScoreAll(CycleRun& run, std::span<const Row> feasible, ScoreStates& out) const {
  out.states.resize(profile_.plugins.size());
  out.skip.resize(profile_.plugins.size());
  for (const auto& entry : profile_.pre_score) {
    PreScoreOutcome outcome = CallPreScore(profile_, entry, run, feasible);
    if (outcome.verdict.code() == Code::kSkip) {
      out.skip[entry.index] = 1;
    } else if (!outcome.verdict.fits()) {
      return Error("running PreScore plugin \"" + profile_.name(entry.index) + "\": " + outcome.verdict.message());
    }
    out.states[entry.index] = std::move(outcome.state);
  }
  return Error::Ok();
}

Error Judge::ScoreWith(const ScoreStates& states, CycleRun& run, Judgement& out) const {
  const Snapshot& snapshot = run.snapshot();
  std::vector<uint8_t> active(snapshot.rows());
  for (const Row row : out.feasible) active[row] = 1;
  std::vector<size_t> batches;  // that have any of these
  for (const Row row : out.feasible)
    if (const size_t begin = row / kBatchRows * kBatchRows; batches.empty() || batches.back() != begin)
      batches.push_back(begin);
  std::vector<int64_t> column(snapshot.rows());
  out.totals.assign(out.feasible.size(), 0);
  for (const ScoreEntry& entry : profile_.score) {
    if (states.skip[entry.index]) continue;
    const std::string& name = profile_.name(entry.index);
    const PluginState* state = states.states[entry.index].get();
    CountCalls(profile_, entry.index, PluginFunction::kScore, out.feasible.size());
    for (const size_t begin : batches) {
      const size_t size = std::min(kBatchRows, active.size() - begin);
      const NodeBatch batch(snapshot, static_cast<Row>(begin), std::span<const uint8_t>(active).subspan(begin, size));
      const Error error = CallScore(profile_, entry, run, state, batch, std::span(column).subspan(begin, size));
      if (!error.ok()) return Error("running Score plugins: plugin \"" + name + "\" failed with: " + error.text());
    }
    PluginScores scores;
    scores.plugin = entry.index;
    scores.weight = entry.weight;
    scores.raw.reserve(out.feasible.size());
    for (const Row row : out.feasible) scores.raw.push_back(column[row]);
    scores.normalized = scores.raw;
    berth::Normalize(entry.normalization, scores.normalized);
    if (entry.normalization == Normalization::kOwn) {
      const Error error = CallNormalize(profile_, entry, run, state, out.feasible, scores.normalized);
      if (!error.ok())
        return Error("running Normalize on Score plugins: plugin \"" + name + "\" failed with: " + error.text());
    }
    for (size_t i = 0; i < scores.normalized.size(); ++i) {
      const int64_t score = scores.normalized[i];
      if (score < kMinScore || score > kMaxScore)
        return Error("applying score defaultWeights on Score plugins: plugin \"" + name +
                     "\" returns an invalid score " + std::to_string(score) +
                     ", it should in the range of [0, 100] after normalizing");
      out.totals[i] += score * entry.weight;
    }
    out.scores.push_back(std::move(scores));
  }
  // Upstream gives every node 1 when nobody scores at all.
  if (profile_.score.empty()) out.totals.assign(out.feasible.size(), 1);
  return Error::Ok();
}

std::string Judge::FitError(const Snapshot& snapshot, const Judgement& judgement) const {
  FitErrorParts parts;
  parts.nodes = snapshot.node_count();
  if (judgement.outright) parts.pre_filter = judgement.outright->verdict.message();
  // Counted by id first, so that a text is touched once per distinct verdict and not once per node.
  std::map<VerdictId, size_t> by_id;
  size_t* last = nullptr;  // neighbours mostly share a verdict
  VerdictId last_id = kFitsId;
  for (Row row = 0; row < judgement.verdicts.size(); ++row) {
    if (!snapshot.live(row)) continue;
    if (!last || judgement.verdicts[row] != last_id) last = &by_id[last_id = judgement.verdicts[row]];
    ++*last;
  }
  for (const auto& [id, count] : by_id) {
    const Verdict& verdict = id == kNotJudged ? judgement.absent : table_.Get(id);
    for (const std::string& reason : verdict.reasons()) parts.reasons[reason] += count;
  }
  parts.post_filter = judgement.post_filter.verdict.message();
  return FitErrorText(parts);
}

std::optional<Ruling> FindGate(const Profile& profile, const Pod& pod) {
  Stage stage(profile, PluginFunction::kPreEnqueue);
  for (const auto& entry : profile.pre_enqueue) {
    Verdict verdict = CallPreEnqueue(profile, entry, pod);
    if (verdict.fits()) continue;
    stage.End(verdict.code());
    return Ruling{std::move(verdict), entry.index};
  }
  stage.End(Code::kSuccess);
  return std::nullopt;
}

size_t FeasibleNodesToFind(int32_t percent, size_t nodes) {
  constexpr size_t kMinimum = 100;
  if (percent <= 0 || percent >= 100 || nodes < kMinimum) return nodes;
  return std::max(kMinimum, nodes * static_cast<size_t>(percent) / 100);
}

size_t AdaptiveNodesToFind(size_t nodes) {
  const size_t percent = std::max<size_t>(5, nodes >= 125 * 45 ? 5 : 50 - nodes / 125);
  return FeasibleNodesToFind(static_cast<int32_t>(percent), nodes);
}

size_t NodesToAsk(const Profile& profile, size_t nodes) {
  const int32_t percent = profile.percentage_of_nodes_to_score;
  return percent > 0 ? FeasibleNodesToFind(percent, nodes) : AdaptiveNodesToFind(nodes);
}

Row PickWinner(const Judgement& judgement, const Snapshot& snapshot, size_t start) {
  if (judgement.feasible.size() == 1 || judgement.totals.empty()) return judgement.feasible.front();
  const std::span<const uint32_t> ranks = snapshot.ranks();
  const size_t n = snapshot.node_count();
  Row best = kNoRow;
  int64_t best_total = 0;
  size_t best_rank = 0;
  for (size_t i = 0; i < judgement.feasible.size(); ++i) {
    const Row row = judgement.feasible[i];
    const size_t rank = (ranks[row] + n - start) % n;
    const int64_t total = judgement.totals[i];
    if (best != kNoRow && (total < best_total || (total == best_total && rank > best_rank))) continue;
    best = row;
    best_total = total;
    best_rank = rank;
  }
  return best;
}

}  // namespace berth::framework
