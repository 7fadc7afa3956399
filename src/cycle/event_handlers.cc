// SPDX-License-Identifier: Apache-2.0
// Upstream: pkg/scheduler/eventhandlers.go (v1.36.4).
#include "cycle/event_handlers.h"

#include "cycle/nominations.h"
#include "queue/event_derivation.h"

namespace berth::cycle {

using queue::Place;

void EventHandlers::Move(const ClusterEvent& event, const queue::SharedObjects& objects) {
  if (!timed_) {
    core_.queue->MoveAll(event, objects);
    return;
  }
  const Time applied = core_.clock.Now();
  core_.queue->MoveAll(event, objects);
  const Time moved = core_.clock.Now();
  core_.options.observer->OnEventHandled(event, moved - began_);
  began_ = began_ + (moved - applied);  // the next event of this change does not count what this one took
}

void EventHandlers::Handled(const ClusterEvent& event) const {
  if (timed_) core_.options.observer->OnEventHandled(event, core_.clock.Now() - began_);
}

void EventHandlers::AssignedPodChanged(const PodPtr& before, const PodPtr& after) {
  const bool appears = after && (!before || before->node_name.empty());
  if (!after || (appears && before)) ++core_.departures;
  core_.Tell(&Observer::OnAssignedPod, appears ? nullptr : before.get(), after.get());
  if (!after) {
    core_.queue->Delete(*before);  // its binding may not have been answered yet
    Move(kAssignedPodDelete, {before, nullptr, nullptr, nullptr});
  } else if (appears) {
    Move(kAssignedPodAdd, {nullptr, after, nullptr, nullptr});
    if (!before || !Ours(*before)) return;
    core_.Tell(&Observer::OnPendingPod, before.get(), nullptr);
    // Bound by us: it is in flight, and its binding cycle has the last word. By somebody else: it is let go.
    core_.queue->Delete(*before);
  } else {
    for (const ClusterEvent& event : queue::PodSchedulingPropertiesChange(*after, *before))
      Move(event, {before, after, nullptr, nullptr});
  }
}

void EventHandlers::PendingPodChanged(const PodPtr& before, const PodPtr& after) {
  const bool was_ours = before && Ours(*before);
  const bool is_ours = after && Ours(*after);
  if (was_ours || is_ours)
    core_.Tell(&Observer::OnPendingPod, was_ours ? before.get() : nullptr, is_ours ? after.get() : nullptr);
  if (before && (!after || after->terminating() || after->uid() != before->uid())) ++core_.departures;
  if (!after) {
    if (!was_ours) return;
    DeletePending(before);
    Handled({EventResource::kUnschedulablePod, action::kDelete});
  } else if (was_ours) {
    UpdatePending(before, after);
    Handled({EventResource::kUnschedulablePod, action::kUpdate});
  } else if (is_ours) {
    AddPending(after);
    Handled({EventResource::kUnschedulablePod, action::kAdd});
  }
}

void EventHandlers::NodeChanged(const NodePtr& before, const NodePtr& after) {
  core_.Tell(&Observer::OnNode, before.get(), after.get());
  if (!before) {
    Move({EventResource::kNode, action::kAdd}, {nullptr, nullptr, nullptr, after});
  } else if (!after) {
    // The hints still see the node in the cache, as upstream has it.
    Move({EventResource::kNode, action::kDelete}, {nullptr, nullptr, before, nullptr});
  } else {
    for (const ClusterEvent& event : queue::NodeSchedulingPropertiesChange(*after, *before))
      Move(event, {nullptr, nullptr, before, after});
  }
}

void EventHandlers::ObjectChanged(Kind kind, ActionType action, const SharedObjectChange& change) {
  const auto resource = InfoOf(kind).event;
  if (resource) Move({*resource, action}, {nullptr, nullptr, nullptr, nullptr, change});
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

}  // namespace berth::cycle
