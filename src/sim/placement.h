// SPDX-License-Identifier: Apache-2.0
// Placing a set of pods one after another on a cluster that was read from files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/load.h"
#include "framework/explanation.h"
#include "sim/engine.h"

namespace berth::sim {

// What became of one pending pod.
struct PodOutcome {
  std::string pod;
  std::string node;  // empty: pending
  // Of the node, when several were to choose from.
  std::optional<int64_t> total;
  std::optional<framework::Explanation::Margin> margin;
  size_t feasible = 0;
  bool nominated = false;  // it went where status.nominatedNodeName said
  std::string message;     // why it is pending
  // Pending, but evicting `victims` from `preemption_node` would make room.
  std::string preemption_node;
  std::vector<std::string> victims;
};

struct Placements {
  std::vector<PodOutcome> outcomes;  // in the order in which the pods were tried
  std::vector<std::string> foreign;  // pods whose schedulerName no profile has: not tried
  size_t nodes = 0, already_placed = 0;
};

// Tries every unbound pod once, in queue order (pods that came together: as in the files), each seeing those placed
// before it. Nothing is evicted.
Placements PlaceAll(Engine& engine, const LoadedObjects& objects);

}  // namespace berth::sim
