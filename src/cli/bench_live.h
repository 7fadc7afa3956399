// SPDX-License-Identifier: Apache-2.0
// `berth bench --mode live`: its flags, and the runs on a real API server.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "bench/workload_run.h"
#include "berth/clock.h"
#include "cli/flags.h"

namespace berth::cli {

struct BenchLiveFlags {
  std::optional<std::string> kubeconfig, timeout;
  std::optional<int64_t> pid;

  void Declare(Command& command);
  // What is wrong with them, in the given mode; empty: nothing.
  std::string Objection(bool live) const;
  // REQUIRES: no objection.
  Duration Timeout() const;
};

struct BenchLiveResults {
  std::vector<bench::WorkloadResult> results;  // those that were not run included, with the reason
  bool failed = false;                         // something went wrong, and was written
};

// One workload after the other. SIGINT and SIGTERM end it, as soon as what was made is deleted; a second one does not
// wait for that, and names what is left. Errors and notes are written.
BenchLiveResults RunLivePlans(std::vector<bench::WorkloadPlan>& plans, const BenchLiveFlags& flags, std::ostream& err);

std::string LiveTableText(const std::vector<bench::WorkloadResult>& results);

}  // namespace berth::cli
