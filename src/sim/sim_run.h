// SPDX-License-Identifier: Apache-2.0
// One run of a scenario: the production scheduler on the simulated cluster, and what came of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "berth/error.h"
#include "berth/registry.h"
#include "config/types.h"
#include "framework/explanation.h"
#include "framework/extender.h"
#include "sim/scenario.h"

namespace berth::sim {

struct RunProgress {
  Duration now;        // virtual time since the start
  uint64_t bound = 0;  // bindings so far
  uint64_t pods = 0;   // pods in the cluster
};

struct RunOptions {
  uint64_t seed = 0;
  bool faults = false;
  // How long the run may go on after the last step and expectation. Generated pods arrive evenly within it.
  std::optional<Duration> duration = {};
  // So many generated pods are deleted and created per virtual second, within the duration; all others are there at 0s.
  int64_t churn = 0;
  bool verify = false;       // decide everything twice, from memory and in full, and compare
  std::string explain = {};  // namespace/name of the pod whose last decision is kept in full; empty: none
  LogSink* log = nullptr;    // of the plugins, in virtual time; may be null
  std::vector<std::shared_ptr<framework::Extender>> extenders = {};  // asked for real; they do not bind
  std::function<void(const RunProgress&)> progress = {};             // may be empty; called now and then
};

// A pod that is there at the end.
struct PodLine {
  std::string pod;               // namespace/name
  std::string node;              // empty: pending
  std::optional<int64_t> total;  // the node's score; none when it was not scored, or not placed by us
  std::string text;              // why this node, or why none
  bool ours = false;             // placed during the run, by the scheduler
};

struct Eviction {
  std::string pod, by;  // namespace/name
  Duration at;
};

struct RunSummary {
  uint64_t nodes = 0, placed = 0, pending = 0;
  uint64_t finished = 0;  // pods that ran to their end; in neither list
  uint64_t attempts = 0, evictions = 0;
  Duration time;                          // virtual, from the start to the end of the run
  int64_t cpu = 0, memory = 0;            // requested of what the nodes have, in thousandths
  std::map<std::string, uint64_t> zones;  // placed pods by topology.kubernetes.io/zone, zones without pods included
  uint64_t zone_spread() const;           // the fullest zone's pods less those of the emptiest
};

struct ExpectationResult {
  std::string at;  // "20s", or "end"
  std::string pod;
  std::string expected;  // "on node n"
  std::string actual;    // "on node m since 1.5s: best of 3, …"
  bool met = false;
};

// Every decision made twice. A finding is a decision that came out differently, or a read that a plugin does not
// declare.
struct Verification {
  uint64_t decisions = 0, findings = 0;
  std::vector<std::string> texts;  // of the first kTextsKept different ones

  void Add(const std::string& text);
  static constexpr size_t kTextsKept = 20;
};

struct RunResult {
  std::vector<PodLine> placements, pending;  // by pod
  std::vector<Eviction> evictions;           // in order of time; only the first kEvictionsKept
  RunSummary summary;
  std::vector<ExpectationResult> expectations;  // in the scenario's order
  std::vector<std::string> notes;               // what did not go as the scenario says
  // Of RunOptions::explain: the decision in full, or just a sentence.
  std::optional<framework::Explanation> explanation;
  std::string explanation_text;

  std::optional<Verification> verification;  // of RunOptions::verify

  bool met() const;  // every expectation, and verification without findings
  static constexpr size_t kEvictionsKept = 1000;
};

// REQUIRES: the scenario loaded without errors; registry outlives the call. The error lists what kube-scheduler would
// refuse at start. Equal arguments give equal results.
Result<RunResult> Run(const Scenario& scenario, const config::SchedulerConfiguration& config, const Registry& registry,
                      const RunOptions& options);

}  // namespace berth::sim
