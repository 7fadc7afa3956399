// SPDX-License-Identifier: Apache-2.0
// Counting in the recorded table what a record counts.
#include "decided.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "compare.h"
#include "framework/explanation.h"
#include "recordings.h"

namespace berth::recorded {
namespace {

using framework::CycleTrace;
using framework::Decision;
using framework::Judgement;

class Comparison {
 public:
  Comparison(const Value& expected, const std::vector<std::string>& unstable, const Decision& decision,
             const CycleTrace& trace, const Snapshot& snapshot, const framework::Profile& profile,
             const VerdictTable& table)
      : unstable_(unstable),
        decision_(decision),
        trace_(trace),
        snapshot_(snapshot),
        profile_(profile),
        table_(table),
        winners_(Strings(expected, "winners")),
        gave_up_early_(!expected.Find("preFilter")->is_null()) {
    for (const Value& node : expected.Find("nodes")->items()) nodes_[node.Find("name")->text()] = &node;
  }

  void Compare(const Pod& pod) {
    const auto node = nodes_.find(pod.nominated_node_name);
    if (node != nodes_.end() && node->second->Find("feasible")->bool_value()) {
      Same("nominated node", pod.nominated_node_name, Node());
      return;
    }
    if (Failed()) {  // the cycle ends there: the message is compared, and nothing is counted
      Same("kind", static_cast<int>(Judgement::Kind::kFailed), static_cast<int>(decision_.kind));
      Same("node", std::string("(none)"), Node());
      return;
    }
    if (Stable("nodes.feasible")) Feasible();
    if (Stable("winners")) Winners();
    if (!gave_up_early_ && Stable("nodes.plugin") && Stable("nodes.reasons") && Stable("nodes.feasible")) Reasons();
    if (Stable("nodes.scores") && Stable("nodes.total") && Stable("nodes.feasible")) Scores();
  }

  std::vector<std::string> differences;

