// SPDX-License-Identifier: Apache-2.0
// One workload: its ops, templates and result, and the run that leads from one to the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/engine_cluster.h"
#include "bench/object_template.h"
#include "bench/operation.h"
#include "bench/workload_file.h"
#include "config/types.h"

namespace berth::bench {

// A workload that is ready to run: parameters filled in, every template read.
struct WorkloadPlan {
  struct Step {
    Operation op;
    std::vector<ObjectTemplate> templates;  // of the op, in order; empty where the op needs none
  };
  std::string test_case, workload;
  std::string scheduler_config;  // a path; empty: the default configuration
  std::vector<Step> steps;
  std::vector<std::string> notes;
  std::string not_built;  // why it cannot be run; empty: it can
};

// The error names the op or the file and what is wrong with it. `folder` is the workload file's.
Result<WorkloadPlan> MakePlan(const TestCase& test_case, const Workload& workload, const std::string& folder);

struct WorkloadResult {
  std::string test_case, workload;
  size_t nodes = 0;                                   // at the end of the measurement
  size_t pods = 0, scheduled = 0, unschedulable = 0;  // measured ones
  size_t attempts = 0;                                // while measuring, of all pods
  int64_t attempt_ns = 0, event_ns = 0;               // CPU of the scheduling thread while measuring
  double p50 = 0, p90 = 0, p99 = 0;                   // of one attempt, µs
  double rss_mb = 0;
  std::string not_built;    // not empty: it was not run, and why
  std::string unscheduled;  // one measured pod that was not scheduled, and the scheduler's message
  double CpuMicrosPerPod() const {
    return pods ? static_cast<double>(attempt_ns) / 1e3 / static_cast<double>(pods) : 0;
  }
  double EventMicrosPerPod() const {
    return pods ? static_cast<double>(event_ns) / 1e3 / static_cast<double>(pods) : 0;
  }
  // What a thread that does nothing else would get done.
  double PodsPerSecond() const;
};

// Runs it in virtual time: 300 attempts of pods that createPods ops made take a second, so that churn and sleeps mean
// per pod what they mean upstream. Preempted pods are gone at once. An op that waits for pods ends when they are where
// it wants them, or when nothing that is planned can get them there any more; what is left counts as unschedulable.
Result<WorkloadResult> RunWorkload(WorkloadPlan& plan, const config::SchedulerConfiguration& config,
                                   const Registry& registry);

// Of all results, one object each.
Value ToValue(const std::vector<WorkloadResult>& results);

}  // namespace berth::bench
