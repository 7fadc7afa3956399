// SPDX-License-Identifier: Apache-2.0
// The bad network and the tired server: which request and which event meets which fault.
#include <string>

#include "sim/simulated_cluster.h"

namespace berth::sim {
Faults Faults::Default() {
  return {.watch_cut = 2,
          .too_old = 50,
          .conflict = 10,
          .throttled = 10,
          .server_error = 10,
          .lost_answer = 10,
          .duplicate = 20,
          .reordered = 20,
          .touched = 20,
          .slow = 20,
          .provision = 50};
}

bool Faults::any() const {
  return watch_cut > 0 || too_old > 0 || conflict > 0 || throttled > 0 || server_error > 0 || lost_answer > 0 ||
         duplicate > 0 || reordered > 0 || touched > 0 || slow > 0 || provision > 0;
}

// A fault that is off draws nothing: calm runs do not depend on the seed.
bool SimulatedCluster::Hit(int per_mille, std::string_view fault, std::string_view object) {
  if (per_mille <= 0) return false;
  if (random_.Next() % 1000 >= static_cast<uint64_t>(per_mille)) return false;
  if (on_fault) on_fault(std::string(fault) + " " + std::string(object));
  return true;
}

SimulatedCluster::Fate SimulatedCluster::Draw(Access access, std::string_view object) {
  const Faults& faults = options_.faults;
  Fate fate;
  fate.latency = options_.answer_latency;
  if (Hit(faults.slow, "slow", object)) fate.latency.ns *= kSlowFactor;
  if (Hit(faults.throttled, "throttled", object)) {
    fate.refusal = {429, "the server has received too many requests and has asked us to try again later"};
    return fate;
  }
  if (Hit(faults.server_error, "server error", object)) {
    fate.refusal = {500, "an error on the server has prevented the request from succeeding"};
    return fate;
  }
  if (access == Access::kRead) return fate;
  if (Hit(faults.conflict, "conflict", object)) {
    fate.refusal = {409, "the object has been modified; please apply your changes to the latest version and try again"};
    return fate;
  }
  fate.lost = Hit(faults.lost_answer, "lost answer", object);
  fate.touched = access == Access::kWritePod && Hit(faults.touched, "touched", object);
  return fate;
}

}  // namespace berth::sim
