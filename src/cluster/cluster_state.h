// SPDX-License-Identifier: Apache-2.0
// ClusterState: what we believe of the cluster now, including pods we have placed and nobody has confirmed yet.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "berth/depends.h"
#include "berth/error.h"
#include "berth/snapshot.h"
#include "cluster/columns.h"
#include "util/secret_hash.h"

namespace berth::cluster {

// A pod on a node goes through these states, keyed by uid:
//
//              Assume                 AddPod (the watch confirms it)
//   unknown ------------> assumed -------------------------------> added --+ UpdatePod
//      |                     |                                     ^  |  ^-+
//      |                     | Forget (binding failed), RemovePod  |  |
//      |                     v                                     |  | RemovePod
//      |                   unknown                                 |  v
//      +--------------------------- AddPod ------------------------+ unknown
//
// An assumed pod stays until one of these happens; it never expires. Events that do not fit return an Error for the log
// and leave the state as it was, except that the watch is always believed about where a pod is: a pod confirmed or
// updated on another node than we thought moves there.
//
// Pods may refer to nodes we have not seen. They are counted on a row that no Snapshot shows until the node appears.
//
// Thread safety: scheduling thread only. Changes happen between cycles, never while a Snapshot is in use.
class ClusterState {
 public:
  ClusterState() = default;
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // Adds a node or replaces the one of this name.
  void PutNode(std::shared_ptr<const Node> node);
  Error RemoveNode(std::string_view name);

  // REQUIRES for all three: pod->node_name is set.
  Error AssumePod(std::shared_ptr<const Pod> pod);
  Error AddPod(std::shared_ptr<const Pod> pod);
  Error UpdatePod(std::shared_ptr<const Pod> pod);
  // Takes back an assumption. Pods that the watch has confirmed are not forgotten.
  Error ForgetPod(std::string_view uid);
  Error RemovePod(std::string_view uid);
  bool IsAssumed(std::string_view uid) const;
  // Null when unknown.
  const PodRecord* FindPod(std::string_view uid) const;
  size_t pod_count() const { return pods_.size(); }  // assumed ones included
  size_t assumed_count() const { return assumed_; }

  // A pending pod is expected on `node` (status.nominatedNodeName); replaces an earlier nomination of the same uid.
  void Nominate(std::shared_ptr<const Pod> pod, const std::string& node);
  void ClearNomination(std::string_view uid);
  // The node a pod is nominated to; null when it is not.
  const std::string* NominationOf(std::string_view uid) const;
  // Pods nominated to a node of this name, known or not, in nomination order.
  std::vector<std::shared_ptr<const Pod>> NominatedTo(std::string_view node) const;
  size_t nomination_count() const { return nominations_.size(); }

  // Namespaces, services, budgets and the like.
  template <class T>
  void PutObject(std::shared_ptr<const T> object) {
    const std::shared_ptr<const T> before = ObjectStoreWriter::Put(columns_.mutable_data().objects.get<T>(), object);
    if constexpr (AssumedObjects::kHolds<T>) DropOutdated<T>(object->meta);
    TellObjectsChanged(ObjectChange(before.get(), object.get()));
  }
  template <class T>
  void RemoveObject(std::string_view ns, std::string_view name) {
    const std::shared_ptr<const T> before =
        ObjectStoreWriter::Remove(columns_.mutable_data().objects.get<T>(), ns, name);
    if constexpr (AssumedObjects::kHolds<T>)
      if (before) AssumedStoreWriter::Drop(columns_.mutable_data().assumed.get<T>(), before->meta);
    if (before) TellObjectsChanged(ObjectChange(before.get(), static_cast<const T*>(nullptr)));
  }

  // From now on `object` is believed in (Snapshot::Believed) until it is restored, or another version of it is put.
  // The Error is upstream's: there is no such object, or it has another version.
  template <class T>
  Error AssumeObject(std::shared_ptr<const T> object) {
    const ObjectMeta& meta = object->meta;
    const T* const stored = columns_.data().objects.get<T>().Find(meta.namespace_, meta.name);
    if (stored == nullptr) return Error(std::string(InfoOf<T>().plural) + " \"" + FullName(meta) + "\" not found");
    if (stored->meta.resource_version != meta.resource_version)
      return Error("\"" + FullName(meta) + "\" is out of sync (stored: " + stored->meta.resource_version +
                   ", assume: " + meta.resource_version + ")");
    const std::shared_ptr<const T> kept = object;
    AssumedStoreWriter::Put(columns_.mutable_data().assumed.get<T>(), std::move(object));
    TellObjectAssumed(ObjectChange(stored, kept.get()));
    return Error::Ok();
  }
  // Takes back what is assumed of this version of the object, if anything is.
  template <class T>
  void RestoreObject(const T& object) {
    AssumedStore<T>& store = columns_.mutable_data().assumed.get<T>();
    const ObjectMeta& meta = object.meta;
    const T* const assumed = store.Find(meta.namespace_, meta.name);
    if (assumed == nullptr || assumed->meta.resource_version != meta.resource_version) return;
    const T was = *assumed;
    AssumedStoreWriter::Drop(store, was.meta);
    TellObjectAssumed(ObjectChange(&was, columns_.data().objects.get<T>().Find(was.meta.namespace_, was.meta.name)));
  }

  // From now on told of every change. REQUIRES: outlives the state or is removed first. It is first told of all that is
  // there.
  void AddIndex(PluginIndex* index);
  void RemoveIndex(PluginIndex* index);

  Snapshot snapshot() const { return Snapshot(columns_); }
  const Columns& columns() const { return columns_; }

 private:
  template <class V>
  using ByText = std::unordered_map<std::string, V, SecretStringHash, std::equal_to<>>;
  struct Nomination {
    std::string node;
    std::unique_ptr<PodRecord> record;
  };

  void Place(std::shared_ptr<const Pod> pod, bool assumed);
  void Displace(ByText<std::unique_ptr<PodRecord>>::iterator it);
  // A newer version of a placed pod. Where only its status differs, as with almost every confirmation, nothing is
  // counted again, and who remembers answers need not ask again.
  void Replace(ByText<std::unique_ptr<PodRecord>>::iterator it, std::shared_ptr<const Pod> pod);
  // The same for a pod of which only labels, and perhaps its status, differ: those who count by labels hear of it.
  void Relabel(std::unique_ptr<PodRecord>& slot, std::shared_ptr<const Pod> pod);
  void RefreshNominated(const std::string& node);
  void TellObjectsChanged(const ObjectChange& change);
  void TellObjectAssumed(const ObjectChange& change);
  // Forgets what was assumed of another version than this one.
  template <class T>
  void DropOutdated(const ObjectMeta& meta) {
    AssumedStore<T>& store = columns_.mutable_data().assumed.get<T>();
    const T* const assumed = store.Find(meta.namespace_, meta.name);
    if (assumed != nullptr && assumed->meta.resource_version != meta.resource_version)
      AssumedStoreWriter::Drop(store, meta);
  }

  Columns columns_;
  ByText<std::unique_ptr<PodRecord>> pods_;        // by uid
  ByText<Nomination> nominations_;                 // by uid
  ByText<std::vector<std::string>> nominated_to_;  // node name to uids, in nomination order
  std::vector<PluginIndex*> indexes_;
  size_t assumed_ = 0;  // pods that are
};

}  // namespace berth::cluster
