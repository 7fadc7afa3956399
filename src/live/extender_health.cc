// SPDX-License-Identifier: Apache-2.0
#include "live/extender_health.h"

namespace berth::live {
namespace {

const std::vector<double> kCallBuckets = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30};

}  // namespace

client::SourceKinds SourcesFor(const std::vector<config::Extender>& extenders) {
  client::SourceKinds sources;
  for (const config::Extender& extender : extenders) {
    const bool about_nodes = !extender.filter_verb.empty() || !extender.prioritize_verb.empty();
    const bool about_victims = !extender.preempt_verb.empty();
    sources.pending_pods |= about_nodes || about_victims;
    sources.nodes |= about_nodes && !extender.node_cache_capable;
    sources.placed_pods |= about_victims && !extender.node_cache_capable;
  }
  return sources;
}

ExtenderHealth::Series ExtenderHealth::SeriesOf(size_t index, const extender_client::CallReport& report) {
  const bool failed = !report.error.ok();
  const std::lock_guard lock(mutex_);
  failing_[index] = failed;
  const auto key = std::make_tuple(index, std::string_view(report.verb), failed);
  if (const auto known = series_.find(key); known != series_.end()) return known->second;
  const util::Metrics::Labels of{{"extender", report.extender}, {"verb", report.verb}};
  util::Metrics::Labels counted = of;
  counted.emplace_back("result", failed ? "error" : "success");
  const Series made{metrics_.counter("berth_extender_calls_total", "Calls of extenders, by how they ended.", counted),
                    metrics_.histogram("berth_extender_call_duration_seconds", "How long calls of extenders took.",
                                       kCallBuckets, of)};
  series_.emplace(key, made);
  return made;
}

void ExtenderHealth::OnCall(size_t index, const extender_client::CallReport& report) {
  const bool failed = !report.error.ok();
  const Series series = SeriesOf(index, report);
  series.calls.Add();
  series.took.Observe(report.took.seconds());
  if (failed && said_.Say(report.extender + " " + report.verb))
    log_.Warn("Extender failed", {{"extender", report.extender}, {"verb", report.verb}, {"err", report.error.text()}});
}

std::string ExtenderHealth::Notes() const {
  const std::lock_guard lock(mutex_);
  std::string lines;
  for (const auto& [index, failing] : failing_)
    if (failing) lines += "[~]extenders[" + std::to_string(index) + "] failing: reason withheld\n";
  return lines;
}

}  // namespace berth::live
