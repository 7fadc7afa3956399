// SPDX-License-Identifier: Apache-2.0
// A simulation's outcome as a person reads it.
#pragma once

#include <string>
#include <vector>

#include "sim/sim_report.h"

namespace berth::cli {

// More rows than these are left to -o json.
inline constexpr size_t kMaxRows = 200;

// One configuration: a line per pod, a summary, expectations that were not met, the explanation that was asked for.
// Several: what differs.
std::string SimulationText(const std::vector<sim::ScenarioReport>& reports);

}  // namespace berth::cli
