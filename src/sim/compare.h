// SPDX-License-Identifier: Apache-2.0
// Comparison: what another configuration makes of the same cluster, pods and seed.
#pragma once

#include <string>
#include <vector>

#include "berth/value.h"
#include "sim/sim_run.h"

namespace berth::sim {

struct Comparison {
  struct Move {
    std::string pod, from, to;
  };
  std::vector<Move> moved;               // pods on a node in both runs, but not the same one; by pod
  std::vector<std::string> waits;        // placed in the base run, pending in the other
  std::vector<std::string> relieved;     // the other way round
  std::vector<std::string> lost, found;  // there at the end of the base run only, of the other run only
  size_t same = 0;                       // on the same node in both

  // How many moves and pods are listed in output; the counts are always of all.
  static constexpr size_t kShown = 50;
};

Comparison Compare(const RunResult& base, const RunResult& other);
Value ToValue(const Comparison& comparison);

}  // namespace berth::sim
