// SPDX-License-Identifier: Apache-2.0
// The explanation as a person reads it.
#include <algorithm>
#include <map>
#include <set>

#include "cli/explain_command.h"
#include "cli/table.h"

namespace berth::cli {
namespace {

using framework::Explanation;

std::string Join(const std::vector<std::string>& texts, const std::string& between, size_t most = SIZE_MAX) {
  std::string joined;
  for (size_t i = 0; i < texts.size() && i < most; ++i) joined += (i ? between : "") + texts[i];
  if (texts.size() > most) joined += between + "and " + std::to_string(texts.size() - most) + " more";
  return joined;
}

std::string Remedy(Code code) {
  if (code == Code::kUnschedulable) return "evicting pods may help";
  if (code == Code::kError) return "judging failed";
  return "evicting pods cannot help";
}

// "2 nodes  NodeResourcesFit  Insufficient cpu  (evicting pods may help)  a, b"
std::string Refusals(const Explanation& explanation) {
  struct Key {
    std::string plugin, reasons;
    Code code;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, std::vector<std::string>> groups;
  for (const auto& line : explanation.nodes) {
    if (line.feasible) continue;
    const std::string plugin = line.refusal.plugin.empty() ? "(left out)" : line.refusal.plugin;
    groups[{plugin, Join(line.refusal.reasons, ", "), line.refusal.code}].push_back(line.name);
  }
  if (groups.empty()) return "";
  std::vector<std::pair<Key, std::vector<std::string>>> sorted(groups.begin(), groups.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  Table table({"NODES", "REFUSED BY", "BECAUSE", "REMEDY", "WHICH"});
  for (const auto& [key, names] : sorted)
    table.Add({std::to_string(names.size()), key.plugin, key.reasons, Remedy(key.code), Join(names, ", ", 4)});
  return "\nRefused:\n" + table.Text("  ");
}

std::string Scores(const Explanation& explanation) {
  std::vector<const Explanation::NodeLine*> candidates;
  std::set<std::string> plugins;
  for (const auto& line : explanation.nodes) {
    if (!line.feasible || !line.total) continue;
    candidates.push_back(&line);
    for (const auto& [plugin, score] : line.scores) plugins.insert(plugin);
  }
  if (candidates.empty()) return "";
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto* a, const auto* b) { return *a->total > *b->total; });
  std::vector<std::string> header = {"NODE", "TOTAL"};
  header.insert(header.end(), plugins.begin(), plugins.end());
  Table table(header);
  for (const auto* line : candidates) {
    std::vector<std::string> row = {line->name, std::to_string(*line->total)};
    for (const std::string& plugin : plugins) row.push_back(std::to_string(line->scores.at(plugin).weighted));
    table.Add(std::move(row));
  }
  return "\nScores (times weight):\n" + table.Text("  ");
}

std::string Verdictline(const Explanation& explanation) {
  size_t feasible = 0;
  for (const auto& line : explanation.nodes) feasible += line.feasible;
  const std::string count = std::to_string(feasible) + " of " + std::to_string(explanation.nodes.size());
  if (explanation.pre_filter) {
    const auto& refusal = *explanation.pre_filter;
    return "Refused as a whole by " + (refusal.plugin.empty() ? "its PreFilter plugins" : refusal.plugin) + ": " +
           Join(refusal.reasons, ", ") + "\n";
  }
  if (explanation.winners.empty()) return "Pending: " + explanation.message + "\n";
  if (feasible == 1)
    return "Goes to " + explanation.winners.front() + ": the only node of " + std::to_string(explanation.nodes.size()) +
           " that fits.\n";
  std::string text = "Goes to " + Join(explanation.winners, " or ", 5) + ": " + count + " nodes fit";
  if (explanation.winners.size() > 1)
    return text + ", and " + std::to_string(explanation.winners.size()) + " share the best score.\n";
  const auto margin = explanation.margin();
  text += ". Ahead of " + margin->runner_up + " by " + std::to_string(margin->by);
  if (!margin->term.empty()) text += "; " + margin->term + " decided (+" + std::to_string(margin->term_by) + ")";
  return text + ".\n";
}

std::string PreemptionText(const Explanation& explanation) {
  if (!explanation.preemption) return "";
  Table table({"NODE", "EVICTS", "PDB VIOLATIONS", ""});
  for (const auto& candidate : explanation.preemption->candidates)
    table.Add({candidate.node, Join(candidate.victims, ", "), std::to_string(candidate.pdb_violations),
               candidate.node == explanation.preemption->selected ? "<- chosen" : ""});
  return "\nPreemption would make room:\n" + table.Text("  ");
}

}  // namespace

std::string ExplanationText(const Explanation& explanation) {
  std::string text = "Pod " + explanation.pod + " (profile " + explanation.profile + ")\n" + Verdictline(explanation);
  if (explanation.pre_filter && !explanation.message.empty()) text += "Message: " + explanation.message + "\n";
  return text + Scores(explanation) + Refusals(explanation) + PreemptionText(explanation);
}

}  // namespace berth::cli
