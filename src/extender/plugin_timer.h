// SPDX-License-Identifier: Apache-2.0
// PluginTimer: how long each plugin takes at each extension point.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "framework/call_observer.h"
#include "util/metrics.h"

namespace berth::extender {

// Measures PreFilter, Filter, PreScore, Score (with Normalize) and Bind. Filter and Score are measured by batch of
// rows, Bind until its answer comes.
// Thread safety: as the plugins.
class PluginTimer final : public framework::CallObserver {
 public:
  // For the plugins of `profile`. REQUIRES: outlived by the metrics.
  PluginTimer(const framework::Profile& profile, util::Metrics& metrics);

  framework::CallEnd Around(const framework::PluginCall& call, const framework::CallView& view,
                            const Next& next) override;
  Done Awaiting(const framework::PluginCall& call, Done done) override;

 private:
  using ByFunction = std::array<std::optional<util::Metrics::Histogram>, framework::kPluginFunctions>;
  std::vector<ByFunction> histograms_;  // by plugin; no value: not measured
};

}  // namespace berth::extender
