// SPDX-License-Identifier: Apache-2.0
// The plugins behind the presets. Ordinary ones: a profile may name them, here and in a scheduler.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "berth/registry.h"
#include "berth/sdk.h"

namespace berth::extender {

// Every node passes.
class TruePredicate final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "TruePredicate";
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  Verdict FilterNode(const Pod&, NodeView) const override { return kFits; }
};

// Every node scores 0.
class ZeroPriority final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "ZeroPriority";
  Depends DependsOn(Point) const override { return Depends::OnRow(0); }
  int64_t ScoreNode(const Pod&, NodeView) const override { return 0; }
};

// A node's score is its place: in a request's list for an extender that serves no plugin that needs more of the cluster
// than the request has, in the cache otherwise.
class IndexPriority final : public NodePlugin {
 public:
  static constexpr std::string_view kName = "IndexPriority";
  Depends DependsOn(Point) const override { return {0, epoch::kNodeSet}; }
  int64_t ScoreNode(const Pod&, NodeView node) const override { return node.row(); }
  Normalization normalization() const override { return Normalization::kByMax; }
};

// Only nodes with the label pass, and its value is the score; what is no number counts as 0.
class LabelPriority final : public NodePlugin, public PreFilterPlugin {
 public:
  static constexpr std::string_view kName = "LabelPriority";
  static constexpr std::string_view kDefaultLabel = "priority.lixueduan.com";
  // kube-scheduler multiplies an extender's score by ten and by its weight without a look at the result.
  static constexpr int64_t kMostPoints = 1'000'000'000'000'000;

  struct Args {
    std::string label = std::string(kDefaultLabel);
    void Read(ArgsReader& in);
    Value Write() const { return Value::Object({{"label", Value::String(label)}}); }
  };
  explicit LabelPriority(const Args& args);

  Depends DependsOn(Point point) const override;
  // Rejects the pod when no node has the label.
  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  Verdict FilterNode(const Pod& pod, NodeView node) const override;
  int64_t ScoreNode(const Pod& pod, NodeView node) const override;
  // The lowest value becomes 0, the highest 100; equal ones 100.
  Normalization normalization() const override { return Normalization::kOwn; }
  Error Normalize(const Cycle& cycle, const PluginState* state, std::span<const Row> rows,
                  std::span<int64_t> scores) const override;

 private:
  std::string label_, none_;
  Verdict without_label_;
};

// Adds them all, but for names that are taken.
void RegisterPresetPlugins(Registry& registry);

}  // namespace berth::extender
