// SPDX-License-Identifier: Apache-2.0
// The door of the simulated cluster: requests travel to the store, and answers back, in virtual time.
#include <utility>

#include "client/volume_writes.h"
#include "sim/simulated_cluster.h"
#include "sim/simulated_cluster_internal.h"

namespace berth::sim {

using client::ApiStatus;
using client::Lease;
using client::ObjectName;

namespace {

ApiStatus ConnectionLost() { return {0, "connection lost"}; }

}  // namespace

void SimulatedCluster::Later(Duration delay, std::function<void()> fn) {
  ++under_way_;
  agenda_.At(clock_.Now() + delay, owner_.link().Guard([this, fn = std::move(fn)] {
    --under_way_;
    fn();
  }));
}

void SimulatedCluster::Reply(std::function<void()> fn) { inbox_.Post(owner_.link().Guard(std::move(fn))); }

// `effect` looks at the store and returns what is to be told.
void SimulatedCluster::Read(const Fate& fate, std::function<std::function<void()>()> effect) {
  Later(fate.latency, [this, latency = fate.latency, effect = std::move(effect)] {
    Later(latency, [this, answer = effect()]() mutable { Reply(std::move(answer)); });
  });
}

void SimulatedCluster::Write(const ObjectName& pod, std::function<ApiStatus()> effect, client::Answer done) {
  const Fate fate = Draw(Access::kWritePod, KeyOf(pod.namespace_, pod.name));
  Read(fate, [this, fate, pod, effect = std::move(effect), done = std::move(done)]() -> std::function<void()> {
    ApiStatus status = fate.refusal;
    if (status.ok()) {
      if (fate.touched) Touch(pod);
      status = effect();
      if (fate.lost) status = ConnectionLost();
    }
    return [done, status = std::move(status)] { done(status); };
  });
}

void SimulatedCluster::List(Kind kind, std::function<void(client::ListAnswer)> done) {
  const Fate fate = Draw(Access::kRead, ToString(kind));
  Read(fate, [this, fate, kind, done = std::move(done)]() -> std::function<void()> {
    auto answer = std::make_shared<client::ListAnswer>();
    answer->status = fate.refusal;
    if (fate.refusal.ok()) {
      answer->objects = Sorted(kind);
      std::erase_if(answer->objects, [](const ClusterObject& object) { return !Visible(object); });
      answer->resource_version = std::to_string(version_);
    }
    return [done, answer] { done(std::move(*answer)); };
  });
}

void SimulatedCluster::GetPod(const std::string& ns, const std::string& name,
                              std::function<void(const ApiStatus&, Ptr<Pod>)> done) {
  const Fate fate = Draw(Access::kRead, KeyOf(ns, name));
  Read(fate, [this, fate, ns, name, done = std::move(done)]() -> std::function<void()> {
    ApiStatus status = fate.refusal;
    Ptr<Pod> pod;
    if (status.ok()) {
      const ClusterObject* stored = FindPod({ns, name, ""}, status);
      if (stored != nullptr) pod = std::get<Ptr<Pod>>(*stored);
    }
    return [done, status = std::move(status), pod = std::move(pod)] { done(status, pod); };
  });
}

void SimulatedCluster::Bind(const ObjectName& pod, const std::string& node, client::Answer done) {
  Write(
      pod, [this, pod, node] { return BindPod(pod, node); }, std::move(done));
}

template <class T, class Patch>
void SimulatedCluster::PatchObject(const std::string& ns, const std::string& name, const Patch& patch,
                                   client::VersionAnswer done) {
  const Fate fate = Draw(Access::kWrite, KeyOf(ns, name));
  Read(fate, [this, fate, ns, name, patch, done = std::move(done)]() -> std::function<void()> {
    ApiStatus status = fate.refusal;
    std::string version;
    if (status.ok()) {
      const ClusterObject* const found = Find(InfoOf<T>().kind, ns, name);
      const Ptr<T> before = found != nullptr ? std::get<Ptr<T>>(*found) : nullptr;
      status = client::CheckVersion(patch, before.get());
      auto after = before ? std::make_shared<T>(*before) : nullptr;
      if (status.ok() && client::Apply(patch, *after))
        status =
            Update(InfoOf<T>().kind, ns, name, [&](const ClusterObject&) -> ClusterObject { return Ptr<T>(after); });
      if (status.ok()) version = MetaOf(*Find(InfoOf<T>().kind, ns, name)).resource_version;
      if (fate.lost) status = ConnectionLost();
    }
    return [done, status = std::move(status), version = std::move(version)] { done(status, version); };
  });
}

void SimulatedCluster::PatchVolume(const VolumeClaimPatch& patch, client::VersionAnswer done) {
  PatchObject<PersistentVolume>("", patch.volume, patch, std::move(done));
}

void SimulatedCluster::PatchClaim(const ClaimNodePatch& patch, client::VersionAnswer done) {
  PatchObject<PersistentVolumeClaim>(patch.namespace_, patch.name, patch, std::move(done));
}

void SimulatedCluster::PatchPodStatus(const client::PodStatusPatch& patch, client::Answer done) {
  Write(
      patch.pod, [this, patch] { return PatchPod(patch); }, std::move(done));
}

void SimulatedCluster::DeletePod(const ObjectName& pod, client::Answer done) {
  Write(
      pod, [this, pod] { return RemovePod(pod); }, std::move(done));
}

// Without somebody who waits for it, it takes no time and is not kept.
void SimulatedCluster::PostEvent(const client::EventRecord& event, client::Answer done) {
  const Fate fate =
      Draw(done ? Access::kWrite : Access::kRead, KeyOf(event.regarding.namespace_, event.regarding.name));
  const auto take = [this](const client::EventRecord& taken) {
    ++events_posted_;
    if (on_event) on_event(taken);
  };
  if (!done) {
    if (fate.refusal.ok()) take(event);
    return;
  }
  Read(fate, [this, fate, take, event, done = std::move(done)]() -> std::function<void()> {
    ApiStatus status = fate.refusal;
    if (status.ok()) {
      if (events_.emplace(KeyOf(event.regarding.namespace_, event.name), event).second) {
        take(event);
      } else {
        status = {409, "events \"" + event.name + "\" already exists"};
      }
      if (fate.lost) status = ConnectionLost();
    }
    return [done, status = std::move(status)] { done(status); };
  });
}

void SimulatedCluster::PatchEvent(const client::EventRecord& event, client::Answer done) {
  const Fate fate = Draw(Access::kWrite, KeyOf(event.regarding.namespace_, event.regarding.name));
  Read(fate, [this, fate, event, done = std::move(done)]() -> std::function<void()> {
    ApiStatus status = fate.refusal;
    if (status.ok()) {
      const auto it = events_.find(KeyOf(event.regarding.namespace_, event.name));
      if (it == events_.end()) {
        status = {404, "events \"" + event.name + "\" not found"};
      } else {
        it->second.series = event.series;
      }
      if (fate.lost) status = ConnectionLost();
    }
    return [done, status = std::move(status)] {
      if (done) done(status);
    };
  });
}

int64_t SimulatedCluster::EventCount(std::string_view reason) const {
  int64_t count = 0;
  for (const auto& [key, event] : events_)
    if (event.reason == reason) count += event.series ? event.series->count : 1;
  return count;
}

void SimulatedCluster::GetLease(const std::string& ns, const std::string& name,
                                std::function<void(const ApiStatus&, const Lease&)> done) {
  const Fate fate = Draw(Access::kRead, KeyOf(ns, name));
  Read(fate, [this, fate, key = KeyOf(ns, name), done = std::move(done)]() -> std::function<void()> {
    ApiStatus status = fate.refusal;
    Lease lease;
    if (status.ok()) {
      const auto it = leases_.find(key);
      if (it == leases_.end()) {
        status = {404, "leases \"" + key + "\" not found"};
      } else {
        lease = it->second;
      }
    }
    return [done, status = std::move(status), lease = std::move(lease)] { done(status, lease); };
  });
}

void SimulatedCluster::PutLease(const Lease& lease, std::function<void(const ApiStatus&, const Lease&)> done) {
  const Fate fate = Draw(Access::kWrite, KeyOf(lease.namespace_, lease.name));
  Read(fate, [this, fate, lease, done = std::move(done)]() -> std::function<void()> {
    ApiStatus status = fate.refusal;
    Lease written = lease;
    if (status.ok()) {
      const std::string key = KeyOf(lease.namespace_, lease.name);
      const auto it = leases_.find(key);
      if (it == leases_.end() && !lease.resource_version.empty()) {
        status = {404, "leases \"" + key + "\" not found"};
      } else if (it != leases_.end() && it->second.resource_version != lease.resource_version) {
        status = {409, lease.resource_version.empty() ? "leases \"" + key + "\" already exists"
                                                      : "leases \"" + key + "\" has been modified"};
      } else {
        written.resource_version = NextVersion();
        leases_[key] = written;
      }
      if (fate.lost) status = ConnectionLost();
    }
    if (!status.ok()) written = lease;
    return [done, status = std::move(status), written = std::move(written)] { done(status, written); };
  });
}

}  // namespace berth::sim
