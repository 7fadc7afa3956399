// SPDX-License-Identifier: Apache-2.0
// Every built-in takes part where kube-scheduler's plugin of that name does.
#include "plugins/builtin.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace berth::plugins
