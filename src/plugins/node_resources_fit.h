// SPDX-License-Identifier: Apache-2.0
// NodeResourcesFit: a node must have room for what the pod requests; and how full nodes are decides which is preferred.
//
// Arguments (NodeResourcesFitArgs):
//   ignoredResources        extended resources that are not checked; replaced by what extenders manage, if any do
//   ignoredResourceGroups   the same by the part before `/`
//   scoringStrategy         type: LeastAllocated (default), MostAllocated or RequestedToCapacityRatio;
//                           resources: name and weight (1 to 100), default cpu and memory, weight 1;
//                           requestedToCapacityRatio.shape: points of utilization (0 to 100) and score (0 to 10)
// Not yet: scoring of resources that only ResourceSlices provide; a node without such an allocatable leaves them out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "plugins/common/resource_args.h"

namespace berth::plugins {

class NodeResourcesFit final : public PreFilterPlugin, public FilterPlugin, public PreScorePlugin, public ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesFit";
  static constexpr Reason kTooManyPods{"Too many pods"};

  enum class Strategy : uint8_t { kLeastAllocated, kMostAllocated, kRequestedToCapacityRatio };
  struct Args {
    std::vector<std::string> ignored_resources;
    std::vector<std::string> ignored_resource_groups;
    Strategy strategy = Strategy::kLeastAllocated;
    std::vector<ResourceSpec> resources = DefaultResourceSpecs();
    std::vector<ShapePoint> shape;  // not empty for kRequestedToCapacityRatio, else unused
    void Read(ArgsReader& in);
    Value Write() const;
  };

  // `extender_ignored`, when not empty, takes the place of args.ignored_resources, as upstream overwrites it.
  NodeResourcesFit(const Args& args, const std::vector<std::string>& extender_ignored);
  NodeResourcesFit(const Args& args, Handle& handle);

  PreFilterOutcome PreFilter(const Cycle& cycle) const override;
  // All resources that lack are named, in the order pods, cpu, memory, ephemeral-storage, scalars. Unresolvable when
  // the pod asks for more of one than the node has in all.
  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override;
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override;

  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;
  std::optional<std::vector<EventRegistration>> EventsToRegister() const override;

 private:
  struct Scored {
    ResourceId id;
    int64_t weight;
  };
  bool Ignores(const std::string& name) const;

  Args args_;
  std::vector<Scored> scored_;  // args_.resources that a node can have
};

}  // namespace berth::plugins
