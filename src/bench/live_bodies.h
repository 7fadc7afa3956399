// SPDX-License-Identifier: Apache-2.0
// What ops make of the objects that templates give, as JSON for an API server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/operation.h"
#include "berth/labels.h"
#include "berth/value.h"

namespace berth::bench {

// A node as createNodes makes it, the `index`-th of its op: labels, features. `uid` is for the unique label.
Value NodeBody(const Operation& op, int64_t index, const Value& node, const std::string& uid);
// The CSINode that belongs to it. REQUIRES: op.allocatable_strategy
Value CsiNodeBody(const Operation& op, const std::string& node);
// The patch after which a node has the taints that its template gives it, and none that admission added because nobody
// has reported about it yet (TaintNodesByCondition); none: `created`, the server's answer, has no such taint.
std::optional<Value> TaintPatch(const Value& node, const Value& created);

Value NamespaceBody(const std::string& name);

// A volume and a claim that are bound to each other, and the pod with that claim as its only volume. Upstream:
// test/utils/runners.go, CreatePodWithPersistentVolume.
Value BoundVolumeBody(const Value& volume, const std::string& ns, int64_t index);
Value BoundClaimBody(const Value& claim, const std::string& ns, int64_t index);
Value WithClaim(const Value& pod, int64_t index);
// The status of both.
Value BoundStatus();

// The pod that the server has, with what may be changed of it as `wanted` has it: labels, scheduling gates,
// tolerations, which can only be added, and what containers of the same name ask for, which its subresource resize
// takes. A pod that is posted gets defaults and volumes from the server, so that putting the template anew would be
// refused.
Value UpdatedPod(const Value& current, const Value& wanted, bool resize);

// Upstream's templates give pods a priority in numbers, which admission refuses (Priority) unless it comes from a
// class. The class that a pod needs for that; null: none, it has one or asks for nothing.
Value PriorityClassFor(const Value& pod);
// The pod with it. REQUIRES: it needs one.
Value WithPriorityClass(const Value& pod);

Labels LabelsOf(const Value& object);

}  // namespace berth::bench
