// SPDX-License-Identifier: Apache-2.0
// What of the table of feature gates only its reader needs.
#pragma once

#include <span>
#include <string_view>

#include "config/feature_gates.h"

namespace berth::config {

struct GateDependency {
  std::string_view gate;   // cannot be on
  std::string_view needs;  // while this one is off
};
// By gate, in upstream's order within one.
std::span<const GateDependency> AllGateDependencies();

// What becomes of gates that change how the process runs or talks to the API server. Those that change decisions,
// timing or writes are refused without being listed: Berth has their default alone.
struct GateRule {
  std::string_view gate;
  GateSupport support;
  std::string_view upstream = {};  // what kube-scheduler does with it, for kRefused
};
std::span<const GateRule> AllGateRules();

}  // namespace berth::config
