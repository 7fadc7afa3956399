// SPDX-License-Identifier: Apache-2.0
// The store, and what is asked of it.
#include "bench/instant_cluster.h"

#include <algorithm>
#include <utility>

#include "client/pod_writes.h"
#include "client/volume_writes.h"

namespace berth::bench {

using client::ApiStatus;
using client::ObjectName;
using client::WatchEvent;

namespace {

std::string StoredName(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!ns.empty()) key += '/';
  return key.append(name);
}

}  // namespace

struct InstantCluster::Watcher {
  client::WatchCallbacks callbacks;
  bool open = true;
};

class InstantCluster::WatchHandle final : public client::Watch {
 public:
  explicit WatchHandle(std::shared_ptr<Watcher> watcher) : watcher_(std::move(watcher)) {}
  ~WatchHandle() override { watcher_->open = false; }
  WatchHandle(const WatchHandle&) = delete;
  WatchHandle& operator=(const WatchHandle&) = delete;

 private:
  const std::shared_ptr<Watcher> watcher_;
};

InstantCluster::InstantCluster(util::Inbox& inbox, const Clock& clock) : inbox_(inbox), clock_(clock) {
  RefreshClasses();
}

void InstantCluster::RefreshClasses() {
  std::vector<Ptr<PriorityClass>> all;
  for (const auto& [key, object] : shelf(Kind::kPriorityClass)) all.push_back(std::get<Ptr<PriorityClass>>(object));
  classes_ = std::make_unique<PriorityClasses>(all);
}

// The run's side.

PodEntry* InstantCluster::Put(const ClusterObject& object) {
  if (const auto* pod = std::get_if<Ptr<Pod>>(&object)) return PutPod(*pod);
  const Kind kind = KindOf(object);
  ObjectMeta meta = MetaOf(object);
  const auto [slot, added] = shelf(kind).try_emplace(StoredName(meta.namespace_, meta.name), object);
  size_ += added;
  if (!added) meta.uid = MetaOf(slot->second).uid;
  meta.creation_time = added ? clock_.Now() : MetaOf(slot->second).creation_time;
  meta.resource_version = NextVersion();
  const std::string version = meta.resource_version;
  slot->second = WithMeta(object, std::move(meta));
  if (kind == Kind::kPriorityClass) RefreshClasses();
  Tell(added ? WatchEvent::Type::kAdded : WatchEvent::Type::kModified, slot->second, version);
  return nullptr;
}

PodEntry* InstantCluster::PutPod(const Ptr<Pod>& pod) {
  const auto [slot, added] = pods_.try_emplace(StoredName(pod->namespace_(), pod->name()));
  PodEntry& entry = slot->second;
  size_ += added;
  auto now = std::make_shared<Pod>(*pod);
  now->meta.resource_version = NextVersion();
  if (added) {
    now->meta.creation_time = clock_.Now();
  } else {
    const Pod& before = *entry.pod;
    now->meta.uid = before.uid();
    now->meta.creation_time = before.meta.creation_time;
    now->meta.deletion_time = before.meta.deletion_time;
    now->node_name = before.node_name;
    now->nominated_node_name = before.nominated_node_name;
    now->conditions = before.conditions;
  }
  entry.pod = std::move(now);
  Tell(added ? WatchEvent::Type::kAdded : WatchEvent::Type::kModified, entry.pod, entry.pod->meta.resource_version);
  return &entry;
}

template <class Fn>
void InstantCluster::Change(PodEntry& entry, Fn&& fn) {
  auto after = std::make_shared<Pod>(*entry.pod);
  fn(*after);
  after->meta.resource_version = NextVersion();
  entry.pod = std::move(after);
  Tell(WatchEvent::Type::kModified, entry.pod, entry.pod->meta.resource_version);
}

bool InstantCluster::Remove(Kind kind, std::string_view ns, std::string_view name) {
  if (kind == Kind::kPod) {
    PodEntry* entry = FindPod(StoredName(ns, name));
    if (!entry) return false;
    if (!entry->finalizers) {
      ErasePod(*entry->pod);
    } else if (!entry->pod->terminating()) {
      Change(*entry, [this](Pod& pod) { pod.meta.deletion_time = clock_.Now(); });
    }
    return true;
  }
  const auto it = shelf(kind).find(StoredName(ns, name));
  if (it == shelf(kind).end()) return false;
  const ClusterObject object = std::move(it->second);
  shelf(kind).erase(it);
  --size_;
  if (kind == Kind::kPriorityClass) RefreshClasses();
  Tell(WatchEvent::Type::kDeleted, object, NextVersion());
  return true;
}

void InstantCluster::ErasePod(const Pod& pod) {
  const auto it = pods_.find(StoredName(pod.namespace_(), pod.name()));
  const Ptr<Pod> last = std::move(it->second.pod);
  pods_.erase(it);
  --size_;
  Tell(WatchEvent::Type::kDeleted, last, NextVersion());
}

