// SPDX-License-Identifier: Apache-2.0
// Whole sets of objects out of files, folders and text, as the API server would have stored them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/load_error.h"
#include "berth/node.h"
#include "berth/object.h"
#include "berth/pod.h"

namespace berth {

// Every kind, in the order the files have them.
struct LoadedObjects {
  template <class T>
  using List = std::vector<std::shared_ptr<const T>>;

  List<Pod> pods;
  List<Node> nodes;
  List<Namespace> namespaces;
  List<Service> services;
  List<ReplicationController> replication_controllers;
  List<ReplicaSet> replica_sets;
  List<StatefulSet> stateful_sets;
  List<PriorityClass> priority_classes;
  List<PodDisruptionBudget> pod_disruption_budgets;
  List<PersistentVolumeClaim> persistent_volume_claims;
  List<PersistentVolume> persistent_volumes;
  List<StorageClass> storage_classes;
  List<CsiNode> csi_nodes;
  List<CsiDriver> csi_drivers;
  List<CsiStorageCapacity> csi_storage_capacities;
  List<VolumeAttachment> volume_attachments;
  List<ResourceClaim> resource_claims;
  List<ResourceSlice> resource_slices;
  List<DeviceClass> device_classes;

  size_t size() const;
};

struct LoadOptions {
  // Called once for every kind that is not read, with the file it was met in first.
  std::function<void(const std::string& api_version, const std::string& kind, const std::string& file)> unread_kind;
};

struct LoadResult {
  LoadedObjects objects;          // only the good ones when there are errors
  std::vector<LoadError> errors;  // all of them, in file order; those between objects last
  bool ok() const { return errors.empty(); }
};

// Reads `paths` in order: files, folders (their *.yaml, *.yml and *.json, sorted by name; not their subfolders) and `-`
// for standard input. Objects are validated, defaulted and admitted (api/defaults.h) once everything is read; a kind,
// namespace and name may come once. Never throws.
LoadResult LoadObjects(const std::vector<std::string>& paths, const LoadOptions& options = {});

// The same for text in memory: YAML or JSON documents, or a JSON array of objects. `name` stands for the file.
LoadResult LoadObjectsFromText(std::string_view text, const LoadOptions& options = {}, const std::string& name = "");

}  // namespace berth
