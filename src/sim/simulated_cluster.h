// SPDX-License-Identifier: Apache-2.0
// SimulatedCluster: an API server, its nodes' kubelets and a bad network, in virtual time.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "client/cluster_api.h"
#include "sim/volume_controller.h"
#include "util/inbox.h"
#include "util/owner_link.h"
#include "util/random.h"
#include "util/secret_hash.h"
#include "util/timer_queue.h"

namespace berth::sim {

// How much longer a slow request takes.
inline constexpr int kSlowFactor = 20;

// How often what goes wrong, in thousandths of the occasions. All zero: nothing does.
struct Faults {
  int watch_cut = 0;     // per event sent: the watch ends before it
  int too_old = 0;       // per watch started: 410, the history is gone
  int conflict = 0;      // per write: 409 although nothing is wrong
  int throttled = 0;     // per request: 429
  int server_error = 0;  // per request: 500, and the write did not happen
  int lost_answer = 0;   // per write: it happens, but the connection breaks before the answer (code 0)
  int duplicate = 0;     // per event: sent twice
  int reordered = 0;     // per event: sent after its successor, if one is under way at the same time
  int touched = 0;       // per write on a pod: somebody changes the pod (a version, nothing else) just before
  int slow = 0;          // per request: takes kSlowFactor times as long
  int provision = 0;     // per volume to be made: it cannot be

  static Faults None() { return {}; }
  static Faults Default();  // some of everything: what `--faults` turns on
  bool any() const;
};

struct ClusterOptions {
  uint64_t seed = 0;
  Faults faults;
  Duration answer_latency = Duration::Millis(2);  // request to effect, and again effect to answer
  Duration watch_latency = Duration::Millis(1);   // change to event
  // Kubelets.
  Duration start_time = Duration::Seconds(1);  // bound to Running
  Duration stop_time = Duration::Seconds(1);   // deletion asked to gone, for pods on a node
  size_t history = 10'000;                     // changes that a watch can resume over
  bool binds_volumes = true;                   // there is a volume controller
};

// The store behind the door, and the world's own hands: users and controllers create, change and delete objects
// directly (at once; watchers hear of it after the latency), the scheduler through ClusterApi.
//
// What the server checks: names are unique per kind; a binding is for an unbound pod, of that uid, not terminating, not
// gated (404, 409 otherwise; an unknown node is fine, as with a real server); a status patch and a deletion with a uid
// are for that uid. A pod's node is never taken back and its uid, creation and deletion times are the server's.
// Kubelets: a bound pod becomes Running after start_time if its node exists, or else when the node comes; the pod
// annotation `sim.berth.dev/run-for` ("90s"; 422 when it cannot be read) makes it succeed that long after its start,
// and may be changed while it runs. Deleting a pod that is not bound, or has finished, removes it at once; any other is
// terminating first and gone after stop_time. Finished pods stay in the store until they are deleted. Every change,
// deletion and binding carries a new, higher resource version; a patch that changes nothing has none. Volumes and
// claims are bound, and made, by a VolumeController.
//
// Deterministic: with equal calls, options and seed everything happens the same way.
// Thread safety: none. Callbacks go through the inbox.
class SimulatedCluster final : public client::ClusterApi {
 public:
  // REQUIRES: all outlive the cluster. `agenda` is driven by whoever moves the clock.
  SimulatedCluster(util::TimerQueue& agenda, const Clock& clock, util::Inbox& inbox, ClusterOptions options);
  ~SimulatedCluster() override;

  // The world. Creating gives uid, version and creation time where absent; 409 when the name is taken.
  client::ApiStatus Create(ClusterObject object);
  // Replaces an object by what `change` makes of it. 404 when absent, 422 when it is not the same object any more.
  client::ApiStatus Update(Kind kind, std::string_view ns, std::string_view name,
                           const std::function<ClusterObject(const ClusterObject&)>& change);
  client::ApiStatus Delete(Kind kind, std::string_view ns, std::string_view name);
  // Somebody else binds the pod.
  client::ApiStatus BindNow(const client::ObjectName& pod, const std::string& node);

  // Null when absent. Valid until the next change.
  const ClusterObject* Find(Kind kind, std::string_view ns, std::string_view name) const;
  // Every object of a kind, by namespace and name.
  void ForEach(Kind kind, const std::function<void(const ClusterObject&)>& fn) const;
  size_t count(Kind kind) const;
  // Events that were posted; only counted unless there is an observer.
  uint64_t events_posted() const { return events_posted_; }
  // What all events of this reason say of how often it happened; of events with somebody who waits for the answer.
  int64_t EventCount(std::string_view reason) const;
  uint64_t version() const { return version_; }
  // Requests, timers and watch events under way.
  bool quiet() const;
  const ClusterOptions& options() const { return options_; }
  // From now on; e.g. to let a test end in calm weather.
  void SetFaults(const Faults& faults) { options_.faults = faults; }

  // Observers; may be empty. Called when it happens, before anybody else hears of it.
  std::function<void(const Pod& before, const std::string& node)> on_bind;  // a binding was accepted
  std::function<void(const client::EventRecord&)> on_event;
  std::function<void(std::string_view what)> on_fault;  // a fault was injected: its name and the object

