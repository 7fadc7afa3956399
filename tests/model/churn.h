// SPDX-License-Identifier: Apache-2.0
// Pods by the million, coming and going: what they cost must go with them.
#pragma once

#include <cstdint>

#include "berth/registry.h"
#include "config/types.h"

namespace berth::model {

// Lets so many pods be created, bound, run, end and be deleted on a small cluster; some never fit, some are deleted
// while they wait. Prints what it sees and returns the number of complaints.
int RunChurn(int64_t pods, const config::SchedulerConfiguration& config, const Registry& registry);

}  // namespace berth::model
