// SPDX-License-Identifier: Apache-2.0
// DefaultPreemption: eligibility, the dry run over nodes and the message when nothing helps.
#include "plugins/default_preemption.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "berth/host/fit_error.h"
#include "berth/host/prospects.h"
#include "berth/host/snapshot_access.h"
#include "plugins/default_preemption_victims.h"

namespace berth::plugins {
namespace {

bool TerminatesByPreemption(const Pod& pod) {
  if (!pod.terminating()) return false;
  const PodCondition* condition = pod.FindCondition("DisruptionTarget");
  return condition != nullptr && condition->status == "True" && condition->reason == "PreemptionByScheduler";
}

// Why the pod may not preempt now; empty: it may.
std::string WhyNotEligible(const Cycle& cycle, const FilterReport& report) {
  const Pod& pod = cycle.pod();
  if (pod.preemption_policy == PreemptionPolicy::kNever) return "not eligible due to preemptionPolicy=Never.";
  if (pod.nominated_node_name.empty()) return "";
  const Row row = cycle.snapshot().FindRow(pod.nominated_node_name);
  if (row == kNoRow || !cycle.snapshot().live(row)) return "";
  if (report.verdict(row).code() == Code::kUnschedulableAndUnresolvable) return "";
  for (const PodRecord* record : cycle.snapshot().pods(row)) {
    if (record->pod->priority < pod.priority && TerminatesByPreemption(*record->pod)) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return "";
}

void Count(const Verdict& verdict, size_t nodes, ReasonCounts& counts) {
  if (nodes == 0) return;
  for (const std::string& reason : verdict.reasons()) counts[reason] += nodes;
}

// Several errors as Kubernetes shows them: each once, in brackets.
std::string Join(const std::vector<std::string>& errors) {
  std::vector<std::string> unique;
  for (const std::string& error : errors) {
    if (std::find(unique.begin(), unique.end(), error) == unique.end()) unique.push_back(error);
  }
  if (unique.size() == 1) return unique[0];
  std::string joined = "[";
  for (size_t i = 0; i < unique.size(); ++i) joined += (i == 0 ? "" : ", ") + unique[i];
  return joined + "]";
}

// What was found on a row, and when.
struct KnownTrial final : RowNote {
  NodeTrial trial;
  uint64_t budgets = 0;  // Stamp of kBudgets
  Time now;
};

// Pods that have not started count as starting now, which is after all others unless somebody's clock is wrong: then
// the order in which pods are spared changes with time.
bool OrderHolds(const Snapshot& snapshot, Row row, Time now) {
  const std::span<const PodRecord* const> pods = snapshot.pods(row);
  return std::all_of(pods.begin(), pods.end(), [&](const PodRecord* record) {
    return !record->pod->start_time || *record->pod->start_time < now;
  });
}

// SelectVictims, unless the answer is known. What is found out now goes into `fresh`.
const NodeTrial& Try(const Cycle& cycle, const Budgets& budgets, uint64_t stamp, const Prospects::Open& at,
                     NodeTrial& fresh) {
  const Time now = cycle.now();
  const auto* known = at.note == nullptr ? nullptr : dynamic_cast<const KnownTrial*>(at.note->get());
  if (known != nullptr && known->budgets == stamp && known->now <= now) return known->trial;
  fresh = SelectVictims(cycle, budgets, at.row);
  if (fresh.verdict.fits() && fresh.victims.empty())
    fresh.verdict =
        Verdict::Fail("expected at least one victim pod on node \"" + cycle.snapshot().node(at.row).name() + "\"");
  if (at.note == nullptr) return fresh;
  at.note->reset();
  const bool final = fresh.verdict.fits() || fresh.verdict.rejected();
  if (!final || !OrderHolds(cycle.snapshot(), at.row, now)) return fresh;
  auto note = std::make_shared<KnownTrial>();
  note->trial = fresh;
  note->budgets = stamp;
  note->now = now;
  *at.note = std::move(note);
  return fresh;
}

// What looking for victims on nodes gave.
struct DryRun {
  std::vector<PreemptionCandidate> candidates;  // those without budget violations first
  ReasonCounts reasons;                         // of the other nodes that were tried
  size_t rejected = 0;
  std::vector<std::string> errors;
};

// Tries nodes in turn, from place `offset` on, until enough candidates are found, one of them without budget
// violations. Nodes without hope are counted, not tried.
DryRun TryNodes(const Cycle& cycle, const Prospects& prospects, size_t offset, size_t wanted) {
  DryRun run;
  const std::vector<Prospects::Open>& open = prospects.open;
  const auto first =
      std::partition_point(open.begin(), open.end(), [&](const Prospects::Open& at) { return at.place < offset; });
  const auto skip = static_cast<size_t>(first - open.begin());
  const Budgets budgets = open.empty() ? Budgets() : Budgets(cycle.snapshot());
  const uint64_t stamp = Stamp(cycle.snapshot(), epoch::kBudgets);
  std::vector<PreemptionCandidate> violating;
  NodeTrial fresh;
  for (size_t i = 0; i < open.size(); ++i) {
    const Prospects::Open& at = open[(skip + i) % open.size()];
    const NodeTrial& trial = Try(cycle, budgets, stamp, at, fresh);
    if (!trial.verdict.fits()) {
      Count(trial.verdict, 1, run.reasons);
      ++run.rejected;
      if (trial.verdict.code() == Code::kError) run.errors.push_back(trial.verdict.message());
      continue;
    }
    PreemptionCandidate candidate{cycle.snapshot().node(at.row).name(), {}, trial.pdb_violations};
    candidate.victims.reserve(trial.victims.size());
    for (const PodRecord* victim : trial.victims) candidate.victims.push_back(victim->pod);
    std::vector<PreemptionCandidate>& list = trial.pdb_violations == 0 ? run.candidates : violating;
    if (list.size() < wanted) list.push_back(std::move(candidate));
    if (!run.candidates.empty() && run.candidates.size() + violating.size() >= wanted) break;
  }
  std::move(violating.begin(), violating.end(), std::back_inserter(run.candidates));
  if (!run.candidates.empty()) return run;
  Count(DefaultPreemption::kNoVictims, prospects.without_victims, run.reasons);
  run.rejected += prospects.without_victims;
  for (const auto& [verdict, nodes] : prospects.hopeless) {
    Count(*verdict, nodes, run.reasons);
    run.rejected += nodes;
  }
  return run;
}

// As the pod's message shows it.
PostFilterOutcome Worded(PostFilterOutcome outcome) {
  const std::string message = outcome.verdict.message();
  if (!message.empty()) outcome.verdict = Verdict(outcome.verdict.code(), "preemption: " + message);
  return outcome;
}

// REQUIRES: some candidates, each with victims.
PostFilterOutcome Choose(std::vector<PreemptionCandidate> candidates, Time now) {
  auto plan = std::make_shared<PreemptionPlan>();
  plan->candidates = std::move(candidates);
  plan->equals = BestCandidates(plan->candidates, now);
  plan->selected = plan->candidates[plan->equals[0]].node;
  const std::string selected = plan->selected;
  return {Verdict(), selected, std::move(plan)};
}

}  // namespace

void DefaultPreemption::Args::Read(ArgsReader& in) {
  in.Int32("minCandidateNodesPercentage", min_candidate_nodes_percentage,
           {.min = 0, .max = 100, .text = "not in valid range [0, 100]"});
  in.Int32("minCandidateNodesAbsolute", min_candidate_nodes_absolute,
           {.min = 0, .text = "not in valid range [0, inf)"});
  if (min_candidate_nodes_percentage == 0 && min_candidate_nodes_absolute == 0) {
    in.Invalid("minCandidateNodesPercentage", "0", "cannot be zero at the same time as minCandidateNodesAbsolute");
    in.Invalid("minCandidateNodesAbsolute", "0", "cannot be zero at the same time as minCandidateNodesPercentage");
  }
}

Value DefaultPreemption::Args::Write() const {
  Value out = Value::Object();
  out.Set("kind", Value::String("DefaultPreemptionArgs"));
  out.Set("apiVersion", Value::String("kubescheduler.config.k8s.io/v1"));
  out.Set("minCandidateNodesPercentage", Value::Int(min_candidate_nodes_percentage));
  out.Set("minCandidateNodesAbsolute", Value::Int(min_candidate_nodes_absolute));
  return out;
}

// PostFilter is never remembered, so nothing of the pod need be told.
bool DefaultPreemption::Sign(const Pod&, Signature&) const { return true; }

std::optional<std::vector<EventRegistration>> DefaultPreemption::EventsToRegister() const {
  // A pod waits for its victims because other plugins rejected it; they, not this one, say when to try again.
  return std::vector<EventRegistration>{
      {{EventResource::kPod, action::kDelete}, [](const Pod&, const EventObjects&) { return QueueingHint::kSkip; }}};
}

Verdict DefaultPreemption::PreEnqueue(const Pod& pod) const {
  if (!handle_.preempting(pod.uid())) return {};
  return Verdict(Code::kUnschedulableAndUnresolvable, "waiting for the preemption for this pod to be finished");
}

int64_t DefaultPreemption::CandidatesWanted(int64_t nodes) const {
  const int64_t share = nodes * args_.min_candidate_nodes_percentage / 100;
  return std::min(nodes, std::max(share, int64_t{args_.min_candidate_nodes_absolute}));
}

PostFilterOutcome DefaultPreemption::PostFilter(const Cycle& cycle, const PluginState*,
                                                const FilterReport& report) const {
  return Worded(Preempt(cycle, report));
}

PostFilterOutcome DefaultPreemption::Review(const Cycle& cycle, Result<std::vector<PreemptionCandidate>> left) const {
  if (!left.ok()) return Worded({Verdict::Fail(left.error().text()), std::nullopt, nullptr});
  if (left.value().empty())
    return Worded({Verdict(Code::kUnschedulable, "no candidate node for preemption"), std::nullopt, nullptr});
  return Choose(std::move(left).value(), cycle.now());
}

PostFilterOutcome DefaultPreemption::Preempt(const Cycle& cycle, const FilterReport& report) const {
  const Snapshot& snapshot = cycle.snapshot();
  if (std::string why = WhyNotEligible(cycle, report); !why.empty()) {
    return {Verdict(Code::kUnschedulable, std::move(why)), std::nullopt, nullptr};
  }
  if (snapshot.node_count() == 0) return {Verdict::Fail("no nodes available"), std::nullopt, nullptr};

  const Prospects prospects = LookAhead(report);
  DryRun run;
  if (prospects.resolvable > 0) {
    const size_t offset = handle_.Random() % prospects.resolvable;
    const int64_t wanted = CandidatesWanted(static_cast<int64_t>(prospects.resolvable));
    run = TryNodes(cycle, prospects, offset, static_cast<size_t>(wanted));
  }
  if (run.candidates.empty()) {
    if (!run.errors.empty()) return {Verdict::Fail(Join(run.errors)), std::nullopt, nullptr};
    Count(kNotHelpful, snapshot.node_count() - run.rejected, run.reasons);
    std::string text = FitErrorText({snapshot.node_count(), "", std::move(run.reasons), ""});
    return {Verdict(Code::kUnschedulable, std::move(text)), "", nullptr};
  }

  return Choose(std::move(run.candidates), cycle.now());
}

}  // namespace berth::plugins
