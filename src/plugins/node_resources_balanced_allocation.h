// SPDX-License-Identifier: Apache-2.0
// NodeResourcesBalancedAllocation: prefers nodes that the pod makes more evenly used across resources.
//
// Arguments (NodeResourcesBalancedAllocationArgs):
//   resources   names, default cpu and memory; each once; weights must be 1
// Not yet: resources that only ResourceSlices provide, as for NodeResourcesFit.
#pragma once

#include <string_view>
#include <vector>

#include "berth/plugin.h"
#include "plugins/common/resource_args.h"

namespace berth::plugins {

class NodeResourcesBalancedAllocation final : public PreScorePlugin, public ScorePlugin {
 public:
  static constexpr std::string_view kName = "NodeResourcesBalancedAllocation";
  struct Args {
    std::vector<ResourceSpec> resources = DefaultResourceSpecs();
    void Read(ArgsReader& in);
    Value Write() const;
  };
  explicit NodeResourcesBalancedAllocation(const Args& args);

  // Skips pods that request nothing of the configured resources: they would all go to one node.
  PreScoreOutcome PreScore(const Cycle& cycle, std::span<const Row> feasible) const override;
  // 50 to 100: about 75 when the pod changes nothing, more when it evens the node out.
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override;
  Depends DependsOn(Point point) const override;
  bool Sign(const Pod& pod, Signature& out) const override;

 private:
  bool RequestsNothing(const Pod& pod) const;
  std::vector<ResourceId> resources_;  // that a node can have
};

}  // namespace berth::plugins
