// SPDX-License-Identifier: Apache-2.0
// Equal lists of pods and nodes made one: a pool per type of item, found by a hash of the content.
#include "berth/host/share_lists.h"

#include <array>
#include <mutex>
#include <unordered_map>

#include "berth/list.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"
#include "util/hash.h"
#include "util/secret_hash.h"

namespace berth {
inline namespace v1 {
namespace {

// A hash over all fields of a value, in their order.
class Hasher {
 public:
  uint64_t value() const { return hash_; }

  void Add(uint64_t number) { hash_ = HashMix(hash_, number); }
  void Add(const std::string& text) { hash_ = HashMix(hash_, SecretHash64(text)); }
  template <class T>
  void Add(const std::vector<T>& items) {
    Add(uint64_t{items.size()});
    for (const T& item : items) Add(item);
  }
  template <class T>
  void Add(const List<T>& items) {
    Add(items.items());
  }
  template <class T>
  void Add(const std::optional<T>& item) {
    Add(uint64_t{item.has_value()});
    if (item) Add(*item);
  }
  void Add(const std::pair<ResourceId, Quantity>& amount) {
    Add(uint64_t{Index(amount.first)});
    Add(static_cast<uint64_t>(amount.second.nano()));
  }
  void Add(const Requirement& r) { Fields(r.key, uint64_t(r.op), r.values); }
  void Add(const LabelSelector& s) { Fields(s.requirements, s.invalid); }
  void Add(const NodeSelectorTerm& t) { Fields(t.match_expressions, t.match_fields, t.invalid); }
  void Add(const PreferredSchedulingTerm& t) { Fields(uint64_t(t.weight), t.preference); }
  void Add(const PodAffinityTerm& t) { Fields(t.selector, t.namespaces, t.namespace_selector, t.topology_key); }
  void Add(const WeightedPodAffinityTerm& t) { Fields(uint64_t(t.weight), t.term); }
  void Add(const NodeImage& i) { Fields(i.names, uint64_t(i.size_bytes)); }
  void Add(const NodeCondition& c) { Fields(c.type, c.status); }
  void Add(const OwnerReference& o) { Fields(o.api_version, o.kind, o.name, o.uid, uint64_t{o.controller}); }
  void Add(const ContainerPort& p) { Fields(uint64_t(p.container_port), uint64_t(p.host_port), p.host_ip, p.protocol); }
  void Add(const Container& c) {
    Fields(c.name, c.image, c.requests, c.limits, c.ports, uint64_t{c.sidecar}, uint64_t{c.restarts_all_containers});
  }
  void Add(const ContainerStatus& s) { Fields(s.name, s.resources_requests, s.allocated_resources); }
  void Add(const Toleration& t) { Fields(t.key, uint64_t(t.op), t.value, uint64_t(t.effect)); }
  void Add(const TopologySpreadConstraint& c) {
    Fields(uint64_t(c.max_skew), c.topology_key, uint64_t(c.when_unsatisfiable), c.selector,
           uint64_t(c.min_domains.value_or(0)), uint64_t(c.node_affinity_policy), uint64_t(c.node_taints_policy),
           c.match_label_keys);
  }
  void Add(const PodVolume& v) {
    Fields(v.name, uint64_t(v.kind), v.source, uint64_t{v.read_only}, v.variant, v.hosts);
  }
  void Add(const PodCondition& c) { Fields(c.type, c.status, c.reason, c.message); }

 private:
  template <class... Fs>
  void Fields(const Fs&... fields) {
    (Add(fields), ...);
  }

  // Numbers, as amounts are, could be made to collide without the secret.
  uint64_t hash_ = SecretHash64("ShareLists");
};

}  // namespace

// The lists of one type that were shared and that somebody still has. Thread safety: all functions.
template <class T>
class ListPool {
 public:
  static void Share(List<T>& list) {
    Rep* const mine = list.rep_;
    if (!mine || mine->leave) return;
    if (mine->items.empty()) return list.clear();
    Hasher hasher;
    hasher.Add(mine->items);
    const uint64_t hash = hasher.value();
    List<T> found;  // dropped after the lock
    {
      Shard& shard = ShardOf(hash);
      const std::lock_guard lock(shard.mutex);
      const auto [first, last] = shard.lists.equal_range(hash);
      for (auto it = first; it != last && !found.rep_; ++it)
        if (it->second->items == mine->items && Take(*it->second)) found.rep_ = it->second;
      if (!found.rep_) {
        // Made anew to be of the right size, and because copies of this one may be looked at by other threads.
        found.rep_ = new Rep(std::vector<T>(mine->items.begin(), mine->items.end()));
        found.rep_->leave = &Leave;
        found.rep_->hash = hash;
        shard.lists.emplace(hash, found.rep_);
      }
    }
    std::swap(list.rep_, found.rep_);
  }

 private:
  using Rep = typename List<T>::Rep;
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<uint64_t, Rep*> lists;
  };

  static Shard& ShardOf(uint64_t hash) {
    static auto* shards = new std::array<Shard, 16>();  // never destroyed: lists may outlive every static
    return (*shards)[hash % shards->size()];
  }
  // False: the last one who had it is about to take it out of the pool.
  static bool Take(Rep& rep) {
    uint32_t uses = rep.uses.load(std::memory_order_relaxed);
    while (uses != 0)
      if (rep.uses.compare_exchange_weak(uses, uses + 1, std::memory_order_acq_rel)) return true;
    return false;
  }
  static void Leave(const Rep& rep) {
    Shard& shard = ShardOf(rep.hash);
    const std::lock_guard lock(shard.mutex);
    auto [first, last] = shard.lists.equal_range(rep.hash);
    for (; first != last; ++first) {
      if (first->second != &rep) continue;
      shard.lists.erase(first);
      return;
    }
  }
};

namespace {

template <class T>
void Share(List<T>& list) {
  ListPool<T>::Share(list);
}

void Share(std::optional<PodAffinity>& affinity) {
  if (!affinity) return;
  Share(affinity->required);
  Share(affinity->preferred);
}

}  // namespace

void ShareLists(Node& node) {
  Share(node.meta.owners);
  // Nodes differ in which images they hold, but not in how these are called.
  if (!node.images.empty())
    for (NodeImage& image : node.images.Edit()) Share(image.names);
  Share(node.images);
  Share(node.declared_features);
  Share(node.conditions);
}

void ShareList(List<OwnerReference>& owners) { Share(owners); }
void ShareList(List<PodCondition>& conditions) { Share(conditions); }

void ShareStatusLists(Pod& pod) {
  Share(pod.meta.owners);
  Share(pod.conditions);
  Share(pod.container_statuses);
  Share(pod.init_container_statuses);
}

void ShareLists(Pod& pod) {
  ShareStatusLists(pod);
  if (pod.affinity.node_required) Share(pod.affinity.node_required->terms);
  Share(pod.affinity.node_preferred);
  Share(pod.affinity.pod_affinity);
  Share(pod.affinity.pod_anti_affinity);
  Share(pod.tolerations);
  Share(pod.topology_spread);
  Share(pod.containers);
  Share(pod.init_containers);
  Share(pod.scheduling_gates);
  Share(pod.volumes);
  Share(pod.resource_claims);
}

}  // namespace v1
}  // namespace berth
