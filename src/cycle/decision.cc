// SPDX-License-Identifier: Apache-2.0
// Reading judgements.
#include "cycle/decision.h"

#include <set>
#include <span>
#include <string>
#include <utility>

#include "queue/hint_map.h"

namespace berth::cycle {

using framework::Judgement;

queue::Rejectors RejectorsOf(const Judgement& judgement, const framework::Profile& profile, const VerdictTable& table) {
  std::set<std::string> unschedulable(judgement.narrowed_by.begin(), judgement.narrowed_by.end());
  std::set<std::string> pending;
  const auto add = [&](uint16_t plugin, Code code) {
    if (plugin == framework::kNoPlugin) return;
    (code == Code::kPending ? pending : unschedulable).insert(profile.name(plugin));
  };
  if (judgement.outright) add(judgement.outright->plugin, judgement.outright->verdict.code());
  std::pair<VerdictId, uint16_t> last{kFitsId, framework::kNoPlugin};  // neighbours mostly share a verdict
  for (size_t row = 0; row < judgement.verdicts.size(); ++row) {
    const std::pair<VerdictId, uint16_t> now{judgement.verdicts[row], judgement.plugins[row]};
    if (now == last || now.first == kFitsId || now.first == kNotJudged) continue;
    last = now;
    add(now.second, table.Get(now.first).code());
  }
  if (judgement.advised_against) unschedulable.insert(std::string(queue::kExtenderName));
  return {{unschedulable.begin(), unschedulable.end()}, {pending.begin(), pending.end()}};
}

size_t NextStart(const Judgement& judgement, const Snapshot& snapshot, size_t start, size_t limit) {
  const std::span<const Row> order = snapshot.order();
  size_t met = 0, at = 0;
  for (; at < order.size(); ++at) {
    met += judgement.verdicts[order[(start + at) % order.size()]] == kFitsId;
    if (met > limit) break;
  }
  return (start + at) % order.size();
}

}  // namespace berth::cycle
