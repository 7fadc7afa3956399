// SPDX-License-Identifier: Apache-2.0
// What the API server would have filled in before storing an object: the defaults scheduling depends on, and the
// admission of pods. Objects of a live server went through it already; files come through here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/decode.h"
#include "api/load_error.h"

namespace berth {

// Requests from limits, pod-level requests and limits, host ports under hostNetwork. Defaults of single values (port
// protocol, toleration operator, schedulerName, emptyDir) are those of the structs and of the decoders.
void ApplyDefaults(DecodedPod& decoded);
// A node can give what it has unless it says otherwise.
void DefaultAllocatable(std::optional<ResourceList>& allocatable, std::optional<ResourceList> capacity);
// Every namespace carries its name as a label.
void ApplyDefaults(Namespace& ns);
// Selector and labels from the template's labels.
void ApplyDefaults(ReplicationController& controller, const Labels& template_labels);
void ApplyDefaults(PersistentVolumeClaim& claim);
void ApplyDefaults(PersistentVolume& volume);
void ApplyDefaults(StorageClass& storage_class);
void ApplyDefaults(VolumeSource& source);

// The priority classes of a set of objects, with the two system classes that always exist.
class PriorityClasses {
 public:
  explicit PriorityClasses(const std::vector<std::shared_ptr<const PriorityClass>>& classes);

  // Null when unknown.
  const PriorityClass* Find(const std::string& name) const;
  // The class that pods without one get; null when none is marked.
  const PriorityClass* global_default() const { return default_; }

 private:
  std::map<std::string, std::shared_ptr<const PriorityClass>> by_name_;
  const PriorityClass* default_ = nullptr;
};

// Priority and preemption policy from the pod's class, whatever the pod says itself; without a class, a priority given
// stands, else the default class counts. An unknown class is an error. Then
// matchLabelKeys and mismatchLabelKeys merged into the selectors, unless they are there already.
void ApplyAdmission(const PriorityClasses& classes, DecodedPod& decoded, std::vector<LoadError>& errors);

// uid and creation time of the `index`-th object of a set, where it has none.
void InventIdentity(size_t index, ObjectMeta& meta);

}  // namespace berth
