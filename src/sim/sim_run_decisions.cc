// SPDX-License-Identifier: Apache-2.0
// From attempts to short records and sentences.
#include "sim/sim_run_decisions.h"

#include "util/difference.h"

namespace berth::sim {
namespace {

int64_t WeightOf(const framework::Profile& profile, uint16_t plugin) {
  for (const framework::ScoreEntry& entry : profile.score)
    if (entry.index == plugin) return entry.weight;
  return 1;
}

// The winner against the best of the rest. A winner beyond the few that a trace shows shares the best total.
void CompareDecisions(const framework::CycleTrace& trace, const framework::Profile& profile, Decision& decision) {
  if (trace.feasible < 2 || trace.top.empty()) return;
  const framework::CycleTrace::Candidate* winner = nullptr;
  const framework::CycleTrace::Candidate* second = nullptr;
  for (const auto& candidate : trace.top) {
    if (candidate.node == decision.node) {
      winner = &candidate;
    } else if (!second) {
      second = &candidate;
    }
  }
  decision.total = winner ? winner->total : trace.top.front().total;
  if (!second) return;
  decision.runner_up = second->node;
  decision.ahead = util::Difference(*decision.total, second->total);
  if (!winner) return;
  for (size_t i = 0; i < winner->scores.size() && i < second->scores.size(); ++i) {
    const auto [plugin, score] = winner->scores[i];
    const int64_t ahead = (int64_t{score} - int64_t{second->scores[i].second}) * WeightOf(profile, plugin);
    if (ahead <= decision.term_ahead) continue;
    decision.term_ahead = ahead;
    decision.term = &profile.name(plugin);
  }
}

}  // namespace

std::string Decision::Why() const {
  if (node.empty()) {
    if (nominated.empty()) return message;
    return message + " Evicting " + std::to_string(victims) + (victims == 1 ? " pod" : " pods") + " from " + nominated +
           " makes room.";
  }
  if (was_nominated) return "nominated to it, and it fits";
  if (feasible <= 1) return "the only node that fits";
  std::string text = "best of " + std::to_string(feasible);
  if (runner_up.empty()) return text;
  if (ahead == 0) return text + ", level with " + runner_up;
  text += ", ahead of " + runner_up + " by " + std::to_string(ahead);
  if (term) text += " (" + *term + " +" + std::to_string(term_ahead) + ")";
  return text;
}

void DecisionLog::OnAttempt(const cycle::Attempt& attempt) {
  ++attempts_;
  const std::string pod = FullName(*attempt.pod);
  Decision decision;
  decision.uid = attempt.pod->uid();
  decision.node = attempt.node;
  decision.message = attempt.message;
  decision.nominated = attempt.nominated;
  decision.time = clock_->Now();
  decision.was_nominated = attempt.by_nomination;
  if (attempt.trace) {
    decision.feasible = attempt.trace->feasible;
    decision.victims = attempt.trace->victims;
    if (!decision.node.empty() && !decision.was_nominated && attempt.profile)
      CompareDecisions(*attempt.trace, *attempt.profile, decision);
  }
  if (pod == explain_ && attempt.judgement && attempt.profile) {
    const Snapshot snapshot = scheduler_->state().snapshot();
    // A pod that failed before any node was asked has no verdicts to show.
    if (attempt.judgement->outright || attempt.judgement->verdicts.size() >= snapshot.rows())
      explanation_ = framework::Explain(*attempt.pod, *attempt.profile, scheduler_->engine().table(), snapshot,
                                        *attempt.judgement);
  }
  decisions_[pod] = std::move(decision);
}

void DecisionLog::OnBound(const Pod&, const std::string&) {
  ++bound_;
  if (on_bound) on_bound();
}

const Decision* DecisionLog::FindAny(const std::string& pod) const {
  const auto it = decisions_.find(pod);
  return it == decisions_.end() ? nullptr : &it->second;
}

const Decision* DecisionLog::Find(const std::string& pod, const std::string& uid) const {
  const Decision* decision = FindAny(pod);
  return decision && decision->uid == uid ? decision : nullptr;
}

}  // namespace berth::sim
