// SPDX-License-Identifier: Apache-2.0
// Which plugins an old version had at which extension points without being asked, and which today's ones serve.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "berth/plugin.h"
#include "config/types.h"
#include "legacy/version.h"

namespace berth::legacy {

// At one point, in calling order; weights at score. Of the last release that read the version (and, before v1beta3, was
// recorded). REQUIRES: a KubeSchedulerConfiguration before v1beta3.
const std::vector<config::PluginRef>& DefaultsAt(Version version, Point point);

// The points at which a plugin of v1.36.4's default set serves; 0 for others.
PointSet TodaysPoints(std::string_view plugin);
// All of the points at which that version's in-tree plugin served; 0 for plugins it did not have. REQUIRES: as above.
PointSet PointsThen(Version version, std::string_view plugin);

}  // namespace berth::legacy
