// SPDX-License-Identifier: Apache-2.0
// How far plugins look, as they declare it (Plugin::DependsOn), and which kinds of objects a host keeps for that.
#pragma once

#include <cstdint>
#include <vector>

#include "berth/depends.h"
#include "berth/host/kinds.h"

namespace berth {
inline namespace v1 {

enum class Reach : uint8_t {
  kNames,    // no further than the names of the nodes that are judged
  kNodes,    // at those Node objects, and at the set of nodes
  kCluster,  // at pods, other nodes or other objects
};

// What of other nodes may stay unknown to a host that is asked about some nodes and answers for those.
inline constexpr Epochs kEpochsOfNodes = epoch::kNodeSet | epoch::kNodeLabels | epoch::kSets;

Reach ReachOf(const Depends& depends);

// The kinds that plugins that depend on this read, nodes and pods first; none for a reach of kNames. Plugins that do
// not say what they depend on may read anything.
std::vector<Kind> KindsRead(const Depends& depends);

}  // namespace v1
}  // namespace berth
