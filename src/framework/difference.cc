// SPDX-License-Identifier: Apache-2.0
// Comparing by meaning: names and texts, not ids.
#include "framework/difference.h"

#include <algorithm>
#include <set>
#include <utility>

namespace berth::framework {
namespace {

std::set<std::string> RejectorNames(const std::vector<Decision::Rejector>& rejectors, const Profile& profile) {
  std::set<std::string> names;
  for (const Decision::Rejector& rejector : rejectors)
    names.insert(profile.name(rejector.plugin) + (rejector.pending ? " (pending)" : ""));
  return names;
}

std::string Text(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return "[" + text + "]";
}

std::string Text(const PostFilterOutcome& outcome) {
  std::string text = std::string(ToString(outcome.verdict.code())) + " " + outcome.verdict.message() + " nominated " +
                     outcome.nominated_node.value_or("(as it was)");
  if (!outcome.plan) return text;
  for (const PreemptionCandidate& candidate : outcome.plan->candidates) {
    text += "; " + candidate.node + ":";
    for (const auto& victim : candidate.victims) text += " " + FullName(*victim);
    text += " (" + std::to_string(candidate.pdb_violations) + ")";
  }
  return text;
}

// Reasons without their examples, which may be any node.
std::set<std::string> Reasons(const CycleTrace& trace, const Profile& profile, const VerdictTable& table) {
  std::set<std::string> lines;
  for (const CycleTrace::ReasonCount& reason : trace.reasons)
    lines.insert((reason.plugin == kNoPlugin ? "" : profile.name(reason.plugin)) + " " +
                 (reason.verdict == kNotJudged ? "" : table.Get(reason.verdict).message()) + " " +
                 std::to_string(reason.nodes));
  return lines;
}

std::string Top(const CycleTrace& trace, const Profile& profile) {
  std::string text;
  for (const CycleTrace::Candidate& candidate : trace.top) {
    text += candidate.node + " " + std::to_string(candidate.total);
    for (const auto& [plugin, score] : candidate.scores)
      text += " " + profile.name(plugin) + "=" + std::to_string(score);
    text += "; ";
  }
  return text;
}

std::string Both(const std::string& what, const std::string& remembered, const std::string& judged) {
  return remembered == judged ? "" : what + " differs: remembered " + remembered + ", judged " + judged + "\n";
}

}  // namespace

std::string Difference(const Decision& decision, const CycleTrace& trace, Judgement& judgement,
                       const Profile& judged_profile, const VerdictTable& judged_table, const Snapshot& snapshot,
                       const Profile& profile, const VerdictTable& table) {
  const CycleTrace judged_trace = MakeTrace(Pod(), snapshot, judgement, judged_table, 0);
  const Decision judged = DecisionOf(judgement, snapshot, judged_table, 0);
  const auto node = [&](const Decision& d) { return d.row == kNoRow ? "(none)" : snapshot.node(d.row).name(); };
  std::string out;
  out += Both("kind", std::to_string(static_cast<int>(decision.kind)), std::to_string(static_cast<int>(judged.kind)));
  out += Both("node", node(decision), node(judged));
  out += Both("message", decision.message, judged.message);
  out += Both("feasible", std::to_string(decision.feasible), std::to_string(judged.feasible));
  if (judged.kind == Judgement::Kind::kRejected) {
    out += Both("rejectors", Text(RejectorNames(decision.rejectors, profile)),
                Text(RejectorNames(judged.rejectors, judged_profile)));
    out += Both("preemption", Text(decision.post_filter), Text(judged.post_filter));
  }
  out += Both("ties", std::to_string(trace.ties), std::to_string(judged_trace.ties));
  out += Both("best nodes", Top(trace, profile), Top(judged_trace, judged_profile));
  out +=
      Both("reasons", Text(Reasons(trace, profile, table)), Text(Reasons(judged_trace, judged_profile, judged_table)));
  return out;
}

}  // namespace berth::framework
