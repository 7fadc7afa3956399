// SPDX-License-Identifier: Apache-2.0
// Upstream: schedule_one.go, findNodesThatFitPod and prioritizeNodes; preemption.go, Preempt (v1.36.4).
#include "cycle/consultations.h"

#include <algorithm>
#include <utility>

#include "berth/host/snapshot_access.h"
#include "cycle/decision.h"
#include "framework/call_timer.h"
#include "framework/plugin_call.h"

namespace berth::cycle {
namespace {

using framework::Judgement;

constexpr int kMostOvertaken = 3;

// The first nodes that fit from `start` on, as many as kube-scheduler would look for.
std::vector<Row> SampleOf(const Judgement& judgement, const Snapshot& snapshot, size_t start, size_t limit) {
  std::vector<Row> rows;
  const std::span<const Row> order = snapshot.order();
  for (size_t i = 0; i < order.size() && rows.size() < limit; ++i) {
    const Row row = order[(start + i) % order.size()];
    if (judgement.verdicts[row] == kFitsId) rows.push_back(row);
  }
  return rows;
}

}  // namespace

void Consultations::Begin(queue::PodTicket ticket, const framework::Profile& profile) {
  DropGone();
  auto place = turns_.Enter(ticket.info());
  Ask({std::move(ticket), &profile, core_.attempt, std::move(place), false, 0, {}, {}, framework::kNoPlugin}, true);
}

bool Consultations::Before(const QueuedPod& a, const QueuedPod& b) const {
  const framework::Profile& first = core_.engine->first_profile();
  return framework::CallLess(first, first.queue_sort.front(), a, b);
}

void Consultations::Overtaken(Open& open) {
  if (++open.attempt.overtaken >= kMostOvertaken) turns_.GoFirst(*open.place);
}

void Consultations::Ask(Open open, bool nominated_first) {
  const Ptr<Pod> pod = open.ticket.pod();
  const framework::Profile& profile = *open.profile;
  const framework::TimedCycle timed(profile);
  const Snapshot snapshot = core_.state.snapshot();
  framework::JudgeOptions options;
  options.score = false;
  options.unrecorded = Judgement::Kind::kFits;
  const bool nominated = nominated_first && !pod->nominated_node_name.empty();
  if (snapshot.node_count() > 0) open.start = next_start_ % snapshot.node_count();
  options.sample = !nominated;
  options.start = open.start;
  Judgement judged = core_.engine->Judge(profile, *pod, snapshot, options);
  open.advice = {};
  open.passed.clear();
  if (judged.kind != Judgement::Kind::kFits) return End(std::move(open), std::move(judged), snapshot);

  std::vector<Row> rows;
  open.nominated = false;
  if (nominated) {
    const Row row = snapshot.FindRow(pod->nominated_node_name);
    open.nominated = std::binary_search(judged.feasible.begin(), judged.feasible.end(), row);
    if (open.nominated) rows = {row};
  }
  if (!open.nominated) {
    const size_t limit = framework::NodesToAsk(profile, judged.eligible);
    rows = SampleOf(judged, snapshot, open.start, limit);
    if (judged.feasible.size() > limit) next_start_ = NextStart(judged, snapshot, open.start, limit);
  }
  open.attempt.evaluated = judged.evaluated;
  open.advice.about_nodes = true;
  std::vector<Ptr<Node>> list;
  list.reserve(rows.size());
  for (const Row row : rows) list.push_back(SnapshotAccess::NodeAt(snapshot, row));
  const framework::AskedNodes nodes = std::move(list);
  open.advice.asked = nodes;
  open.advice.rows = std::move(rows);
  const framework::PodInTurn asked(pod, open.place->turn());
  const uint64_t number = Suspend(std::move(open));
  calls_.Filter(asked, nodes, [this, number](framework::ExtenderCalls::Filtered filtered) {
    AfterFilter(number, std::move(filtered));
  });
}

uint64_t Consultations::Suspend(Open open) {
  exclusive_ += open.attempt.overtaken >= kMostOvertaken;
  open_.emplace(++suspensions_, std::move(open));
  return suspensions_;
}

void Consultations::DropGone() {
  if (std::exchange(departures_, core_.departures) == core_.departures) return;
  std::vector<uint64_t> gone;
  for (const auto& [number, open] : open_) {
    const Pod& pod = *open.ticket.pod();
    const Ptr<Pod> now = core_.FindPod(pod.namespace_(), pod.name());
    if (!now || now->uid() != pod.uid() || !now->node_name.empty() || now->terminating()) gone.push_back(number);
  }
  for (const uint64_t number : gone) (void)Resume(number);  // which skips it
}

std::optional<Consultations::Open> Consultations::Resume(uint64_t number) {
  const auto it = open_.find(number);
  if (it == open_.end()) return std::nullopt;
  Open open = std::move(it->second);
  open_.erase(it);
  exclusive_ -= open.attempt.overtaken >= kMostOvertaken;
  if (core_.halted) return std::nullopt;  // the ticket gives the pod back
  // The pod may be gone or bound by now: then it is let go like any other.
  const Ptr<Pod> before = open.ticket.pod();
  const Ptr<Pod> now = core_.FindPod(before->namespace_(), before->name());
  if (!now || now->uid() != before->uid() || !now->node_name.empty()) {
    handlers_.skip(std::move(open.ticket), *before);
    return std::nullopt;
  }
  if (now->terminating()) {
    handlers_.skip(std::move(open.ticket), *now);
    return std::nullopt;
  }
  core_.attempt = open.attempt;
  return open;
}

void Consultations::AfterFilter(uint64_t number, framework::ExtenderCalls::Filtered filtered) {
  std::optional<Open> open = Resume(number);
  if (!open) return;
  if (open->nominated && (!filtered.error.ok() || filtered.passed.empty())) {
    if (!filtered.error.ok()) core_.Tell(&Observer::OnNominatedNodeFailed, *open->ticket.pod(), filtered.error.text());
    return Ask(std::move(*open), false);
  }
  if (!filtered.error.ok()) return handlers_.failed(std::move(open->ticket), *open->profile, filtered.error);
  open->advice.rejected = std::move(filtered.rejected);
  open->passed = std::move(filtered.passed);
  if (open->passed.size() < 2 || !calls_.Prioritizes(*open->ticket.pod())) return Settle(std::move(*open));
  const framework::PodInTurn asked(open->ticket.pod(), open->place->turn());
  const framework::AskedNodes nodes = open->advice.asked;
  const std::vector<size_t> passed = open->passed;
  const uint64_t next = Suspend(std::move(*open));
  calls_.Prioritize(asked, nodes, passed, [this, next](std::vector<framework::Advice::Scores> scores) {
    AfterScores(next, std::move(scores));
  });
}

void Consultations::AfterScores(uint64_t number, std::vector<framework::Advice::Scores> scores) {
  std::optional<Open> open = Resume(number);
  if (!open) return;
  open->advice.scores = std::move(scores);
  Settle(std::move(*open));
}

void Consultations::Settle(Open open) {
  const Ptr<Pod> pod = open.ticket.pod();
  const framework::TimedCycle timed(*open.profile);
  const Snapshot snapshot = core_.state.snapshot();
  Observer* observer = core_.options.observer;
  framework::JudgeOptions options;
  options.advice = &open.advice;
  options.follow_nomination = open.nominated;
  const bool some = !open.passed.empty();
  std::vector<uint8_t> only;
  if (some) {
    options.post_filter = false;
    options.unrecorded = Judgement::Kind::kRejected;
    only.assign(snapshot.rows(), 0);
    const std::vector<Row> rows = open.advice.RowsIn(snapshot);
    for (const size_t place : open.passed)
      if (rows[place] != kNoRow) only[rows[place]] = 1;
    options.only = only;
  }
  Judgement judged = core_.engine->Judge(*open.profile, *pod, snapshot, options);
  if (some && judged.kind == Judgement::Kind::kFits && observer && observer->WantsJudgement(*pod)) {
    // Only those that passed can be chosen; the others are looked at for whoever wants to read about them.
    options.only = {};
    options.unrecorded = Judgement::Kind::kFits;
    Judgement all = core_.engine->Judge(*open.profile, *pod, snapshot, options);
    if (all.kind == Judgement::Kind::kFits) judged = std::move(all);
  }
  if (some && judged.kind != Judgement::Kind::kFits && judged.kind != Judgement::Kind::kFailed) {
    Overtaken(open);
    return Ask(std::move(open), true);
  }
  End(std::move(open), std::move(judged), snapshot);
}

void Consultations::End(Open open, std::optional<Judgement> judged, const Snapshot& snapshot) {
  const size_t start = snapshot.node_count() == 0 ? 0 : open.start % snapshot.node_count();
  framework::Decision decision = framework::DecisionOf(*judged, snapshot, core_.engine->table(), start);
  decision.evaluated = std::max(decision.evaluated, open.attempt.evaluated);
  core_.attempt = open.attempt;
  handlers_.decided(std::move(open.ticket), *open.profile, decision, judged, std::move(open.advice));
}

bool Consultations::Review(queue::PodTicket& ticket, const framework::Profile& profile,
                           const framework::Decision& decision, framework::Advice& advice) {
  const PostFilterOutcome& outcome = decision.post_filter;
  if (calls_.empty() || decision.kind != Judgement::Kind::kRejected || advice.preemption) return false;
  if (!outcome.plan || outcome.plan->candidates.empty() || !outcome.verdict.fits()) return false;
  const Ptr<Pod> popped = ticket.pod();
  if (!calls_.AsksAboutVictims(*popped)) return false;
  const auto planner = std::find_if(profile.post_filter.begin(), profile.post_filter.end(),
                                    [&](const auto& entry) { return entry.index == decision.post_filter_plugin; });
  if (planner == profile.post_filter.end() || !framework::Reviews(*planner)) return false;
  // Upstream asks about the pod as it is by now.
  const Ptr<Pod> now = core_.FindPod(popped->namespace_(), popped->name());
  framework::ExtenderCalls::Candidates candidates = outcome.plan->candidates;
  const auto place = turns_.Enter(ticket.info());
  const uint64_t number = Suspend({std::move(ticket),
                                   &profile,
                                   core_.attempt,
                                   place,
                                   false,
                                   0,
                                   std::move(advice),
                                   {},
                                   decision.post_filter_plugin});
  calls_.Preempt(
      {now && now->uid() == popped->uid() ? now : popped, place->turn()}, std::move(candidates), PodsOn(),
      [this, number](Result<framework::ExtenderCalls::Candidates> left) { AfterReview(number, std::move(left)); });
  return true;
}

framework::ExtenderCalls::PodsOn Consultations::PodsOn() const {
  return [this](const std::string& node) -> std::optional<std::vector<Ptr<Pod>>> {
    const Snapshot snapshot = core_.state.snapshot();
    const Row row = snapshot.FindRow(node);
    if (row == kNoRow || !snapshot.live(row)) return std::nullopt;
    std::vector<Ptr<Pod>> pods;
    for (const PodRecord* record : snapshot.pods(row)) pods.push_back(record->pod);
    return pods;
  };
}

void Consultations::AfterReview(uint64_t number, Result<framework::ExtenderCalls::Candidates> left) {
  std::optional<Open> open = Resume(number);
  if (!open) return;
  open->advice.preemption = framework::Advice::Preemption{open->planner, std::move(left)};
  const framework::TimedCycle timed(*open->profile);
  const Snapshot snapshot = core_.state.snapshot();
  framework::JudgeOptions options;
  options.advice = &open->advice;
  options.score = false;
  options.unrecorded = Judgement::Kind::kFits;
  Judgement judged = core_.engine->Judge(*open->profile, *open->ticket.pod(), snapshot, options);
  if (judged.kind != Judgement::Kind::kFits) return End(std::move(*open), std::move(judged), snapshot);
  // Nobody has to go any more.
  Overtaken(*open);
  core_.attempt = open->attempt;
  if (!Concerns(*open->ticket.pod())) return handlers_.again(std::move(open->ticket));
  Ask(std::move(*open), true);
}

}  // namespace berth::cycle
