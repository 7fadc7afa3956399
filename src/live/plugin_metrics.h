// SPDX-License-Identifier: Apache-2.0
// PluginMetrics: how long plugins and extension points take, and how often plugins are asked, as kube-scheduler tells
// it.
#pragma once

#include <cstdint>
#include <memory>

#include "berth/clock.h"
#include "framework/call_observer.h"
#include "framework/profile.h"
#include "util/metrics.h"

namespace berth::live {

// scheduler_framework_extension_point_duration_seconds and scheduler_plugin_execution_duration_seconds of one cycle in
// ten, scheduler_plugin_evaluation_total of all. What they mean where answers come from memory is in docs/metrics.md.
//
// Thread safety: as the plugins.
class PluginMetrics final : public framework::CallTimer {
 public:
  // Looks on at the plugins of `profile` from here on. REQUIRES: metrics and clock outlive every call and answer of
  // theirs; it and the profile outlive the last scrape.
  PluginMetrics(const framework::Profile& profile, util::Metrics& metrics, const Clock& clock, uint64_t seed);
  ~PluginMetrics() override;

  bool Draw() override;
  StageEnd StageBegins(framework::PluginFunction point) override;
  framework::CallEnd Around(const framework::PluginCall& call, const framework::CallView& view,
                            const Next& next) override;
  Done Awaiting(const framework::PluginCall& call, Done done) override;

  // How often DefaultPreemption was asked. Thread safety: any thread.
  uint64_t preemption_attempts() const;

 private:
  struct Durations;

  const framework::Profile& profile_;
  const Clock& clock_;
  framework::CallCounts counts_;
  uint64_t random_;
  // Shared with answers that are still to come.
  std::shared_ptr<Durations> durations_;
};

}  // namespace berth::live
