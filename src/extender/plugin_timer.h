// SPDX-License-Identifier: Apache-2.0
// PluginTimer: how long each plugin takes at each extension point.
#pragma once

#include <memory>
#include <vector>

#include "berth/plugin.h"
#include "framework/profile.h"
#include "util/metrics.h"

namespace berth::extender {

// Steps between the stages and the plugins of a profile, at PreFilter, Filter, PreScore, Score (with Normalize) and
// Bind; what they answer is not changed. Filter and Score are measured by batch of rows.
// Thread safety: as the plugins.
class PluginTimer {
 public:
  // REQUIRES: outlived by the metrics, and the profile is not used after the timer is gone. Once per profile.
  PluginTimer(framework::Profile& profile, util::Metrics& metrics);

 private:
  std::vector<std::unique_ptr<Plugin>> watchers_;
};

}  // namespace berth::extender
