// SPDX-License-Identifier: Apache-2.0
// NodePlugin: judge one node at a time. The short way to write a plugin; an adapter over the batched interfaces.
#pragma once

#include "berth/plugin.h"

namespace berth {
inline namespace v1 {

// Override FilterNode, ScoreNode or both; the registry sees which and enables just those extension points. ScoreNode
// returns 0 to 100. Both are const and may run on several threads at once.
class NodePlugin : public FilterPlugin, public ScorePlugin {
 public:
  virtual Verdict FilterNode(const Pod& pod, NodeView node) const;
  virtual int64_t ScoreNode(const Pod& pod, NodeView node) const;

  Error Filter(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes, Rejections& out) const override;
  Error Score(const Cycle& cycle, const PluginState* state, const NodeBatch& nodes,
              std::span<int64_t> scores) const override;
};

}  // namespace v1
}  // namespace berth
