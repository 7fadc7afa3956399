// SPDX-License-Identifier: Apache-2.0
// ClusterMirror: a ClusterState kept equal to a cluster by list and watch, of the kinds that somebody reads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/annotations.h"
#include "berth/clock.h"
#include "berth/depends.h"
#include "client/cluster_api.h"
#include "client/reflector.h"
#include "cluster/cluster_state.h"
#include "extender/request_cluster.h"
#include "util/timer_queue.h"

namespace berth::extender {

// Pods on a node are on its row; those that wait are there as nominations, if they have one.
//
// REQUIRES: everything given to it outlives it. Thread safety: none.
class ClusterMirror final : public client::ObjectHandler {
 public:
  // `complain` is told of what makes no sense; nothing is lost by it.
  ClusterMirror(client::ClusterApi& api, util::TimerQueue& timers, const Clock& clock,
                std::function<void(const std::string&)> complain, size_t max_cells = kMaxCells);
  ~ClusterMirror() override;

  // Begins to list and watch; call once. The indexes are kept up to date with the state. Of pods and nodes the
  // annotations of the given keys are kept.
  void Start(const std::vector<Kind>& kinds, const std::vector<PluginIndex*>& indexes,
             const AnnotationKeys& annotations = {});
  bool synced() const;
  // How long ago the API server last said anything of a kind, for the kinds that have been listed.
  std::vector<std::pair<Kind, Duration>> Ages() const;
  // Names of the kinds whose first list is still to come.
  std::string Missing() const;
  const cluster::ClusterState& state() const { return state_; }

  // Whether the cluster has all these nodes, each in the version given.
  bool Has(std::span<const std::shared_ptr<const Node>> nodes) const;
  // The cluster with these nodes in the place of those of their names; of equal names the last counts. A copy of it is
  // kept for that from the first call on, so that the next one costs what differs. Good until the next change or call.
  const cluster::ClusterState& With(std::span<const std::shared_ptr<const Node>> nodes);

  // Gives the copy's memory back.
  void DropCopy();
  bool has_copy() const { return copy_ != nullptr; }

  void OnAdd(const ClusterObject& after) override;
  void OnUpdate(const ClusterObject& before, const ClusterObject& after) override;
  void OnDelete(const ClusterObject& before) override;

 private:
  void Complain(const Error& error) const;
  // One more change; false: there is no copy that has to be told of it.
  bool CopyFollows();
  void MakeCopy();
  void PutBack(const std::string& node);
  bool Lent(const ClusterObject& object) const;

  client::ClusterApi& api_;
  util::TimerQueue& timers_;
  const Clock& clock_;
  const std::function<void(const std::string&)> complain_;
  const size_t max_cells_;  // of the copy
  cluster::ClusterState state_;
  std::unique_ptr<cluster::ClusterState> copy_;         // null until it is asked for
  std::map<std::string, Ptr<Node>, std::less<>> lent_;  // nodes of the copy that somebody else put there
  size_t lendings_ = 0;                                 // since the copy was made
  ResourceCount lent_resources_;                        // of all nodes ever lent to it
  size_t unread_ = 0;                                   // changes of the copy since it was last asked for
  uint64_t random_;
  std::vector<PluginIndex*> indexes_;
  std::vector<std::unique_ptr<client::Reflector>> reflectors_;  // first to go: they call us
};

}  // namespace berth::extender
