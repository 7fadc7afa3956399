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
    ObjectStoreWriter::Put(columns_.mutable_data().objects.get<T>(), std::move(object));
    TellObjectsChanged();
  }
  template <class T>
  void RemoveObject(std::string_view ns, std::string_view name) {
    ObjectStoreWriter::Remove(columns_.mutable_data().objects.get<T>(), ns, name);
    TellObjectsChanged();
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
  void TellObjectsChanged();

  Columns columns_;
  ByText<std::unique_ptr<PodRecord>> pods_;        // by uid
  ByText<Nomination> nominations_;                 // by uid
  ByText<std::vector<std::string>> nominated_to_;  // node name to uids, in nomination order
  std::vector<PluginIndex*> indexes_;
  size_t assumed_ = 0;  // pods that are
};

}  // namespace berth::cluster
