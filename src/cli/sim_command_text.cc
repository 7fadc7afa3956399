// SPDX-License-Identifier: Apache-2.0
// Tables of pods, expectations and differences.
#include "cli/sim_command_text.h"

#include <algorithm>
#include <utility>

#include "berth/args.h"
#include "cli/explain_command.h"
#include "cli/table.h"
#include "sim/compare.h"

namespace berth::cli {
namespace {

using sim::PodLine;
using sim::RunResult;

std::string Number(uint64_t n) { return std::to_string(n); }

// "1 pod", "2 pods".
std::string Count(uint64_t n, const std::string& noun) { return Number(n) + " " + noun + (n == 1 ? "" : "s"); }

// 423 is "42.3%".
std::string Percent(int64_t thousandths) {
  return std::to_string(thousandths / 10) + "." + std::to_string(thousandths % 10) + "%";
}

std::string Seconds(Duration time) { return FormatDuration({time.ns / 1'000'000 * 1'000'000}); }

std::string PodTable(const RunResult& result) {
  // Pods that were there before are not news, and pending pods must not drown among thousands that are placed.
  std::vector<std::vector<std::string>> rows;
  for (const PodLine& line : result.pending) rows.push_back({line.pod, "<pending>", "-", line.text});
  for (const PodLine& line : result.placements)
    if (line.ours) rows.push_back({line.pod, line.node, line.total ? std::to_string(*line.total) : "-", line.text});
  for (const sim::Eviction& eviction : result.evictions)
    rows.push_back({eviction.pod, "<evicted>", "-", "preempted by " + eviction.by + " at " + Seconds(eviction.at)});
  const size_t all = rows.size();
  if (all <= kMaxRows) std::stable_sort(rows.begin(), rows.end(), [](auto& a, auto& b) { return a[0] < b[0]; });
  if (all > kMaxRows) rows.resize(kMaxRows);
  Table table({"POD", "NODE", "SCORE", "WHY"});
  for (auto& row : rows) table.Add(std::move(row));
  std::string text = table.Text();
  if (all > kMaxRows) text += "... and " + Number(all - kMaxRows) + " more (-o json lists all)\n";
  return text;
}

std::string Summary(const RunResult& result) {
  const sim::RunSummary& summary = result.summary;
  uint64_t ours = 0;
  for (const PodLine& line : result.placements) ours += line.ours;
  std::string text = Number(ours) + " placed, " + Number(summary.pending) + " pending, on " +
                     Count(summary.nodes, "node") + " that already held " + Count(summary.placed - ours, "pod") + "\n";
  text += Count(summary.attempts, "attempt") + ", " + Count(summary.evictions, "eviction");
  if (summary.finished > 0) text += ", " + Count(summary.finished, "pod") + " finished";
  text += " in " + Seconds(summary.time) + " of virtual time; cpu " + Percent(summary.cpu) + ", memory " +
          Percent(summary.memory) + " requested";
  if (!summary.zones.empty()) {
    text += "; pods by zone:";
    for (const auto& [zone, pods] : summary.zones) text += " " + zone + " " + Number(pods);
  }
  return text + "\n";
}

std::string Expectations(const RunResult& result) {
  if (result.expectations.empty()) return "";
  size_t met = 0;
  std::string text;
  for (const sim::ExpectationResult& expectation : result.expectations) {
    met += expectation.met;
    if (expectation.met) continue;
    text += "NOT MET: pod " + expectation.pod + (expectation.at == "end" ? " at the end" : " at " + expectation.at) +
            "\n  expected: " + expectation.expected + "\n  actual:   " + expectation.actual + "\n";
  }
  return text + Number(met) + " of " + Number(result.expectations.size()) + " expectations met\n";
}

std::string Explanation(const RunResult& result) {
  if (result.explanation_text.empty()) return "";
  std::string text = "\nAt the end: " + result.explanation_text + "\n";
  if (result.explanation) text += "The last decision:\n" + ExplanationText(*result.explanation);
  return text;
}

std::string List(const std::string& title, const std::vector<std::string>& pods) {
  if (pods.empty()) return "";
  std::string text = "\n" + title + ": " + Number(pods.size()) + "\n";
  for (size_t i = 0; i < std::min(pods.size(), sim::Comparison::kShown); ++i) text += "  " + pods[i] + "\n";
  if (pods.size() > sim::Comparison::kShown)
    text += "  ... and " + Number(pods.size() - sim::Comparison::kShown) + " more\n";
  return text;
}

std::string Difference(const sim::ConfigRun& base, const sim::ConfigRun& other) {
  const sim::Comparison comparison = sim::Compare(base.result, other.result);
  std::string text = "\n" + base.config + " -> " + other.config + ": " + Number(comparison.moved.size()) +
                     " pods moved, " + Number(comparison.same) + " on the same node\n";
  Table table({"POD", "FROM", "TO"});
  for (size_t i = 0; i < std::min(comparison.moved.size(), sim::Comparison::kShown); ++i)
    table.Add({comparison.moved[i].pod, comparison.moved[i].from, comparison.moved[i].to});
  if (table.rows() > 0) text += table.Text("  ");
  if (comparison.moved.size() > sim::Comparison::kShown)
    text += "  ... and " + Number(comparison.moved.size() - sim::Comparison::kShown) + " more\n";
  return text + List("Pending only with " + base.config, comparison.relieved) +
         List("Pending only with " + other.config, comparison.waits) +
         List("Gone only with " + base.config, comparison.found) +
         List("Gone only with " + other.config, comparison.lost);
}

std::string SideBySide(const std::vector<sim::ConfigRun>& runs) {
  std::vector<std::string> header = {""};
  for (const sim::ConfigRun& run : runs) header.push_back(run.config);
  Table table(header);
  auto row = [&](const std::string& name, auto&& value) {
    std::vector<std::string> cells = {name};
    for (const sim::ConfigRun& run : runs) cells.push_back(value(run.result.summary));
    table.Add(std::move(cells));
  };
  using Summary = sim::RunSummary;
  row("placed", [](const Summary& s) { return Number(s.placed); });
  row("pending", [](const Summary& s) { return Number(s.pending); });
  row("attempts", [](const Summary& s) { return Number(s.attempts); });
  row("evictions", [](const Summary& s) { return Number(s.evictions); });
  row("cpu requested", [](const Summary& s) { return Percent(s.cpu); });
  row("memory requested", [](const Summary& s) { return Percent(s.memory); });
  row("zone spread (max - min)", [](const Summary& s) { return Number(s.zone_spread()); });
  row("virtual time", [](const Summary& s) { return Seconds(s.time); });
  std::string text = table.Text();
  for (size_t i = 1; i < runs.size(); ++i) text += Difference(runs[0], runs[i]);
  for (const sim::ConfigRun& run : runs) {
    const std::string rest = Expectations(run.result) + Explanation(run.result);
    if (!rest.empty()) text += "\nWith " + run.config + ":\n" + rest;
  }
  return text;
}

}  // namespace

std::string SimulationText(const std::vector<sim::ScenarioReport>& reports) {
  std::string text;
  for (const sim::ScenarioReport& report : reports) {
    if (!text.empty()) text += "\n";
    if (reports.size() > 1) text += "== " + report.name + " (" + report.file + ")\n";
    if (report.runs.size() > 1) {
      text += SideBySide(report.runs);
      continue;
    }
    const RunResult& result = report.runs[0].result;
    const std::string expectations = Expectations(result);
    text += PodTable(result) + "\n" + Summary(result);
    if (!expectations.empty()) text += "\n" + expectations;
    text += Explanation(result);
  }
  return text;
}

}  // namespace berth::cli
