// SPDX-License-Identifier: Apache-2.0
// Nominations: which node a pending pod counts on, from its status or from our own preemption before that is written.
#pragma once

#include <optional>
#include <string>

#include "cycle/core.h"

namespace berth::cycle {

// Replaces the pod's nomination: by `node` (empty: none), or without a value by what its status says. A pod that is
// gone or bound gets none.
void SetNomination(Core& core, const Ptr<Pod>& pod, const std::optional<std::string>& node);

// A queued pod changed. A nomination of ours that the status does not show yet is kept.
void UpdateNomination(Core& core, const Pod& before, const Ptr<Pod>& after);

}  // namespace berth::cycle
