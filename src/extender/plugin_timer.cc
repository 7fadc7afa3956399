// SPDX-License-Identifier: Apache-2.0
// A look at the clock before and after.
#include "extender/plugin_timer.h"

#include <chrono>
#include <string>
#include <utility>

#include "framework/profile.h"

namespace berth::extender {
namespace {

using framework::PluginFunction;
using Steady = std::chrono::steady_clock;

double SecondsSince(Steady::time_point start) { return std::chrono::duration<double>(Steady::now() - start).count(); }

}  // namespace

PluginTimer::PluginTimer(const framework::Profile& profile, util::Metrics& metrics)
    : histograms_(profile.plugins.size()) {
  const auto measure = [&](const auto& entries, Point point, std::initializer_list<PluginFunction> functions) {
    for (const auto& entry : entries) {
      const util::Metrics::Histogram histogram =
          metrics.histogram("berth_extender_plugin_duration_seconds",
                            "Time that a plugin took, by extension point; Filter and Score by batch of nodes.",
                            util::Metrics::Exponential(0.000001, 4, 12),
                            {{"plugin", profile.name(entry.index)}, {"extension_point", std::string(ToString(point))}});
      for (const PluginFunction function : functions)
        histograms_[entry.index][static_cast<size_t>(function)] = histogram;
    }
  };
  measure(profile.pre_filter, Point::kPreFilter, {PluginFunction::kPreFilter});
  measure(profile.filter, Point::kFilter, {PluginFunction::kFilter});
  measure(profile.pre_score, Point::kPreScore, {PluginFunction::kPreScore});
  measure(profile.score, Point::kScore, {PluginFunction::kScore, PluginFunction::kNormalize});
  measure(profile.bind, Point::kBind, {PluginFunction::kBind});
}

framework::CallEnd PluginTimer::Around(const framework::PluginCall& call, const framework::CallView& view,
                                       const Next& next) {
  const auto& histogram = histograms_[call.plugin][static_cast<size_t>(call.function)];
  if (!histogram) return next(view);
  const Steady::time_point start = Steady::now();
  const framework::CallEnd end = next(view);
  histogram->Observe(SecondsSince(start));
  return end;
}

Done PluginTimer::Awaiting(const framework::PluginCall& call, Done done) {
  const auto& histogram = histograms_[call.plugin][static_cast<size_t>(call.function)];
  if (!histogram) return done;
  return [histogram = *histogram, start = Steady::now(), done = std::move(done)](Verdict verdict) {
    histogram.Observe(SecondsSince(start));
    done(std::move(verdict));
  };
}

}  // namespace berth::extender
