// SPDX-License-Identifier: Apache-2.0
// A workload on a real API server, for whatever scheduler is at work there.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/workload_result.h"
#include "bench/workload_run.h"
#include "berth/clock.h"
#include "client/kubeconfig.h"

namespace berth::bench {

struct LiveRunOptions {
  client::Kubeconfig server;
  Duration timeout = Duration::Seconds(600);  // of an op that waits for pods
  std::optional<int64_t> pid;                 // the scheduler's process, on this machine
  // How often somebody has asked the run to end. The first time it goes on with deleting what it has made, the second
  // time it gives that up. May be null, else it outlives the run; any thread writes it.
  const std::atomic<int>* interruptions = nullptr;
  // What people should know: a watch that fails, credentials that cannot be read. Called on the caller's thread, while
  // the run lasts; may be null.
  std::function<void(const std::string& sentence)> warn;
};

struct LiveOutcome {
  Result<WorkloadResult> result;  // the error names the op, and what went wrong
  std::vector<std::string> left;  // what the run has made and could not delete, by name
};

// Runs it in real time. Objects are posted as the templates give them; names are those of the file, and one that exists
// already is an error that names it, because nothing that the run has not made is changed or deleted. Whatever happens,
// all that it has made is deleted before it returns.
//
// Pods count as bound when the watch says so. Pods that the run deletes have no grace period. A pod that is preempted
// goes when its kubelet, or whoever plays that part, lets it.
//
// REQUIRES: the clock is a steady one. Thread safety: waits on the calling thread.
LiveOutcome RunLive(WorkloadPlan& plan, const Clock& clock, const LiveRunOptions& options);

}  // namespace berth::bench
