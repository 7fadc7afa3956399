// SPDX-License-Identifier: Apache-2.0
// From changes of objects to a VolumeTable.
#include "plugins/volume_binding_index.h"

#include "plugins/common/volumes.h"

namespace berth::plugins {

void VolumeBindingIndex::NodeChanged(const Snapshot& snapshot, Row row, const Node* before, const Node* after) {
  home_ = snapshot.cluster();
  if (after != nullptr) {
    table_.PutNode(row, after->name(), after->meta.labels);
  } else if (before != nullptr) {
    table_.RemoveNode(row);
  }
}

void VolumeBindingIndex::Refresh(const Snapshot& snapshot, const std::string& volume) {
  if (const PersistentVolume* now = snapshot.Believed<PersistentVolume>("", volume)) {
    table_.PutVolume(*now);
  } else {
    table_.RemoveVolume(volume);
  }
}

void VolumeBindingIndex::ObjectsChanged(const Snapshot& snapshot, const ObjectChange& change) {
  home_ = snapshot.cluster();
  if (change.Is<PersistentVolume>()) {
    const PersistentVolume* const before = change.before<PersistentVolume>();
    const PersistentVolume* const after = change.after<PersistentVolume>();
    Refresh(snapshot, (after != nullptr ? after : before)->meta.name);
  } else if (change.Is<StorageClass>()) {
    const StorageClass* const after = change.after<StorageClass>();
    if (after != nullptr) return table_.PutClass(*after);
    table_.RemoveClass(change.before<StorageClass>()->meta.name);
  } else if (change.Is<CsiStorageCapacity>()) {
    if (const auto* before = change.before<CsiStorageCapacity>()) table_.RemoveCapacity(*before);
    if (const auto* after = change.after<CsiStorageCapacity>()) table_.PutCapacity(*after);
  } else if (change.Is<CsiNode>()) {
    const CsiNode* const after = change.after<CsiNode>();
    if (after != nullptr) return table_.PutCsiNode(*after);
    table_.RemoveCsiNode(change.before<CsiNode>()->meta.name);
  } else if (change.empty()) {
    snapshot.objects<PersistentVolume>().ForEach([&](const auto& one) { Refresh(snapshot, one.meta.name); });
    snapshot.objects<StorageClass>().ForEach([&](const auto& one) { table_.PutClass(one); });
    snapshot.objects<CsiStorageCapacity>().ForEach([&](const auto& one) { table_.PutCapacity(one); });
    snapshot.objects<CsiNode>().ForEach([&](const auto& one) { table_.PutCsiNode(one); });
  }
}

void VolumeBindingIndex::ObjectAssumed(const Snapshot& snapshot, const ObjectChange& change) {
  const PersistentVolume* const one = change.after<PersistentVolume>() != nullptr ? change.after<PersistentVolume>()
                                                                                  : change.before<PersistentVolume>();
  if (one != nullptr) Refresh(snapshot, one->meta.name);
}

std::unique_ptr<VolumeTable> MakeVolumeTable(const Snapshot& snapshot, const std::set<std::string>& classes,
                                             const std::set<std::string>& volumes) {
  auto table = std::make_unique<VolumeTable>();
  for (const std::string& name : volumes)
    if (const auto* volume = snapshot.Believed<PersistentVolume>("", name)) table->PutVolume(*volume);
  if (!classes.empty()) {
    snapshot.objects<PersistentVolume>().ForEach([&](const PersistentVolume& stored) {
      if (classes.contains(std::string(ClassOf(stored))) && !volumes.contains(stored.meta.name))
        table->PutVolume(*snapshot.Believed<PersistentVolume>("", stored.meta.name));
    });
    snapshot.objects<CsiStorageCapacity>().ForEach([&](const CsiStorageCapacity& capacity) {
      if (classes.contains(capacity.storage_class)) table->PutCapacity(capacity);
    });
    for (const std::string& name : classes)
      if (const auto* storage_class = snapshot.objects<StorageClass>().Find(name)) table->PutClass(*storage_class);
  }
  if (!table->needs_nodes()) return table;
  snapshot.objects<CsiNode>().ForEach([&](const CsiNode& node) { table->PutCsiNode(node); });
  for (Row row = 0; row < snapshot.rows(); ++row)
    if (snapshot.live(row)) table->PutNode(row, snapshot.node(row).name(), snapshot.node(row).meta.labels);
  return table;
}

}  // namespace berth::plugins
