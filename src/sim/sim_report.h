// SPDX-License-Identifier: Apache-2.0
// What programs read of a simulation: JSON and JUnit. Nothing in them depends on the machine or the time of day.
//
// JSON of one run:
//   {apiVersion: berth.dev/v1alpha1, kind: SimulationResult, name (of a scenario),
//    placements: [{pod, node, total}], pending: [{pod, message}],
//    summary: {nodes, pods, placed, pending, finished, attempts, preemptions, virtualSeconds,
//              utilisation: {cpu, memory}, zones: {ZONE: pods}, zoneSpread},
//    expectations: [{at, pod, met, text}] if any, notes: [text] if any, explanation if asked for}
// Several configurations: {…, configs: [{config, placements, …}], comparison: {base, against: [{config, …}]}}.
// Several scenarios: {…, scenarios: [{name, …as above}]}.
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
// A testsuite per scenario (and configuration, if several), a testcase per expectation.
std::string ToJunit(const std::vector<ScenarioReport>& reports);

// Thousandths as a decimal number: 1234 is 1.234.
std::string Thousandths(int64_t n);

}  // namespace berth::sim
