// SPDX-License-Identifier: Apache-2.0
// Cluster events and queueing hints: which changes may make a pod that a plugin rejected worth another try.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/object_change.h"
#include "berth/pod.h"

namespace berth {
inline namespace v1 {

enum class EventResource : uint8_t {
  kPod,
  kAssignedPod,
  kUnschedulablePod,
  kNode,
  kPersistentVolume,
  kPersistentVolumeClaim,
  kCsiNode,
  kCsiDriver,
  kCsiStorageCapacity,
  kVolumeAttachment,
  kStorageClass,
  kResourceClaim,
  kResourceSlice,
  kDeviceClass,
  kWildCard
};

// Action bits, values as kube-scheduler's: a registration matches an event when bits intersect and the event's value is
// not larger (so a specific update matches a registration of Update, but not the other way round).
using ActionType = uint32_t;
namespace action {
inline constexpr ActionType kAdd = 1, kDelete = 2, kUpdateNodeAllocatable = 4, kUpdateNodeLabel = 8,
                            kUpdateNodeTaint = 16, kUpdateNodeCondition = 32, kUpdateNodeAnnotation = 64,
                            kUpdateNodeDeclaredFeature = 128, kUpdatePodLabel = 256, kUpdatePodScaleDown = 512,
                            kUpdatePodToleration = 1024, kUpdatePodSchedulingGatesEliminated = 2048,
                            kUpdatePodGeneratedResourceClaim = 4096, kUpdate = 8188, kAll = 8191;
}  // namespace action

struct ClusterEvent {
  EventResource resource = EventResource::kWildCard;
  ActionType actions = action::kAll;
  bool operator==(const ClusterEvent&) const = default;
};

enum class QueueingHint : uint8_t { kSkip, kQueue };

// The objects of an event: of those that belong to its resource, `before` is null for an add and `after` for a delete.
struct EventObjects {
  const Pod* pod_before = nullptr;
  const Pod* pod_after = nullptr;
  const Node* node_before = nullptr;
  const Node* node_after = nullptr;
  ObjectChange object = {};  // of the other kinds

  template <class T>
  const T* before() const {
    return object.before<T>();
  }
  template <class T>
  const T* after() const {
    return object.after<T>();
  }
};

// Called for a pod that this plugin rejected. Must be cheap and must not keep the pointers.
using QueueingHintFn = std::function<QueueingHint(const Pod& rejected, const EventObjects& objects)>;

struct EventRegistration {
  ClusterEvent event;
  QueueingHintFn hint;  // none: always kQueue
};

}  // namespace v1
}  // namespace berth
