// SPDX-License-Identifier: Apache-2.0
// The queue order, and one pod after the other.
#include "sim/placement.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "cluster/cluster_state.h"
#include "framework/guard.h"
#include "sim/offline.h"

namespace berth::sim {
namespace {

using framework::Judgement;

PodOutcome Describe(const framework::Explanation& explanation, const Judgement& judgement) {
  PodOutcome outcome;
  outcome.pod = explanation.pod;
  outcome.feasible = judgement.feasible.size();
  if (judgement.kind == Judgement::Kind::kFits) return outcome;
  outcome.message = judgement.message;
  if (explanation.preemption) {
    outcome.preemption_node = explanation.preemption->selected;
    for (const auto& candidate : explanation.preemption->candidates)
      if (candidate.node == outcome.preemption_node) outcome.victims = candidate.victims;
  }
  return outcome;
}

// Where the next pod's search begins: kube-scheduler looks at nodes until it has met one feasible node more than it
// wants, and goes on from that one.
size_t NextStart(const Judgement& judgement, const Snapshot& snapshot, const framework::JudgeOptions& options) {
  const std::span<const Row> order = snapshot.order();
  size_t met = 0, at = 0;
  for (; at < order.size(); ++at) {
    met += judgement.verdicts[order[(options.start + at) % order.size()]] == kFitsId;
    if (met > options.limit) break;
  }
  return (options.start + at) % order.size();
}

}  // namespace

Placements PlaceAll(Engine& engine, const LoadedObjects& objects) {
  Placements result;
  cluster::ClusterState state;
  Fill(state, objects, engine, nullptr);
  result.nodes = state.snapshot().node_count();
  result.already_placed = state.pod_count();

  std::vector<std::shared_ptr<const Pod>> queue;
  for (const auto& pod : objects.pods) {
    if (!pod->node_name.empty() || pod->terminating() || pod->phase == "Succeeded" || pod->phase == "Failed") continue;
    if (engine.FindProfile(pod->scheduler_name)) {
      queue.push_back(pod);
    } else {
      result.foreign.push_back(FullName(*pod));
    }
  }
  const QueueSortPlugin* sort = engine.first_profile().queue_sort.front().plugin;
  // Sorted aside: a plugin that throws leaves the order of the files.
  std::vector<std::shared_ptr<const Pod>> sorted = queue;
  const Error unsorted = framework::GuardError([&] {
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      auto queued = [](const Pod& pod) { return QueuedPod{&pod, pod.meta.creation_time.value_or(Time{})}; };
      return sort->Less(queued(*a), queued(*b));
    });
    return Error::Ok();
  });
  if (unsorted.ok()) queue = std::move(sorted);

  size_t start = 0;
  for (const auto& pod : queue) {
    const framework::Profile& profile = *engine.FindProfile(pod->scheduler_name);
    const Snapshot snapshot = state.snapshot();
    framework::JudgeOptions options;
    options.pre_enqueue = true;
    if (profile.percentage_of_nodes_to_score > 0) {
      options.limit = framework::FeasibleNodesToFind(profile.percentage_of_nodes_to_score, snapshot.node_count());
      options.start = start;
    }
    const Judgement judgement = engine.Judge(profile, *pod, snapshot, options);
    const framework::Explanation explanation = framework::Explain(*pod, profile, engine.table(), snapshot, judgement);
    PodOutcome outcome = Describe(explanation, judgement);
    if (judgement.kind == Judgement::Kind::kFits) {
      // A pod that was nominated goes to that node if it fits there, without a look at the scores, as upstream has it.
      const Row nominated = snapshot.FindRow(pod->nominated_node_name);
      outcome.nominated = nominated != kNoRow && judgement.verdicts[nominated] == kFitsId;
      const Row winner = outcome.nominated ? nominated : framework::PickWinner(judgement, snapshot, start);
      outcome.node = snapshot.node(winner).name();
      if (!outcome.nominated) {
        outcome.margin = explanation.margin(outcome.node);
        for (size_t i = 0; i < judgement.totals.size(); ++i)
          if (judgement.feasible[i] == winner) outcome.total = judgement.totals[i];
      }
      if (options.limit > 0) start = NextStart(judgement, snapshot, options);
      auto placed = std::make_shared<Pod>(*pod);
      placed->node_name = outcome.node;
      if (const Error error = state.AssumePod(std::move(placed)); !error.ok()) {
        outcome.node.clear();
        outcome.message = error.text();
      }
    }
    result.outcomes.push_back(std::move(outcome));
  }
  return result;
}

}  // namespace berth::sim
