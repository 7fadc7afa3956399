// SPDX-License-Identifier: Apache-2.0
// What an update of a pod or node means for scheduling: the specific events that plugins register for.
#pragma once

#include <vector>

#include "berth/events.h"

namespace berth::queue {

// The events of a pod's update, at least one: those of upstream's PodSchedulingPropertiesChange (framework/events.go),
// or a generic Update when nothing that has a name changed. The resource is AssignedPod when `after` has a node.
// UpdatePodGeneratedResourceClaim is not derived: Pod does not carry claim statuses.
std::vector<ClusterEvent> PodSchedulingPropertiesChange(const Pod& after, const Pod& before);

// The events of a node's update, in upstream's order; none when nothing changed that could matter. Lifting a cordon
// counts as a taint update, so that may come up twice.
std::vector<ClusterEvent> NodeSchedulingPropertiesChange(const Node& after, const Node& before);

}  // namespace berth::queue
