// SPDX-License-Identifier: Apache-2.0
// Pods that PreFilter narrowed to a few nodes by name, such as those of a daemon set: nothing is worth remembering, and
// nothing of the size of the cluster is touched.
#include <algorithm>
#include <map>
#include <utility>

#include "framework/memory_run.h"

namespace berth::framework {
namespace {

// With more names the general way is as good.
constexpr size_t kFewNodes = 32;

}  // namespace

std::optional<Decision> MemoryRun::DecideNarrow(CycleTrace& trace) {
  if (narrow_.node_names->size() > kFewNodes) return std::nullopt;
  std::vector<Row> rows;
  for (const std::string& name : *narrow_.node_names)
    if (const Row row = snapshot_.FindRow(name); row != kNoRow) rows.push_back(row);
  std::sort(rows.begin(), rows.end());

  std::vector<Row> feasible;
  std::map<std::pair<VerdictId, uint16_t>, std::pair<uint32_t, Row>> reasons;  // how many nodes, and one of them
  for (const Row row : rows) {
    uint8_t active = 1;
    VerdictId verdict = kFitsId;
    uint16_t plugin = kNoPlugin;
    cycle_.FilterBatch(row, {&active, 1}, {&verdict, 1}, {&plugin, 1});
    if (cycle_.HasRelevantNominations(row)) {
      const Ruling ruling = cycle_.FilterWithNominated(RowOverlay(snapshot_, row), cycle_.states());
      if (!ruling.verdict.fits()) {
        verdict = memory_.table_.Intern(ruling.verdict);
        plugin = ruling.plugin;
      }
    }
    if (verdict == kFitsId) {
      feasible.push_back(row);
      continue;
    }
    if (!memory_.table_.Get(verdict).rejected()) return std::nullopt;
    ++reasons.try_emplace({verdict, plugin}, 0, row).first->second.first;
  }
  // Several nodes have to be scored, and none needs a message about all: Judge does both.
  const Row nominated =
      cycle_.pod().nominated_node_name.empty() ? kNoRow : snapshot_.FindRow(cycle_.pod().nominated_node_name);
  if (nominated != kNoRow && std::binary_search(feasible.begin(), feasible.end(), nominated)) {
    nominated_ = true;
    feasible = {nominated};
  }
  if (feasible.size() != 1) return std::nullopt;

  const size_t others = snapshot_.node_count() - rows.size();
  if (others > 0) {
    // The first node that was not asked about, as example.
    Row example = 0;
    while (!snapshot_.live(example) || std::binary_search(rows.begin(), rows.end(), example)) ++example;
    reasons[{kNotJudged, kNoPlugin}] = {static_cast<uint32_t>(others), example};
  }
  Reset(trace, Judgement::Kind::kFits);
  trace.evaluated = static_cast<uint32_t>(rows.size());
  trace.feasible = trace.ties = 1;
  std::vector<CycleTrace::ReasonCount> lines;
  for (const auto& [key, seen] : reasons)
    lines.push_back({key.first, key.second, seen.first, snapshot_.node(seen.second).name()});
  std::sort(lines.begin(), lines.end(),
            [&](const auto& a, const auto& b) { return ReasonBefore(a, b, memory_.table_); });
  lines.resize(std::min(lines.size(), CycleTrace::kMaxReasons));
  trace.reasons = std::move(lines);
  trace.top.assign(1, {snapshot_.node(feasible.front()).name(), 0, {}});

  Decision out;
  out.kind = Judgement::Kind::kFits;
  out.row = feasible.front();
  out.feasible = 1;
  out.evaluated = rows.size();
  out.nominated = nominated_;
  out.narrowed_by = std::move(narrow_.narrowed_by);
  if (!TakeLateStates(out.states)) return std::nullopt;
  return out;
}

}  // namespace berth::framework
