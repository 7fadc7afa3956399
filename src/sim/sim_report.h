// SPDX-License-Identifier: Apache-2.0
// What programs read of a simulation: JSON and JUnit. Nothing in them depends on the machine or the time of day.
// docs/scenarios.md has their fields.
#pragma once

#include <string>
#include <vector>

#include "berth/value.h"
#include "sim/sim_run.h"

namespace berth::sim {

// One configuration's run.
struct ConfigRun {
  std::string config;  // as the user named it; "default" without one
  RunResult result;
};

// One scenario, or the run without one, under each configuration.
struct ScenarioReport {
  std::string name;  // empty without a scenario
  std::string file;
  std::vector<ConfigRun> runs;  // at least one
};

// REQUIRES: at least one report.
Value ToValue(const std::vector<ScenarioReport>& reports);
// A testsuite per scenario (and configuration, if several), a testcase per expectation and one for verification.
std::string ToJunit(const std::vector<ScenarioReport>& reports);

// "12 decisions made twice, 1 findings (…)" and the findings, a line each; or that there were none.
std::string VerificationText(const Verification& verification);

// Thousandths as a decimal number: 1234 is 1.234.
std::string Thousandths(int64_t n);

}  // namespace berth::sim
