// SPDX-License-Identifier: Apache-2.0
// WorkloadFile: a performance-config.yaml in scheduler_perf's format, read and checked.
//
//   - name: SchedulingBasic                 # a test case
//     defaultPodTemplatePath: ../templates/pod-default.yaml
//     schedulerConfigPath: …                # default: kube-scheduler's defaults
//     featureGates: {…}                     # read and without effect
//     workloadTemplate:                     # ops, in order
//     - {opcode: createNodes, countParam: $initNodes}
//     - {opcode: createPods, countParam: $measurePods, collectMetrics: true}
//     workloads:
//     - {name: 5000Nodes, labels: […], threshold: 270, params: {initNodes: 5000, measurePods: 10000}}
//
// Paths are relative to the folder of the file. Fields and ops that nobody knows are errors.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bench/operation.h"
#include "berth/value.h"

namespace berth::bench {

struct Workload {
  std::string name, path;
  Value params = Value::Object();
  std::set<std::string> feature_gates;  // names, of the workload itself
};

struct TestCase {
  std::string name, path;
  std::string default_pod_template;     // as written; empty: scheduler_perf's base pod
  std::string scheduler_config;         // as written; empty: the default configuration
  std::set<std::string> feature_gates;  // names, of all its workloads
  std::vector<Operation> ops;
  std::vector<Workload> workloads;
};

struct WorkloadFile {
  std::string folder;  // of the file, with a slash at its end unless empty
  std::vector<TestCase> cases;
  std::vector<std::string> errors;  // all of them; the cases are usable without errors only
};

WorkloadFile ReadWorkloadFile(const std::string& path);
WorkloadFile ParseWorkloads(std::string_view text, const std::string& path);

// The ops of one workload: parameters filled in, createPodSets unrolled. Parameters that no op asks for are noted.
// numNodeDeclaredFeatures needs no op: upstream's program itself reads it and lets all nodes declare so many features.
Result<std::vector<Operation>> Unroll(const TestCase& test_case, const Workload& workload,
                                      std::vector<std::string>& notes);

}  // namespace berth::bench
