// SPDX-License-Identifier: Apache-2.0
// RegisterBuiltinPlugins: one line per plugin.
#include "plugins/builtin.h"

#include "plugins/default_binder.h"
#include "plugins/default_preemption.h"
#include "plugins/dynamic_resources.h"
#include "plugins/image_locality.h"
#include "plugins/inter_pod_affinity.h"
#include "plugins/node_affinity.h"
#include "plugins/node_declared_features.h"
#include "plugins/node_name.h"
#include "plugins/node_ports.h"
#include "plugins/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit.h"
#include "plugins/node_unschedulable.h"
#include "plugins/node_volume_limits.h"
#include "plugins/pod_topology_spread.h"
#include "plugins/priority_sort.h"
#include "plugins/scheduling_gates.h"
#include "plugins/taint_toleration.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_restrictions.h"
#include "plugins/volume_zone.h"

namespace berth::plugins {

void RegisterBuiltinPlugins(Registry& registry) {
  registry.Add<DefaultBinder>();
  registry.Add<DefaultPreemption>();
  registry.Add<DynamicResources>();
  registry.Add<ImageLocality>();
  registry.Add<InterPodAffinity>();
  registry.Add<NodeAffinity>();
  registry.Add<NodeDeclaredFeatures>();
  registry.Add<NodeName>();
  registry.Add<NodePorts>();
  registry.Add<NodeResourcesBalancedAllocation>();
  registry.Add<NodeResourcesFit>();
  registry.Add<NodeUnschedulable>();
  registry.Add<NodeVolumeLimits>();
  registry.Add<PodTopologySpread>();
  registry.Add<PrioritySort>();
  registry.Add<SchedulingGates>();
  registry.Add<TaintToleration>();
  registry.Add<VolumeBinding>();
  registry.Add<VolumeRestrictions>();
  registry.Add<VolumeZone>();
}

}  // namespace berth::plugins
