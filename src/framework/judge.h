// SPDX-License-Identifier: Apache-2.0
// Judge: takes one pod through PreFilter, Filter, PostFilter and Score over a snapshot and says what it found.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/clock.h"
#include "berth/plugin.h"
#include "framework/cycle_run.h"
#include "framework/extender.h"
#include "framework/profile.h"

namespace berth::framework {

// One plugin's scores of the feasible rows, in the order of Judgement::feasible.
struct PluginScores {
  uint16_t plugin = kNoPlugin;
  int64_t weight = 1;
  std::vector<int64_t> raw, normalized;  // weighted = normalized * weight
};

// One extender's scores of the feasible rows, in the order of Judgement::feasible.
struct ExtenderScores {
  std::string name;
  int64_t weight = 1;
  std::vector<std::optional<int64_t>> raw;  // no value: it gave none
};
// What a score of an extender's adds to a node's total: extenders score from 0 to 10, plugins from 0 to 100.
int64_t WeightedExtenderScore(int64_t raw, int64_t weight);

// Everything that was found out about one pod. Rows index the snapshot it was judged on.
struct Judgement {
  enum class Kind : uint8_t {
    kGated,     // PreEnqueue said no: `outright`
    kNoNodes,   // there is no node at all
    kRejected,  // PreFilter said no (`outright`) or no node fits; `message` says why
    kFits,      // `feasible` is not empty
    kFailed,    // a plugin failed: `message`
  };
  Kind kind = Kind::kFailed;
  std::optional<Ruling> outright;   // by PreEnqueue or PreFilter, for the pod as a whole
  std::vector<VerdictId> verdicts;  // by row: kFitsId, the rejection, or kNotJudged (left out by PreFilter, no node)
  std::vector<uint16_t> plugins;    // by row: who rejected
  Verdict absent{Code::kUnschedulableAndUnresolvable, std::vector<std::string>{}};  // holds for kNotJudged rows
  std::vector<std::string> narrowed_by;
  std::vector<Row> feasible;         // ascending
  std::vector<PluginScores> scores;  // empty with fewer than two feasible rows
  std::vector<ExtenderScores> extender_scores;
  std::vector<int64_t> totals;  // as feasible; empty without scores
  PostFilterOutcome post_filter;
  bool post_filter_ran = false;
  uint16_t post_filter_plugin = kNoPlugin;  // whose plan it is
  std::string message;                      // the FitError text, or what failed
  size_t evaluated = 0;                     // rows that Filter was asked about
  size_t eligible = 0;                      // rows that PreFilter left, of those that were to be judged
  bool nominated = false;        // it fits where status.nominatedNodeName says; that is the one feasible row then
  bool advised_against = false;  // advice rejected some row
  // What PreFilter left, by plugin index: for Reserve and what follows. Only with kFits.
  std::vector<StateSlot> states;
};

// What extenders said of nodes, by name. A pod is judged once to learn which nodes to ask about, and again with the
// answer: judging is cheap, and the cluster may have moved on meanwhile.
struct Advice {
  AskedNodes asked;       // each once; other nodes are left out. The cluster may have newer ones by now, or none
  std::vector<Row> rows;  // as `asked`, where they were; looked up if they are there no more. May be shorter
  std::map<std::string, Verdict, std::less<>> rejected;  // of these
  bool about_nodes = false;                              // false: nobody was asked about nodes, and these are empty
  struct Scores {
    std::string name;
    int64_t weight = 1;
    // As `asked`; of a node that was named twice the sum, of one that was not named no value. May be shorter.
    std::vector<std::optional<int64_t>> raw;
  };
  std::vector<Scores> scores;
  // As `asked`: their rows by now; kNoRow where there is none.
  std::vector<Row> RowsIn(const Snapshot& snapshot) const;
  // What they made of the candidates of this plugin's plan, or why they could not be asked. No value: nobody was asked.
  struct Preemption {
    uint16_t plugin;
    Result<std::vector<PreemptionCandidate>> left;
  };
  std::optional<Preemption> preemption;
};

struct JudgeOptions {
  bool pre_enqueue = false;  // ask the gates first
  bool post_filter = true;   // look for preemption when nothing fits
  // Score only the first so many feasible nodes from `start` on in node order; 0: all.
  size_t limit = 0;
  size_t start = 0;
  const Advice* advice = nullptr;
  // By row: judge only those with a 1; empty: all. Whatever is prepared for the pod is prepared for the whole cluster.
  std::span<const uint8_t> only = {};
  bool score = true;  // false: stop after the filters; `feasible` is all that fit, also for a nominated pod
  // Filter in node order from `start` on, and no longer than it takes to find one more that fits than an extender is
  // asked about (NodesToAsk). Those behind are not judged.
  bool sample = false;
  // A pod that fits where its nomination says goes there, unscored. False: all nodes that fit are scored; whether the
  // pod may preempt still depends on its nominated node.
  bool follow_nomination = true;
  std::optional<Judgement::Kind> unrecorded = {};  // a judgement of this kind is not the end: no record is made of it
};

// REQUIRES: profile and table outlive the judge. Thread safety: scheduling thread.
class Judge {
 public:
  Judge(const Profile& profile, VerdictTable& table, const Clock& clock)
      : profile_(profile), table_(table), clock_(clock) {}

