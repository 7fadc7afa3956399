// SPDX-License-Identifier: Apache-2.0
// What kube-scheduler refuses in a decoded configuration, with its field paths and words. Used by load.cc alone.
#pragma once

#include <vector>

#include "berth/args.h"
#include "berth/registry.h"
#include "config/types.h"

namespace berth::config {

// REQUIRES: defaults have been applied.
void Validate(const SchedulerConfiguration& config, const Registry& registry, std::vector<FieldError>& errors);

}  // namespace berth::config
