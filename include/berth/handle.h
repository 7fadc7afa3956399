// SPDX-License-Identifier: Apache-2.0
// Handle: what a plugin may ask of the framework that hosts it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "berth/clock.h"
#include "berth/error.h"
#include "berth/log.h"
#include "berth/pod.h"
#include "berth/snapshot.h"
#include "berth/storage.h"
#include "berth/verdict.h"

namespace berth {
inline namespace v1 {

// A pod that some Permit plugins asked to wait.
class WaitingPod {
 public:
  virtual ~WaitingPod() = default;
  virtual const Pod& pod() const = 0;
  // Names of the plugins that still have to allow it.
  virtual std::vector<std::string> pending_plugins() const = 0;
  virtual void Allow(const std::string& plugin) = 0;
  virtual void Reject(const std::string& plugin, const std::string& message) = 0;
};

// The pods waiting at Permit. Thread safety: all methods.
class WaitingPods {
 public:
  virtual ~WaitingPods() = default;
  virtual void ForEach(const std::function<void(WaitingPod&)>& fn) = 0;
  // Null when no pod of that uid waits.
  virtual std::shared_ptr<WaitingPod> Find(const std::string& uid) = 0;
};

// A volume is given to a claim: its spec.claimRef, and whether the annotation pv.kubernetes.io/bound-by-controller says
// that no person did it.
struct VolumeClaimPatch {
  std::string volume;
  std::string resource_version;  // the lock: a volume of another version is not changed
  ClaimReference claim;
  std::string claim_version;
  bool bound_by_controller = false;  // false: the annotation stays as it is
};

// A claim is to be provisioned for a node: its annotation volume.kubernetes.io/selected-node.
struct ClaimNodePatch {
  std::string namespace_, name;
  std::string resource_version;  // the lock, as above
  std::string node;
};

// The version of the object that was written, or the server's words.
using Written = std::function<void(Result<std::string>)>;

// The way out to the cluster, asynchronous only: a cycle never waits for the network. `done` is called exactly once, on
// the scheduling thread; a host that does not write may do so within the call.
class Writer {
 public:
  virtual ~Writer() = default;
  virtual void Bind(const Pod& pod, const std::string& node, std::function<void(Verdict)> done) = 0;
  // Hosts that only judge refuse both.
  virtual void GiveVolume(const VolumeClaimPatch& patch, Written done);
  virtual void SelectNode(const ClaimNodePatch& patch, Written done);
};

// The cluster that a scheduler works on, for plugins whose work goes on when the decision is made: from Reserve to
// PostBind, and in timers of their own. Thread safety: scheduling thread, and never while a pod is judged.
class ClusterAccess {
 public:
  virtual ~ClusterAccess() = default;
  // As it is now; to be looked at and let go.
  virtual Snapshot Now() const = 0;
  // As the cluster has it, placed or pending; null when it is not (or no longer) there.
  virtual std::shared_ptr<const Pod> FindPod(const std::string& ns, const std::string& name) const = 0;

  // From now on the decisions of all profiles see `object` (Snapshot::Believed) instead of the stored one, until it is
  // restored or the cluster has another version of it. The Error: it is not there, or its version is another one.
  virtual Error Assume(std::shared_ptr<const PersistentVolume> object) = 0;
  virtual Error Assume(std::shared_ptr<const PersistentVolumeClaim> object) = 0;
  // Takes back what is assumed of this version of it, if anything is.
  virtual void Restore(const PersistentVolume& object) = 0;
  virtual void Restore(const PersistentVolumeClaim& object) = 0;

  // Calls `fn` after that long by the host's clock, unless it is cancelled before, or the scheduler gone. 0 is no id.
  using TimerId = uint64_t;
  virtual TimerId After(Duration delay, std::function<void()> fn) = 0;
  virtual void Cancel(TimerId id) = 0;  // no effect when it has run
};

// Something that a plugin counts: a counter of Prometheus with one label. REQUIRES: names are valid there, and whoever
// uses a name means the same by it.
struct PluginCounter {
  std::string name;  // ends with _total
  std::string help;
  std::string label;  // what its numbers are told apart by
};

// Lives longer than every plugin made with it.
class Handle {
 public:
  virtual ~Handle() = default;
  virtual const std::string& profile_name() const = 0;
  virtual const Clock& clock() const = 0;
  // Writes lines that bear the plugin's name to the program's log: that of `berth extender`, standard error of
  // `explain`, `sim` and `bench`, where `-v` opens it. Made once and kept. Answers that are remembered are not logged
  // again, since the plugin is not asked.
  virtual Logger log() const { return {}; }
  // Adds one under this value of the label, for whoever scrapes the host; hosts without metrics of plugins, which is
  // all but `berth scheduler`, do not count. Thread safety: any thread.
  virtual void Count(const PluginCounter&, const std::string&) const {}
  // A random number; seeded, so that a run can be repeated.
  virtual uint64_t Random() = 0;
  virtual WaitingPods& waiting() = 0;
  virtual Writer& writer() = 0;
  // Null in hosts that only judge: nothing is reserved or bound there.
  virtual ClusterAccess* cluster() { return nullptr; }
  // True while evictions that this pod asked for are still being sent: another attempt would be too early.
  virtual bool preempting(std::string_view) const { return false; }
  // Asks the queue to try these pods again at once. Takes effect when the running cycle is over.
  virtual void Activate(const std::vector<std::shared_ptr<const Pod>>&) {}
  // Extended resources that the configured extenders manage and the scheduler is to ignore.
  virtual const std::vector<std::string>& extender_ignored_resources() const = 0;
};

}  // namespace v1
}  // namespace berth
