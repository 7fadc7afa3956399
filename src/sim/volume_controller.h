// SPDX-License-Identifier: Apache-2.0
// VolumeController: makes claims for pods, binds them to volumes and makes volumes for them, in the simulated cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "berth/clock.h"
#include "berth/host/cluster_object.h"
#include "client/cluster_api.h"

namespace berth::sim {

class SimulatedCluster;

// What a StorageClass says about how the simulated provisioner treats its claims, in annotations:
//   sim.berth.dev/provision-time      how long it takes to make a volume; default 2s
//   sim.berth.dev/provision-failures  how many attempts fail first, for each claim; default 0
//   sim.berth.dev/bind-time           how long it takes to bind a claim to a volume that is there; default 200ms
//   sim.berth.dev/topology-key        volumes are reached from nodes whose label of this key is the selected node's;
//                                     default: from everywhere
struct VolumeTimes {
  Duration provision = Duration::Seconds(2);
  Duration bind = Duration::Millis(200);
  int64_t failures = 0;
  std::string topology_key;
  // Null: the defaults. What cannot be read is not used; Problem says it.
  static VolumeTimes Of(const StorageClass* storage_class);
  // What is wrong with the annotations, with path and value; empty when nothing is.
  static std::string Problem(const StorageClass& storage_class);
};

// As kube-controller-manager's controllers of volumes and of ephemeral volumes, its garbage collector and an external
// provisioner have it, as far as a scheduler sees it:
//
// - A pod's generic ephemeral volume has a claim made for it, which goes with the pod. Where another's claim has the
//   name, that one has to go first.
// - A volume without a claim becomes Available; one whose claim has gone is Released, or deleted if it was made here.
// - A claim is bound to the volume that it or the volume names; without a class that waits for the first consumer, also
//   to the smallest that will do. Otherwise a volume is made, if the class has a provisioner: at once, or when a node
//   is selected.
// - Where there are CSIStorageCapacity objects of the class, a volume takes its size off the first that the node
//   reaches; none has enough: it cannot be made, as by an attempt that fails on purpose or by a fault. A claim that
//   waits for its consumer then loses its selected node; another is tried again, for want of room when there is more.
// - A claim whose volume is gone is Lost.
//
// Thread safety: as the cluster's.
class VolumeController {
 public:
  // Asks to be called after that long; `Fails`: whether a fault hits an attempt to make a volume for this claim.
  using Later = std::function<void(Duration, std::function<void()>)>;
  using Fails = std::function<bool(const std::string& claim)>;
  // REQUIRES: `cluster` outlives it, and what it was asked to do later is not called after its end.
  VolumeController(SimulatedCluster& cluster, Later later, Fails fails)
      : cluster_(cluster), later_(std::move(later)), fails_(std::move(fails)) {}

  // The store has changed; null: it was not there, or is not any more.
  void Changed(const ClusterObject* before, const ClusterObject* after);

 private:
  void PodChanged(const Pod* before, const Pod* after);
  void PlanPod(const std::string& ns, const std::string& name);
  void MakeClaims(const std::string& ns, const std::string& name);
  void ClaimChanged(const PersistentVolumeClaim* before, const PersistentVolumeClaim* after);
  void VolumeChanged(const PersistentVolume* before, const PersistentVolume* after);
  void PlanClaim(const std::string& ns, const std::string& name);
  void PlanVolume(const std::string& name);
  void PlanUnbound();  // all claims that may take a volume by themselves
  void SyncClaim(const std::string& ns, const std::string& name);
  void SyncVolume(const std::string& name);
  void Provision(const Ptr<PersistentVolumeClaim>& claim, const StorageClass& storage_class);
  void FinishProvision(const Ptr<PersistentVolumeClaim>& asked);
  // `again`: of one that waits for no consumer, whether to try once more by itself.
  void FailProvision(const Ptr<PersistentVolumeClaim>& claim, bool again);
  bool TakeRoom(const PersistentVolumeClaim& claim, const StorageClass& storage_class, const Node* node);
  void Bind(const PersistentVolumeClaim& claim, const PersistentVolume& volume);

  template <class T>
  Ptr<T> Find(std::string_view ns, std::string_view name) const;
  template <class T, class Fn>
  void Change(const ObjectMeta& meta, Fn&& fn);

  SimulatedCluster& cluster_;
  const Later later_;
  const Fails fails_;
  std::set<std::string> planned_;            // pods, claims and volumes that will be looked at: kind, space, key
  std::map<std::string, std::string> pods_;  // by namespace/name of a claim to be made: the pod's name
  std::map<std::string, int64_t> attempts_;  // by uid of a claim: volumes that could not be made
  std::set<std::string> provisioning_;       // uids of claims
};

}  // namespace berth::sim
