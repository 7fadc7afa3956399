// SPDX-License-Identifier: Apache-2.0
// InstantCluster: a cluster behind the door that answers at once. No network, no kubelets, nothing goes wrong.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/defaults.h"
#include "client/cluster_api.h"
#include "util/inbox.h"
#include "util/secret_hash.h"

namespace berth::bench {

// A pod that exists, with what a run wants to know of it.
struct PodEntry {
  Ptr<Pod> pod;
  bool finalizers = false;  // it outlives its deletion, terminating
  bool paced = false;       // it came with a createPods op: its attempts take virtual time
  bool measured = false;
  bool awaited = false;  // an op waits for it
  bool attempted = false;
  std::string message;  // of a measured pod that was rejected, the latest
};

// Objects are put and removed by the run; a scheduler hears of it through its watches, and binds, patches and evicts
// through the door. What it asks for is only noted during the call, so that the cluster's own work is not counted as
// the scheduler's; Serve does it. A pod that the scheduler deletes is gone at once, finalizers or not.
//
// A watch begins where the store is: one from an older version is told 410. Leases are not there (404).
// Thread safety: one thread.
class InstantCluster final : public client::ClusterApi {
 public:
  // REQUIRES: both outlive it.
  InstantCluster(util::Inbox& inbox, const Clock& clock);

  // A new object, or a new version of one; what the cluster wrote (uid, creation, a pod's node and status) stays.
  // Returns the entry of a pod, valid until it is removed; null for other kinds.
  PodEntry* Put(const ClusterObject& object);
  // False when it is not there. A pod with finalizers only begins to terminate.
  bool Remove(Kind kind, std::string_view ns, std::string_view name);
  bool Has(Kind kind, std::string_view ns, std::string_view name) const;

  // Does what was asked for since the last call; answers and news are in the inbox then. False: nothing was asked.
  // REQUIRES: not called within on_bound.
  bool Serve();
  // A binding was accepted; may be empty.
  std::function<void(PodEntry&)> on_bound;

  PodEntry* FindPod(std::string_view full_name);
  // In order of creation.
  std::vector<PodEntry*> PodsIn(const std::string& ns);
  std::vector<PodEntry*> AllPods();
  size_t nodes() const { return shelf(Kind::kNode).size(); }
  size_t size() const { return size_; }
  const PriorityClasses& priority_classes() const { return *classes_; }

  // ClusterApi.
  void List(Kind kind, std::function<void(client::ListAnswer)> done) override;
  std::unique_ptr<client::Watch> StartWatch(Kind kind, const std::string& resource_version,
                                            client::WatchCallbacks callbacks) override;
  void GetPod(const std::string& ns, const std::string& name,
              std::function<void(const client::ApiStatus&, Ptr<Pod>)> done) override;
  void Bind(const client::ObjectName& pod, const std::string& node, client::Answer done) override;
  void PatchPodStatus(const client::PodStatusPatch& patch, client::Answer done) override;
  void DeletePod(const client::ObjectName& pod, client::Answer done) override;
  // A volume that is given to a claim is bound to it at once: the volume controller of this cluster is as fast as
  // everything else. None are made.
  void PatchVolume(const VolumeClaimPatch& patch, client::VersionAnswer done) override;
  void PatchClaim(const ClaimNodePatch& patch, client::VersionAnswer done) override;
  // Nobody reads them.
  void PostEvent(const client::EventRecord&, client::Answer done) override { TakeEvent(std::move(done)); }
  void PatchEvent(const client::EventRecord&, client::Answer done) override { TakeEvent(std::move(done)); }
  void GetLease(const std::string& ns, const std::string& name,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override;
  void PutLease(const client::Lease& lease,
                std::function<void(const client::ApiStatus&, const client::Lease&)> done) override;

 private:
  template <class T>
  using ByName = std::unordered_map<std::string, T, SecretStringHash, std::equal_to<>>;  // by namespace/name
  struct Watcher;
  class WatchHandle;

  // What was asked for, in order. Bindings and patches of statuses, which come by the thousand, are copied into records
  // that are used again and again: that is counted as the scheduler's work, and should cost as little as it can.
  struct Binding {
    client::ObjectName pod;
    std::string node;
    client::Answer done;
  };
  struct StatusWrite {
    client::PodStatusPatch patch;
    client::Answer done;
  };
  template <class T>
  struct Records {
    std::vector<T> all;
    size_t used = 0;
    T& Next() {
      if (used == all.size()) all.emplace_back();
      return all[used++];
    }
  };
  struct Asked {
    enum class What : uint8_t { kBinding, kStatus, kOther };
    std::vector<std::pair<What, size_t>> order;  // and the place among those of its sort
    Records<Binding> bindings;
    Records<StatusWrite> statuses;
    std::vector<std::function<void()>> others;
  };
  void Ask(std::function<void()> request) {
    asked_.order.emplace_back(Asked::What::kOther, asked_.others.size());
    asked_.others.push_back(std::move(request));
  }
  void Serve(Binding& binding);
  void Serve(StatusWrite& write);

  void TakeEvent(client::Answer done) {
    if (done) Ask([this, done = std::move(done)] { inbox_.Post([done] { done({}); }); });
  }
  ByName<ClusterObject>& shelf(Kind kind) { return shelves_[static_cast<size_t>(kind)]; }
  const ByName<ClusterObject>& shelf(Kind kind) const { return shelves_[static_cast<size_t>(kind)]; }
  std::string NextVersion() { return std::to_string(++version_); }
  PodEntry* PutPod(const Ptr<Pod>& pod);
  void ErasePod(const Pod& pod);
  // Puts a changed copy in place of the pod, with the next version.
  template <class Fn>
  void Change(PodEntry& entry, Fn&& fn);
  // Does `write` to the pod, if it is still that one, and answers what it says.
  template <class Fn>
  void Write(const client::ObjectName& pod, client::Answer done, Fn&& write);
  void Tell(client::WatchEvent::Type type, const ClusterObject& object, const std::string& version);
  void RefreshClasses();
  // The stored object; null when there is none.
  template <class T>
  Ptr<T> Find(std::string_view ns, std::string_view name) const;

  util::Inbox& inbox_;
  const Clock& clock_;
  ByName<PodEntry> pods_;
  std::array<ByName<ClusterObject>, kKindCount> shelves_;  // of pods: empty
  std::array<std::vector<std::shared_ptr<Watcher>>, kKindCount> watchers_;
  std::array<uint64_t, kKindCount> changed_{};  // the version of the latest change
  Asked asked_, served_;
  std::unique_ptr<PriorityClasses> classes_;
  uint64_t version_ = 1;
  size_t size_ = 0;
};

}  // namespace berth::bench
