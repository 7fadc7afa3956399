// SPDX-License-Identifier: Apache-2.0
// Every built-in takes part where kube-scheduler's plugin of that name does.
#include "plugins/builtin.h"

#include <gtest/gtest.h>

#include "berth/host/verdict_table.h"
#include "berth/testing.h"

namespace berth::plugins {
namespace {

constexpr PointSet Set(std::initializer_list<Point> points) {
  PointSet set = 0;
  for (const Point point : points) set |= Bit(point);
  return set;
}

TEST(BuiltinTest, PluginsServeTheExtensionPointsOfUpstream) {
  using P = Point;
  const std::map<std::string, PointSet> want = {
      {"DefaultBinder", Set({P::kBind})},
      {"DefaultPreemption", Set({P::kPostFilter, P::kPreEnqueue})},
      {"DynamicResources",
       Set({P::kPreEnqueue, P::kPreFilter, P::kFilter, P::kPostFilter, P::kScore, P::kReserve, P::kPreBind})},
      {"ImageLocality", Set({P::kScore})},
      {"InterPodAffinity", Set({P::kPreFilter, P::kFilter, P::kPreScore, P::kScore})},
      {"NodeAffinity", Set({P::kPreFilter, P::kFilter, P::kPreScore, P::kScore})},
      {"NodeDeclaredFeatures", Set({P::kPreFilter, P::kFilter})},
      {"NodeName", Set({P::kFilter})},
      {"NodePorts", Set({P::kPreFilter, P::kFilter})},
      {"NodeResourcesBalancedAllocation", Set({P::kPreScore, P::kScore})},
      {"NodeResourcesFit", Set({P::kPreFilter, P::kFilter, P::kPreScore, P::kScore})},
      {"NodeUnschedulable", Set({P::kFilter})},
      {"NodeVolumeLimits", Set({P::kPreFilter, P::kFilter})},
      {"PodTopologySpread", Set({P::kPreFilter, P::kFilter, P::kPreScore, P::kScore})},
      {"PrioritySort", Set({P::kQueueSort})},
      {"SchedulingGates", Set({P::kPreEnqueue})},
      {"TaintToleration", Set({P::kFilter, P::kPreScore, P::kScore})},
      {"VolumeBinding", Set({P::kPreFilter, P::kFilter, P::kReserve, P::kPreBind, P::kPreScore, P::kScore})},
      {"VolumeRestrictions", Set({P::kPreFilter, P::kFilter})},
      {"VolumeZone", Set({P::kPreFilter, P::kFilter})},
  };
  Registry registry;
  RegisterBuiltinPlugins(registry);
  std::map<std::string, PointSet> got;
  for (const auto& [name, descriptor] : registry.all()) got[name] = descriptor.points;
  EXPECT_EQ(got, want);
  EXPECT_TRUE(registry.duplicates().empty());
}

// A configuration may disable PreFilter or PreScore of a plugin and keep its Filter or Score: then there is no state.
TEST(BuiltinTest, WithoutStatePluginsFailAsUpstreamOrDoWithoutIt) {
  class NoWhatIf final : public Cycle {
   public:
    using Cycle::Cycle;
    std::unique_ptr<WhatIf> Imagine(Row) const override { return nullptr; }
  };
  const std::map<std::string, std::string> filter_errors = {
      {"DynamicResources", "not found"},
      {"InterPodAffinity", "error reading \"PreFilterInterPodAffinity\" from cycleState: not found"},
      {"NodeDeclaredFeatures", "error reading \"PreFilterNodeDeclaredFeatures\" from cycle-state: not found"},
      {"NodePorts", "reading \"PreFilterNodePorts\" from cycleState: not found"},
      {"NodeResourcesFit", "error reading \"PreFilterNodeResourcesFit\" from cycleState: not found"},
      {"PodTopologySpread", "reading \"PreFilterPodTopologySpread\" from cycleState: not found"},
      {"VolumeBinding", "not found"},
      {"VolumeRestrictions", "cannot read \"PreFilterVolumeRestrictions\" from cycleState"},
  };
  const std::map<std::string, std::string> score_errors = {
      {"InterPodAffinity", "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found"},
      {"PodTopologySpread", "error reading \"PreScorePodTopologySpread\" from cycleState: not found"},
      {"TaintToleration", "failed to read \"PreScoreTaintToleration\" from cycleState: not found"},
  };
  TestCluster cluster;
  cluster.Add(MakeNode("n"));
  const Snapshot snapshot = cluster.snapshot();
  const Pod pod = MakePod().Request({{"cpu", "1"}});
  const NoWhatIf cycle(pod, snapshot, {});
  const uint8_t active = 1;
  const NodeBatch batch(snapshot, 0, std::span(&active, 1));
  Registry registry;
  RegisterBuiltinPlugins(registry);
  const std::unique_ptr<Handle> handle = MakeTestHandle();
  std::map<std::string, std::string> filters, scores;
  for (const auto& [name, descriptor] : registry.all()) {
    const Result<std::unique_ptr<Plugin>> plugin = descriptor.make(nullptr, *handle);
    ASSERT_TRUE(plugin.ok()) << name;
    if (const auto* filter = dynamic_cast<const FilterPlugin*>(plugin.value().get())) {
      VerdictTable table;
      VerdictId verdict = kFitsId;
      Rejections out(std::span(&verdict, 1), table);
      if (const Error error = filter->Filter(cycle, nullptr, batch, out); !error.ok()) filters[name] = error.text();
    }
    if (const auto* score = dynamic_cast<const ScorePlugin*>(plugin.value().get())) {
      int64_t points = 0;
      if (const Error error = score->Score(cycle, nullptr, batch, std::span(&points, 1)); !error.ok())
        scores[name] = error.text();
    }
  }
  EXPECT_EQ(filters, filter_errors);
  EXPECT_EQ(scores, score_errors);
}

}  // namespace
}  // namespace berth::plugins
