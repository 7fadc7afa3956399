// SPDX-License-Identifier: Apache-2.0
// What a pod asks for and may use, by name and exactly, for those who show it.
#pragma once

#include "berth/pod.h"

namespace berth {
inline namespace v1 {

// As component-helpers' PodRequests and PodLimits have them without options: by spec alone, with init containers and
// sidecars, what the pod as a whole says, and overhead (of limits only where there is one).
ResourceList PodRequestAmounts(const Pod& pod);
ResourceList PodLimitAmounts(const Pod& pod);

}  // namespace v1
}  // namespace berth
