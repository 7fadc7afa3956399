// SPDX-License-Identifier: Apache-2.0
// Reading judgements.
#include "cycle/decision.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "queue/hint_map.h"

namespace berth::cycle {

using framework::Judgement;

queue::Rejectors RejectorsOf(const framework::Decision& decision, const framework::Profile& profile) {
  queue::Rejectors all;
  all.unschedulable.assign(decision.narrowed_by.begin(), decision.narrowed_by.end());
  for (const framework::Decision::Rejector& rejector : decision.rejectors)
    (rejector.pending ? all.pending : all.unschedulable).push_back(profile.name(rejector.plugin));
  if (decision.advised_against) all.unschedulable.emplace_back(queue::kExtenderName);
  for (std::vector<std::string>* names : {&all.unschedulable, &all.pending}) {
    std::sort(names->begin(), names->end());
    names->erase(std::unique(names->begin(), names->end()), names->end());
  }
  return all;
}

framework::JudgeOptions SearchOf(const framework::Profile& profile, const Snapshot& snapshot, size_t next_start) {
  framework::JudgeOptions options;
  const size_t nodes = snapshot.node_count();
  if (profile.percentage_of_nodes_to_score <= 0 || nodes == 0) return options;
  options.limit = framework::FeasibleNodesToFind(profile.percentage_of_nodes_to_score, nodes);
  options.start = next_start % nodes;
  if (options.start == 0 && options.limit >= nodes) options.limit = 0;
  return options;
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
