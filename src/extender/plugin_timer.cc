// SPDX-License-Identifier: Apache-2.0
// A stand-in per plugin and extension point, which asks the plugin and looks at the clock before and after.
#include "extender/plugin_timer.h"

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace berth::extender {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(const util::Metrics::Histogram& histogram) : histogram_(histogram) {}
  ~Stopwatch() { histogram_.Observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count()); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const util::Metrics::Histogram& histogram_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// What all stand-ins share: everything but the measured call is the plugin's own.
template <class Interface>
class Timed : public Interface {
 public:
  Timed(const Interface& plugin, const util::Metrics::Histogram& histogram) : plugin_(plugin), histogram_(histogram) {}
  Depends DependsOn(Point point) const override { return plugin_.DependsOn(point); }
  bool Sign(const Pod& pod, Signature& out) const override { return plugin_.Sign(pod, out); }
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override { return plugin_.EventsToRegister(); }

 protected:
  const Interface& plugin_;
  const util::Metrics::Histogram histogram_;
};

class TimedPreFilter final : public Timed<PreFilterPlugin> {
 public:
  using Timed::Timed;
  PreFilterOutcome PreFilter(const Cycle& cycle) const override {
    const Stopwatch watch(histogram_);
    return plugin_.PreFilter(cycle);
  }
  bool TracksPods() const override { return plugin_.TracksPods(); }
  Error AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override {
    return plugin_.AddPod(cycle, state, pod, row);
  }
  Error RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override {
    return plugin_.RemovePod(cycle, state, pod, row);
  }
};

class TimedFilter final : public Timed<FilterPlugin> {
 public:
  using Timed::Timed;
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override {
    const Stopwatch watch(histogram_);
    return plugin_.Filter(cycle, state, nodes, out);
  }
};

class TimedPreScore final : public Timed<PreScorePlugin> {
 public:
  using Timed::Timed;
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override {
    const Stopwatch watch(histogram_);
    return plugin_.PreScore(cycle, feasible);
  }
};

class TimedScore final : public Timed<ScorePlugin> {
 public:
  using Timed::Timed;
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override {
    const Stopwatch watch(histogram_);
    return plugin_.Score(cycle, state, nodes, scores);
  }
  Normalization normalization() const override { return plugin_.normalization(); }
  Error Normalize(const Cycle& cycle, const PluginState* state, std::span<const Row> rows,
                  std::span<int64_t> scores) const override {
    const Stopwatch watch(histogram_);
    return plugin_.Normalize(cycle, state, rows, scores);
  }
};

class TimedBind final : public Timed<BindPlugin> {
 public:
  using Timed::Timed;
  void Bind(const Placement& placement, StateSlot& state, Done done) const override {
    const auto start = std::chrono::steady_clock::now();
    plugin_.Bind(placement, state, [histogram = histogram_, start, done = std::move(done)](Verdict verdict) {
      histogram.Observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      done(std::move(verdict));
    });
  }
};

}  // namespace

PluginTimer::PluginTimer(framework::Profile& profile, util::Metrics& metrics) {
  const auto time = [&]<class Made>(auto& entries, Point point, std::type_identity<Made>) {
    for (auto& entry : entries) {
      const util::Metrics::Histogram histogram =
          metrics.histogram("berth_extender_plugin_duration_seconds",
                            "Time that a plugin took, by extension point; Filter and Score by batch of nodes.",
                            util::Metrics::Exponential(0.000001, 4, 12),
                            {{"plugin", profile.name(entry.index)}, {"extension_point", std::string(ToString(point))}});
      auto watcher = std::make_unique<Made>(*entry.plugin, histogram);
      entry.plugin = watcher.get();
      watchers_.push_back(std::move(watcher));
    }
  };
  time(profile.pre_filter, Point::kPreFilter, std::type_identity<TimedPreFilter>());
  time(profile.filter, Point::kFilter, std::type_identity<TimedFilter>());
  time(profile.pre_score, Point::kPreScore, std::type_identity<TimedPreScore>());
  time(profile.score, Point::kScore, std::type_identity<TimedScore>());
  time(profile.bind, Point::kBind, std::type_identity<TimedBind>());
}

}  // namespace berth::extender
