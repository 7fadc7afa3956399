// SPDX-License-Identifier: Apache-2.0
// Reading judgements.
#include "framework/decision.h"

#include <algorithm>
#include <utility>

namespace berth::framework {

Decision DecisionOf(Judgement& judgement, const Snapshot& snapshot, const VerdictTable& table, size_t start) {
  Decision out;
  out.kind = judgement.kind;
  out.feasible = judgement.feasible.size();
  out.evaluated = judgement.evaluated;
  out.nominated = judgement.nominated;
  out.advised_against = judgement.advised_against;
  out.message = judgement.message;
  out.narrowed_by = judgement.narrowed_by;
  out.post_filter = judgement.post_filter;
  out.post_filter_plugin = judgement.post_filter_plugin;
  if (judgement.kind == Judgement::Kind::kFits) {
    out.row = PickWinner(judgement, snapshot, start);
    out.states = std::move(judgement.states);
    return out;
  }
  const auto add = [&](uint16_t plugin, Code code) {
    const Decision::Rejector rejector{plugin, code == Code::kPending};
    if (plugin == kNoPlugin) return;
    if (std::find(out.rejectors.begin(), out.rejectors.end(), rejector) == out.rejectors.end())
      out.rejectors.push_back(rejector);
  };
  if (judgement.outright) add(judgement.outright->plugin, judgement.outright->verdict.code());
  std::pair<VerdictId, uint16_t> last{kFitsId, kNoPlugin};  // neighbours mostly share a verdict
  for (size_t row = 0; row < judgement.verdicts.size(); ++row) {
    const std::pair<VerdictId, uint16_t> now{judgement.verdicts[row], judgement.plugins[row]};
    if (now == last || now.first == kFitsId || now.first == kNotJudged) continue;
    last = now;
    add(now.second, table.Get(now.first).code());
  }
  return out;
}

}  // namespace berth::framework
