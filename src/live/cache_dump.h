// SPDX-License-Identifier: Apache-2.0
// DumpCache: what a scheduler holds in its memory, for the log, when somebody asks (SIGUSR2).
#pragma once

#include "cycle/scheduler.h"
#include "util/log.h"

namespace berth::live {

// kube-scheduler's lines: what the cache lacks and what it has too much, held against what the API server last said;
// every node with its pods; the pods that wait. Where that is much, several lines of one kind: none is longer than a
// log can take. A log that is read too slowly says how many of them it has dropped.
//
// REQUIRES: the scheduling thread, which does nothing else meanwhile.
void DumpCache(const cycle::Scheduler& scheduler, util::Log& log);

}  // namespace berth::live
