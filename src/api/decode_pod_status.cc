// SPDX-License-Identifier: Apache-2.0
// A pod's status: what the kubelet and the scheduler wrote there.
#include "api/decode_internal.h"
#include "api/resource_rules.h"

namespace berth {
namespace {

template <class Value>
PodCondition DecodePodCondition(Context& context, Value value) {
  PodCondition condition;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "type") {
      Read(context, item, condition.type);
    } else if (key == "status") {
      Read(context, item, condition.status);
    } else if (key == "reason") {
      Read(context, item, condition.reason);
    } else if (key == "message") {
      Read(context, item, condition.message);
    }
  });
  return condition;
}

template <class Value>
ContainerStatus DecodeContainerStatus(Context& context, Value value) {
  ContainerStatus status;
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "name") {
      Read(context, item, status.name);
    } else if (key == "resources") {
      status.resources_requests.reset();
      if (auto resources = DecodeRequirements(context, item)) {
        status.resources_requests = resources->requests.value_or(ResourceList());
      }
    } else if (key == "allocatedResources") {
      status.allocated_resources = DecodeResourceList(context, item);
    }
  });
  return status;
}

}  // namespace

template <class Value>
void DecodePodStatus(Context& context, const Value& value, Pod& pod) {
  ForEachMember(context, value, [&](MemberName key, const Value& item) {
    if (key == "phase") {
      Read(context, item, pod.phase);
    } else if (key == "nominatedNodeName") {
      Read(context, item, pod.nominated_node_name);
    } else if (key == "startTime") {
      Read(context, item, pod.start_time);
    } else if (key == "conditions") {
      pod.conditions = ReadOnce(context, item, &PodParts::conditions, [&] {
        List<PodCondition> conditions;
        ReadList(context, item, conditions, DecodePodCondition<Value>);
        return conditions;
      });
    } else if (key == "containerStatuses") {
      ReadList(context, item, pod.container_statuses, DecodeContainerStatus<Value>);
    } else if (key == "initContainerStatuses") {
      ReadList(context, item, pod.init_container_statuses, DecodeContainerStatus<Value>);
    } else if (key == "resources") {
      pod.status_requests.reset();
      if (auto resources = DecodeRequirements(context, item)) {
        pod.status_requests = resources->requests.value_or(ResourceList());
      }
    } else if (key == "allocatedResources") {
      pod.status_allocated = DecodeResourceList(context, item);
    }
  });
}

// For either encoding.
template void DecodePodStatus(Context&, const JsonValue&, Pod&);
template void DecodePodStatus(Context&, const ProtoValue&, Pod&);

}  // namespace berth
