// SPDX-License-Identifier: Apache-2.0
// Comparing a decision and its record with what kube-scheduler said of the pod. A decision has no table of nodes; what
// it does say is looked up in the recorded one.
#pragma once

#include <string>
#include <vector>

#include "berth/value.h"
#include "cluster/cluster_state.h"
#include "framework/decision.h"
#include "framework/engine.h"
#include "framework/trace.h"

namespace berth::recorded {

// One line per difference: the node and who ties with it, how many nodes fit, scores of the best, counts per reason,
// who rejected, the message and preemption. `expected` and `unstable` as for Differences. A pod whose nominated node
// fits must go there, whatever the scores.
std::vector<std::string> DecisionDifferences(const Value& expected, const std::vector<std::string>& unstable,
                                             const Pod& pod, const framework::Decision& decision,
                                             const framework::CycleTrace& trace, const Snapshot& snapshot,
                                             const framework::Profile& profile, const VerdictTable& table);

// Makes the engine remember, with indexes, and check every decision against the reference; what differs is appended to
// `differences`. REQUIRES: engine and differences outlive the state, and the reference the engine's last decision.
void RememberAndVerify(framework::Engine& engine, framework::Engine& reference, cluster::ClusterState& state,
                       std::vector<std::string>& differences);

// The exit code of a program that has asked engines that remember, all its comparisons well: 1, with a sentence on
// standard error, when memory has decided nothing or known no pod again, for then it was not tested.
int DemandUse(const framework::Memory::Stats& stats);

}  // namespace berth::recorded
