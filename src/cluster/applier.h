// SPDX-License-Identifier: Apache-2.0
// Applier: what a change of an object means to a ClusterState. Whoever keeps one up to date does it through this.
#pragma once

#include <functional>

#include "berth/error.h"
#include "berth/events.h"
#include "berth/host/cluster_object.h"
#include "cluster/cluster_state.h"

namespace berth::cluster {

// Told of each change, after the state has it where nothing else is said: the way from an applier to a queue.
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  // A pod on a node. `before` is null, or has no node, when it appears there; `after` is null when it goes.
  virtual void AssignedPodChanged(const Ptr<Pod>& before, const Ptr<Pod>& after) = 0;
  // A pod without a node; one of them may be null. The state has nothing of it: whether its nomination counts is for
  // the listener to say.
  virtual void PendingPodChanged(const Ptr<Pod>& before, const Ptr<Pod>& after) = 0;
  // One of them may be null. Of a node that goes it is told while the state still has it.
  virtual void NodeChanged(const Ptr<Node>& before, const Ptr<Node>& after) = 0;
  // An object of another kind: kAdd, kUpdate or kDelete.
  virtual void ObjectChanged(Kind kind, ActionType action, const SharedObjectChange& change) = 0;
};

// | change                               | state                                  |
// |--------------------------------------|----------------------------------------|
// | pod with a node appears, or gets one | AddPod                                 |
// | ... changes                          | UpdatePod                              |
// | ... goes                             | RemovePod; no nomination is left       |
// | ... loses its node                   | as if it went and another one appeared |
// | pod without a node                   | its nomination, unless somebody listens |
// | node                                 | PutNode, RemoveNode                    |
// | any other object                     | PutObject, RemoveObject                |
//
// An Error is for the log: the change was applied as far as it made sense.
// REQUIRES: what is given to it outlives it. Thread safety: as its state.
class Applier {
 public:
  // Of a pending pod whether its nomination counts; unset: always.
  using Counts = std::function<bool(const Pod&)>;

  explicit Applier(ClusterState& state, Counts nomination_counts = nullptr)
      : state_(state), listener_(nullptr), nomination_counts_(std::move(nomination_counts)) {}
  Applier(ClusterState& state, ChangeListener& listener) : state_(state), listener_(&listener) {}

  Error Add(const ClusterObject& after);
  // REQUIRES: one kind, namespace, name and uid.
  Error Update(const ClusterObject& before, const ClusterObject& after);
  Error Delete(const ClusterObject& before);

 private:
  Error AddPod(const Ptr<Pod>& before, const Ptr<Pod>& after);
  Error UpdatePod(const Ptr<Pod>& before, const Ptr<Pod>& after);
  Error DeletePod(const Ptr<Pod>& pod);
  void ChangePending(const Ptr<Pod>& before, const Ptr<Pod>& after);

  ClusterState& state_;
  ChangeListener* const listener_;
  const Counts nomination_counts_;
};

}  // namespace berth::cluster