  // ClusterApi.
  void List(Kind kind, std::function<void(client::ListAnswer)> done) override;
  std::unique_ptr<client::Watch> StartWatch(Kind kind, const std::string& resource_version,
                                            client::WatchCallbacks callbacks) override;
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const client::ApiStatus&, Ptr<Pod>)> done) override;
  void Bind(const client::ObjectName& pod, const std::string& node, client::Answer done) override;
  void PatchPodStatus(const client::PodStatusPatch& patch, client::Answer done) override;
  void DeletePod(const client::ObjectName& pod, client::Answer done) override;
  void PatchVolume(const VolumeClaimPatch& patch, client::VersionAnswer done) override;
  void PatchClaim(const ClaimNodePatch& patch, client::VersionAnswer done) override;
  void PostEvent(const client::EventRecord& event, client::Answer done) override;
  void PatchEvent(const client::EventRecord& event, client::Answer done) override;
  void GetLease(const std::string& ns, const std::string& name,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override;
  void PutLease(const client::Lease& lease,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override;

 private:
  using Table = std::unordered_map<std::string, ClusterObject, SecretStringHash, std::equal_to<>>;  // by ns/name
  struct Change {
    uint64_t version = 0;
    client::WatchEvent::Type type = client::WatchEvent::Type::kBookmark;
    ClusterObject object;
  };
  struct Batch;
  struct Watcher;
  class WatchHandle;
  struct Shelf {  // all of one kind
    Table objects;
    std::deque<Change> history;
    uint64_t forgotten = 0;  // the newest version that left the history
    std::vector<std::shared_ptr<Watcher>> watchers;
  };
  // What the network and the server will do to a request, drawn when it is made.
  struct Fate {
    Duration latency;
    client::ApiStatus refusal;  // not ok: the answer, without any effect
    bool lost = false, touched = false;
  };
  enum class Access : uint8_t { kRead, kWrite, kWritePod };

  // simulated_cluster.cc: the store.
  Shelf& shelf(Kind kind) { return shelves_[static_cast<size_t>(kind)]; }
  const Shelf& shelf(Kind kind) const { return shelves_[static_cast<size_t>(kind)]; }
  std::vector<ClusterObject> Sorted(Kind kind) const;
  std::string NextVersion() { return std::to_string(++version_); }
  void Replace(ClusterObject& stored, ClusterObject after);
  // Changes a copy of the pod, gives it the next version and puts it in place of the stored one.
  template <class Fn>
  Ptr<Pod> ChangePod(ClusterObject& stored, Fn&& fn);
  void Erase(Kind kind, const std::string& key);
  // The pod, or the answer why not.
  ClusterObject* FindPod(const client::ObjectName& name, client::ApiStatus& status);
  client::ApiStatus BindPod(const client::ObjectName& name, const std::string& node);
  client::ApiStatus PatchPod(const client::PodStatusPatch& patch);
  client::ApiStatus RemovePod(const client::ObjectName& name);
  void Touch(const client::ObjectName& name);

  // simulated_cluster_requests.cc: the way of a request.
  void Later(Duration delay, std::function<void()> fn);
  void Reply(std::function<void()> fn);
  void Read(const Fate& fate, std::function<std::function<void()>()> effect);
  void Write(const client::ObjectName& pod, std::function<client::ApiStatus()> effect, client::Answer done);
  // Patches an object of another kind: `Patch` says how (client/volume_writes.h).
  template <class T, class Patch>
  void PatchObject(const std::string& ns, const std::string& name, const Patch& patch, client::VersionAnswer done);

  // simulated_cluster_watch.cc: who hears of what.
  void Record(const ClusterObject* before, const ClusterObject* after);
  void Send(Watcher& watcher, const Change& change);
  Batch& OpenBatch(Watcher& watcher);
  void Close(Watcher& watcher, client::ApiStatus status);
  void OpenWatch(Kind kind, const std::shared_ptr<Watcher>& watcher, const std::string& resource_version);

  // simulated_cluster_faults.cc: the bad network.
  bool Hit(int per_mille, std::string_view fault, std::string_view object);
  Fate Draw(Access access, std::string_view object);

  // simulated_cluster_kubelet.cc.
  void PodOnNode(const Ptr<Pod>& before, const Ptr<Pod>& after);
  void StartPod(const client::ObjectName& name);
  void PlanEnd(const Pod& pod);
  void EndPod(const client::ObjectName& name, std::string_view phase);
  void StopPod(const client::ObjectName& name);
  void NodeCame(const std::string& node);
  ClusterObject* Incarnation(const client::ObjectName& name);

  util::TimerQueue& agenda_;
  const Clock& clock_;
  util::Inbox& inbox_;
  ClusterOptions options_;
  std::array<Shelf, kKindCount> shelves_;
  std::map<std::string, client::Lease> leases_;
  // Pods bound to nodes that do not exist, to be started when they do; may name pods that are gone.
  std::unordered_map<std::string, std::vector<client::ObjectName>, SecretStringHash> homeless_;
  // When pods that run for a set time will end, by uid; a timer that finds another time here, or none, is void.
  std::unordered_map<std::string, Time, SecretStringHash> ends_;
  util::Random random_;     // of faults
  uint64_t under_way_ = 0;  // entries of ours on the agenda
  uint64_t events_posted_ = 0;
  std::map<std::string, client::EventRecord> events_;  // by namespace and name; those that somebody waited for
  uint64_t version_ = 1;
  std::unique_ptr<VolumeController> volumes_;
  util::Owner<SimulatedCluster> owner_{this};  // of what the agenda and the inbox hold
};

}  // namespace berth::sim
