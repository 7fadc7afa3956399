// SPDX-License-Identifier: Apache-2.0
// A scenario's changes, made to the cluster as it is when their time has come.
#pragma once

#include <functional>
#include <string>

#include "sim/scenario.h"
#include "sim/simulation.h"

namespace berth::sim {

// The object to store: `change.after`, with what the cluster has written into `current` since, unless the change itself
// is about that. REQUIRES: both have change.kind, and change.after is there.
ClusterObject Merge(const Change& change, const ClusterObject& current);

// Makes the change. Whatever is not as the scenario thinks (an object that is gone by now, evicted perhaps) is told to
// `note`. An object that is to be created while one of its name is still being deleted waits for that.
// REQUIRES: all outlive the run of the simulation.
void MakeChange(Simulation& simulation, const Change& change, const std::string& path,
                const std::function<void(std::string)>& note);

}  // namespace berth::sim
