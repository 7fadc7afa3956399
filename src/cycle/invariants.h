// SPDX-License-Identifier: Apache-2.0
// What must hold between any two steps of a scheduler: its lists, its cache and its queue tell one story.
#pragma once

#include <string>

#include "cycle/scheduler.h"

namespace berth::cycle {

// Empty when it holds; otherwise everything that does not, a line each.
std::string CheckInvariants(const Scheduler& scheduler);

}  // namespace berth::cycle
