// SPDX-License-Identifier: Apache-2.0
// LiveChurn: objects of a churn op that come, and go again with mode recreate, while other ops run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/live_loop.h"
#include "bench/live_objects.h"
#include "bench/live_pods.h"
#include "bench/workload_run.h"
#include "berth/clock.h"
#include "berth/error.h"

namespace berth::bench {

// A tick waits for the answers of the one before, so that a slow server does not pile them up. What exists already, of
// this run's, stays as it is, as upstream has it.
//
// REQUIRES: everything given to it outlives it, and it outlives the loop's last turn.
// Thread safety: the loop's thread.
class LiveChurn {
 public:
  struct World {
    LiveObjects& objects;
    LivePods& pods;
    LiveLoop& loop;
    std::function<uint64_t()> serial;          // the next number for names
    std::function<void(const Error&)> failed;  // told once for every failure, with the op's path
  };
  LiveChurn(World world, const WorkloadPlan::Step& step, std::string ns);
  // From now on. REQUIRES: the namespace is there, and the priority classes that the templates need.
  void Start();
  // Nothing more is begun.
  void Stop() { stopped_ = true; }

 private:
  void Tick();
  void Recreate(size_t slot, const ObjectTemplate& from);
  void Ended();
  void Fail(const Error& error);

  const World world_;
  const WorkloadPlan::Step& step_;
  const std::string ns_;
  std::vector<std::string> names_;  // of the objects in each slot of recreate; empty: the slot is free
  int64_t tick_ = 0;
  Time due_;
  size_t open_ = 0;  // of the present tick
  bool stopped_ = false;
};

}  // namespace berth::bench
