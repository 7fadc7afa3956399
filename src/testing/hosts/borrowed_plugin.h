// SPDX-License-Identifier: Apache-2.0
// BorrowedPlugin: a test's plugin in a profile that wants one of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/registry.h"

namespace berth::testing {

// Passes every call on. Which points it serves is for points() to say; at others it must not be asked.
// An index is fed by whoever owns the plugin, so none is made: the plugin looks at all pods.
class BorrowedPlugin final : public PreFilterPlugin, public FilterPlugin, public PreScorePlugin, public ScorePlugin {
 public:
  // REQUIRES: outlives this.
  explicit BorrowedPlugin(const Plugin& plugin)
      : plugin_(plugin),
        pre_filter_(dynamic_cast<const PreFilterPlugin*>(&plugin)),
        filter_(dynamic_cast<const FilterPlugin*>(&plugin)),
        pre_score_(dynamic_cast<const PreScorePlugin*>(&plugin)),
        score_(dynamic_cast<const ScorePlugin*>(&plugin)) {}

  PointSet points() const {
    return (pre_filter_ ? Bit(Point::kPreFilter) : 0) | (filter_ ? Bit(Point::kFilter) : 0) |
           (pre_score_ ? Bit(Point::kPreScore) : 0) | (score_ ? Bit(Point::kScore) : 0);
  }

  Depends DependsOn(Point point) const override { return plugin_.DependsOn(point); }
  AnnotationKeys Annotations() const override { return plugin_.Annotations(); }
  bool Sign(const Pod& pod, Signature& signature) const override { return plugin_.Sign(pod, signature); }
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override { return plugin_.EventsToRegister(); }

  PreFilterOutcome PreFilter(const Cycle& cycle) const override { return pre_filter_->PreFilter(cycle); }
  bool TracksPods() const override { return pre_filter_ && pre_filter_->TracksPods(); }
  Error AddPod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override {
    return pre_filter_->AddPod(cycle, state, pod, row);
  }
  Error RemovePod(const Cycle& cycle, PluginState* state, const PodRecord& pod, Row row) const override {
    return pre_filter_->RemovePod(cycle, state, pod, row);
  }
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override {
    return filter_->Filter(cycle, state, nodes, out);
  }
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override {
    return pre_score_->PreScore(cycle, feasible);
  }
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override {
    return score_->Score(cycle, state, nodes, scores);
  }
  Normalization normalization() const override { return score_ ? score_->normalization() : Normalization::kNone; }
  Error Normalize(const Cycle& cycle, const PluginState* state, std::span<const Row> rows,
                  std::span<int64_t> scores) const override {
    return score_->Normalize(cycle, state, rows, scores);
  }

 private:
  const Plugin& plugin_;
  const PreFilterPlugin* const pre_filter_;
  const FilterPlugin* const filter_;
  const PreScorePlugin* const pre_score_;
  const ScorePlugin* const score_;
};

}  // namespace berth::testing