 private:
  // Neither the field, nor what it is part of, nor a part of it depends on upstream's mood.
  bool Stable(const std::string& field) const {
    return std::none_of(unstable_.begin(), unstable_.end(), [&](const std::string& name) {
      const size_t n = std::min(name.size(), field.size());
      return name.compare(0, n, field, 0, n) == 0;
    });
  }
  template <class T>
  static std::string Text(const T& value) {
    if constexpr (std::is_convertible_v<T, std::string>) {
      return value;
    } else {
      return std::to_string(value);
    }
  }
  template <class T, class U>
  void Same(const std::string& what, const T& want, const U& got) {
    if (Text(want) != Text(got))
      differences.push_back("decision: " + what + ": kube-scheduler says " + Text(want) + ", berth says " + Text(got));
  }
  bool Failed() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
      const Value* code = node.second->Find("code");
      return code && code->text() == "Error";
    });
  }
  std::string Node() const { return decision_.row == kNoRow ? "(none)" : snapshot_.node(decision_.row).name(); }

  void Feasible() {
    const auto fits = [](const auto& node) { return node.second->Find("feasible")->bool_value(); };
    const auto feasible = std::count_if(nodes_.begin(), nodes_.end(), fits);
    Same("feasible nodes", feasible, decision_.feasible);
    const bool no_nodes = nodes_.empty() && !gave_up_early_;
    const Judgement::Kind kind = feasible   ? Judgement::Kind::kFits
                                 : no_nodes ? Judgement::Kind::kNoNodes
                                            : Judgement::Kind::kRejected;
    Same("kind", static_cast<int>(kind), static_cast<int>(decision_.kind));
  }

  void Winners() {
    if (winners_.empty()) return Same("node", std::string("(none)"), Node());
    if (std::find(winners_.begin(), winners_.end(), Node()) == winners_.end())
      differences.push_back("decision: node " + Node() + " is not among kube-scheduler's best, " + winners_.front() +
                            " is");
    Same("ties", winners_.size(), trace_.ties);
  }

  void Reasons() {
    std::map<std::string, int64_t> want, got;
    std::set<std::string> want_rejectors, got_rejectors;
    for (const auto& [name, node] : nodes_) {
      if (node->Find("feasible")->bool_value()) continue;
      const std::string& plugin = node->Find("plugin")->text();
      ++want[Line(plugin, Strings(*node, "reasons"))];
      if (!plugin.empty()) want_rejectors.insert(plugin);
    }
    for (const CycleTrace::ReasonCount& reason : trace_.reasons) {
      const std::string plugin = reason.plugin == framework::kNoPlugin ? "" : profile_.name(reason.plugin);
      got[Line(plugin, plugin.empty() ? std::vector<std::string>() : table_.Get(reason.verdict).reasons())] +=
          reason.nodes;
    }
    // A full record has the commonest only.
    const bool full = trace_.reasons.size() >= CycleTrace::kMaxReasons;
    if (!full)
      for (const auto& [line, nodes] : want) got.try_emplace(line, 0);
    for (const auto& [line, nodes] : got)
      if (!full || nodes > want[line]) Same("nodes that say " + line, want[line], nodes);
    if (decision_.kind != Judgement::Kind::kRejected) return;
    for (const Decision::Rejector& rejector : decision_.rejectors) got_rejectors.insert(profile_.name(rejector.plugin));
    Same("rejectors", Joined(want_rejectors), Joined(got_rejectors));
  }

  template <class Texts>
  static std::string Joined(const Texts& texts) {
    std::string line;
    for (const std::string& text : texts) line += (line.empty() ? "" : "; ") + text;
    return line;
  }
  // Nodes that nobody was asked about share one reason, which the message has.
  static std::string Line(const std::string& plugin, std::vector<std::string> reasons) {
    std::sort(reasons.begin(), reasons.end());
    return plugin.empty() ? "(left out)" : plugin + ": " + Joined(reasons);
  }

  void Scores() {
    std::vector<int64_t> totals;
    for (const auto& [name, node] : nodes_)
      if (const Value* total = node->Find("total")) totals.push_back(std::stoll(total->text()));
    std::sort(totals.begin(), totals.end(), std::greater<>());
    if (totals.empty()) return;
    Same("nodes in the record", std::min(totals.size(), CycleTrace::kMaxCandidates), trace_.top.size());
    for (size_t i = 0; i < std::min(totals.size(), trace_.top.size()); ++i) {
      const CycleTrace::Candidate& candidate = trace_.top[i];
      const std::string where = "place " + std::to_string(i + 1) + " (" + candidate.node + ")";
      Same(where + ": total", totals[i], candidate.total);
      const auto node = nodes_.find(candidate.node);
      const Value* scores = node == nodes_.end() ? nullptr : node->second->Find("scores");
      if (!scores) {
        differences.push_back("decision: " + where + " has no scores at kube-scheduler's");
        continue;
      }
      Same(where + ": scores", scores->members().size(), candidate.scores.size());
      for (const auto& [plugin, score] : candidate.scores) {
        const Value* want = scores->Find(profile_.name(plugin));
        Same(where + ": " + profile_.name(plugin), want ? want->Find("normalized")->text() : "(none)", score);
      }
    }
  }

  const std::vector<std::string>& unstable_;
  const Decision& decision_;
  const CycleTrace& trace_;
  const Snapshot& snapshot_;
  const framework::Profile& profile_;
  const VerdictTable& table_;
  const std::vector<std::string> winners_;
  const bool gave_up_early_;
  std::map<std::string, const Value*> nodes_;
};

}  // namespace

std::vector<std::string> DecisionDifferences(const Value& expected, const std::vector<std::string>& unstable,
                                             const Pod& pod, const Decision& decision, const CycleTrace& trace,
                                             const Snapshot& snapshot, const framework::Profile& profile,
                                             const VerdictTable& table) {
  Comparison comparison(expected, unstable, decision, trace, snapshot, profile, table);
  comparison.Compare(pod);
  // Message and preemption in the form of an explanation without nodes.
  Judgement short_form;
  short_form.kind = decision.kind;
  short_form.message = decision.message;
  short_form.post_filter = decision.post_filter;
  short_form.outright.emplace();
  const Value got = framework::ToValue(framework::Explain(pod, profile, table, snapshot, short_form));
  Value want_texts = Value::Object(), got_texts = Value::Object();
  for (const char* field : {"message", "preemption"}) {
    want_texts.Set(field, *expected.Find(field));
    got_texts.Set(field, *got.Find(field));
  }
  for (const std::string& difference : Differences(want_texts, got_texts, unstable))
    comparison.differences.push_back("decision: " + difference);
  return comparison.differences;
}

void RememberAndVerify(framework::Engine& engine, framework::Engine& reference, cluster::ClusterState& state,
                       std::vector<std::string>& differences) {
  for (PluginIndex* index : engine.Indexes()) state.AddIndex(index);
  engine.Remember();
  engine.Verify(reference, [&differences](const std::string& text) { differences.push_back("remembered: " + text); });
}

int DemandUse(const framework::Memory::Stats& stats) {
  if (stats.decisions > 0 && stats.hits > 0) return 0;
  std::cerr << "memory was not tested: it made " << stats.decisions << " decisions, " << stats.hits
            << " of them about known pods\n";
  return 1;
}

}  // namespace berth::recorded
