// SPDX-License-Identifier: Apache-2.0
// From a judgement's rows and ids to names and texts.
#include "framework/explanation.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "util/difference.h"

namespace berth::framework {
namespace {

Value Strings(const std::vector<std::string>& texts) {
  Value array = Value::Array();
  for (const std::string& text : texts) array.Append(Value::String(text));
  return array;
}

}  // namespace

Explanation Explain(const Pod& pod, const Profile& profile, const VerdictTable& table, const Snapshot& snapshot,
                    const Judgement& judgement) {
  Explanation out;
  out.pod = FullName(pod);
  out.profile = profile.scheduler_name;
  auto name_of = [&](uint16_t index) { return index == kNoPlugin ? std::string() : profile.name(index); };
  auto refusal = [&](const Verdict& verdict, uint16_t plugin) {
    return Explanation::Refusal{name_of(plugin), verdict.code(), verdict.reasons()};
  };
  if (judgement.outright) out.pre_filter = refusal(judgement.outright->verdict, judgement.outright->plugin);
  // A gate's text is the refusal itself; the message is for pods that were tried.
  if (judgement.kind != Judgement::Kind::kFits && judgement.kind != Judgement::Kind::kGated)
    out.message = judgement.message;

  if (!judgement.outright) {
    std::map<Row, Explanation::NodeLine> lines;
    for (Row row = 0; row < snapshot.rows(); ++row) {
      if (!snapshot.live(row)) continue;
      Explanation::NodeLine& line = lines[row];
      line.name = snapshot.node(row).name();
      // A plugin that failed before any node was judged leaves no verdicts.
      const VerdictId id = row < judgement.verdicts.size() ? judgement.verdicts[row] : kNotJudged;
      line.feasible = id == kFitsId;
      if (id == kNotJudged) {
        line.refusal = refusal(judgement.absent, kNoPlugin);
      } else if (!line.feasible) {
        line.refusal = refusal(table.Get(id), judgement.plugins[row]);
        if (judgement.advised_against && judgement.plugins[row] == kNoPlugin && table.Get(id).rejected())
          line.refusal.plugin = "Extender";
      }
    }
    for (size_t i = 0; i < judgement.totals.size(); ++i) {
      Explanation::NodeLine& line = lines[judgement.feasible[i]];
      line.total = judgement.totals[i];
      for (const PluginScores& s : judgement.scores)
        line.scores[name_of(s.plugin)] = {s.raw[i], s.normalized[i], s.normalized[i] * s.weight};
      for (const ExtenderScores& s : judgement.extender_scores)
        if (s.raw[i]) line.scores[s.name] = {*s.raw[i], *s.raw[i], WeightedExtenderScore(*s.raw[i], s.weight)};
    }
    for (auto& [row, line] : lines) out.nodes.push_back(std::move(line));
    std::sort(out.nodes.begin(), out.nodes.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  }

  if (judgement.kind == Judgement::Kind::kFits) {
    // Of the nodes that were scored: with a limit, more may fit.
    const std::vector<int64_t>& totals = judgement.totals;
    const int64_t best = totals.empty() ? 0 : *std::max_element(totals.begin(), totals.end());
    for (size_t i = 0; i < judgement.feasible.size(); ++i)
      if (totals.empty() || totals[i] == best) out.winners.push_back(snapshot.node(judgement.feasible[i]).name());
    std::sort(out.winners.begin(), out.winners.end());
  }

  if (const auto& plan = judgement.post_filter.plan; plan && !plan->candidates.empty()) {
    Explanation::Preemption& preemption = out.preemption.emplace();
    for (const PreemptionCandidate& candidate : plan->candidates) {
      Explanation::Candidate& line = preemption.candidates.emplace_back();
      line.node = candidate.node;
      line.pdb_violations = candidate.pdb_violations;
      for (const auto& victim : candidate.victims) line.victims.push_back(FullName(*victim));
    }
    std::sort(preemption.candidates.begin(), preemption.candidates.end(),
              [](const auto& a, const auto& b) { return a.node < b.node; });
    preemption.selected = plan->selected;
    for (const size_t i : plan->equals)
      if (i < plan->candidates.size()) preemption.equals.push_back(plan->candidates[i].node);
    std::sort(preemption.equals.begin(), preemption.equals.end());
  }
  return out;
}

std::optional<Explanation::Margin> Explanation::margin(const std::string& picked) const {
  const std::string& name = picked.empty() && !winners.empty() ? winners.front() : picked;
  const NodeLine* winner = nullptr;
  const NodeLine* second = nullptr;
  for (const NodeLine& line : nodes) {
    if (!line.feasible || !line.total) continue;
    if (line.name == name) {
      winner = &line;
    } else if (!second || *line.total > *second->total) {
      second = &line;
    }
  }
  if (!winner || !second) return std::nullopt;
  Margin margin{second->name, util::Difference(*winner->total, *second->total), "", 0};
  for (const auto& [plugin, score] : winner->scores) {
    const auto other = second->scores.find(plugin);  // an extender need not score every node
    const int64_t ahead = util::Difference(score.weighted, other == second->scores.end() ? 0 : other->second.weighted);
    if (ahead > margin.term_by) std::tie(margin.term, margin.term_by) = std::pair(plugin, ahead);
  }
  return margin;
}

Value ToValue(const Explanation& explanation) {
  auto refusal = [](Value& object, const Explanation::Refusal& r) {
    object.Set("plugin", Value::String(r.plugin));
    object.Set("code", Value::String(std::string(ToString(r.code))));
    object.Set("reasons", Strings(r.reasons));
  };
  Value out = Value::Object();
  out.Set("apiVersion", Value::String("berth.dev/v1alpha1"));
  out.Set("kind", Value::String("Explanation"));
  out.Set("pod", Value::String(explanation.pod));
  out.Set("profile", Value::String(explanation.profile));
  Value pre_filter;
  if (explanation.pre_filter) {
    pre_filter = Value::Object();
    refusal(pre_filter, *explanation.pre_filter);
  }
  out.Set("preFilter", std::move(pre_filter));

  Value nodes = Value::Array();
  for (const Explanation::NodeLine& line : explanation.nodes) {
    Value node = Value::Object();
    node.Set("name", Value::String(line.name));
    node.Set("feasible", Value::Bool(line.feasible));
    if (!line.feasible) refusal(node, line.refusal);
    if (line.total) {
      Value scores = Value::Object();
      for (const auto& [plugin, score] : line.scores) {
        Value entry = Value::Object();
        entry.Set("raw", Value::Int(score.raw));
        entry.Set("normalized", Value::Int(score.normalized));
        entry.Set("weighted", Value::Int(score.weighted));
        scores.Set(plugin, std::move(entry));
      }
      node.Set("scores", std::move(scores));
      node.Set("total", Value::Int(*line.total));
    }
    nodes.Append(std::move(node));
  }
  out.Set("nodes", std::move(nodes));
  out.Set("winners", Strings(explanation.winners));
  out.Set("message", Value::String(explanation.message));

  Value preemption;
  if (explanation.preemption) {
    preemption = Value::Object();
    Value candidates = Value::Array();
    for (const Explanation::Candidate& candidate : explanation.preemption->candidates) {
      Value entry = Value::Object();
      entry.Set("node", Value::String(candidate.node));
      entry.Set("victims", Strings(candidate.victims));
      entry.Set("pdbViolations", Value::Int(candidate.pdb_violations));
      candidates.Append(std::move(entry));
    }
    preemption.Set("candidates", std::move(candidates));
    preemption.Set("selected", Value::String(explanation.preemption->selected));
  }
  out.Set("preemption", std::move(preemption));
  if (!explanation.not_asked.empty()) out.Set("extendersNotAsked", Strings(explanation.not_asked));
  return out;
}

}  // namespace berth::framework