  // Never throws: what a plugin throws ends in a Judgement of kind kFailed.
  Judgement Run(const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options = {}) const;
  // Scores these rows, even a single one, whether they fit or not: the judgement's scores and totals are in their
  // order. Its kind is kFits or kFailed. REQUIRES: live rows, ascending. Never throws.
  Judgement Score(const Pod& pod, const Snapshot& snapshot, std::vector<Row> rows) const;

 private:
  Judgement RunStages(const Pod& pod, const Snapshot& snapshot, const JudgeOptions& options) const;
  void FilterAll(CycleRun& run, const PreFilterRuling& pre, const JudgeOptions& options, Judgement& out) const;
  void FilterRows(CycleRun& run, std::span<const uint8_t> rows, Judgement& out) const;
  // `rows` is advice.RowsIn(snapshot).
  void TakeAdvice(const Advice& advice, std::span<const Row> rows, const Snapshot& snapshot, Judgement& out) const;
  void PostFilterAll(CycleRun& run, const Advice* advice, Judgement& out) const;
  void TakeScores(const Advice& advice, std::span<const Row> rows, const Snapshot& snapshot, Judgement& out) const;
  // What PreScore left, by plugin index.
  struct ScoreStates {
    std::vector<StateSlot> states;
    std::vector<uint8_t> skip;
  };
  Error ScoreAll(CycleRun& run, Judgement& out) const;
  Error PreScoreAll(CycleRun& run, std::span<const Row> feasible, ScoreStates& out) const;
  Error ScoreWith(const ScoreStates& states, CycleRun& run, Judgement& out) const;
  std::string FitError(const Snapshot& snapshot, const Judgement& judgement) const;

  const Profile& profile_;
  VerdictTable& table_;
  const Clock& clock_;
};

// The first PreEnqueue plugin that is against the pod, in the profile's order; no value: it may be queued.
std::optional<Ruling> FindGate(const Profile& profile, const Pod& pod);

// kube-scheduler's numFeasibleNodesToFind for an explicit percentage (percent 0 means all here: judging is cheap).
size_t FeasibleNodesToFind(int32_t percent, size_t nodes);
// The same with upstream's own choice of a percentage, for who pays per node: an extender that is sent them.
size_t AdaptiveNodesToFind(size_t nodes);
// How many nodes an extender is asked about when PreFilter left `nodes` of them.
size_t NodesToAsk(const Profile& profile, size_t nodes);

// What PostFilter as a whole said, and whose word it is.
struct PostFilterRuling {
  PostFilterOutcome outcome;
  uint16_t plugin = kNoPlugin;
};
PostFilterRuling RunPostFilter(CycleRun& run, const FilterReport& report);

// The row to bind to: the best total; among equals the first in node order from `start` on. (kube-scheduler's pick
// among equals depends on its threads.) REQUIRES: judgement.kind == kFits, start is below the number of nodes.
Row PickWinner(const Judgement& judgement, const Snapshot& snapshot, size_t start = 0);

}  // namespace berth::framework
