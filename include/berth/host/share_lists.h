// SPDX-License-Identifier: Apache-2.0
// ShareLists: equal lists of different objects become one. Worth its while for what will stay; decoders do it.
#pragma once

#include "berth/node.h"
#include "berth/pod.h"

namespace berth {
inline namespace v1 {

// Lets the pod use the memory of equal lists that other pods have, so that a thousand replicas cost one.
// Thread safety: any thread.
void ShareLists(Pod& pod);
void ShareStatusLists(Pod& pod);  // only those that are not in its spec
void ShareLists(Node& node);
// One list, of those that ShareStatusLists does.
void ShareList(List<OwnerReference>& owners);
void ShareList(List<PodCondition>& conditions);

}  // namespace v1
}  // namespace berth
