// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/metrics/metrics.go, framework/runtime/framework.go, instrumented_plugins.go (v1.36.4).
#include "live/plugin_metrics.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace berth::live {
namespace {

using framework::PluginFunction;
using util::Metrics;
using enum framework::PluginFunction;

constexpr uint64_t kTimedInHundred = 10;
// Whose calls upstream counts as attempts to preempt; other PostFilter plugins do something else.
constexpr char kPreempts[] = "DefaultPreemption";

// As upstream labels it; empty: not measured.
std::string_view PointOf(PluginFunction function) {
  switch (function) {
    case kAddPod:
      return "PreFilterExtensionAddPod";
    case kRemovePod:
      return "PreFilterExtensionRemovePod";
    case kNormalize:
      return "ScoreExtensionNormalize";
    case kPreEnqueue:
    case kPreFilter:
    case kFilter:
    case kPostFilter:
    case kPreScore:
    case kScore:
    case kReserve:
    case kUnreserve:
    case kPermit:
    case kPreBindPreFlight:
    case kPreBind:
    case kBind:
    case kPostBind:
    case kSign:
      return ToString(function);
    default:
      return "";
  }
}

}  // namespace

// The histograms, each made when something is first seen of it; after that nobody waits for a lock to find one.
struct PluginMetrics::Durations {
  Durations(Metrics& to, const framework::Profile& of)
      : metrics(to), profile(of.scheduler_name), stages(kPerPlugin), plugins(of.plugins.size() * kPerPlugin) {
    for (size_t i = 0; i < of.plugins.size(); ++i) names.push_back(of.name(static_cast<uint16_t>(i)));
  }

  void Stage(PluginFunction point, Code code, Duration took) {
    Get(stages[At(point, code)], [&] {
      return metrics.histogram("scheduler_framework_extension_point_duration_seconds",
                               "Latency for running all plugins of a specific extension point.",
                               Metrics::Exponential(0.0001, 2, 12),
                               {{"extension_point", std::string(PointOf(point))},
                                {"profile", profile},
                                {"status", std::string(ToString(code))}});
    }).Observe(took.seconds());
  }
  void Plugin(uint16_t plugin, PluginFunction function, Code code, Duration took) {
    Get(plugins[plugin * kPerPlugin + At(function, code)], [&] {
      return metrics.histogram("scheduler_plugin_execution_duration_seconds",
                               "Duration for running a plugin at a specific extension point.",
                               Metrics::Exponential(0.00001, 1.5, 20),
                               {{"extension_point", std::string(PointOf(function))},
                                {"plugin", names[plugin]},
                                {"status", std::string(ToString(code))}});
    }).Observe(took.seconds());
  }

 private:
  using Slot = std::atomic<const Metrics::Histogram*>;  // null: nothing was seen of it
  static constexpr size_t kCodes = static_cast<size_t>(Code::kPending) + 1;
  static constexpr size_t kPerPlugin = framework::kPluginFunctions * kCodes;
  static size_t At(PluginFunction function, Code code) {
    return static_cast<size_t>(function) * kCodes + static_cast<size_t>(code);
  }
  template <class Make>
  const Metrics::Histogram& Get(Slot& slot, Make&& make) {
    if (const Metrics::Histogram* known = slot.load(std::memory_order_acquire)) return *known;
    const std::lock_guard lock(mutex);
    if (const Metrics::Histogram* known = slot.load(std::memory_order_relaxed)) return *known;
    slot.store(&made.emplace_back(make()), std::memory_order_release);
    return made.back();
  }

  Metrics& metrics;
  const std::string profile;
  std::vector<std::string> names;  // of plugins, by index; const from here on
  std::vector<Slot> stages, plugins;
  std::mutex mutex;
  std::deque<Metrics::Histogram> made;  // under mutex; they stay where they are
};

PluginMetrics::PluginMetrics(const framework::Profile& profile, Metrics& metrics, const Clock& clock, uint64_t seed)
    : profile_(profile),
      clock_(clock),
      counts_(profile.plugins.size()),
      random_(seed),
      durations_(std::make_shared<Durations>(metrics, profile)) {
  const auto show = [&](const auto& entries, PluginFunction function) {
    for (const auto& entry : entries) {
      const Metrics::Counter counter =
          metrics.counter("scheduler_plugin_evaluation_total",
                          "Number of attempts to schedule pods by each plugin and the extension point (available only "
                          "in PreFilter, Filter, PreScore, and Score).",
                          {{"extension_point", std::string(PointOf(function))},
                           {"plugin", profile.name(entry.index)},
                           {"profile", profile.scheduler_name}});
      metrics.BeforeText([this, counter, plugin = entry.index, function, counted = uint64_t{0}]() mutable {
        const uint64_t now = counts_.Get(plugin, function);
        if (now == counted) return;
        counter.Add(static_cast<double>(now - counted));
        counted = now;
      });
    }
  };
  show(profile.pre_filter, kPreFilter);
  show(profile.filter, kFilter);
  show(profile.pre_score, kPreScore);
  show(profile.score, kScore);
  profile.observers->Count(counts_);
  profile.observers->AddTimer(*this);
}

PluginMetrics::~PluginMetrics() = default;

bool PluginMetrics::Draw() {
  random_ = random_ * 6364136223846793005u + 1442695040888963407u;
  return (random_ >> 33) % 100 < kTimedInHundred;
}

framework::CallTimer::StageEnd PluginMetrics::StageBegins(PluginFunction point) {
  return [durations = durations_, &clock = clock_, point, began = clock_.Now()](Code code) {
    durations->Stage(point, code, clock.Now() - began);
  };
}

framework::CallEnd PluginMetrics::Around(const framework::PluginCall& call, const framework::CallView& view,
                                         const Next& next) {
  if (PointOf(call.function).empty()) return next(view);
  const Time began = clock_.Now();
  const framework::CallEnd end = next(view);
  durations_->Plugin(call.plugin, call.function, end.code, clock_.Now() - began);
  return end;
}

Done PluginMetrics::Awaiting(const framework::PluginCall& call, Done done) {
  return [durations = durations_, &clock = clock_, plugin = call.plugin, function = call.function, began = clock_.Now(),
          done = std::move(done)](Verdict verdict) {
    durations->Plugin(plugin, function, verdict.code(), clock.Now() - began);
    done(std::move(verdict));
  };
}

uint64_t PluginMetrics::preemption_attempts() const {
  uint64_t sum = 0;
  for (const auto& entry : profile_.post_filter)
    if (profile_.name(entry.index) == kPreempts) sum += counts_.Get(entry.index, kPostFilter);
  return sum;
}

}  // namespace berth::live
