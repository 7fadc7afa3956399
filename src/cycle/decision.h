// SPDX-License-Identifier: Apache-2.0
// From a decision to what the cycle does with it: who rejected the pod, and where the next search begins.
#pragma once

#include "framework/decision.h"
#include "queue/queued_pod_info.h"

namespace berth::cycle {

// Everybody whose word could change: plugins that narrowed the nodes, that rejected any node or the pod as a whole, and
// Extender. Empty when there was no node at all.
queue::Rejectors RejectorsOf(const framework::Decision& decision, const framework::Profile& profile);

// How far to search with the profile's percentage of nodes, from `next_start` on. No limit when all nodes are looked at
// from the first on: such a decision may be remembered, and the next start stays where it is.
framework::JudgeOptions SearchOf(const framework::Profile& profile, const Snapshot& snapshot, size_t next_start);

// kube-scheduler looks at nodes until it has met one feasible node more than it wants (`limit`), and the next search
// goes on from that one. REQUIRES: limit > 0, snapshot has nodes.
size_t NextStart(const framework::Judgement& judgement, const Snapshot& snapshot, size_t start, size_t limit);

}  // namespace berth::cycle
