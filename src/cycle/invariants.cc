// SPDX-License-Identifier: Apache-2.0
// Every pod is in exactly one place, and every place holds only what is there.
#include "cycle/invariants.h"

#include "queue/scheduling_queue.h"

namespace berth::cycle {
namespace {
using queue::Place;

void CheckBound(const Scheduler& scheduler, const Pod& pod, std::string& out) {
  const PodRecord* record = scheduler.state().FindPod(pod.uid());
  const std::string name = FullName(pod);
  if (!record) {
    out += name + " is bound to " + pod.node_name + " but not in the cache\n";
  } else if (record->pod->node_name != pod.node_name) {
    out += name + " is bound to " + pod.node_name + " but the cache has it on " + record->pod->node_name + "\n";
  } else if (record->assumed) {
    out += name + " is bound but only assumed in the cache\n";
  } else if (record->pod->meta.resource_version != pod.meta.resource_version) {
    out += name + " is at version " + pod.meta.resource_version + " but the cache has " +
           record->pod->meta.resource_version + "\n";
  }
  const Place place = scheduler.queue().PlaceOf(pod);
  if (place != Place::kNone && place != Place::kInFlight)
    out += name + " is bound but also queued: " + std::string(ToString(place)) + "\n";
}

void CheckPending(const Scheduler& scheduler, const Pod& pod, std::string& out) {
  const Place place = scheduler.queue().PlaceOf(pod);
  const PodRecord* record = scheduler.state().FindPod(pod.uid());
  const std::string name = FullName(pod);
  if (!scheduler.engine().FindProfile(pod.scheduler_name)) {
    if (place != Place::kNone) out += name + " belongs to another scheduler but is queued\n";
    if (record) out += name + " belongs to another scheduler but is in the cache\n";
    return;
  }
  if (record && !record->assumed) out += name + " is not bound but added in the cache\n";
  // Bound, but the watch has not said so yet: assumed and no longer in flight.
  if (record && place != Place::kInFlight && place != Place::kNone)
    out += name + " is assumed but also queued: " + std::string(ToString(place)) + "\n";
  // A terminating pod is let go when its turn comes.
  if (!record && place == Place::kNone && !pod.terminating())
    out += name + " is forgotten: neither queued nor assumed\n";
}

}  // namespace

std::string CheckInvariants(const Scheduler& scheduler) {
  std::string out = scheduler.queue().CheckInvariants();
  if (!out.empty()) out += "\n";
  size_t bound = 0, assumed = 0, pending = 0;
  const client::Reflector& pods = scheduler.reflector(Kind::kPod);
  pods.ForEach([&](const ClusterObject& object) {
    const Pod& pod = *std::get<Ptr<Pod>>(object);
    if (!pod.node_name.empty()) {
      ++bound;
      CheckBound(scheduler, pod, out);
      return;
    }
    ++pending;
    assumed += scheduler.state().IsAssumed(pod.uid());
    CheckPending(scheduler, pod, out);
  });
  if (scheduler.state().pod_count() != bound + assumed)
    out += "the cache holds " + std::to_string(scheduler.state().pod_count()) + " pods, but " + std::to_string(bound) +
           " are bound and " + std::to_string(assumed) + " assumed\n";
  const queue::SchedulingQueue::Counts counts = scheduler.queue().counts();
  if (counts.active + counts.backoff + counts.error_backoff + counts.unschedulable + counts.gated > pending)
    out += "more pods are queued than are pending\n";
  if (scheduler.state().nomination_count() > pending) out += "more pods are nominated than are pending\n";

  const client::Reflector& nodes = scheduler.reflector(Kind::kNode);
  const Snapshot snapshot = scheduler.state().snapshot();
  if (snapshot.node_count() != nodes.size())
    out +=
        "the cache holds " + std::to_string(snapshot.node_count()) + " nodes of " + std::to_string(nodes.size()) + "\n";
  nodes.ForEach([&](const ClusterObject& object) {
    const Node& node = *std::get<Ptr<Node>>(object);
    const Row row = snapshot.FindRow(node.name());
    if (row == kNoRow || snapshot.node(row).meta.resource_version != node.meta.resource_version)
      out += "node " + node.name() + " in the cache is not the one of the list\n";
  });
  return out;
}

}  // namespace berth::cycle
