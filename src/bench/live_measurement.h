// SPDX-License-Identifier: Apache-2.0
// LiveMeasurement: what comes of watching pods in real time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/operation.h"
#include "bench/process_use.h"
#include "bench/workload_result.h"
#include "berth/clock.h"
#include "berth/error.h"
#include "berth/labels.h"

namespace berth::bench {

// A pod that the run has made, as far as the watch has told.
struct LivePod {
  std::string ns, name;
  Labels labels;
  std::string uid;      // empty: the watch has not shown it yet
  std::string not_uid;  // of an earlier pod of that name, of which news may still come
  std::string node;     // empty: not scheduled
  std::string message;  // of the latest refusal
  bool paced = false;   // it came with a createPods op
  bool measured = false;
  bool awaited = false;    // an op waits for it
  bool attempted = false;  // a scheduler, or the API server, has said something about it
  bool deleted = false;    // by the run
};

// The samples that scheduler_perf would take of bindings at these times: of each second from `began` to `ended`, how
// many pods were bound in it. The first second with a binding is left out, as it begins anywhere; after seconds without
// a binding what the next one brings is spread over them. Upstream: throughputCollector, scheduler_perf/util.go
// (v1.36.4). Times in order.
std::vector<double> ThroughputSamples(const std::vector<Time>& bindings, Time began, Time ended);
// Average and percentiles, as upstream has them; none without samples.
std::optional<Throughput> Summarize(std::vector<double> samples);

// Thread safety: none.
class LiveMeasurement {
 public:
  using Pods = std::map<std::string, LivePod>;

  // With the scheduler's process, if that is known.
  explicit LiveMeasurement(std::optional<int64_t> pid) : pid_(pid) { result_.live.emplace(); }

  bool on() const { return selector_.has_value(); }
  // From now on pods that `selector` matches are measured, those that wait already included. Errors: it is on, or the
  // process has ended.
  Error Start(Time now, Pods& pods, PodSelector selector);
  // Errors: it is not on, or the process has ended.
  Error Stop(Time now, size_t nodes);
  // Once for every pod that a createPods op makes.
  void Created(LivePod& pod);
  void Bound(const LivePod& pod, Time now);
  // A pod that has gone, or is about to, placed or not.
  void GivenUp(const LivePod& pod) { result_.unschedulable += pod.measured && pod.node.empty(); }
  // A pod that the end of its op has overtaken: it counts as if it had never been made, unless it is bound.
  void Overtaken(LivePod& pod) {
    if (!pod.measured || !pod.node.empty()) return;
    pod.measured = false;
    --result_.pods;
  }
  // After the last op. `nodes` are the names of those that the run has made.
  Result<WorkloadResult> Finish(Time now, const Pods& pods, const std::vector<std::string>& nodes);

 private:
  const std::optional<int64_t> pid_;
  WorkloadResult result_;
  std::optional<PodSelector> selector_;  // of the present measurement
  Time began_;
  std::optional<ProcessUse> use_;  // when it began
  std::vector<Time> bindings_;     // in it
  std::vector<double> samples_;    // of those that are over
};

}  // namespace berth::bench