bool InstantCluster::Has(Kind kind, std::string_view ns, std::string_view name) const {
  const std::string key = StoredName(ns, name);
  return kind == Kind::kPod ? pods_.contains(key) : shelf(kind).contains(key);
}

PodEntry* InstantCluster::FindPod(std::string_view full_name) {
  const auto it = pods_.find(full_name);
  return it == pods_.end() ? nullptr : &it->second;
}

std::vector<PodEntry*> InstantCluster::AllPods() {
  std::vector<PodEntry*> out;
  for (auto& [name, entry] : pods_) out.push_back(&entry);
  // Uids are numbers of one length, in order of creation.
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return a->pod->uid() < b->pod->uid(); });
  return out;
}

std::vector<PodEntry*> InstantCluster::PodsIn(const std::string& ns) {
  std::vector<PodEntry*> out = AllPods();
  std::erase_if(out, [&](const PodEntry* entry) { return entry->pod->namespace_() != ns; });
  return out;
}

// The scheduler's side.

bool InstantCluster::Serve() {
  std::swap(asked_, served_);
  for (const auto& [what, place] : served_.order) {
    switch (what) {
      case Asked::What::kBinding:
        Serve(served_.bindings.all[place]);
        break;
      case Asked::What::kStatus:
        Serve(served_.statuses.all[place]);
        break;
      case Asked::What::kOther:
        served_.others[place]();
        break;
    }
  }
  const bool any = !served_.order.empty();
  served_.order.clear();
  served_.bindings.used = served_.statuses.used = 0;
  served_.others.clear();
  return any;
}

void InstantCluster::Tell(WatchEvent::Type type, const ClusterObject& object, const std::string& version) {
  const auto kind = static_cast<size_t>(KindOf(object));
  changed_[kind] = version_;
  for (const std::shared_ptr<Watcher>& watcher : watchers_[kind])
    inbox_.Post([watcher, event = WatchEvent{type, object, version}] {
      if (watcher->open) watcher->callbacks.event(event);
    });
}

void InstantCluster::List(Kind kind, std::function<void(client::ListAnswer)> done) {
  Ask([this, kind, done = std::move(done)] {
    client::ListAnswer answer;
    answer.resource_version = std::to_string(version_);
    for (const auto& [key, object] : shelf(kind)) answer.objects.push_back(object);
    if (kind == Kind::kPod)
      for (const auto& [key, entry] : pods_) answer.objects.emplace_back(entry.pod);
    std::sort(answer.objects.begin(), answer.objects.end(),
              [](const ClusterObject& a, const ClusterObject& b) { return FullName(MetaOf(a)) < FullName(MetaOf(b)); });
    inbox_.Post([done, answer = std::move(answer)] { done(answer); });
  });
}

std::unique_ptr<client::Watch> InstantCluster::StartWatch(Kind kind, const std::string& resource_version,
                                                          client::WatchCallbacks callbacks) {
  auto watcher = std::make_shared<Watcher>(Watcher{std::move(callbacks)});
  auto handle = std::make_unique<WatchHandle>(watcher);
  const auto index = static_cast<size_t>(kind);
  if (VersionNumber(resource_version) < changed_[index]) {
    inbox_.Post([watcher] {
      if (watcher->open) watcher->callbacks.closed({410, "too old resource version"});
    });
    return handle;
  }
  inbox_.Post([watcher] {
    if (watcher->open && watcher->callbacks.opened) watcher->callbacks.opened();
  });
  std::erase_if(watchers_[index], [](const std::shared_ptr<Watcher>& other) { return !other->open; });
  watchers_[index].push_back(std::move(watcher));
  return handle;
}

void InstantCluster::GetPod(const std::string& ns, const std::string& name,
                            std::function<void(const ApiStatus&, Ptr<Pod>)> done) {
  Ask([this, pod = ObjectName{ns, name, ""}, done = std::move(done)] {
    const PodEntry* entry = FindPod(StoredName(pod.namespace_, pod.name));
    const Ptr<Pod> found = entry ? entry->pod : nullptr;
    inbox_.Post([done, found, status = client::CheckIncarnation(pod, found.get())] { done(status, found); });
  });
}

template <class Fn>
void InstantCluster::Write(const ObjectName& pod, client::Answer done, Fn&& write) {
  PodEntry* entry = FindPod(StoredName(pod.namespace_, pod.name));
  ApiStatus status = client::CheckIncarnation(pod, entry ? entry->pod.get() : nullptr);
  if (status.ok()) status = write(*entry);
  inbox_.Post([done = std::move(done), status = std::move(status)] { done(status); });
}

