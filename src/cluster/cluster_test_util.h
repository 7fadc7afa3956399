// SPDX-License-Identifier: Apache-2.0
// For tests of the cluster: objects as the state takes them.
#pragma once

#include <memory>

#include "berth/host/cluster_object.h"
#include "berth/testing.h"

namespace berth::cluster {

inline Ptr<Node> Share(const Node& node) { return std::make_shared<const Node>(node); }
inline Ptr<Pod> Share(const Pod& pod) { return std::make_shared<const Pod>(pod); }

}  // namespace berth::cluster
