// SPDX-License-Identifier: Apache-2.0
// PrioritySort; see priority_sort.h.
#include "plugins/priority_sort.h"

namespace berth::plugins {

bool PrioritySort::Less(const QueuedPod& a, const QueuedPod& b) const {
  if (a.pod->priority != b.pod->priority) return a.pod->priority > b.pod->priority;
  return a.timestamp < b.timestamp;
}

}  // namespace berth::plugins
