// SPDX-License-Identifier: Apache-2.0
// A registry of plugins that do nothing, under the names and at the extension points of kube-scheduler's defaults, for
// tests about configuration: which plugin is called where, in which order, with which weight.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/registry.h"

namespace berth::testing {

// Has every interface; which extension points it takes part in is the descriptor's business.
class FakePlugin : public PreEnqueuePlugin,
                   public QueueSortPlugin,
                   public PreFilterPlugin,
                   public FilterPlugin,
                   public PostFilterPlugin,
                   public PreScorePlugin,
                   public ScorePlugin,
                   public ReservePlugin,
                   public PermitPlugin,
                   public PreBindPlugin,
                   public BindPlugin,
                   public PostBindPlugin {
 public:
  Verdict PreEnqueue(const Pod&) const override { return {}; }
  bool Less(const QueuedPod&, const QueuedPod&) const override { return false; }
  PreFilterOutcome PreFilter(const Cycle&) const override { return PreFilterOutcome::Ok(); }
  Error Filter(const Cycle&, const PluginState*, const NodeBatch&, Rejections&) const override { return Error::Ok(); }
  PostFilterOutcome PostFilter(const Cycle&, const PluginState*, const FilterReport&) const override { return {}; }
  PreScoreOutcome PreScore(const Cycle&, std::span<const Row>) const override { return PreScoreOutcome::Skip(); }
  Error Score(const Cycle&, const PluginState*, const NodeBatch&, std::span<int64_t>) const override {
    return Error::Ok();
  }
  Verdict Reserve(const Placement&, StateSlot&) const override { return {}; }
  void Unreserve(const Placement&, StateSlot&) const override {}
  PermitOutcome Permit(const Placement&, StateSlot&) const override { return PermitOutcome::Approve(); }
  void PreBind(const Placement&, StateSlot&, Done done) const override { done({}); }
  void Bind(const Placement&, StateSlot&, Done done) const override { done({}); }
  void PostBind(const Placement&, StateSlot&) const override {}
};

inline PluginDescriptor FakeDescriptor(std::string name, const std::vector<Point>& points) {
  PluginDescriptor d;
  d.name = std::move(name);
  for (const Point point : points) d.points |= Bit(point);
  d.complete_args = [](const Value* args, const std::string&, std::vector<FieldError>&) {
    return args == nullptr ? Value() : *args;
  };
  d.make = [](const Value*, Handle&) -> Result<std::unique_ptr<Plugin>> {
    return std::unique_ptr<Plugin>(std::make_unique<FakePlugin>());
  };
  return d;
}

// The default plugins at the points they have upstream (framework.go of kube-scheduler v1.36.4, default feature gates).
inline Registry FakeRegistry() {
  using enum Point;
  const std::vector<std::pair<const char*, std::vector<Point>>> plugins = {
      {"SchedulingGates", {kPreEnqueue}},
      {"PrioritySort", {kQueueSort}},
      {"NodeUnschedulable", {kFilter}},
      {"NodeName", {kFilter}},
      {"TaintToleration", {kFilter, kPreScore, kScore}},
      {"NodeAffinity", {kPreFilter, kFilter, kPreScore, kScore}},
      {"NodePorts", {kPreFilter, kFilter}},
      {"NodeResourcesFit", {kPreFilter, kFilter, kPreScore, kScore}},
      {"VolumeRestrictions", {kPreFilter, kFilter}},
      {"NodeVolumeLimits", {kPreFilter, kFilter}},
      {"VolumeBinding", {kPreFilter, kFilter, kPreScore, kScore, kReserve, kPreBind}},
      {"VolumeZone", {kPreFilter, kFilter}},
      {"PodTopologySpread", {kPreFilter, kFilter, kPreScore, kScore}},
      {"InterPodAffinity", {kPreFilter, kFilter, kPreScore, kScore}},
      {"DynamicResources", {kPreEnqueue, kPreFilter, kFilter, kPostFilter, kScore, kReserve, kPreBind}},
      {"DefaultPreemption", {kPreEnqueue, kPostFilter}},
      {"NodeResourcesBalancedAllocation", {kPreScore, kScore}},
      {"ImageLocality", {kScore}},
      {"DefaultBinder", {kBind}},
      {"NodeDeclaredFeatures", {kPreFilter, kFilter}},
  };
  Registry registry;
  for (const auto& [name, points] : plugins) registry.Add(FakeDescriptor(name, points));
  return registry;
}

// Enough of a host to make plugins with.
class FakeHandle final : public Handle, Clock, WaitingPods, Writer {
 public:
  const std::string& profile_name() const override { return name_; }
  const Clock& clock() const override { return *this; }
  uint64_t Random() override { return 0; }
  WaitingPods& waiting() override { return *this; }
  Writer& writer() override { return *this; }
  const std::vector<std::string>& extender_ignored_resources() const override { return ignored_; }

 private:
  Time Now() const override { return {}; }
  void ForEach(const std::function<void(WaitingPod&)>&) override {}
  std::shared_ptr<WaitingPod> Find(const std::string&) override { return nullptr; }
  void Bind(const Pod&, const std::string&, std::function<void(Verdict)> done) override { done({}); }

  std::string name_ = "default-scheduler";
  std::vector<std::string> ignored_;
};

}  // namespace berth::testing
