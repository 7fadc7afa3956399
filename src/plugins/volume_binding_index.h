// SPDX-License-Identifier: Apache-2.0
// VolumeBindingIndex: a VolumeTable that is kept up to date as the cluster changes; and one made for a single decision.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "berth/depends.h"
#include "plugins/volume_binding_volumes.h"

namespace berth::plugins {

class VolumeBindingIndex final : public PluginIndex {
 public:
  void PodAdded(const Snapshot&, const PodRecord&) override {}
  void PodRemoved(const Snapshot&, const PodRecord&) override {}
  void NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) override;
  void ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) override;
  void ObjectAssumed(const Snapshot& snapshot, const ObjectChange& change) override;

  // False: this snapshot is of a cluster that does not feed the index.
  bool Serves(const Snapshot& snapshot) const { return home_ == snapshot.cluster(); }
  VolumeTable& table() { return table_; }

 private:
  void Refresh(const Snapshot& snapshot, const std::string& volume);

  VolumeTable table_;
  const void* home_ = nullptr;
};

// What a decision about claims of these classes and these bound volumes needs, and no more.
std::unique_ptr<VolumeTable> MakeVolumeTable(const Snapshot& snapshot, const std::set<std::string>& classes,
                                             const std::set<std::string>& volumes);

}  // namespace berth::plugins