void InstantCluster::Bind(const ObjectName& pod, const std::string& node, client::Answer done) {
  asked_.order.emplace_back(Asked::What::kBinding, asked_.bindings.used);
  Binding& binding = asked_.bindings.Next();
  binding.pod = pod;
  binding.node = node;
  binding.done = std::move(done);
}

void InstantCluster::Serve(Binding& binding) {
  Write(binding.pod, std::move(binding.done), [&](PodEntry& entry) {
    ApiStatus status = client::CheckBinding(*entry.pod, binding.node);
    if (!status.ok()) return status;
    const auto found = shelf(Kind::kNode).find(binding.node);
    const Node* const known = found != shelf(Kind::kNode).end() ? std::get<Ptr<Node>>(found->second).get() : nullptr;
    Change(entry, [&](Pod& bound) { client::ApplyBinding(binding.node, known, bound); });
    if (on_bound) on_bound(entry);
    return ApiStatus{201, ""};
  });
}

void InstantCluster::PatchPodStatus(const client::PodStatusPatch& patch, client::Answer done) {
  asked_.order.emplace_back(Asked::What::kStatus, asked_.statuses.used);
  StatusWrite& write = asked_.statuses.Next();
  write.patch = patch;
  write.done = std::move(done);
}

void InstantCluster::Serve(StatusWrite& write) {
  Write(write.patch.pod, std::move(write.done), [&](PodEntry& entry) {
    if (client::ChangesStatus(write.patch, *entry.pod))
      Change(entry, [&](Pod& patched) { client::ApplyStatus(write.patch, patched); });
    return ApiStatus{};
  });
}

void InstantCluster::DeletePod(const ObjectName& pod, client::Answer done) {
  Ask([this, pod, done = std::move(done)] {
    Write(pod, done, [&](PodEntry& entry) {
      ErasePod(*entry.pod);
      return ApiStatus{};
    });
  });
}

template <class T>
Ptr<T> InstantCluster::Find(std::string_view ns, std::string_view name) const {
  const auto it = shelf(InfoOf<T>().kind).find(StoredName(ns, name));
  return it == shelf(InfoOf<T>().kind).end() ? nullptr : std::get<Ptr<T>>(it->second);
}

void InstantCluster::PatchVolume(const VolumeClaimPatch& patch, client::VersionAnswer done) {
  Ask([this, patch, done = std::move(done)] {
    const auto before = Find<PersistentVolume>("", patch.volume);
    const ApiStatus status = client::CheckVersion(patch, before.get());
    if (!status.ok()) return inbox_.Post([done, status] { done(status, ""); });
    auto volume = std::make_shared<PersistentVolume>(*before);
    if (client::Apply(patch, *volume)) Put(Ptr<PersistentVolume>(volume));
    const std::string version = Find<PersistentVolume>("", patch.volume)->meta.resource_version;
    inbox_.Post([done, version] { done({}, version); });
    const auto claim = Find<PersistentVolumeClaim>(patch.claim.namespace_, patch.claim.name);
    if (!claim || claim->meta.uid != patch.claim.uid || !claim->volume_name.empty()) return;
    auto given = std::make_shared<PersistentVolume>(*Find<PersistentVolume>("", patch.volume));
    client::BindTo(*claim, *given);
    Put(Ptr<PersistentVolume>(given));
    auto bound = std::make_shared<PersistentVolumeClaim>(*claim);
    client::BindTo(*given, *bound);
    Put(Ptr<PersistentVolumeClaim>(bound));
  });
}

void InstantCluster::PatchClaim(const ClaimNodePatch& patch, client::VersionAnswer done) {
  Ask([this, patch, done = std::move(done)] {
    const auto before = Find<PersistentVolumeClaim>(patch.namespace_, patch.name);
    const ApiStatus status = client::CheckVersion(patch, before.get());
    if (!status.ok()) return inbox_.Post([done, status] { done(status, ""); });
    auto claim = std::make_shared<PersistentVolumeClaim>(*before);
    if (client::Apply(patch, *claim)) Put(Ptr<PersistentVolumeClaim>(claim));
    const std::string version = Find<PersistentVolumeClaim>(patch.namespace_, patch.name)->meta.resource_version;
    inbox_.Post([done, version] { done({}, version); });
  });
}

void InstantCluster::GetLease(const std::string&, const std::string& name,
                              std::function<void(const ApiStatus&, const client::Lease&)> done) {
  Ask([this, name, done = std::move(done)] {
    inbox_.Post([name, done] { done({404, "leases \"" + name + "\" not found"}, {}); });
  });
}

void InstantCluster::PutLease(const client::Lease& lease,
                              std::function<void(const ApiStatus&, const client::Lease&)> done) {
  GetLease(lease.namespace_, lease.name, std::move(done));
}

}  // namespace berth::bench
