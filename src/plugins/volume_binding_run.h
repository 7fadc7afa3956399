// SPDX-License-Identifier: Apache-2.0
// VolumeReservation: what a pod has taken of volumes and claims. VolumeBindingRun: its PreBind, which writes that and
// waits until the volume controller has made it true.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "berth/handle.h"
#include "berth/plugin.h"
#include "plugins/volume_binding_plan.h"

namespace berth::plugins {

// What went wrong, by where; a counter of upstream's.
void CountVolumeFailure(const Handle& handle, const char* stage);

// Thread safety: scheduling thread.
class VolumeReservation {
 public:
  struct Binding {
    std::shared_ptr<const PersistentVolume> volume;  // as it is to be
    std::string claim_namespace, claim_name;
    std::string claim_version;   // empty: the volume, as it is stored, names the claim already
    bool by_controller = false;  // the stored volume lacks the annotation
    bool assumed = false;        // it is to be another one than was believed before
    std::string written = {};    // the version that we wrote; empty: nothing yet
  };
  struct Provision {
    std::shared_ptr<const PersistentVolumeClaim> claim;  // with the node
    bool assumed = false;
    std::string written = {};
  };

  // Takes what was chosen, for all decisions to see. The Error: somebody has changed an object meanwhile; then nothing
  // is taken.
  static Result<std::shared_ptr<VolumeReservation>> Make(const VolumeChoice& choice, const std::string& node,
                                                         ClusterAccess& cluster);
  // Gives back what was not written; what was will be seen in the cluster.
  void GiveBack(ClusterAccess& cluster);

  std::vector<Binding> bindings;
  std::vector<Provision> provisions;
};

// Thread safety: scheduling thread.
class VolumeBindingRun : public std::enable_shared_from_this<VolumeBindingRun> {
 public:
  // REQUIRES: `handle` outlives everything that is under way, and its cluster() is not null.
  VolumeBindingRun(Handle& handle, Placement placement, std::shared_ptr<VolumeReservation> reservation,
                   Duration timeout, Done done)
      : handle_(handle),
        cluster_(*handle.cluster()),
        placement_(std::move(placement)),
        reservation_(std::move(reservation)),
        timeout_(timeout),
        done_(std::move(done)) {}

  void Start() { WriteVolume(0); }
  // Ends it now, with `cause` as the failure.
  void Cancel(const std::string& cause) { Finish(Verdict::Fail(cause)); }

 private:
  void WriteVolume(size_t at);
  void WriteClaim(size_t at);
  void Wait();
  void Poll();
  // One look at the cluster. True: all is bound; false: not yet. The Error ends it.
  Result<bool> Look() const;
  Result<bool> LookAt(const VolumeReservation::Binding& binding, const Snapshot& now, const Node& node) const;
  Result<bool> LookAt(const VolumeReservation::Provision& provision, const Snapshot& now, const Node& node) const;
  void Finish(const Verdict& verdict);

  Handle& handle_;
  ClusterAccess& cluster_;
  const Placement placement_;
  const std::shared_ptr<VolumeReservation> reservation_;
  const Duration timeout_;
  Done done_;  // null when it was called
  ClusterAccess::TimerId poll_ = 0, deadline_ = 0;
};

}  // namespace berth::plugins
