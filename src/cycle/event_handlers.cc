// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/eventhandlers.go (v1.36.4).
#include "cycle/event_handlers.h"

#include <type_traits>

#include "cycle/nominations.h"
#include "queue/event_derivation.h"

namespace berth::cycle {
namespace {
using queue::Place;

void Wake(Core& core, const ClusterObject& object, ActionType action) {
  if (const auto resource = InfoOf(KindOf(object)).event) core.queue->MoveAll({*resource, action}, {});
}

}  // namespace

void EventHandlers::OnAdd(const ClusterObject& after) {
  std::visit(
      [&]<class T>(const std::shared_ptr<const T>& object) {
        if constexpr (std::is_same_v<T, Pod>) {
          AddPod(object);
        } else if constexpr (std::is_same_v<T, Node>) {
          core_.state.PutNode(object);
          core_.queue->MoveAll({EventResource::kNode, action::kAdd}, {nullptr, nullptr, nullptr, object});
        } else {
          core_.state.PutObject<T>(object);
          Wake(core_, after, action::kAdd);
        }
      },
      after);
}

void EventHandlers::OnUpdate(const ClusterObject& before, const ClusterObject& after) {
  std::visit(
      [&]<class T>(const std::shared_ptr<const T>& now) {
        const auto& old = std::get<std::shared_ptr<const T>>(before);
        if constexpr (std::is_same_v<T, Pod>) {
          UpdatePod(old, now);
        } else if constexpr (std::is_same_v<T, Node>) {
          UpdateNode(old, now);
        } else {
          core_.state.PutObject<T>(now);
          Wake(core_, after, action::kUpdate);
        }
      },
      after);
}

void EventHandlers::OnDelete(const ClusterObject& before) {
  std::visit(
      [&]<class T>(const std::shared_ptr<const T>& object) {
        if constexpr (std::is_same_v<T, Pod>) {
          DeletePod(object);
        } else if constexpr (std::is_same_v<T, Node>) {
          DeleteNode(object);
        } else {
          core_.state.RemoveObject<T>(object->meta.namespace_, object->meta.name);
          Wake(core_, before, action::kDelete);
        }
      },
      before);
}

// Pods.

void EventHandlers::AddPod(const PodPtr& pod) {
  if (!pod->node_name.empty()) {
    AddAssigned(pod);
  } else if (Ours(*pod)) {
    AddPending(pod);
  }
}

void EventHandlers::UpdatePod(const PodPtr& before, const PodPtr& after) {
  if (!before->node_name.empty()) {
    if (after->node_name.empty()) {  // no API server does that; believe it all the same
      DeletePod(before);
      AddPod(after);
      return;
    }
    core_.Complain(core_.state.UpdatePod(after));
    for (const ClusterEvent& event : queue::PodSchedulingPropertiesChange(*after, *before))
      core_.queue->MoveAll(event, {before, after, nullptr, nullptr});
  } else if (!after->node_name.empty()) {
    AddAssigned(after);
    // Bound by us: it is in flight, and its binding cycle has the last word. By somebody else: it is let go.
    if (Ours(*before)) core_.queue->Delete(*before);
  } else if (Ours(*before)) {
    UpdatePending(before, after);
  } else if (Ours(*after)) {
    AddPending(after);
  }
}

void EventHandlers::DeletePod(const PodPtr& pod) {
  if (!pod->node_name.empty()) {
    core_.Complain(core_.state.RemovePod(pod->uid()));
    core_.state.ClearNomination(pod->uid());  // the binding and the deletion may be one piece of news
    core_.queue->Delete(*pod);                // its binding may not have been answered yet
    core_.queue->MoveAll(kAssignedPodDelete, {pod, nullptr, nullptr, nullptr});
  } else if (Ours(*pod)) {
    DeletePending(pod);
  }
}

void EventHandlers::AddAssigned(const PodPtr& pod) {
  core_.Complain(core_.state.AddPod(pod));
  core_.queue->MoveAll(kAssignedPodAdd, {nullptr, pod, nullptr, nullptr});
}

void EventHandlers::AddPending(const PodPtr& pod) {
  if (core_.queue->Add(pod) == Place::kActive) SetNomination(core_, pod, std::nullopt);
}

void EventHandlers::UpdatePending(const PodPtr& before, const PodPtr& after) {
  if (before->meta.resource_version == after->meta.resource_version) return;
  if (core_.state.IsAssumed(after->uid())) {
    if (after->terminating() && !before->terminating()) AssumedPodGone(*after);
    return;
  }
  const Place was = core_.queue->PlaceOf(*before);
  const Place now = core_.queue->Update(before, after);
  if (was == Place::kNone) {
    if (now == Place::kActive) SetNomination(core_, after, std::nullopt);
  } else if (was != Place::kInFlight) {
    UpdateNomination(core_, *before, after);
  }
  if (!before->nominated_node_name.empty() && before->nominated_node_name != after->nominated_node_name)
    NominationGivenUp(before);
}

void EventHandlers::DeletePending(const PodPtr& pod) {
  core_.queue->Delete(*pod);
  core_.state.ClearNomination(pod->uid());
  if (core_.state.IsAssumed(pod->uid())) {
    AssumedPodGone(*pod);
  } else if (!pod->nominated_node_name.empty()) {
    NominationGivenUp(pod);
  }
}

void EventHandlers::AssumedPodGone(const Pod& pod) {
  const PodRecord* record = core_.state.FindPod(pod.uid());
  const PodPtr assumed = record->pod;
  // A pod that waits at Permit ends its cycle at once and is forgotten by it. One that is further is forgotten here;
  // its binding will fail by itself.
  const auto waiting = core_.engine->services().waiting.FindEntry(pod.uid());
  if (!waiting || !waiting->Stop(Verdict(Code::kUnschedulable, "removed"), ""))
    core_.Complain(core_.state.ForgetPod(pod.uid()));
  core_.queue->MoveAll(kAssignedPodDelete, {assumed, nullptr, nullptr, nullptr});
}

void EventHandlers::NominationGivenUp(const PodPtr& pod) {
  core_.queue->MoveAll(kAssignedPodDelete, {pod, nullptr, nullptr, nullptr},
                       [&](const Pod& other) { return other.priority <= pod->priority; });
}

// Nodes.

void EventHandlers::UpdateNode(const NodePtr& before, const NodePtr& after) {
  core_.state.PutNode(after);
  for (const ClusterEvent& event : queue::NodeSchedulingPropertiesChange(*after, *before))
    core_.queue->MoveAll(event, {nullptr, nullptr, before, after});
}

void EventHandlers::DeleteNode(const NodePtr& node) {
  // The hints still see the node in the cache, as upstream has it.
  core_.queue->MoveAll({EventResource::kNode, action::kDelete}, {nullptr, nullptr, node, nullptr});
  core_.Complain(core_.state.RemoveNode(node->name()));
}

}  // namespace berth::cycle
