// SPDX-License-Identifier: Apache-2.0
// One workload: its ops, templates and result, and the run that leads from one to the other.
#pragma once

#include <string>
#include <vector>

#include "bench/object_template.h"
#include "bench/operation.h"
#include "bench/workload_file.h"
#include "bench/workload_result.h"
#include "berth/registry.h"
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

// Runs it in virtual time: 300 attempts of pods that createPods ops made take a second, so that churn and sleeps mean
// per pod what they mean upstream. Preempted pods are gone at once. An op that waits for pods ends when they are where
// it wants them, or when nothing that is planned can get them there any more; what is left counts as unschedulable.
// The configuration's extenders are SlowExtenders.
// With `verify`, every decision is made from memory and in full and compared, and nothing is timed. `log` is the
// plugins'; null: they have none.
Result<WorkloadResult> RunWorkload(WorkloadPlan& plan, const config::SchedulerConfiguration& config,
                                   const Registry& registry, bool verify = false, LogSink* log = nullptr);

}  // namespace berth::bench
