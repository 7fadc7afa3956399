// SPDX-License-Identifier: Apache-2.0
// WorkloadResult: what came out of one workload. Measurement: how it is found out while the workload runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/instant_cluster.h"
#include "bench/operation.h"
#include "berth/value.h"

namespace berth::bench {

// scheduler_perf's SchedulingThroughput: pods bound in each second, in pods a second.
struct Throughput {
  double average = 0, p50 = 0, p90 = 0, p95 = 0, p99 = 0;
};

// What real time shows.
struct LiveFigures {
  double window_s = 0;                             // how long was measured
  size_t bound = 0;                                // measured pods, in that time
  double first_binding_s = 0, last_binding_s = 0;  // since the measurement began; of several, the last one
  std::optional<Throughput> throughput;            // none: there was no full second
  std::optional<double> peak_mb;  // resident memory of the scheduler's process, since it began; none: it is unknown
};

struct WorkloadResult {
  std::string test_case, workload;
  size_t nodes = 0;                                   // at the end of the measurement
  size_t pods = 0, scheduled = 0, unschedulable = 0;  // measured ones
  size_t attempts = 0;                                // while measuring, of all pods
  int64_t attempt_ns = 0, event_ns = 0;               // CPU of the scheduling thread while measuring
  // CPU of all threads while measuring, less making objects. Of a live run: of the scheduler's process, if it is known.
  int64_t process_ns = 0;
  double p50 = 0, p90 = 0, p99 = 0;  // of one attempt, µs
  double rss_mb = 0;
  std::map<size_t, size_t> nodes_by_pods;  // how many nodes have so many pods, at the end
  std::string not_built;                   // not empty: it was not run, and why
  std::string unscheduled;                 // the first measured pod that is still there and not scheduled, and why

  // Of a run that verifies, over all of it; such a run has no times.
  struct Comparison {
    uint64_t decisions = 0, differences = 0;
    std::string first;  // difference
  };
  std::optional<Comparison> comparison;

  std::optional<LiveFigures> live;  // of a run on a real API server, which knows nothing of attempts

  double CpuMicrosPerPod() const {
    return pods ? static_cast<double>(attempt_ns) / 1e3 / static_cast<double>(pods) : 0;
  }
  double EventMicrosPerPod() const {
    return pods ? static_cast<double>(event_ns) / 1e3 / static_cast<double>(pods) : 0;
  }
  double ProcessMicrosPerPod() const {
    return pods ? static_cast<double>(process_ns) / 1e3 / static_cast<double>(pods) : 0;
  }
  // What a thread that does nothing else would get done; of a live run, what was done in a second of the window.
  double PodsPerSecond() const;
};

// Of all results, one object each.
Value ToValue(const std::vector<WorkloadResult>& results);

// Thread safety: none.
class Measurement {
 public:
  bool on() const { return selector_.has_value(); }
  // From now on pods that `selector` matches are measured, those that wait already included. The error: it is on.
  Error Start(InstantCluster& cluster, PodSelector selector);
  // The error: it is not on.
  Error Stop(const InstantCluster& cluster);
  // Once for every pod that an op creates.
  void Created(PodEntry& entry);
  // Once for every attempt. `entry` is null when the pod is gone; `rejection` is empty when it was not rejected.
  void Attempted(PodEntry* entry, const std::string& rejection, int64_t cpu_ns);
  // Once for every pod that is bound.
  void Bound(const PodEntry& entry) { result_.scheduled += entry.measured; }
  // So much CPU went into applying news.
  void Heard(int64_t cpu_ns) {
    if (on()) result_.event_ns += cpu_ns;
  }
  // So much CPU went into making an object, which is the bench's work.
  void Made(int64_t ns) { making_ns_ += ns; }
  // A pod that is about to go, placed or not.
  void GivenUp(const PodEntry& entry) { result_.unschedulable += Open(entry); }
  // After the last op.
  WorkloadResult Finish(InstantCluster& cluster);

 private:
  static bool Open(const PodEntry& entry) { return entry.measured && entry.pod->node_name.empty(); }

  WorkloadResult result_;
  std::optional<PodSelector> selector_;  // of the present measurement
  std::vector<float> samples_;           // µs
  int64_t process_began_ = 0;
  int64_t making_ns_ = 0;
};

}  // namespace berth::bench
