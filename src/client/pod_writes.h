// SPDX-License-Identifier: Apache-2.0
// What an API server makes of a scheduler's writes: the rules for doors that have no server behind them.
#pragma once

#include <string>

#include "client/cluster_api.h"

namespace berth::client {

// 404 when there is no such pod (null), 409 when it is another incarnation.
ApiStatus CheckIncarnation(const ObjectName& name, const Pod* pod);
// A binding is for an unbound pod that is neither terminating nor gated: 409; 422 without a node's name. An unknown
// node is fine, as with a real server.
ApiStatus CheckBinding(const Pod& pod, const std::string& node);
// What an accepted binding changes. A nomination is over with it, as servers have it since 1.35; and the pod is given
// the labels that say in which zone and region its node is, whatever it had there. `known`: the node's object, null
// when there is none.
void ApplyBinding(const std::string& node, const Node* known, Pod& pod);
// False when the pod's status says all of it already: then nothing is written, and the version stays.
bool ChangesStatus(const PodStatusPatch& patch, const Pod& pod);
void ApplyStatus(const PodStatusPatch& patch, Pod& pod);

}  // namespace berth::client
