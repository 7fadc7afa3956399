// SPDX-License-Identifier: Apache-2.0
// EventHandlers: what a change in the cluster means for queue and nominations; cluster::Applier has the cache.
#pragma once

#include "client/reflector.h"
#include "cluster/applier.h"
#include "cycle/core.h"

namespace berth::cycle {

// The table (upstream: eventhandlers.go):
//
// | change                                | cache            | queue                                                  |
// |---------------------------------------|------------------|--------------------------------------------------------|
// | pod with a node appears, or gets one  | AddPod           | taken out if it was ours; AssignedPod/Add              |
// | pod with a node changes               | UpdatePod        | one move per derived AssignedPod event                 |
// | pod with a node goes                  | RemovePod        | AssignedPod/Delete                                     |
// | pod of ours without a node appears    | -                | Add; a nomination counts from when it is active        |
// | ... changes                           | -                | Update; a nomination given up wakes pods up to its     |
// |                                       |                  | priority                                               |
// | ... goes                              | forgotten if     | Delete; what it was assumed or nominated to is free    |
// |                                       | it was assumed   |                                                        |
// | node appears, changes, goes           | PutNode, Remove  | Node/Add; one move per derived event; Node/Delete      |
// | any other object                      | PutObject, ...   | its Add, Update or Delete if plugins can ask for it    |
//
// Pods without a node that belong to other schedulers concern nobody.
// Thread safety: scheduling thread.
class EventHandlers final : public client::ObjectHandler, private cluster::ChangeListener {
 public:
  explicit EventHandlers(Core& core)
      : core_(core),
        applier_(core.state, *this),
        timed_(core.options.observer && core.options.observer->TimesEvents()) {}

  void OnAdd(const ClusterObject& after) override {
    Begin();
    core_.Complain(applier_.Add(after));
  }
  void OnUpdate(const ClusterObject& before, const ClusterObject& after) override {
    Begin();
    core_.Complain(applier_.Update(before, after));
  }
  void OnDelete(const ClusterObject& before) override {
    Begin();
    core_.Complain(applier_.Delete(before));
  }

 private:
  using PodPtr = Ptr<Pod>;
  using NodePtr = Ptr<Node>;

  // The change is being applied from here on.
  void Begin() {
    if (timed_) began_ = core_.clock.Now();
  }
  // Tells the queue, and the observer how long it took: applying the change, and waking pods for this event. With
  // several events of one change each has the first part, as upstream has it.
  void Move(const ClusterEvent& event, const queue::SharedObjects& objects);
  // The same for news that is not told to the queue as an event.
  void Handled(const ClusterEvent& event) const;

  bool Ours(const Pod& pod) const { return core_.ProfileOf(pod) != nullptr; }
  void AssignedPodChanged(const PodPtr& before, const PodPtr& after) override;
  void PendingPodChanged(const PodPtr& before, const PodPtr& after) override;
  void NodeChanged(const NodePtr& before, const NodePtr& after) override;
  void ObjectChanged(Kind kind, ActionType action, const SharedObjectChange& change) override;

  void AddPending(const PodPtr& pod);
  void UpdatePending(const PodPtr& before, const PodPtr& after);
  void DeletePending(const PodPtr& pod);
  void AssumedPodGone(const Pod& pod);
  // Lets pods of at most this pod's priority try again: it no longer holds a place on a node.
  void NominationGivenUp(const PodPtr& pod);

  Core& core_;
  cluster::Applier applier_;
  const bool timed_;
  Time began_;
};

}  // namespace berth::cycle
